"""The memory that a hash takes does not grow with the rows: the benchmark at a tenth, and more."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa
import pytest
from deltalake import write_deltalake

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

BENCHMARK = Path(__file__).parents[3] / "benchmarks" / "hash_memory.py"
GROUP = 250_000
# Not ru_maxrss: Linux counts into it what the process was before exec, so all of pytest.
PEAK = """
import re, sys
from pathlib import Path
from ubunye_core.hashing import fingerprint
got = fingerprint(sys.argv[1])
assert got.error is None, got.error
status = Path("/proc/self/status").read_text()
print(got.row_count, int(re.search(r"VmHWM:\\s+(\\d+) kB", status)[1]) / 1024)
"""


def test_the_benchmark_of_memory_keeps_its_bars_at_a_tenth() -> None:
    # A peak is what the allocator makes of it that day: memory that grows fails each time.
    for _ in range(3):
        done = subprocess.run(
            [sys.executable, str(BENCHMARK), "--tenth"],
            capture_output=True,
            text=True,
            timeout=90,
            check=False,
        )
        assert "growth" in done.stdout, done.stderr
        if done.returncode == 0:
            return
    pytest.fail(done.stdout)


def _group(seed: int) -> pa.Table:
    ids = range(seed * GROUP, (seed + 1) * GROUP)
    return pa.table({"id": ids, "text": [f"row {id} of {seed}" for id in ids]})


def _write_arrow(place: Path, groups: int) -> None:
    with pa.ipc.new_stream(place, _group(0).schema) as writer:
        for seed in range(groups):
            writer.write_table(_group(seed), max_chunksize=65_536)


def _write_delta(place: Path, groups: int) -> None:
    for seed in range(groups):
        write_deltalake(place, _group(seed), mode="append")


def _write_one_delta_file(place: Path, groups: int) -> None:
    batches = (batch for seed in range(groups) for batch in _group(seed).to_batches())
    write_deltalake(place, pa.RecordBatchReader.from_batches(_group(0).schema, batches))


def _peak(place: Path, rows: int) -> float:
    done = subprocess.run(
        [sys.executable, "-c", PEAK, str(place)],
        capture_output=True,
        text=True,
        timeout=90,
        check=True,
    )
    counted, megabytes = done.stdout.split()
    assert int(counted) == rows
    return float(megabytes)


@pytest.mark.parametrize(
    ("name", "write"),
    [
        ("t.arrows", _write_arrow),
        ("delta", _write_delta),
        ("delta", _write_one_delta_file),
    ],
)
def test_arrow_streams_and_delta_tables_are_never_held_whole(
    tmp_path: Path, name: str, write: Callable[[Path, int], None]
) -> None:
    peaks = []
    for groups in (2, 12):
        place = tmp_path / str(groups) / name
        place.parent.mkdir()
        write(place, groups)
        peaks.append(_peak(place, groups * GROUP))
    few, many = peaks
    assert many < 1.25 * few, peaks
    assert many < 600
