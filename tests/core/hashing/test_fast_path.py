"""When the fast rules are used, what happens when they can't be, and how a hash is stopped."""

from __future__ import annotations

import logging
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from typing import Any

import pyarrow as pa
import pytest

from ubunye_core.hashing import canonical_lines, fast, fingerprint, rows_v1
from ubunye_core.hashing.fast import engine, slices
from ubunye_core.hashing.fast.workers import in_order

ROWS = 3 * fast.LEAST_ROWS
TABLE = pa.table({"a": range(ROWS), "b": [f'"{at}' for at in range(ROWS)]})


def _plain_sums(table: pa.Table) -> rows_v1.Sums:
    sums = rows_v1.Sums()
    sums.add(canonical_lines(table))
    return sums


def _hash(table: pa.Table) -> str | None:
    got = fingerprint(table)
    assert got.error is None
    return got.data_hash


EXPECTED = rows_v1.data_hash([("a", "int64"), ("b", "string")], _plain_sums(TABLE))


def test_the_fast_rules_are_used_where_they_pay(monkeypatch: pytest.MonkeyPatch) -> None:
    seen = []
    real = engine.fast_sums
    monkeypatch.setattr(
        engine, "fast_sums", lambda *given: seen.append(len(given[1])) or real(*given)
    )
    assert _hash(TABLE) == EXPECTED
    assert seen == [ROWS]
    fingerprint(TABLE.slice(0, fast.LEAST_ROWS - 1))
    fingerprint(TABLE.slice(0, fast.LEAST_ROWS - 1).to_reader())
    assert seen == [ROWS]


