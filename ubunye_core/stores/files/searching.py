"""The answer to a search: which receipts are opened, and when there are enough of them."""

from __future__ import annotations

import heapq
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.files.documents import look
from ubunye_core.stores.files.facts import Facts, TaskFacts
from ubunye_core.stores.files.hints import Hints
from ubunye_core.stores.files.lines import Fact, start_of, wanted_keys
from ubunye_core.stores.files.listing import told_apart
from ubunye_core.stores.files.names import (
    SKEW,
    Candidate,
    HintsFailError,
    begun_since,
    by_date,
    by_hints,
    by_name,
)
from ubunye_core.stores.files.place import Place
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.select import select
from ubunye_core.times import as_utc, microseconds

_MANY = 200
_FEW_SEGMENTS = 2


@dataclass(frozen=True)
class Asked:
    """What a search asks for."""

    status: Status | None = None
    since: datetime | None = None
    batch: Mapping[str, str] | None = None
    limit: int | None = None

    @property
    def is_narrow(self) -> bool:
        """Whether most receipts can be passed over that are known."""
        return self.status is not None or bool(self.batch)

    def fits(self, receipt: Receipt) -> bool:
        """Whether a receipt belongs to the answer, but for the limit."""
        only = select(
            (receipt,), (), status=self.status, since=self.since, batch=self.batch, limit=None
        )
        return bool(only)


@dataclass
class _Answer:
    """The newest that fit, so far; never more than are asked for."""

    asked: Asked
    receipts: list[tuple[tuple[datetime, str, str], Receipt]] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)

    def add(self, receipt: Receipt) -> None:
        if not self.asked.fits(receipt):
            return
        item = ((*receipt.order, receipt.task), receipt)
        if self.is_full:
            heapq.heappushpop(self.receipts, item)
        else:
            heapq.heappush(self.receipts, item)

    @property
    def is_full(self) -> bool:
        return self.asked.limit is not None and len(self.receipts) >= self.asked.limit

    def is_beyond(self, newest: int) -> bool:
        """Whether a run that began at this instant at the latest is too old to belong here."""
        if self.asked.since is not None and newest < microseconds(self.asked.since):
            return True
        return self.is_full and newest < microseconds(self.receipts[0][1].started_at)

    def found(self) -> Found:
        return select(
            (receipt for _, receipt in self.receipts),
            self.unreadable,
            status=self.asked.status,
            since=self.asked.since,
            batch=self.asked.batch,
            limit=self.asked.limit,
        )


