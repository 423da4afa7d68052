"""What the pages show of a receipt, as texts: a line of a list, its facts, what it read and wrote.

Every receipt that comes here is masked already (``masked``).
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ubunye_core.batch import Scalar
from ubunye_core.codec import as_json
from ubunye_core.questions.telling import (
    came_through,
    more_of,
    period,
    ran_on,
    recorded_by,
    scheduler,
    started_by,
    took,
    why_of,
)
from ubunye_core.receipt import Expectation, Json, Receipt, Step, TriggeredBy
from ubunye_core.times import in_iso, in_words

MOST_ROWS = 500
"""So many inputs, outputs and the like are shown of one receipt; the JSON has all."""
LONGEST_IN_A_LIST = 300
MOST_JSON = 500_000
"""A receipt with more characters than this as JSON is not shown so."""


@dataclass(frozen=True)
class Fact:
    """One thing that a receipt says."""

    name: str
    text: str
    link: str | None = None
    is_code: bool = False
    """Whether it is a hash or an id, to be read letter by letter."""


@dataclass(frozen=True)
class Rows:
    """A table: its title, its heads, its lines, and how many more there are."""

    title: str
    heads: tuple[str, ...]
    lines: tuple[tuple[str, ...], ...]
    more: int = 0

    @classmethod
    def of(cls, title: str, heads: Sequence[str], lines: Sequence[Sequence[str]]) -> Rows:
        """The first lines of a table."""
        few = tuple(tuple(line) for line in lines[:MOST_ROWS])
        return cls(title, tuple(heads), few, len(lines) - len(few))


def facts(receipt: Receipt) -> list[Fact]:
    """What a receipt says, less its tables; what it does not say is left out."""
    return [fact for fact in _facts(receipt) if fact.text]


def tables(receipt: Receipt) -> list[Rows]:
    """The tables of a receipt that hold something."""
    found = (
        _steps("Inputs", receipt.inputs),
        _steps("Outputs", receipt.outputs),
        Rows.of("Expectations", ("rule", "held", "more"), _expectations(receipt.expectations)),
        Rows.of(
            "Overrides",
            ("argument", "usual", "given"),
            [(each.name, each.usual or "-", each.given or "-") for each in receipt.overrides],
        ),
        Rows.of(
            "Timings",
            ("step", "took"),
            [(each.step, f"{each.seconds:g} s") for each in receipt.timings],
        ),
        Rows.of("Environment", ("name", "value"), _environment(receipt)),
        Rows.of("Fields that this version does not know", ("field", "value"), _unknown(receipt)),
    )
    return [table for table in found if table.lines]


def as_text(receipt: Receipt) -> str | None:
    """The whole receipt as JSON; None where that is too long for a page."""
    text = json.dumps(as_json(receipt), indent=2, ensure_ascii=False)
    return text if len(text) <= MOST_JSON else None


def _who(by: TriggeredBy | None) -> str:
    """Who or what started a run, and who vouches for it."""
    vouched = f" (says {by.asserted_by})" if by is not None and by.asserted_by else ""
    return f"{started_by(by)}{vouched}"


def rows_of(steps: Sequence[Step]) -> str:
    """How many rows were read or written, where each step says so."""
    counts = [step.row_count for step in steps]
    known = [count for count in counts if count is not None]
    return f"{sum(known):,}" if known and len(known) == len(counts) else ""


def brief(text: str) -> str:
    """A text for a line of a list; its receipt's own page has it in full."""
    return text if len(text) <= LONGEST_IN_A_LIST else f"{text[: LONGEST_IN_A_LIST - 1]}…"


