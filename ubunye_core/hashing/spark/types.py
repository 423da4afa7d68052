"""Spark's types as Arrow's, which are what rows-v1 names."""

from __future__ import annotations

from typing import Any

import pyarrow as pa

from ubunye_core.hashing.problems import UnhashableError, column_problem, quoted
from ubunye_core.hashing.types import refuse_cut_names, refuse_duplicates

_FLAT = {
    "NullType": pa.null(),
    "BooleanType": pa.bool_(),
    "ByteType": pa.int8(),
    "ShortType": pa.int16(),
    "IntegerType": pa.int32(),
    "LongType": pa.int64(),
    "FloatType": pa.float32(),
    "DoubleType": pa.float64(),
    "StringType": pa.string(),  # of any collation: it changes how texts compare, not what they are
    "CharType": pa.string(),
    "VarcharType": pa.string(),
    "BinaryType": pa.binary(),
    "DateType": pa.date32(),
    "TimestampType": pa.timestamp("us", "UTC"),
    "TimestampNTZType": pa.timestamp("us"),
}
_DAY, _SECOND = 0, 3
_MICROSECONDS = 6  # digits


def arrow_schema(fields: list[Any]) -> Any:
    """The ``pyarrow.Schema`` of the fields of a Spark schema."""
    columns = []
    for field in fields:
        try:
            columns.append(pa.field(field.name, arrow_type(field.dataType)))
        except UnhashableError as error:
            raise column_problem(field.name, field.dataType.simpleString(), error) from None
    return pa.schema(columns)


def arrow_type(type_: Any) -> Any:
    """The Arrow type whose name a Spark type has in rows-v1.

    Types that reach Python disguised as others (a variant is a struct of two binaries there, a
    user's own type whatever it is stored in) are refused, as is all that rows-v1 has no text for.
    """
    kind = type(type_).__name__
    if kind in _FLAT:
        return _FLAT[kind]
    if kind == "DecimalType":
        return pa.decimal128(type_.precision, type_.scale)
    if kind == "ArrayType":
        return pa.list_(arrow_type(type_.elementType))
    if kind == "MapType":
        return pa.map_(arrow_type(type_.keyType), arrow_type(type_.valueType))
    if kind == "StructType":
        names = [field.name for field in type_.fields]
        refuse_duplicates("field", names)
        refuse_cut_names("field", names)  # by Spark, on the way to its Python workers
        return pa.struct([(field.name, arrow_type(field.dataType)) for field in type_.fields])
    if kind == "DayTimeIntervalType" and (type_.startField, type_.endField) == (_DAY, _SECOND):
        return pa.duration("us")
    if kind == "TimeType" and type_.precision <= _MICROSECONDS:
        return pa.time64("us")  # as Parquet stores it
    raise UnhashableError(f"has type {quoted(type_.simpleString())}, which rows-v1 can't write")
