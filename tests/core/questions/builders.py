"""Receipts and stores for tests of questions, at one fixed time."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from ubunye_core import Found, Orchestrator, Receipt, ReceiptStore, Status, Window
from ubunye_core.runids import new_run_id

NOW = datetime(2026, 10, 15, 6, 0, tzinfo=UTC)
CALC, SEND = "pay/monthly/calc", "pay/monthly/send"
MINUTE, HOUR, DAY = timedelta(minutes=1), timedelta(hours=1), timedelta(days=1)


def a_run(
    status: Status | str = "success",
    *,
    ago: timedelta = HOUR,
    took: timedelta = MINUTE,
    task: str = CALC,
    variables: Mapping[str, Any] | None = None,
    run_id: str | None = None,
    **fields: Any,
) -> Receipt:
    """A run that started so long before ``NOW``, by default for month=2026-10."""
    start = NOW - ago
    ended = Status(status).is_final
    fields = {"ended_at": start + took if ended else None, **fields}
    return Receipt(
        task=task,
        run_id=run_id or new_run_id(start),
        status=Status(status),
        started_at=start,
        variables={"month": "2026-10"} if variables is None else variables,
        **fields,
    )


def an_attempt(number: int, of: int = 3, run: str = "scheduled-1") -> Orchestrator:
    """One attempt of one scheduled run."""
    return Orchestrator(name="airflow", ids={"run": run}, attempt=number, max_attempts=of)


def a_window(end: datetime, length: timedelta = DAY) -> Window:
    return Window(start=end - length, end=end)


def put(store: ReceiptStore, *receipts: Receipt) -> Receipt:
    """Save them all, and return the last."""
    for receipt in receipts:
        store.save(receipt)
    return receipts[-1]


class FourMethods:
    """A store as a plugin may write it: the four methods, and nothing else. Notes each call."""

    def __init__(self, inner: ReceiptStore) -> None:
        self._inner = inner
        self.calls: list[str] = []

    @property
    def url(self) -> str:
        return self._inner.url

    def save(self, receipt: Receipt) -> None:
        self.calls.append("save")
        self._inner.save(receipt)

    def load(self, task: str, run_id: str) -> Receipt:
        self.calls.append("load")
        return self._inner.load(task, run_id)

    def list_runs(self, task: str, n: int = 20) -> Found:
        self.calls.append(f"list_runs {n}")
        return self._inner.list_runs(task, n)

    def search(
        self,
        task: str | None = None,
        status: Status | None = None,
        since: datetime | None = None,
        *,
        batch: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> Found:
        self.calls.append(f"search {status or 'any'}")
        return self._inner.search(task, status, since, batch=batch, limit=limit)


class Clock:
    """A clock that moves only when somebody sleeps; things may happen meanwhile."""

    def __init__(self, start: datetime = NOW) -> None:
        self.now = start
        self.slept: list[float] = []
        self._later: list[tuple[datetime, Any]] = []

    def __call__(self) -> datetime:
        return self.now

    def at(self, moment: datetime, happens: Any) -> None:
        """Call ``happens`` once the clock reaches ``moment``."""
        self._later.append((moment, happens))

    def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += timedelta(seconds=seconds)
        due = [each for each in self._later if each[0] <= self.now]
        self._later = [each for each in self._later if each[0] > self.now]
        for _, happens in due:
            happens()
