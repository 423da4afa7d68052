"""What every question returns: a verdict, a reason a person can act on, and what was unreadable."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from enum import StrEnum

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.receipt import Receipt, Status
from ubunye_core.runids import time_in
from ubunye_core.stores.protocol import ReceiptStore, Unreadable
from ubunye_core.times import instant, to_the_second, utc_now

CLOCK_SKEW = timedelta(minutes=5)
"""How far the clocks of two machines may differ before a receipt is not believed."""

LONGEST_QUOTE = 300
MEND = (
    "Try: repair it, or move it out of the store by 'ubunye-runs store repair STORE --set-aside'."
)
"""What to do about a receipt that cannot be read."""


class Verdict(StrEnum):
    """The answer in one word. True only when it is ``PASS``."""

    PASS = "PASS"
    FAIL = "FAIL"
    UNKNOWN = "UNKNOWN"

    def __bool__(self) -> bool:
        return self is Verdict.PASS


def together(verdicts: Iterable[Verdict]) -> Verdict:
    """Several verdicts as one: ``FAIL`` beats ``UNKNOWN`` beats ``PASS``."""
    found = set(verdicts)
    for verdict in (Verdict.FAIL, Verdict.UNKNOWN):
        if verdict in found:
            return verdict
    return Verdict.PASS if found else Verdict.UNKNOWN


@dataclass(frozen=True)
class Moment:
    """The instant a question is asked for, and the clock by which a time is impossible."""

    now: datetime
    clock: datetime

    @classmethod
    def of(cls, now: datetime | str | None) -> Moment:
        """The front door's ``now``, resolved once. None is the clock; the past, an as-of view."""
        clock = utc_now()
        return cls(clock if now is None else instant(now, what="now"), clock)

    def hides(self, receipt: Receipt) -> bool:
        """Whether the run started later than the instant asked for."""
        return receipt.started_at > self.now + CLOCK_SKEW

    def is_impossible(self, receipt: Receipt) -> bool:
        """Whether the run claims a start or an end that no clock has reached."""
        return max(receipt.started_at, receipt.finished_at) > self._horizon

    def as_it_looked(self, receipt: Receipt) -> Receipt:
        """The receipt as it stood at this instant: a run that ended later was still running.

        It was alive until it wrote its own end; what a third party ended had fallen silent. A
        sign of life from the future is none.
        """
        if receipt.heartbeat_at is not None and receipt.heartbeat_at > self._horizon:
            receipt = replace(receipt, heartbeat_at=None)
        if not receipt.status.is_final or receipt.finished_at <= self.now + CLOCK_SKEW:
            return receipt
        return replace(
            receipt,
            status=Status.RUNNING,
            ended_at=None,
            heartbeat_at=receipt.heartbeat_at if receipt.ended_by else receipt.finished_at,
            ended_by=None,
            error=None,
            outcome=None,
        )

    @property
    def _horizon(self) -> datetime:
        return max(self.now, self.clock) + CLOCK_SKEW


@dataclass(frozen=True)
class View:
    """The receipts that a question sees at one instant, newest first."""

    receipts: tuple[Receipt, ...]
    unreadable: tuple[Unreadable, ...]


def view(receipts: Sequence[Receipt], unreadable: Iterable[Unreadable], moment: Moment) -> View:
    """What had started by this instant. A receipt from the future counts as unreadable."""
    seen, doubtful = [], list(unreadable)
    for receipt in receipts:
        if moment.is_impossible(receipt):
            doubtful.append(in_the_future(receipt))
        elif not moment.hides(receipt):
            seen.append(moment.as_it_looked(receipt))
    late = moment.now + CLOCK_SKEW
    return View(
        tuple(seen),
        tuple(
            bad
            for bad in doubtful
            if bad.started_at is None or bad.started_at <= late or bad.started_at > moment.clock
        ),
    )


def in_the_future(receipt: Receipt) -> Unreadable:
    """A receipt with a time that no clock has reached; when it began, only its id may show."""
    latest = max(receipt.started_at, receipt.finished_at)
    return Unreadable(
        where=f"{receipt.task} run {receipt.run_id}",
        why=f"it is from the future ({to_the_second(latest)}): a clock is wrong",
        task=receipt.task,
        started_at=time_in(receipt.run_id),
    )


def unavailable(store: ReceiptStore, error: StoreUnavailableError) -> Unreadable:
    """The whole store, as the place that could not be read."""
    return Unreadable(where=store.url, why=str(error))


def named(unreadable: Sequence[Unreadable]) -> str:
    """The first unreadable place for a sentence, and how many more there are."""
    if not unreadable:
        return ""
    more = f" (and {len(unreadable) - 1} more)" if len(unreadable) > 1 else ""
    return f"{unreadable[0].where}: {unreadable[0].why}{more}"


def one_line(text: str) -> str:
    """What a recorder wrote, for a sentence: its first line, short and harmless to print."""
    lines = text.strip().splitlines() or [""]
    line = "".join(char if char.isprintable() else "?" for char in lines[0])
    return line.rstrip(".") if len(line) <= LONGEST_QUOTE else line[: LONGEST_QUOTE - 1] + "…"


def how_it_stands(receipt: Receipt) -> str:
    """A run for a sentence: its id, how it stands, since when."""
    when = (
        f"running since {to_the_second(receipt.started_at)}"
        if not receipt.status.is_final
        else f"{receipt.status} at {to_the_second(receipt.finished_at)}"
    )
    refused = " (refused by its gate)" if receipt.was_refused else ""
    return f"{receipt.run_id} ({when}){refused}"
