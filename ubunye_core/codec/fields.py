"""Reading JSON objects field by field, with the type that each must have."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime

from ubunye_core.batch import Scalar, text_of
from ubunye_core.receipt import Json
from ubunye_core.times import parse_instant


class WrongFieldError(Exception):
    """A field is missing or has the wrong type; the text says which, and shows no value."""


class Fields:
    """The fields of one JSON object. Remembers which were asked for: the others are the rest."""

    __slots__ = ("_asked", "_document", "_place")

    def __init__(self, document: dict[str, Json], place: str = "") -> None:
        self._document, self._place = document, place
        self._asked: set[str] = set()

    def _get(self, name: str) -> Json:
        self._asked.add(name)
        return self._document.get(name)

    def _wrong(self, name: str, wanted: str) -> WrongFieldError:
        found = self._document.get(name)
        if found is None:
            return WrongFieldError(f"'{self._place}{name}' is missing")
        return WrongFieldError(f"'{self._place}{name}' is {_kind(found)}, not {wanted}")

    def rest(self) -> dict[str, Json]:
        """The fields that nobody asked for."""
        return {name: v for name, v in self._document.items() if name not in self._asked}

    def optional_text(self, name: str) -> str | None:
        """A text, or None where the field is absent or null."""
        self._asked.add(name)  # most fields are texts, so this is done here
        found = self._document.get(name)
        if found is not None and not isinstance(found, str):
            raise self._wrong(name, "text")
        return found

    def text(self, name: str) -> str:
        """A text that must be there."""
        found = self.optional_text(name)
        if found is None:
            raise self._wrong(name, "text")
        return found

    def one_of(self, name: str, known: Collection[str]) -> str:
        """A text that must be one of those known."""
        found = self.text(name)
        if found not in known:
            raise WrongFieldError(f"'{self._place}{name}' is none of {', '.join(known)}")
        return found

    def optional_integer(self, name: str) -> int | None:
        """A whole number, or None."""
        found = self._get(name)
        if found is None:
            return None
        if isinstance(found, float) and found.is_integer():
            return int(found)
        if not isinstance(found, int) or isinstance(found, bool):
            raise self._wrong(name, "a whole number")
        return found

    def optional_number(self, name: str) -> float | None:
        """A number, or None."""
        found = self._get(name)
        if found is None:
            return None
        if not isinstance(found, int | float) or isinstance(found, bool):
            raise self._wrong(name, "a number")
        try:
            return float(found)
        except OverflowError:
            raise self._wrong(name, "a number of this size") from None

    def optional_boolean(self, name: str) -> bool | None:
        """True, false, or None."""
        found = self._get(name)
        if found is not None and not isinstance(found, bool):
            raise self._wrong(name, "true or false")
        return found

    def optional_instant(self, name: str) -> datetime | None:
        """A point in time with its zone, in UTC, or None."""
        found = self.optional_text(name)
        if found is None:
            return None
        try:
            return parse_instant(found)
        except ValueError:
            raise WrongFieldError(
                f"'{self._place}{name}' is not an ISO-8601 time with a zone"
            ) from None

    def instant(self, name: str) -> datetime:
        """A point in time that must be there."""
        found = self.optional_instant(name)
        if found is None:
            raise self._wrong(name, "a time")
        return found

    def optional_map(self, name: str) -> dict[str, Json] | None:
        """An object, or None."""
        found = self._get(name)
        if found is not None and not isinstance(found, dict):
            raise self._wrong(name, "an object")
        return found

    def optional(self, name: str) -> Fields | None:
        """The fields of an object, or None."""
        found = self.optional_map(name)
        return None if found is None else Fields(found, f"{self._place}{name}.")

    def each(self, name: str) -> list[Fields]:
        """The fields of every object in a list; an absent list is empty."""
        found = self._get(name)
        if found is None:
            return []
        if not isinstance(found, list):
            raise self._wrong(name, "a list")
        parts = []
        for index, part in enumerate(found):
            if not isinstance(part, dict):
                raise WrongFieldError(
                    f"'{self._place}{name}[{index}]' is {_kind(part)}, not an object"
                )
            parts.append(Fields(part, f"{self._place}{name}[{index}]."))
        return parts

    def scalars(self, name: str) -> dict[str, Scalar]:
        """An object of single values; an absent one is empty."""
        values: dict[str, Scalar] = {}
        for key, value in (self.optional_map(name) or {}).items():
            if isinstance(value, dict | list):
                raise WrongFieldError(
                    f"'{self._place}{name}' holds {_kind(value)}, not only single values"
                )
            values[key] = value
        return values

    def texts(self, name: str) -> dict[str, str]:
        """An object of texts; other single values are written as text, nulls left out."""
        texts = {key: text_of(value, name=key) for key, value in self.scalars(name).items()}
        return {key: text for key, text in texts.items() if text is not None}


def _kind(value: Json) -> str:
    match value:
        case None:
            return "null"
        case bool():
            return "true or false"
        case str():
            return "text"
        case int() | float():
            return "a number"
        case list():
            return "a list"
        case _:
            return "an object"
