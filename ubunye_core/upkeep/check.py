"""Can this store be listed, read, written and claimed, and what does it promise?"""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ubunye_core.counted import count
from ubunye_core.errors import StoreUnavailableError
from ubunye_core.masking import masked_text
from ubunye_core.questions import Verdict
from ubunye_core.receipt import Receipt
from ubunye_core.stores import Finding, ReceiptStore, Unreadable
from ubunye_core.stores.url import StoreLike, store_of
from ubunye_core.upkeep.reading import Counter, Holdings, Told, holdings

NEEDED = ("list", "read", "write")
"""Where one of these cannot be told, the whole cannot."""


@dataclass(frozen=True, kw_only=True)
class StoreCheck:
    """How a store stands. True only when all is good."""

    url: str
    """Where it is, without secrets."""
    verdict: Verdict
    reason: str
    findings: tuple[Finding, ...]
    tasks: int
    """How many tasks it holds, as far as it could be read; so it is with ``receipts``."""
    receipts: int
    """How many receipts could be read."""
    by_status: Mapping[str, int] = field(default_factory=dict)
    unreadable: tuple[Unreadable, ...] = ()

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PASS


def check_store(
    store: StoreLike = None, *, task: str | None = None, told: Told | None = None
) -> StoreCheck:
    """Read a whole store, and let it examine its own place. Leaves no trace in it.

    Args:
        store: A store or its URL; by default what ``UBUNYE_STORE`` names.
        task: Read only this task, or those that fit this pattern.
        told: Called with the task and the number of receipts read so far.

    Returns:
        ``FAIL`` when something is bad: it cannot be listed, read or written, a receipt is
        damaged, or a promise is missing that other stores keep. ``UNKNOWN`` when it does not tell
        whether it can be written. What a store just does not offer changes nothing.

    Raises:
        ConfigError: an argument is wrong.
        ReceiptNotFoundError: a task is named, and the store holds none such.
    """
    opened = store_of(store)
    content = _Content()
    findings = list(_read(opened, task, content, told))
    seen = {finding.what for finding in findings if finding.good}
    findings += [
        each for each in _examined(opened, findings) if not (each.good and each.what in seen)
    ]
    verdict = _verdict(findings)
    return StoreCheck(
        url=opened.url,
        verdict=verdict,
        reason=_reason(verdict, findings, content),
        findings=tuple(findings),
        tasks=len(content.tasks),
        receipts=sum(content.by_status.values()),
        by_status=dict(sorted(content.by_status.items())),
        unreadable=tuple(content.unreadable),
    )


class _Content:
    """What was read of a store."""

    def __init__(self) -> None:
        self.tasks: tuple[str, ...] = ()
        self.by_status: Tally[str] = Tally()
        self._unreadable: dict[str, Unreadable] = {}

    @property
    def unreadable(self) -> list[Unreadable]:
        """Each place once, also where it could belong to several tasks."""
        return list(self._unreadable.values())

    def add(self, found: Receipt | Unreadable) -> None:
        if isinstance(found, Unreadable):
            self._unreadable[found.where] = found
        else:
            self.by_status[found.status.value] += 1

    def __str__(self) -> str:
        each = ", ".join(f"{n:,} {status}" for status, n in sorted(self.by_status.items()))
        read = (
            f"{count(sum(self.by_status.values()), 'receipt')} of {count(len(self.tasks), 'task')}"
        )
        return f"{read} ({each})" if each else read


def _read(
    store: ReceiptStore, task: str | None, content: _Content, told: Told | None
) -> Iterator[Finding]:
    """List the store and read all of it."""
    try:
        held: Holdings = holdings(store, task)
    except StoreUnavailableError as error:
        yield Finding(what="list", good=False, why=masked_text(str(error)))
        return
    if hasattr(store, "tasks"):
        yield Finding(what="list", good=True, why=f"it holds {count(len(held.tasks), 'task')}")
    else:
        why = "all of it was read for its tasks: it offers no 'tasks', which patterns of tasks need"
        yield Finding(what="list", good=True, why=why)
    content.tasks = held.tasks
    for bad in held.of_no_task:
        content.add(bad)
    counter = Counter(told)
    try:
        for each in held.tasks:
            for found in counter.of(store, each):
                content.add(found)
    except StoreUnavailableError as error:
        why = f"after {count(counter.receipts, 'receipt')}: {masked_text(str(error))}"
        yield Finding(what="read", good=False, why=why)
        return
    bad_ones = len(content.unreadable)
    if bad_ones:
        why = f"{count(bad_ones, 'receipt')} cannot be read"
        if hasattr(store, "repair"):
            why += "; 'ubunye-runs store repair --set-aside' moves what is damaged away"
        yield Finding(what="damage", good=False, why=why)
    yield Finding(
        what="read", good=True, why=str(content) if held.tasks or bad_ones else "it is empty"
    )


def _examined(store: ReceiptStore, read: Sequence[Finding]) -> Iterator[Finding]:
    """What the store tells of itself, and what it does not.

    Args:
        store: The store.
        read: What reading it has found; what one of these says is not said again.
    """
    told: set[str] = set()
    examine = getattr(store, "examine", None)
    try:
        for finding in () if examine is None else examine():
            told.add(finding.what)
            yield finding
    except StoreUnavailableError as error:
        if "write" not in told:
            told.add("write")
            why = masked_text(str(error))
            said = next((each.what for each in read if why in each.why), None)
            yield Finding(what="write", good=None, why=why if said is None else f"see '{said}'")
    if "write" not in told:
        why = "it does not tell (it offers no 'examine'), and nothing was written to find out"
        yield Finding(what="write", good=None, why=why)
    if "claim" not in told:
        why = (
            "it gives them"
            if hasattr(store, "claim")
            else "it gives none, so no run can keep another off the same batch"
        )
        yield Finding(what="claim", good=True if hasattr(store, "claim") else None, why=why)


def _verdict(findings: list[Finding]) -> Verdict:
    if any(finding.good is False for finding in findings):
        return Verdict.FAIL
    told = {finding.what for finding in findings if finding.good}
    return Verdict.PASS if told.issuperset(NEEDED) else Verdict.UNKNOWN


def _reason(verdict: Verdict, findings: list[Finding], content: _Content) -> str:
    if verdict is Verdict.PASS:
        return f"All is good: {content}."
    wanted = False if verdict is Verdict.FAIL else None
    named = [f"{each.what}: {each.why}" for each in findings if each.good is wanted]
    if verdict is Verdict.UNKNOWN:
        named = [text for text in named if text.startswith(NEEDED)]
    return "; ".join(named).rstrip(".") + f". Read: {content}."