def test_a_slice_that_the_fast_rules_fail_on_has_the_hash_all_the_same(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    def fail(*given: Any) -> Any:
        raise RuntimeError("no")

    monkeypatch.setattr(engine, "fast_sums", fail)
    assert _hash(TABLE) == EXPECTED


def test_without_datafusion_the_hash_is_the_same_and_the_log_says_so_once(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(fast, "is_installed", lambda: False)
    monkeypatch.setattr(fast, "_MANY_ROWS", ROWS)
    fast._say.cache_clear()
    with caplog.at_level(logging.WARNING, "ubunye_core.hashing"):
        assert _hash(TABLE) == EXPECTED
        assert _hash(TABLE) == EXPECTED
        fingerprint(TABLE.slice(0, 2))
    assert [record.message for record in caplog.records] == [
        "'datafusion' is not installed (pip install 'ubunye-receipts[arrow]'). Rows are hashed "
        "by the plain definition: exact, but several times slower."
    ]


def test_a_datafusion_that_cannot_be_imported_is_as_good_as_none(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setitem(sys.modules, "ubunye_core.hashing.fast.engine", None)
    monkeypatch.setattr(fast, "_MANY_ROWS", ROWS)
    fast._say.cache_clear()
    assert _hash(TABLE) == EXPECTED
    assert "could not be imported" in caplog.text


def test_columns_that_are_all_null_need_no_query() -> None:
    nulls = pa.table({"a": pa.nulls(ROWS), "b": pa.nulls(ROWS)})
    sums = _plain_sums(nulls)
    assert _hash(nulls) == rows_v1.data_hash([("a", "null"), ("b", "null")], sums)


@pytest.mark.parametrize("name", ["it's", "a\\b", "{}", "c0", "$1", "\0", "é\n", "", "slice.c0"])
def test_a_column_may_have_any_name(name: str) -> None:
    table = pa.table({name: range(ROWS), f"{name}2": [None, "'"] * (ROWS // 2)})
    schema = [(name, "int64"), (f"{name}2", "string")]
    assert _hash(table) == rows_v1.data_hash(schema, _plain_sums(table))


def test_the_first_bad_row_is_told_whichever_thread_finds_one_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(slices, "SLICE_ROWS", 2_048)
    texts = pa.array(["ok"] * 60_000).cast(pa.binary())
    bad = pa.array([b"\xff" if at == 5_000 else b"ok" for at in range(60_000)])
    worse = pa.array([b"\xff" if at > 20_000 else b"ok" for at in range(60_000)])
    columns = [pa.Array.from_buffers(pa.string(), 60_000, c.buffers()) for c in (texts, worse, bad)]
    got = fingerprint(pa.Table.from_arrays(columns, ["a", "b", "c"]))
    assert got.data_hash is None
    assert got.error == "Column 'c' (string) holds text that is not valid UTF-8."


class UnreadableError(Exception):
    pass


def _batches(count: int) -> Iterator[pa.RecordBatch]:
    for _ in range(count):
        yield from TABLE.to_batches()
    raise UnreadableError("a cell")


@pytest.mark.parametrize("count", [0, 1, 500])
def test_a_stream_that_breaks_has_no_hash_and_leaves_no_thread(count: int) -> None:
    before = set(threading.enumerate())
    got = fingerprint(pa.RecordBatchReader.from_batches(TABLE.schema, _batches(count)))
    assert got.data_hash is None
    assert got.error
    assert "a cell" not in got.error
    assert set(threading.enumerate()) <= before


def test_results_come_in_the_order_of_the_slices() -> None:
    def work(number: int) -> int:
        time.sleep(0.02 if number == 0 else 0)
        return number

    assert list(in_order(work, iter(range(20)), 3)) == list(range(20))
    assert not [t for t in threading.enumerate() if t.name.startswith("ubunye-hash")]


def test_slices_have_bounded_rows_and_bytes() -> None:
    wide = pa.table({"a": ["x" * 2**20] * 100}).to_batches()
    pieces = list(slices.slices(wide, ["a"]))
    assert sum(len(batch) for piece in pieces for batch in piece) == 100
    assert max(sum(b.nbytes for b in piece) for piece in pieces) <= slices.SLICE_BYTES
    views = pa.table({"a": pa.array(["x" * 2**20] * 100, pa.string_view())}).to_batches()
    assert 3 < len(list(slices.slices(views, ["a"]))) < 20
    small = pa.table({"a": range(300_000)}).to_batches(max_chunksize=1_000)
    lengths = [sum(map(len, piece)) for piece in slices.slices(small, ["a"])]
    assert sum(lengths) == 300_000
    assert len(lengths) <= 5


@pytest.mark.slow
def test_one_huge_value_among_small_ones_is_hashed() -> None:
    cells = ["small"] * ROWS + ['"' * (40 * 2**20)]
    table = pa.table({"a": cells})
    assert _hash(table) == rows_v1.data_hash([("a", "string")], _plain_sums(table))


FORKED = """
import os, pyarrow as pa
from ubunye_core.hashing import fingerprint
table = pa.table({"a": range(100_000)})
before = fingerprint(table)
child = os.fork()
if child == 0:
    os._exit(0 if fingerprint(table) == before else 1)
print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))
"""


@pytest.mark.slow
def test_a_forked_process_hashes_without_the_threads_of_its_parent() -> None:
    done = subprocess.run(
        [sys.executable, "-c", FORKED], capture_output=True, text=True, timeout=60, check=True
    )
    assert done.stdout.strip() == "0"
    assert "before this process was forked" in done.stderr


INTERRUPTED = """
import pyarrow as pa, signal, sys, threading, time
from ubunye_core.hashing import fingerprint
class Terminated(BaseException): pass
def stop(number, frame): raise Terminated
if {raises}: signal.signal(signal.SIGTERM, stop)
batch = pa.record_batch({{"a": range(100_000), "b": [str(at) for at in range(100_000)]}})
def batches():
    print("reading", flush=True)
    while True:
        yield batch
try:
    fingerprint(pa.RecordBatchReader.from_batches(batch.schema, batches()))
except (KeyboardInterrupt, Terminated) as error:
    print(type(error).__name__, threading.active_count(), flush=True)
"""


@pytest.mark.slow
@pytest.mark.parametrize(
    ("number", "raises", "answer"),
    [
        (signal.SIGINT, False, "KeyboardInterrupt 1"),
        (signal.SIGTERM, True, "Terminated 1"),
        (signal.SIGTERM, False, ""),
    ],
)
def test_a_hash_that_is_stopped_ends_at_once_with_its_threads(
    number: signal.Signals, raises: bool, answer: str
) -> None:
    code = INTERRUPTED.format(raises=raises)
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as child:
        assert child.stdout
        try:
            assert child.stdout.readline() == "reading\n"
            time.sleep(1)
            sent = time.monotonic()
            os.kill(child.pid, number)
            rest = child.stdout.read()
            child.wait(timeout=20)
        finally:
            child.kill()  # one that goes on would be waited for without end
    assert time.monotonic() - sent < 5
    assert rest.strip() == answer
