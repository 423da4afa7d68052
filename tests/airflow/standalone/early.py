"""What waits long: it begins with the first test, and goes on beside the others."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta

import psutil

from tests.airflow.standalone import elsewhere
from tests.airflow.standalone.rest import User

LONG_WAIT, DYING = "gate_waits_long", "gate_dies_once"


class Early:
    """A gate that waits for a slow upstream, and one whose first try is killed while it waits."""

    def __init__(self, url: str, store: str) -> None:
        user = User(url)
        self.upstream = elsewhere.start("slow/monthly/calc", store, "sh", "-c", "read line; true")
        self.long_wait = user.trigger(LONG_WAIT, month="2026-10")
        self.began = datetime.now(UTC)
        assert elsewhere.run("dies/monthly/calc", store, month="2026-09") == 0
        self.dying = user.trigger(DYING, month="2026-10")
        self.first_look: datetime | None = None
        self._killer = threading.Thread(target=self._kill, args=(user,), daemon=True)
        self._killer.start()

    def let_the_upstream_end(self) -> None:
        assert self.upstream.stdin is not None
        self.upstream.stdin.close()
        assert self.upstream.wait(60) == 0

    def kill_of_the_first_try(self) -> datetime:
        """Wait for the kill; when that try had begun."""
        self._killer.join(300)
        assert self.first_look is not None, "the first try was not killed"
        return self.first_look

    def _kill(self, user: User) -> None:
        first = user.when_tasks(DYING, self.dying, gate="running").tasks["gate"]
        began = datetime.fromisoformat(first["start_date"])
        sleep_until(began + timedelta(seconds=20))
        psutil.Process(first["pid"]).kill()
        self.first_look = began


def sleep_until(instant: datetime) -> None:
    time.sleep(max(0.0, (instant - datetime.now(UTC)).total_seconds()))
