"""The program of the tests with several guarded processes: it does what each line tells it."""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from typing import Any

from ubunye_core import ClaimLostError, RunRefusedError, may_run, open_store, record_run

CALC = "pay/monthly/calc"


def say(words: object) -> None:
    print(json.dumps(words), flush=True)


def told() -> Any:
    line = sys.stdin.readline()
    if not line:
        sys.exit()
    return json.loads(line)


def stop_after_the_next_renewal(store: Any) -> None:
    """Stop this whole process, as SIGSTOP does, when it is in the midst of no write."""
    renew = store.renew

    def then_stop(taken: Any) -> None:
        renew(taken)
        store.renew = renew
        os.kill(os.getpid(), signal.SIGSTOP)

    store.renew = then_stop


def hold(store: Any, variables: dict[str, str], lease: str, stops: bool) -> str:
    """Run guarded, and say so; end when it is told to; how the block ended."""
    recording = record_run(
        CALC, variables=variables, store=store, guard=True, lease=lease, heartbeat_every="1h"
    )
    if stops:
        stop_after_the_next_renewal(store)
    try:
        with recording as run:
            say(run.run_id)
            told()
    except ClaimLostError:
        return "lost"
    return "success"


def guarded(store: Any, variables: dict[str, str]) -> bool:
    """Run if the guard lets it; whether it ran."""
    try:
        with record_run(CALC, variables=variables, store=store, guard=True):
            return True
    except RunRefusedError:
        return False


def look_and_run(store: Any, variables: dict[str, str]) -> bool:
    """What is no guard: look, and then run."""
    if not may_run(CALC, variables, store=store):
        return False
    with record_run(CALC, variables=variables, store=store):
        return True


if __name__ == "__main__":
    opened = open_store(sys.argv[1])
    may_run(CALC, {"month": "warm"}, store=opened)  # all that is imported late is there
    say("ready")
    while True:
        asked = told()
        do, at = globals()[asked.pop("do")], asked.pop("at")
        if at is not None:
            time.sleep(max(0.0, at - time.time()))
        say(do(opened, **asked))
