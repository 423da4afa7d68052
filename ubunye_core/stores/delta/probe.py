"""A trial in a bucket: whether it may be written, and keeps one of two commits that meet."""

from __future__ import annotations

import contextlib
import os

import pyarrow as pa
import pyarrow.fs as pa_fs
from deltalake import CommitProperties, DeltaTable, write_deltalake
from deltalake.fs import DeltaStorageHandler

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.stores.capabilities import Finding
from ubunye_core.stores.delta.place import Place
from ubunye_core.stores.delta.table import runtime, telling

_ROW = pa.table({"probe": [1]})


def try_to_write(place: Place) -> Finding:
    """Make a small table in the folder of the store, commit to it twice, and remove it."""
    name = f"_examine-{os.urandom(8).hex()}"
    options = dict(place.options)
    try:
        with telling(place, "written"):
            runtime.use()
            try:
                keeps = _keeps_both(f"{place.uri}/{name}", options)
            finally:
                with contextlib.suppress(OSError):
                    folder = pa_fs.PyFileSystem(DeltaStorageHandler(place.uri, options))
                    _remove(folder, name)
    except StoreUnavailableError as error:
        return Finding(what="write", good=False, why=str(error))
    if keeps:
        return Finding(what="write", good=True, why="of two commits at once the server keeps both")
    return Finding(
        what="write",
        good=False,
        why="the server ignores conditional writes, so writers at once lose saves; use another",
    )


def _keeps_both(uri: str, options: dict[str, str]) -> bool:
    """Whether a commit of a writer that has not seen the last one comes after it."""
    once = CommitProperties(max_commit_retries=0)
    DeltaTable.create(uri, _ROW.schema, storage_options=options, commit_properties=once)
    one, other = (DeltaTable(uri, storage_options=options) for _ in range(2))
    for handle in (one, other):
        write_deltalake(handle, _ROW, mode="append")
    return DeltaTable(uri, storage_options=options).version() == one.version() + 1


def _remove(folder: pa_fs.FileSystem, name: str) -> None:
    for found in folder.get_file_info(pa_fs.FileSelector(name, recursive=True)):
        if found.type == pa_fs.FileType.File:
            folder.delete_file(found.path)
