"""Arrow IPC files and streams, a record batch at a time.

A file (its first bytes say ``ARROW1``) and a stream hold the same rows. Each batch is checked
before it is hashed: one of a damaged file could lead outside of its own memory.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

import pyarrow as pa
import pyarrow.ipc

from ubunye_core.hashing.files import ARROW_MAGIC
from ubunye_core.hashing.problems import UnhashableError, column_problem, quoted

_END_OF_STREAM = b"\xff\xff\xff\xff\x00\x00\x00\x00"


def schema_of_file(path: str) -> Any:
    """The columns of an Arrow file or stream."""
    with _opened(path) as (reader, _):
        return reader.schema


def batches_of_file(path: str, names: Sequence[str] | None) -> Iterator[Any]:
    """The batches of an Arrow file or stream, with the named columns only."""
    with _opened(path) as (reader, _):
        schema = reader.schema
    fields = None if names is None else [schema.get_field_index(name) for name in names]
    with _opened(path, fields) as (_, batches):
        for batch in batches:
            _check(batch)
            yield batch


def _check(batch: Any) -> None:
    """Refuse values that their type does not allow; Arrow's own message may quote them."""
    for field, column in zip(batch.schema, batch.columns, strict=True):
        try:
            column.validate(full=True)
        except pa.ArrowInvalid as error:
            is_text = "UTF8" in str(error)
            what = "text that is not valid UTF-8" if is_text else "what its type cannot hold"
            problem = UnhashableError(f"holds {what}")
            raise column_problem(field.name, field.type, problem) from None


def count_of_file(path: str) -> int:
    """How many rows an Arrow file or stream has. Reads one column: no footer counts them."""
    with _opened(path) as (reader, _):
        fields = [0] if len(reader.schema) else None
    with _opened(path, fields) as (_, batches):
        return sum(batch.num_rows for batch in batches)


@contextmanager
def _opened(path: str, fields: Sequence[int] | None = None) -> Iterator[tuple[Any, Iterator[Any]]]:
    """A reader and its batches; of some columns where there are any to leave out."""
    options = pa.ipc.IpcReadOptions(included_fields=list(fields) if fields else [])
    # Not mapped into memory: a file that shrinks as it is read would kill the process.
    with pa.OSFile(path) as source:
        is_file = source.read(len(ARROW_MAGIC)) == ARROW_MAGIC
        source.seek(0)
        if is_file:
            reader = pa.ipc.open_file(source, options=options)
            yield reader, (reader.get_batch(at) for at in range(reader.num_record_batches))
        else:
            reader = pa.ipc.open_stream(source, options=options)
            yield reader, _whole_stream(reader, source, path)


def _whole_stream(reader: Any, source: Any, path: str) -> Iterator[Any]:
    """The batches of a stream that says where it ends, and ends there.

    To Arrow a stream that was cut off between two batches is a shorter one.
    """
    yield from reader
    read, size = source.tell(), source.size()
    source.seek(max(size - len(_END_OF_STREAM), 0))
    if read != size or source.read() != _END_OF_STREAM:
        raise UnhashableError(
            f"{quoted(path)} does not end where its Arrow stream does: it may be cut off, or be "
            "several streams."
        )
