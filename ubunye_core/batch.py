"""Which data a run is for: its variables as text, and the batch they make."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date, datetime
from numbers import Integral
from typing import TypeVar

from ubunye_core.errors import ConfigError
from ubunye_core.masking import MASK, comparable_value, is_secret_name
from ubunye_core.times import as_utc, in_iso

NOT_IN_BATCH = frozenset({"mode", "dtf"})
MAX_NAME = 128

_CANONICAL = json.JSONEncoder(sort_keys=True, separators=(",", ":"))

Scalar = str | int | float | bool | None
"""A variable's value as JSON holds it."""
Value = TypeVar("Value")


def text_of(value: object, *, name: str = "value") -> str | None:
    """The text by which a variable is compared; None for null, which is absent.

    Dates are ISO, datetimes UTC ISO with ``Z``, booleans ``true`` and ``false``, integers digits,
    floats as JSON writes them; text stays as it is.

    Raises:
        ConfigError: the value is a list, a map, or anything else that is no single value.
    """
    match value:
        case None:
            return None
        case str():
            return str.__str__(value)  # an enum's own text, not its name
        case bool():
            return "true" if value else "false"
        case Integral():
            try:
                return str(int(value))
            except ValueError as error:  # Python writes no number of thousands of digits
                raise ConfigError(f"The variable '{name}' is too large a number.") from error
        case float():
            if value != value or value in (float("inf"), float("-inf")):
                raise ConfigError(f"The variable '{name}' is not a finite number.")
            return json.dumps(float(value))
        case datetime():
            if value.tzinfo is None:
                raise ConfigError(
                    f"The variable '{name}' is a datetime without a time zone.",
                    hint="Give it a zone, or pass text.",
                )
            try:
                return in_iso(as_utc(value))
            except ValueError as error:
                raise ConfigError(f"The variable '{name}' is not in the calendar.") from error
        case date():
            return value.isoformat()
        case _:
            raise ConfigError(
                f"The variable '{name}' is a {type(value).__name__}; a variable is a single value.",
                hint="Use text, a number, a date, true or false.",
            )


def texts_of(variables: Mapping[str, object] | None) -> dict[str, str]:
    """Variables as an author gives them, as the texts that a receipt keeps; nulls are left out.

    Raises:
        ConfigError: a name or a value cannot be a variable's.
    """
    texts = {}
    for name, value in (_mapping(variables) if variables is not None else {}).items():
        if not isinstance(name, str) or not name or len(name) > MAX_NAME or not name.isprintable():
            raise ConfigError(f"{str(name)[:80]!r} is not a name for a variable.")
        text = text_of(value, name=name)
        if text is not None:
            texts[name] = text
    return texts


def _mapping(variables: Mapping[str, Value]) -> Mapping[str, Value]:
    """Variables, if they are names and values at all."""
    if not isinstance(variables, Mapping):
        raise ConfigError(
            f"'variables' is of type {type(variables).__name__}.",
            hint="Use names and values: {'month': '2026-10'}.",
        )
    return variables


def comparable(variables: Mapping[str, Scalar]) -> dict[str, str]:
    """The variables of a receipt as text: those that are not null, and whose names may be known.

    One that a foreign recorder masked is ``***``: there, and equal to nothing. Of a URL, all but
    its password is compared; one that holds further secrets is ``***`` too.
    """
    texts = {}
    for name, value in variables.items():
        if not isinstance(name, str):
            raise ConfigError(f"{str(name)[:80]!r} is not a name for a variable.")
        text = text_of(value, name=name)
        if text is not None and not is_secret_name(name):
            texts[name] = comparable_value(text)
    return texts


@dataclass(frozen=True)
class Batch:
    """A run's variables less ``mode`` and ``dtf``, compared as text. Secrets are no part of it."""

    pairs: tuple[tuple[str, str], ...] = ()

    @classmethod
    def of(cls, variables: Mapping[str, Scalar]) -> Batch:
        """The batch that these variables make.

        Raises:
            ConfigError: they are no names and values.
        """
        texts = comparable(_mapping(variables))
        return cls(tuple(sorted((n, t) for n, t in texts.items() if n not in NOT_IN_BATCH)))

    @property
    def names(self) -> frozenset[str]:
        """The variables of the batch."""
        return frozenset(name for name, _ in self.pairs)

    def is_same(self, other: Batch) -> bool:
        """Whether both are known to be for the same data; what is masked is never the same."""
        return self == other and all(text != MASK for _, text in self.pairs)

    @property
    def digest(self) -> str:
        """The SHA-256 of the batch as canonical text, 64 hexadecimal digits; equal batches only."""
        text = _CANONICAL.encode(self.as_dict())
        return hashlib.sha256(text.encode()).hexdigest()

    def as_dict(self) -> dict[str, str]:
        """The batch as name and text."""
        return dict(self.pairs)

    def __bool__(self) -> bool:
        """Whether the batch names anything."""
        return bool(self.pairs)

    def __str__(self) -> str:
        return shown(self.as_dict())


def shown(texts: Mapping[str, str]) -> str:
    """Variables for people: ``month=2026-10, region=eu``; long values are cut."""
    if not texts:
        return "(no variables)"
    return ", ".join(f"{_short(name)}={_short(text)}" for name, text in sorted(texts.items()))


def _short(text: str) -> str:
    text = text if text.isprintable() else repr(text)[1:-1]
    return text if len(text) <= 60 else text[:57] + "..."


def agrees(variables: Mapping[str, Scalar], wanted: Mapping[str, str]) -> bool:
    """Whether these variables have, as text, every value that is wanted."""
    if not wanted:
        return True
    texts = comparable(variables)
    asked = {name: comparable_value(text) for name, text in wanted.items()}
    return all(text != MASK and texts.get(name) == text for name, text in asked.items())
