"""Compare a table with what a run has on record of it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ubunye_core.cli.place import Place
from ubunye_core.counted import count
from ubunye_core.errors import ConfigError, ReceiptNotFoundError, UbunyeError
from ubunye_core.hashing import Fingerprint
from ubunye_core.questions import Verdict
from ubunye_core.questions.runs import find_run
from ubunye_core.receipt import Receipt, Step

_METHOD = "rows-v1"
_FILES = frozenset({"arrow-file", "csv", "delta", "parquet"})
"""How rows are read from files, and not from a frame that somebody made."""


class CannotTellError(UbunyeError):
    """Nothing on record can be compared with."""


@dataclass(frozen=True)
class OnRecord:
    """What a run has on record of the table."""

    receipt: Receipt
    step: Step

    @property
    def shown(self) -> str:
        """Which step of which run it is."""
        receipt, step = self.receipt, self.step
        return f"{step.direction} '{step.name}' of run {receipt.run_id} of {receipt.task}"


def find_on_record(
    run: str, path: str, *, place: Place, task: str | None, step: str | None
) -> OnRecord:
    """The step of a run to compare a path with, which has a hash.

    It is the step of this name; else the one of the same location; else the only one with a hash.

    Raises:
        ConfigError: several could be meant, or the run has no such step.
        CannotTellError: there is no such run, or no hash to compare with.
    """
    try:
        receipt = find_run(run, store=place.store, task=task)
    except ReceiptNotFoundError as error:
        raise CannotTellError(str(error)) from None
    found = OnRecord(receipt, _step(receipt, path, step))
    if found.step.data_hash is None:
        why = found.step.hash_error or "none was taken"
        raise CannotTellError(f"The {found.shown} has no data hash: {why.rstrip('.')}.")
    if found.step.hash_method != _METHOD:
        raise CannotTellError(
            f"The hash of the {found.shown} was taken by the method "
            f"'{found.step.hash_method}', which is not {_METHOD}."
        )
    return found


def _step(receipt: Receipt, path: str, name: str | None) -> Step:
    steps = [*receipt.outputs, *receipt.inputs]
    whose = f"Run {receipt.run_id} of {receipt.task}"
    if not steps:
        raise CannotTellError(f"{whose} has nothing on record that it read or wrote.")
    names = ", ".join(dict.fromkeys(step.name for step in steps))
    here = [step for step in steps if _is_same_place(step.location, path)]
    if name is not None:
        fitting = [step for step in steps if step.name == name]
        if not fitting:
            raise ConfigError(f"{whose} has no step '{name}'.", hint=f"It has: {names}.")
        fitting = [step for step in fitting if step in here] or fitting
    else:
        fitting = here or [step for step in steps if step.data_hash is not None]
        if not fitting:
            raise CannotTellError(f"{whose} has no data hash on record.")
    # What was read and written in one place is there as it was written.
    outputs = [step for step in fitting if step.direction == "output"]
    if len(fitting) > 1 and len(outputs) != 1:
        raise ConfigError(
            f"{whose} has several steps that could be meant.",
            hint=f"Say which by --step and its name: {names}.",
        )
    if len(fitting) > 1 and not here and name is None:
        raise ConfigError(
            f"{whose} has several hashes, and none of {path}.",
            hint=f"Say which by --step and its name: {names}.",
        )
    return outputs[0] if len(fitting) > 1 else fitting[0]


def _is_same_place(location: str, path: str) -> bool:
    return bool(location) and (location == path or _resolved(location) == _resolved(path))


def _resolved(location: str) -> str:
    url = urlsplit(location)
    if "://" in location and url.scheme != "file":
        return location
    try:
        return str(Path(unquote(url.path) if "://" in location else location).resolve())
    except (OSError, ValueError):
        return location


@dataclass(frozen=True)
class Moved:
    """Which columns are not as they were."""

    changed: Sequence[str]
    added: Sequence[str]
    gone: Sequence[str]


@dataclass(frozen=True)
class Comparison:
    """A table beside what is on record of it."""

    path: str
    recorded: OnRecord
    found: Fingerprint

    @property
    def is_same(self) -> bool | None:
        """Whether the rows are the same; None where that cannot be told."""
        if self.found.data_hash is None:
            return None
        if self.found.data_hash == self.recorded.step.data_hash:
            return True
        return None if self._may_be_the_reader else False

    @property
    def _may_be_the_reader(self) -> bool:
        """Whether other readers of the same rows can explain all that is known to differ.

        They give other types to columns; and an empty cell, which is text in a CSV file, is a
        null to most readers of it. They change neither names nor the number of rows.
        """
        then, now, moved = self.recorded.step, self.found, self.moved
        if then.route == now.route or then.schema_hash is None:
            return False
        if then.row_count is not None and then.row_count != now.row_count:
            return False
        if moved is not None and (moved.added or moved.gone or not moved.changed):
            return False
        return then.schema_hash != now.schema_hash or "csv" in (then.route, now.route)

    @property
    def verdict(self) -> Verdict:
        """PASS for the same rows, FAIL for others, UNKNOWN where that cannot be told."""
        if self.is_same is None:
            return Verdict.UNKNOWN
        return Verdict.PASS if self.is_same else Verdict.FAIL

    @property
    def moved(self) -> Moved | None:
        """The columns that differ, where both sides have hashes of columns."""
        then, now = self.recorded.step.column_hashes, self.found.column_hashes
        if then is None or now is None:
            return None
        return Moved(
            changed=sorted(name for name in then if name in now and then[name] != now[name]),
            added=sorted(set(now) - set(then)),
            gone=sorted(set(then) - set(now)),
        )

    @property
    def reason(self) -> str:
        """What a person reads."""
        if self.found.data_hash is None:
            return f"{self.path} could not be hashed: {self.found.error}"
        if self.is_same is None:
            return " ".join(self._doubt())
        if self.is_same:
            return f"{self.path} holds the rows of the {self.recorded.shown}."
        told = [f"{self.path} does not hold the rows of the {self.recorded.shown}."]
        return " ".join([*told, *self._differences(), *self._routes()])

    def _doubt(self) -> Iterator[str]:
        step, moved = self.recorded.step, self.moved
        how = (
            "the record does not say how its rows were read"
            if step.route is None
            else f"the rows on record were read as {step.route}, these as {self.found.route}"
        )
        yield (
            f"Whether {self.path} holds the rows of the {self.recorded.shown} cannot be told: "
            f"{how}, and other readers give other types and nulls."
        )
        if moved is not None:
            yield f"Columns with other hashes: {', '.join(moved.changed)}."
        if step.route in _FILES:
            yield "Try: give a file of the kind on record."
        else:
            verb = "read" if step.direction == "input" else "wrote"
            yield f'Try: record the file itself, run.{verb}("{step.name}", "{self.path}").'

    def _differences(self) -> Iterator[str]:
        then, now = self.recorded.step, self.found
        if then.row_count is not None and then.row_count != now.row_count:
            are = "is" if now.row_count == 1 else "are"
            rows = count(now.row_count or 0, "row")
            yield f"There {are} {rows}, and {then.row_count:,} on record."
        moved = self.moved
        if moved is not None:
            yield from _columns(moved)
            return
        if then.schema_hash is not None and then.schema_hash != now.schema_hash:
            yield "Names or types of columns differ."
        elif then.schema_hash is not None and then.row_count == now.row_count:
            yield "Columns, types and the number of rows are the same, so values differ."
        yield "Record with per_column=True, and a comparison names the columns."

    def _routes(self) -> Iterator[str]:
        then, now = self.recorded.step.route, self.found.route
        if then is None:
            yield "The record does not say how its rows were read, which may be why."
        elif then != now:
            yield f"The rows on record were read as {then}, these as {now}, which may be why."


def _columns(moved: Moved) -> Iterator[str]:
    for what, names in (
        ("Changed", moved.changed),
        ("New", moved.added),
        ("Gone", moved.gone),
    ):
        if names:
            yield f"{what}: {', '.join(names)}."
    if moved.added and not moved.changed and not moved.gone:
        yield "With --columns, the columns on record can be compared alone."
    if not (moved.changed or moved.added or moved.gone):
        yield "Each column holds the values it held, in other rows together."


def as_json(comparison: Comparison) -> dict[str, object]:
    """A comparison in the document."""
    step, moved = comparison.recorded.step, comparison.moved
    return {
        "task": comparison.recorded.receipt.task,
        "run_id": comparison.recorded.receipt.run_id,
        "step": step.name,
        "direction": step.direction,
        "location": step.location,
        "route": step.route,
        "data_hash": step.data_hash,
        "schema_hash": step.schema_hash,
        "row_count": step.row_count,
        "same": comparison.is_same,
        "columns": None
        if moved is None
        else {"changed": moved.changed, "added": moved.added, "gone": moved.gone},
    }
