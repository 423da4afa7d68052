"""Two runs of a task side by side: their fields, and whether they read and wrote the same rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from ubunye_core.codec import as_json
from ubunye_core.masking import MASK
from ubunye_core.receipt import Json, Receipt, Step
from ubunye_core.web.shown import MOST_ROWS, flat

Same = Literal["same", "different", "cannot be told"]
_BY_THEMSELVES = frozenset({"inputs", "outputs"})
_ALWAYS_DIFFER = frozenset({"run_id", "started_at", "ended_at", "duration_sec"})


@dataclass(frozen=True)
class Field:
    """One field of two receipts, as texts; None where one does not have it."""

    name: str
    first: str | None
    second: str | None
    same: Same


@dataclass(frozen=True)
class Data:
    """One input or output of two runs."""

    direction: str
    name: str
    first: Step | None
    second: Step | None
    same: Same
    why: str


@dataclass(frozen=True)
class Comparison:
    """What is the same in two receipts, and what is not."""

    data: tuple[Data, ...]
    fields: tuple[Field, ...]
    """Those that differ first; ids and times, which always do, are not among them."""
    more: int = 0
    """How many fields are not shown."""

    @property
    def differing(self) -> tuple[Field, ...]:
        """The fields that differ, or may."""
        return tuple(field for field in self.fields if field.same != "same")

    @property
    def same(self) -> tuple[Field, ...]:
        """The fields that do not."""
        return tuple(field for field in self.fields if field.same == "same")


def compare(first: Receipt, second: Receipt) -> Comparison:
    """Compare two receipts that are masked: what is hidden in both may differ."""
    one, other = _fields(first), _fields(second)
    found = []
    for name in sorted(one.keys() | other.keys()):
        texts = one.get(name), other.get(name)
        found.append(Field(name, *texts, _same_text(*texts)))
    found.sort(key=lambda field: field.same == "same")
    data = [
        *_data("input", first.inputs, second.inputs),
        *_data("output", first.outputs, second.outputs),
    ]
    few = found[:MOST_ROWS]
    return Comparison(tuple(data[:MOST_ROWS]), tuple(few), len(found) - len(few))


def _fields(receipt: Receipt) -> dict[str, str]:
    document: Json = {
        name: value
        for name, value in as_json(receipt).items()
        if name not in _BY_THEMSELVES | _ALWAYS_DIFFER and value not in (None, [], {})
    }
    return dict(flat(document)) if document else {}


def _same_text(first: str | None, second: str | None) -> Same:
    if first != second:
        return "different"
    return "cannot be told" if first is not None and MASK in first else "same"


def _data(direction: str, first: Sequence[Step], second: Sequence[Step]) -> list[Data]:
    """The inputs or outputs of two runs, by their names; of one name, in their order."""
    left, right = _by_name(first), _by_name(second)
    return [
        Data(direction, key[0], one, other, *_same_rows(one, other))
        for key in dict.fromkeys([*left, *right])
        for one, other in [(left.get(key), right.get(key))]
    ]


def _by_name(steps: Sequence[Step]) -> dict[tuple[str, int], Step]:
    found: dict[tuple[str, int], Step] = {}
    seen: Counter[str] = Counter()
    for step in steps:
        found[step.name, seen[step.name]] = step
        seen[step.name] += 1
    return found


def _same_rows(first: Step | None, second: Step | None) -> tuple[Same, str]:
    """Whether two steps are of the same rows, and how that is known."""
    if first is None or second is None:
        return "different", f"only in run {'B' if first is None else 'A'}"
    counts = (first.row_count, second.row_count)
    if None not in counts and first.row_count != second.row_count:
        return "different", "another number of rows"
    for run, step in (("A", first), ("B", second)):
        if step.data_hash is None:
            return "cannot be told", f"run {run} has no data hash"
    if first.hash_method != second.hash_method:
        return "cannot be told", "hashed by two methods"
    if first.data_hash == second.data_hash:
        return "same", "equal data hashes"
    if first.schema_hash != second.schema_hash:
        return "different", "other data and another schema"
    return "different", "other data hashes"