def flat(value: Json, place: str = "") -> Iterator[tuple[str, str]]:
    """Every value of a document, by its place: ``inputs[0].rows``."""
    if isinstance(value, dict) and value:
        for name, each in value.items():
            yield from flat(each, f"{place}.{name}" if place else str(name))
    elif isinstance(value, list) and value:
        for number, each in enumerate(value):
            yield from flat(each, f"{place}[{number}]")
    else:
        yield place, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def outside_link(url: str | None) -> str | None:
    """An address that may be followed; nothing but the web can be."""
    return url if url is not None and url.lower().startswith(("https://", "http://")) else None


def ago(moment: datetime | None, now: datetime) -> str:
    """How long ago that was, for people."""
    if moment is None:
        return ""
    if moment > now:
        return f"in {in_words(moment - now)}"
    return f"{in_words(now - moment)} ago"


def _facts(receipt: Receipt) -> Iterator[Fact]:
    orchestrator = receipt.orchestrator
    yield Fact("ended by", receipt.ended_by or "")
    batch = receipt.batch
    yield Fact("batch", _texts(batch.as_dict()) or "none named")
    yield Fact(
        "not in batch", _texts({n: v for n, v in receipt.variables.items() if n not in batch.names})
    )
    yield Fact("window", period(receipt) or "none")
    yield Fact("started", in_iso(receipt.started_at))
    yield Fact("ended", "" if receipt.ended_at is None else in_iso(receipt.ended_at))
    yield Fact("took", took(receipt))
    if not receipt.status.is_final and receipt.heartbeat_at is not None:
        yield Fact("last heartbeat", in_iso(receipt.heartbeat_at))
    yield Fact("triggered by", _who(receipt.triggered_by) or "not recorded")
    yield Fact("why", why_of(receipt))
    yield Fact("rows", came_through(receipt.counts, form=","))
    yield Fact("orchestrator", scheduler(orchestrator))
    if orchestrator is not None and orchestrator.url:
        yield Fact("link", orchestrator.url, outside_link(orchestrator.url))
    yield Fact("ran on", ran_on(receipt))
    yield Fact("time zone", receipt.time_zone or "")
    yield Fact("code hash", receipt.code_hash or "", is_code=True)
    yield Fact("config hash", receipt.config_hash or "", is_code=True)
    yield Fact("environment hash", receipt.environment_hash or "", is_code=True)
    yield Fact("recorded by", recorded_by(receipt))


def _texts(variables: Mapping[str, Scalar]) -> str:
    """Variables in full."""
    return ", ".join(f"{name}={value}" for name, value in sorted(variables.items()))


def _steps(title: str, steps: Sequence[Step]) -> Rows:
    heads = ("name", "rows", "data hash", "method", "schema hash", "format", "location")
    return Rows.of(
        title,
        heads,
        [
            (
                step.name,
                "-" if step.row_count is None else f"{step.row_count:,}",
                step.data_hash or (f"none: {step.hash_error}" if step.hash_error else "-"),
                step.hash_method or "-",
                step.schema_hash or "-",
                step.format or "-",
                step.location or "-",
            )
            for step in steps
        ],
    )


def _environment(receipt: Receipt) -> list[tuple[str, str]]:
    return list(flat(dict(receipt.environment))) if receipt.environment else []


def _expectations(rules: Sequence[Expectation]) -> list[tuple[str, ...]]:
    held = {True: "yes", False: "NO", None: "not checked"}
    return [(each.rule, held[each.passed], more_of(each)) for each in rules]


def _unknown(receipt: Receipt) -> list[tuple[str, str]]:
    """The fields that nobody here knows, of the receipt and of its parts, by their places."""
    found = list(flat(dict(receipt.extra))) if receipt.extra else []
    for name in ("window", "triggered_by", "orchestrator", "counts", "recorder"):
        extra = getattr(getattr(receipt, name), "extra", None)
        found += flat(dict(extra), name) if extra else []
    for name in ("inputs", "outputs", "upstreams", "overrides", "timings"):
        for number, part in enumerate(getattr(receipt, name)):
            found += flat(dict(part.extra), f"{name}[{number}]") if part.extra else []
    return found
