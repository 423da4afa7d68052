"""The canonical name of an Arrow type.

The name is an output only. Field names may hold any character, so nothing here or elsewhere
reads a name back: what needs a child's type walks the real type.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any

import pyarrow as pa

from ubunye_core.hashing.problems import UnhashableError, quoted

EXTENSIONS = ("arrow.uuid", "arrow.json", "arrow.bool8")


_IDS = {
    "null": ("NA",),
    "boolean": ("BOOL",),
    "integer": ("INT8", "INT16", "INT32", "INT64", "UINT8", "UINT16", "UINT32", "UINT64"),
    "floating": ("HALF_FLOAT", "FLOAT", "DOUBLE"),
    "float16": ("HALF_FLOAT",),
    "float32": ("FLOAT",),
    "float64": ("DOUBLE",),
    "decimal": ("DECIMAL32", "DECIMAL64", "DECIMAL128", "DECIMAL256"),
    "date": ("DATE32", "DATE64"),
    "time": ("TIME32", "TIME64"),
}


@cache
def _ids_of(kind: str) -> frozenset[int]:
    """Arrow's numbers of a kind of type; this pyarrow may not have all of them yet."""
    names = _IDS.get(kind, (kind.upper(),))
    return frozenset(getattr(pa.lib, f"Type_{name}", -1) for name in names)


def is_(kind: str, type_: Any) -> bool:
    """``pyarrow.types.is_<kind>(type_)``; False where this pyarrow has no such kind yet."""
    return type_.id in _ids_of(kind)


def is_any(kinds: tuple[str, ...], type_: Any) -> bool:
    """Whether the type is of one of the kinds."""
    return type_.id in _ids_of_any(kinds)


@cache
def _ids_of_any(kinds: tuple[str, ...]) -> frozenset[int]:
    return frozenset().union(*map(_ids_of, kinds))


STRINGS = ("string", "large_string", "string_view")
BINARIES = ("binary", "large_binary", "fixed_size_binary", "binary_view")
LISTS = ("list", "large_list", "fixed_size_list", "list_view", "large_list_view")


def type_name(type_: Any) -> str:
    """The name of ``type_`` in a canonical schema."""
    if isinstance(type_, pa.BaseExtensionType):
        if type_.extension_name in EXTENSIONS:
            return f"extension<{type_.extension_name}>"
        raise UnhashableError(f"has extension type {quoted(type_.extension_name)}, unknown here")
    if is_any(("dictionary", "run_end_encoded"), type_):
        return type_name(type_.value_type)
    if is_any(STRINGS, type_):
        return "string"
    if is_any(BINARIES, type_):
        return "binary"
    if is_any(("integer", "null", "time"), type_):
        return str(type_)
    if is_("boolean", type_):
        return "bool"
    if is_("floating", type_):
        return "float64" if is_("float64", type_) else "float32"
    if is_("date", type_):
        return "date"
    if is_("timestamp", type_):
        return "timestamp_ntz" if type_.tz is None else "timestamp"
    if is_("decimal", type_):
        return f"decimal({type_.precision},{type_.scale})"
    if is_("duration", type_):
        return "interval day to second"
    if is_any(LISTS, type_):
        return f"list<{field_type_name(type_.value_field)}>"
    if is_("map", type_):
        key, item = field_type_name(type_.key_field), field_type_name(type_.item_field)
        return f"map<{key},{item}>"
    if is_("struct", type_):
        fields = [type_.field(i) for i in range(type_.num_fields)]
        refuse_duplicates("field", [field.name for field in fields])
        members = [f"{field.name}:{field_type_name(field)}" for field in fields]
        return f"struct<{','.join(members)}>"
    raise UnhashableError("has a type without a name in rows-v1")


def field_type_name(field: Any) -> str:
    """The name of a field's type, as ``type_name``."""
    # An extension type this process does not know arrives as the type it is stored in, with a
    # note. Taken for that, the same rows would have another hash where the type is known.
    unknown = (field.metadata or {}).get(b"ARROW:extension:name")
    if unknown is not None:
        name = unknown.decode(errors="replace")
        raise UnhashableError(f"has extension type {quoted(name)}, unknown here")
    return type_name(field.type)


def schema_of(schema: Any) -> list[tuple[str, str]]:
    """The canonical schema of an Arrow schema."""
    try:
        refuse_duplicates("column", schema.names)
    except UnhashableError as error:
        raise UnhashableError(f"The table {error.message}.") from None
    pairs = []
    for field in schema:
        try:
            pairs.append((field.name, field_type_name(field)))
        except UnhashableError as error:
            raise UnhashableError(f"Column {quoted(field.name)} {error.message}.") from None
    return pairs


def refuse_duplicates(kind: str, names: list[str]) -> None:
    """Refuse a table or struct that uses one name twice."""
    seen: set[str] = set()
    for name in names:
        if name in seen:
            raise UnhashableError(f"has the {kind} name {quoted(name)} more than once")
        seen.add(name)


def refuse_cut_names(kind: str, names: Iterable[str]) -> None:
    """Refuse names that would lose what follows a NUL, on a way where a NUL ends every name."""
    for name in names:
        if "\0" in name:
            raise UnhashableError(
                f"has the {kind} name {quoted(name)}, of which what follows the NUL gets lost: "
                "rename it"
            )
