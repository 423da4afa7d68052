"""The runs of a task for its windows: the many successes in short, and all others whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ubunye_core.batch import comparable
from ubunye_core.columns import Columns
from ubunye_core.masking import MASK
from ubunye_core.questions.answer import Moment, view
from ubunye_core.receipt import Receipt
from ubunye_core.stores.protocol import ReceiptStore, Unreadable
from ubunye_core.stores.successes import Named, Success, Successes, Summaries, Summed, in_short
from ubunye_core.times import microseconds

Run = Receipt | Success
NONE = -1
"""Where no run stands."""


@dataclass(frozen=True)
class RunsSeen:
    """The runs that a question sees at one instant, in no order, and what is unreadable."""

    successes: Successes
    others: tuple[Receipt, ...]
    unreadable: tuple[Unreadable, ...] = ()

    def __getitem__(self, at: int) -> Run:
        """The run at a place: the successes come first."""
        number = len(self.successes)
        return self.successes[at] if at < number else self.others[at - number]


class RunsByWindow(Columns[Sequence[Run]]):
    """The runs for each window, newest first: nearly always one.

    They stand there by their places among the runs that were seen.
    """

    def __init__(self, windows: int, seen: RunsSeen) -> None:
        self.seen = seen
        self.first: list[int] = [NONE] * windows
        """One run for each window, or ``NONE``; where there are several, they stand there."""
        self.several: dict[int, list[int]] = {}

    def add(self, at: int, run: int) -> None:
        """That the run at a place is for the window at this place."""
        first = self.first[at]
        if first == NONE:
            self.first[at] = run
        else:
            self.several.setdefault(at, [first]).append(run)

    def _row(self, at: int) -> Sequence[Run]:
        first = self.first[at]
        if first == NONE:
            return ()
        places = self.several.get(at % len(self), (first,))
        runs = [self.seen[place] for place in places]
        runs.sort(key=_order, reverse=True)
        return runs

    def __len__(self) -> int:
        return len(self.first)

    @property
    def has_any(self) -> bool:
        """Whether there is a run for any of the windows."""
        return any(run != NONE for run in self.first)


def _order(run: Run) -> tuple[datetime, str]:
    return (run.started_at, run.run_id)


def runs_since(
    task: str,
    since: datetime,
    store: ReceiptStore,
    moment: Moment,
    *,
    variables: Mapping[Named, object],
    rows: bool,
) -> RunsSeen:
    """The runs of a task that started at an instant or later, as they looked.

    Args:
        task: The task.
        since: The instant.
        store: Where they are.
        moment: When they are looked at.
        variables: By which variables runs are for a window that do not say their own.
        rows: Whether it is asked how many rows they wrote.

    Raises:
        StoreUnavailableError: the store cannot answer now.
    """
    asked = Summed(since=since, until=moment.now, variables=variables, rows=rows)
    tell: Callable[[str, Summed], Summaries] | None = getattr(store, "summaries", None)
    known = None if tell is None else tell(task, asked)
    found = in_short(store.search(task, since=since), asked) if known is None else known
    seen = view(found.others, found.others.unreadable, moment)
    return RunsSeen(Successes.of(found.successes), seen.receipts, seen.unreadable)


def span_of(run: Receipt) -> tuple[int, int] | tuple[None, None]:
    """Where the data begins that a run says it is for, and where it ends, in microseconds."""
    window = run.window
    return (
        (None, None) if window is None else (microseconds(window.start), microseconds(window.end))
    )


def named_by(run: Receipt) -> Sequence[Named]:
    """The variables of a run that may name a window."""
    return tuple(pair for pair in comparable(run.variables).items() if pair[1] != MASK)
