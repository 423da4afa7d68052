"""Which runs are on record, who or what started them, and why?"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from fnmatch import fnmatchcase

from ubunye_core.questions.answer import Moment, view
from ubunye_core.questions.tasks import known_tasks, tasks_named
from ubunye_core.receipt import Receipt, Status, TriggerKind
from ubunye_core.stores.protocol import Found, ReceiptStore, Unreadable
from ubunye_core.stores.select import select


@dataclass(frozen=True, kw_only=True)
class StartedBy:
    """Who or what started a run, as it is asked for; None asks for nothing."""

    kind: TriggerKind | None = None
    actor: str | None = None
    """The whole name, in any case; ``*`` stands for any text and ``?`` for one character."""
    reason: str | None = None
    """A part of the reason, in any case."""

    def __bool__(self) -> bool:
        return (self.kind, self.actor, self.reason) != (None, None, None)

    def fits(self, run: Receipt) -> bool:
        """Whether a run was started so. One that does not say who started it never was."""
        by = run.triggered_by
        if by is None:
            return not self
        if self.kind not in (None, by.kind):
            return False
        if self.actor is not None and not _is_named(by.actor, self.actor):
            return False
        return self.reason is None or self.reason.casefold() in (by.reason or "").casefold()


def _is_named(actor: str | None, wanted: str) -> bool:
    # "[" stands for itself: bots are named so.
    pattern = wanted.casefold().replace("[", "[[]")
    return actor is not None and fnmatchcase(actor.casefold(), pattern)


@dataclass(frozen=True)
class SearchedRuns:
    """What a search found."""

    found: Found
    """The newest runs that fit, and what could be among them and is unreadable."""
    untold: int = 0
    """How many runs would fit, if only they said who or what started them."""


def search_runs(
    tasks: Sequence[str] = (),
    *,
    store: ReceiptStore,
    status: Status | None = None,
    since: datetime | None = None,
    batch: Mapping[str, str] | None = None,
    started_by: StartedBy | None = None,
    limit: int = 20,
    now: datetime | str | None = None,
    told: Callable[[str, int], None] | None = None,
) -> SearchedRuns:
    """The newest runs that fit everything given.

    Args:
        tasks: Tasks and patterns; none are all.
        store: Where the receipts are.
        status: How they stand.
        since: Only those that started at this instant or later.
        batch: Variables as text that they have.
        started_by: Who or what started them. Every run of the tasks is read for this.
        limit: At most so many.
        now: The instant to answer for: a run that started later is left out, one that ended later
            was still running. Every run is read for this, too. None is the clock.
        told: Told the task and how many runs have been read, where every run is.

    Raises:
        ConfigError: a name is none, or the store cannot list its tasks.
        StoreUnavailableError: the store cannot answer now.
    """
    named = _named(tasks, store)
    by, moment = started_by or StartedBy(), None if now is None else Moment.of(now)
    tell = told or (lambda task, number: None)
    read = 0
    receipts: list[Receipt] = []
    unreadable: dict[tuple[str, str], Unreadable] = {}
    untold = 0
    for task in named:
        if moment is not None:
            looked = _as_of(moment, _every(task, store, None, since, batch), status)
        elif by:
            looked = _every(task, store, status, since, batch)
        else:
            looked = _of(store.search(task, status, since, batch=batch, limit=limit))
        for each in looked:
            read += 1
            tell(task or "all tasks", read)
            if isinstance(each, Unreadable):
                unreadable[each.where, each.why] = each
            elif by.fits(each):
                receipts.append(each)
            else:
                untold += each.triggered_by is None
    return SearchedRuns(select(receipts, unreadable.values(), limit=limit), untold)


def _named(tasks: Sequence[str], store: ReceiptStore) -> list[str | None]:
    """The tasks that names and patterns stand for, each once; None stands for all at once."""
    if not tasks:
        known = known_tasks(store)
        return [*known] if known else [None]
    return [*tasks_named(tasks, store=store)]


def _every(
    task: str | None,
    store: ReceiptStore,
    status: Status | None,
    since: datetime | None,
    batch: Mapping[str, str] | None,
) -> Iterator[Receipt | Unreadable]:
    """All runs of a task that fit; one by one where the store can, for there may be many."""
    scan: Callable[[str], Iterator[Receipt | Unreadable]] | None = getattr(store, "scan", None)
    if scan is None or task is None or since is not None:
        yield from _of(store.search(task, status, since, batch=batch))
        return
    for each in scan(task):
        if isinstance(each, Unreadable):
            yield each
        else:
            yield from select([each], (), status=status, batch=batch)


def _as_of(
    moment: Moment, runs: Iterable[Receipt | Unreadable], status: Status | None
) -> Iterator[Receipt | Unreadable]:
    """The runs as they stood at an instant, of those only that stood so."""
    for each in runs:
        seen = view([each], (), moment) if isinstance(each, Receipt) else view((), [each], moment)
        yield from (run for run in seen.receipts if status in (None, run.status))
        yield from seen.unreadable


def _of(found: Found) -> Iterator[Receipt | Unreadable]:
    yield from found
    yield from found.unreadable
