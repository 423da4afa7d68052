"""What a store is asked, each time about something else."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

from benchmarks.sql.data import EVERY, FIRST, Size, an_attempt, variables
from ubunye_core import Status, job_health
from ubunye_core.batch import Batch
from ubunye_core.stores import ClaimKey
from ubunye_core.stores.sql.store import SqlStore

LEASE = timedelta(days=1)
CLAIMED = 100
"""Batches that somebody holds while the store is asked."""


@dataclass(frozen=True)
class Question:
    """A question, and how many receipts answer it."""

    name: str
    ask: Callable[[int], object]
    """Given a number that is another each time."""
    finds: int = 1
    at_most: float | None = None
    """Milliseconds; where none is given, ten times a ``SELECT 1``."""

    def is_answered_by(self, answer: object) -> bool:
        """Whether an answer is the true one."""
        found = len(answer) if hasattr(answer, "__len__") else int(answer is not None)
        return found == self.finds


class Asker:
    """Names and batches by a number, so that each is asked in turn."""

    def __init__(self, store: SqlStore, size: Size) -> None:
        self.store, self.size = store, size
        self._ids: dict[str, str] = {}

    def task(self, turn: int) -> str:
        return self.size.task(turn * 7 % self.size.tasks)

    def hour(self, turn: int) -> str:
        return variables(turn * 11 % self.size.runs)["hour"]

    def batch(self, turn: int) -> dict[str, str]:
        """The whole batch of a run that succeeded."""
        told = variables(turn * 10 % self.size.runs)
        return {name: told[name] for name in ("hour", "region")}

    def part(self, turn: int) -> dict[str, str]:
        return {"hour": self.batch(turn)["hour"], "mode": "PROD"}

    def run_id(self, turn: int) -> str:
        return self._ids[self.task(turn)]

    def claim_key(self, turn: int) -> ClaimKey:
        turn %= CLAIMED
        return ClaimKey(task=self.task(turn), batch=Batch.of(self.batch(turn)))

    def prepare(self, turns: int) -> None:
        """Learn run ids, and have batches claimed."""
        for turn in range(turns):
            self._ids[self.task(turn)] = self.store.list_runs(self.task(turn), 1)[0].run_id
        for turn in range(CLAIMED):
            self.store.claim(self.claim_key(turn), run_id=f"run-{turn}", lease=LEASE)


def of_one_task(asker: Asker) -> list[Question]:
    """Questions about a task."""
    store, task, part = asker.store, asker.task, asker.part
    late = FIRST + (asker.size.runs - 5) * EVERY
    return [
        Question("one run", lambda turn: store.load(task(turn), asker.run_id(turn))),
        Question("newest run", lambda turn: store.list_runs(task(turn), 1)),
        Question("newest success", lambda turn: store.search(task(turn), Status.SUCCESS, limit=1)),
        Question("newest failure", lambda turn: store.search(task(turn), Status.ERROR, limit=1)),
        Question(
            "success of a whole batch",
            lambda turn: store.success_by_batch(task(turn), asker.batch(turn), whole=True),
        ),
        Question(
            "success by some variables",
            lambda turn: store.success_by_batch(task(turn), part(turn), whole=False),
        ),
        Question(
            "the same, none succeeded",
            lambda turn: store.success_by_batch(
                task(turn), {"hour": f"none-{turn}", "mode": "PROD"}, whole=False
            ),
            0,
        ),
        Question("runs of a batch", lambda turn: store.search(task(turn), batch=part(turn))),
        Question("since, 5 runs", lambda turn: store.search(task(turn), since=late), 5),
        Question(
            "an attempt",
            lambda turn: store.of_attempt(
                task(turn), an_attempt(turn * 3 % asker.size.runs, task(turn))
            ),
        ),
        Question("holder of a claim", lambda turn: store.holder(asker.claim_key(turn))),
        Question("newest 50", lambda turn: store.list_runs(task(turn), 50), 50),
    ]


def of_all_tasks(asker: Asker) -> list[Question]:
    """Questions about all tasks, whose answer does not grow with them."""
    store = asker.store
    return [
        Question("newest 5 of all tasks", lambda turn: store.search(limit=5), 5),
        Question("running runs of all tasks", lambda turn: store.search(None, Status.RUNNING), 0),
    ]


def of_each_task(asker: Asker, at_most: float | None) -> list[Question]:
    """Questions that tell something of each of the tasks.

    Args:
        asker: Who asks.
        at_most: What health of 1,000 tasks may take, in milliseconds.
    """
    store, count = asker.store, asker.size.tasks
    names = [asker.size.task(number) for number in range(count)]
    now = datetime.now(UTC)  # an earlier day would be answered from the runs themselves
    bar = None if at_most is None else at_most * max(1, count / 1000)
    told = f"of {count:,} tasks"
    return [
        Question(f"settled {told}", lambda turn: store.settled(names), count),
        Question(
            f"health {told}", lambda turn: job_health(names, store=store, now=now).tasks, count, bar
        ),
        Question(f"names {told}", lambda turn: store.tasks(), count),
    ]
