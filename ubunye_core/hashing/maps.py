"""The texts of maps, whose entries stand in the order of their keys."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ubunye_core.hashing import text
from ubunye_core.hashing.layouts import through_layouts
from ubunye_core.hashing.numbers import bare_number
from ubunye_core.hashing.problems import UnhashableError
from ubunye_core.hashing.types import STRINGS, is_, is_any, type_name
from ubunye_core.hashing.values import Reader, days, each, micros, objects, unscaled


def map_writer(type_: Any, of_item: Reader[str]) -> Reader[str]:
    """How the maps of a type are written, given how their items are."""
    of_key = through_layouts(type_.key_type, _key_reader)

    def write(array: Any) -> list[str | None]:
        offsets = array.offsets.to_pylist()
        if not offsets:
            return []
        # keys and items are those of the whole buffer, also when the array is a slice of it
        first, count = offsets[0], offsets[-1] - offsets[0]
        keys = of_key(array.keys.slice(first, count))
        items = of_item(array.items.slice(first, count))
        return [
            _map_text(keys[start - first : end - first], items[start - first : end - first])
            if valid
            else None
            for start, end, valid in zip(
                offsets[:-1], offsets[1:], array.is_valid().to_pylist(), strict=True
            )
        ]

    return write


def _map_text(keys: Sequence[tuple[Any, str] | None], items: Sequence[str | None]) -> str:
    if None in keys:
        raise UnhashableError("holds a map with a null key")
    entries = sorted(zip(keys, items, strict=True), key=lambda entry: entry[0])  # type: ignore[arg-type,return-value]
    texts = [key[1] for key, _ in entries if key is not None]
    if len(set(texts)) < len(texts):
        raise UnhashableError("holds a map with one key twice")
    members = (
        f"{text.string_text(key)}:{'null' if item is None else item}"
        for key, (_, item) in zip(texts, entries, strict=True)
    )
    return f"{{{','.join(members)}}}"


def _key_reader(type_: Any) -> Reader[tuple[Any, str]]:
    """How map keys are read: for each its place in the order, and its bare text."""
    if is_any(STRINGS, type_):
        return each(objects, lambda value: (value, value))
    if is_("boolean", type_):
        return each(objects, lambda value: (value, text.boolean_text(value)))
    if is_("date", type_):
        return each(days(type_), lambda day: (day, str(day)))
    if is_("timestamp", type_):
        return each(micros(type_), lambda micro: (micro, str(micro)))
    if is_("decimal", type_):
        return _paired(unscaled(type_), bare_number(type_))
    if is_("integer", type_):
        return _paired(objects, bare_number(type_))
    if is_("floating", type_):
        return _paired(each(objects, _numeric_with_nan_last), bare_number(type_))
    raise UnhashableError(f"has map keys of type {type_name(type_)}, which rows-v1 can't write")


def _numeric_with_nan_last(value: float) -> tuple[bool, float]:
    return (True, 0.0) if value != value else (False, float(value))


def _paired(order: Reader[Any], bare: Reader[str]) -> Reader[tuple[Any, str]]:
    def read(array: Any) -> list[tuple[Any, str] | None]:
        return [
            None if key_text is None else (place, key_text)
            for place, key_text in zip(order(array), bare(array), strict=True)
        ]

    return read