class Search:
    """One search in a store, for the receipts of one or several tasks."""

    def __init__(self, place: Place, facts: Facts, asked: Asked) -> None:
        since = None if asked.since is None else as_utc(asked.since)
        status = None if asked.status is None else Status(asked.status)
        self._asked = Asked(status, since, asked.batch, asked.limit)
        self._place, self._facts = place, facts
        self._keys = wanted_keys(asked.batch) if asked.batch else []

    def among(self, tasks: Iterable[str]) -> Found:
        """The answer for these tasks."""
        answer = _Answer(self._asked)
        if self._asked.limit is not None and self._asked.limit < 1:
            self._place.check_root()
            return answer.found()
        for task in tasks:
            answer = self._with(task, answer)
        return answer.found()

    def _with(self, task: str, answer: _Answer) -> _Answer:
        """The answer with the receipts of one more task."""
        facts = self._facts.of(task)
        hints = facts.hints
        if _all_ended_before(self._asked.since, hints):
            return answer
        before = list(answer.receipts), list(answer.unreadable)
        if self._asked.limit is not None or self._asked.since is not None:
            quick = by_hints(hints, self._asked.limit)
            try:
                if quick is not None:
                    self._look_at(task, hints, quick, facts, answer, is_quick=True)
                    return answer
            except HintsFailError:
                answer = _Answer(self._asked, list(before[0]), list(before[1]))
        if self._by_listing(task, hints, facts, answer, trust_dates=True):
            return answer
        answer = _Answer(self._asked, list(before[0]), list(before[1]))
        self._by_listing(task, hints, facts, answer, trust_dates=False)
        return answer

    def _by_listing(
        self, task: str, hints: Hints, facts: TaskFacts, answer: _Answer, *, trust_dates: bool
    ) -> bool:
        """Look at what the folder holds. False if the dates of its files cannot be trusted."""
        few = self._asked.limit is not None
        listing = told_apart(self._place.entries(hints.folder))
        if (self._asked.is_narrow and not few) or len(listing.others) > _MANY:
            facts.load()
        showing: Sequence[bytes] = listing.showing
        if self._asked.is_narrow and not few:
            showing = begun_since(showing, self._asked.since)
            showing = list(facts.left(showing, self._asked.status, self._keys))
        dated, trusted = by_date(listing.others, hints.folder, facts, trust_dates=trust_dates)
        if trust_dates and not trusted:
            return False
        candidates = heapq.merge(
            by_name(showing, self._asked.since, few),
            dated,
            key=lambda each: each.newest,
            reverse=True,
        )
        return self._look_at(
            task, hints, candidates, facts, answer, is_quick=False, trust_dates=trust_dates
        )

    def _look_at(
        self,
        task: str,
        hints: Hints,
        candidates: Iterator[Candidate],
        facts: TaskFacts,
        answer: _Answer,
        *,
        is_quick: bool,
        trust_dates: bool = True,
    ) -> bool:
        """Open what may belong to the answer.

        Where dates are trusted, False as soon as a run is newer than its file: they may not be.
        """
        folder, skipping = str(hints.folder), _Skipping(self._asked, self._keys, facts)
        few = is_quick or self._asked.limit is not None
        for each in candidates:
            if answer.is_beyond(each.newest):
                break
            path = f"{folder}/{each.name}"
            if self._asked.is_narrow and skipping.passes_over(each, path, few=few):
                continue
            seen, found = look(path, task)
            if isinstance(seen, Receipt) and found is not None:
                if self._asked.is_narrow or not (few or self._asked.since):
                    facts.learn(seen, found)
                dated = found.st_mtime_ns // 1_000 + SKEW
                is_newer = not each.shows_start and microseconds(seen.started_at) > dated
                if is_newer and trust_dates:
                    return False
                answer.add(seen)
            elif isinstance(seen, Unreadable):
                answer.unreadable.append(seen)
        return True


def _all_ended_before(since: datetime | None, hints: Hints) -> bool:
    """Whether all runs of a task are known to have ended, the newest of which began earlier."""
    if since is None or hints.state().open_runs != frozenset():
        return False
    now = hints.now()
    if now is None or now.running or now.newest is None:
        return False
    return start_of(now.newest)[0] < microseconds(since)


class _Skipping:
    """Which receipts need not be opened, because it is known that they do not fit."""

    def __init__(self, asked: Asked, keys: list[str] | None, facts: TaskFacts) -> None:
        self._asked, self._keys, self._facts = asked, keys, facts
        self._segments_left = _FEW_SEGMENTS

    def passes_over(self, each: Candidate, path: str, *, few: bool) -> bool:
        """Whether the run of this file has ended, and does not fit."""
        fact = self._facts.get(each.run_id)
        found = each.found
        try:
            found = found or os.stat(path)
        except OSError:
            return False  # who opens it sees why
        if fact is None or not fact.is_of(found):
            if not self._load_more(few):
                return False
            fact = self._facts.get(each.run_id)
            if fact is None or not fact.is_of(found):
                return False
            self._segments_left = _FEW_SEGMENTS
        return not self._may_fit(fact)

    def _may_fit(self, fact: Fact) -> bool:
        return self._keys is not None and fact.may_fit(self._asked.status, self._keys)

    def _load_more(self, few: bool) -> bool:
        """Read further facts: what was added since, and while few are wanted, an older segment."""
        if self._segments_left <= 0:
            return False
        self._segments_left -= 1
        if self._facts.load(1):
            return True
        return few and self._facts.load_older()
