"""Lists, structs and maps: their texts are joined from those of what they hold."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from ubunye_core.hashing.fast import strings
from ubunye_core.hashing.fast.calendar import micros_of
from ubunye_core.hashing.fast.lines import object_parts
from ubunye_core.hashing.fast.query import AS_TEXT, Column, Part
from ubunye_core.hashing.problems import UnhashableError
from ubunye_core.hashing.types import STRINGS, is_, is_any

if TYPE_CHECKING:
    from ubunye_core.hashing.fast.texts import Texts


def objects(texts: Texts, array: Any) -> Any:
    """The texts of structs; null for a null one."""
    type_ = array.type
    names = [type_.field(at).name for at in range(type_.num_fields)]
    children = array.flatten()  # with the struct's own nulls laid over them
    parts = object_parts(texts, zip(names, children, strict=True))
    return _with_nulls_of(array, texts.session.texts(parts, len(array)))


def joined_lists(texts: Texts, array: Any) -> Any:
    """The elements of each list with commas between them; null for a null list."""
    lengths = pc.list_value_length(array)
    elements = texts.array(array.flatten()).fill_null("null")
    return _joined(array, np.asarray(lengths.fill_null(0)), elements)


def has_simple_keys(type_: Any) -> bool:
    """Whether Arrow sorts keys of this type as rows-v1 wants them."""
    key = type_.key_type
    kinds = (*STRINGS, "boolean", "integer", "date32", "timestamp")
    return is_any(kinds, key) and not is_("string_view", key)


def joined_maps(texts: Texts, array: Any) -> Any:
    """The entries of each map, sorted by key; None if a map must be written by the plain rules."""
    offsets = np.asarray(array.offsets)
    if not len(array):
        return pa.array([], pa.string())
    lengths = np.diff(offsets)
    if array.null_count and lengths[~np.asarray(array.is_valid())].any():
        return None  # entries hidden behind a null map
    first, count = int(offsets[0]), int(offsets[-1] - offsets[0])
    keys, items = array.keys.slice(first, count), array.items.slice(first, count)
    if keys.null_count:
        raise UnhashableError("holds a map with a null key")
    places, values = _places(keys), texts.array(items).fill_null("null")
    same_map = np.repeat(np.arange(len(array)), lengths)
    rows, same_map = same_map, same_map[1:] == same_map[:-1]
    if not _rises(places, same_map):
        entries = pa.table({"row": rows, "place": places})
        order = pc.sort_indices(entries, sort_keys=[("row", "ascending"), ("place", "ascending")])
        places, values = places.take(order), values.take(order)
        if not _rises(places, same_map):
            raise UnhashableError("holds a map with one key twice")
    parts = [*_key_parts(keys.type, places), Column(values)]
    return _joined(array, lengths, texts.session.texts(parts, count))


def _places(keys: Any) -> Any:
    """Values that Arrow sorts as rows-v1 sorts the keys: text by bytes, numbers by size."""
    if is_("boolean", keys.type):
        return keys.cast(pa.uint8())  # false, true
    if is_("date32", keys.type):
        return keys.view(pa.int32())
    if is_("timestamp", keys.type):
        return pa.array(micros_of(np.asarray(keys.view(pa.int64())), keys.type.unit))
    return keys


def _key_parts(type_: Any, places: Any) -> list[Part]:
    if is_any(STRINGS, type_):
        return ['"', *strings.parts(places), '":']
    if is_("boolean", type_):
        return [Column(pc.if_else(pc.not_equal(places, 0), '"true":', '"false":'))]
    # Dates are written as days, timestamps as microseconds.
    return ['"', Column(places, AS_TEXT), '":']


def _rises(places: Any, same_map: Any) -> bool:
    """Whether each key is above the one before it in the same map."""
    if not same_map.any():
        return True
    above = np.asarray(pc.greater(places.slice(1), places.slice(0, len(places) - 1)))
    return bool((above | ~same_map).all())


def _joined(array: Any, lengths: Any, elements: Any) -> Any:
    offsets = np.zeros(len(lengths) + 1, np.int32)
    np.cumsum(lengths, out=offsets[1:])
    lists = pa.ListArray.from_arrays(pa.array(offsets), elements)
    return _with_nulls_of(array, pc.binary_join(lists, ","))


def _with_nulls_of(array: Any, joined: Any) -> Any:
    if not array.null_count:
        return joined
    return pc.if_else(array.is_valid(), joined, pa.scalar(None, pa.string()))
