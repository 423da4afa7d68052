"""How long a question takes, in turns with a ``SELECT 1`` of the same connection."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from unittest import mock

import sqlalchemy as sa

from benchmarks.sql.questions import Question
from ubunye_core.batch import Batch
from ubunye_core.stores.sql import searching
from ubunye_core.stores.sql.store import SqlStore
from ubunye_core.testing import a_receipt

MOST = 10.0
"""The database's part of a question is at most so many times a SELECT 1."""
ROUNDS = 3
"""Each question is measured so often; what is told is the round in the middle."""
_READ = a_receipt()
_ONE = sa.select(1)


@dataclass(frozen=True, kw_only=True)
class Figures:
    """What was measured of one question, in milliseconds: the lower decile of its turns."""

    question: str
    whole: float
    """With the documents read, as a caller sees it."""
    cpu: float | None
    """CPU time of the whole, here and in the server; None where it cannot be told."""
    select_1: float | None = None
    database: float | None = None
    """Statements and fetching, without the reading of documents."""
    at_most: float | None = None

    @property
    def ratio(self) -> float | None:
        """How many times a ``SELECT 1`` the database's part is."""
        if self.database is None or self.select_1 is None:
            return None
        return self.database / self.select_1

    @property
    def is_good(self) -> bool:
        """Whether it keeps its bar."""
        if self.ratio is not None:
            return self.ratio <= MOST
        return self.at_most is None or self.whole <= self.at_most


class Stopwatch:
    """Asks a store again and again."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store
        self._served = _server_of(store)

    def beside_select_1(self, question: Question, turns: int) -> Figures:
        """Each turn asks both, so that a busy machine slows both."""
        for turn in range(turns):  # so that every page has been looked at once
            self._check(question, question.ask(turn))
        whole, cpu = self._alone(question, turns)
        with _without_reading():
            rounds = [_in_turns((self._select_1, question.ask), turns) for _ in range(ROUNDS)]
        base, database = in_the_middle(rounds)
        return Figures(
            question=question.name, whole=whole, cpu=cpu, select_1=base, database=database
        )

    def alone(self, question: Question, turns: int) -> Figures:
        """A question whose answer is long."""
        self._check(question, question.ask(0))
        whole, cpu = self._alone(question, turns)
        return Figures(question=question.name, whole=whole, cpu=cpu, at_most=question.at_most)

    def _alone(self, question: Question, turns: int) -> tuple[float, float | None]:
        began = self._cpu()
        (whole,) = _in_turns((question.ask,), turns)
        ended = self._cpu()
        cpu = None if began is None or ended is None else (ended - began) / turns
        return whole, cpu

    def _select_1(self, turn: int) -> object:
        return self._store._database.read(lambda connection: connection.execute(_ONE).scalar())

    def _cpu(self) -> float | None:
        """Milliseconds of this process, and of the server's that answers it."""
        ours = time.process_time_ns()
        if self._served is None:
            return ours / 1e6 if self._store.url.startswith("sqlite") else None
        return (ours + int(self._served.read_text().split()[0])) / 1e6

    def _check(self, question: Question, answer: object) -> None:
        if not question.is_answered_by(answer):
            raise AssertionError(f"{question.name}: wanted {question.finds} receipts")


def in_the_middle(rounds: Sequence[Sequence[float]]) -> Sequence[float]:
    """Of an odd number of rounds, each a ``SELECT 1`` and a question: the median by their ratio."""
    return sorted(rounds, key=lambda took: took[1] / took[0])[len(rounds) // 2]


def _server_of(store: SqlStore) -> Path | None:
    """The file that tells the CPU time of the process behind the store's connection, if any."""
    if store.url.startswith("sqlite"):
        return None
    pid = store._database.read(
        lambda connection: connection.execute(sa.select(sa.func.pg_backend_pid())).scalar_one()
    )
    told = Path(f"/proc/{pid}/schedstat")
    try:
        told.read_text()
    except OSError:
        return None
    return told


def _in_turns(asks: tuple[Callable[[int], object], ...], turns: int) -> list[float]:
    """What each takes where nobody else is in the way: the lower decile."""
    took: list[list[float]] = [[] for _ in asks]
    for turn in range(turns):
        for ask, times in zip(asks, took, strict=True):
            began = time.perf_counter_ns()
            ask(turn)
            times.append((time.perf_counter_ns() - began) / 1e6)
    return [sorted(times)[turns // 10] for times in took]


@contextlib.contextmanager
def _without_reading() -> Iterator[None]:
    """Answers are given without what documents say."""
    with contextlib.ExitStack() as stack:
        for place, name, instead in (
            (searching.Stored, "read", lambda row, url: _READ),
            (searching.Stored, "receipt", lambda row, url: _READ),
            (searching, "agrees", lambda *_: True),
            (Batch, "is_same", lambda *_: True),
        ):
            stack.enter_context(mock.patch.object(place, name, instead))
        yield
