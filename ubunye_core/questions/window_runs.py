"""The runs of a task for its windows: the many successes in short, and all others whole."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ubunye_core.batch import comparable
from ubunye_core.masking import MASK
from ubunye_core.questions.answer import Moment, view
from ubunye_core.receipt import Receipt
from ubunye_core.stores.protocol import ReceiptStore, Unreadable
from ubunye_core.stores.successes import Named, Success, Summaries, Summed, in_short

Run = Receipt | Success


@dataclass(frozen=True)
class RunsSeen:
    """The runs that a question sees at one instant, in no order, and what is unreadable."""

    successes: Sequence[Success]
    others: tuple[Receipt, ...]
    unreadable: tuple[Unreadable, ...]


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
    return RunsSeen(found.successes, seen.receipts, seen.unreadable)


def window_of(run: Run) -> tuple[datetime, datetime] | None:
    """The window that a run says it is for."""
    if isinstance(run, Success):
        return run.window
    return None if run.window is None else (run.window.start, run.window.end)


def named_by(run: Run) -> Sequence[Named]:
    """The variables of a run, or at least those that may name a window."""
    if isinstance(run, Success):
        return run.named
    return tuple(pair for pair in comparable(run.variables).items() if pair[1] != MASK)
