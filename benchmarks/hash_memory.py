"""How much memory the hash of a large Parquet file takes: the peak must not grow with the rows.

    python benchmarks/hash_memory.py [--tenth] [--json]

A file of 5 and one of 20 million rows are written, and each is hashed by a fresh process, whose
peak is what the system counted. ``--tenth`` takes a tenth of the rows, for CI.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
from dataclasses import asdict, dataclass
from pathlib import Path

ROWS = (5_000_000, 20_000_000)
MOST_MB = 600
MOST_GROWTH = 0.15
ROWS_OF_A_GROUP = 250_000

HASH = """
import resource, sys, time
from ubunye_core.hashing import fingerprint
start = time.perf_counter()
got = fingerprint(sys.argv[1])
assert got.error is None, got.error
unit = 2**20 if sys.platform == "darwin" else 2**10
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / unit
print(got.row_count, peak, time.perf_counter() - start)
"""


@dataclass(frozen=True)
class Peak:
    """What hashing one file took."""

    rows: int
    megabytes: float
    seconds: float


def write(rows: int, path: Path) -> None:
    """A Parquet file of six mixed columns, written group by group."""
    import pyarrow.parquet as pq
    from hash_tables import mixed

    group = mixed(ROWS_OF_A_GROUP)
    with pq.ParquetWriter(path, group.schema) as writer:
        for seed in range(rows // ROWS_OF_A_GROUP):
            writer.write_table(mixed(ROWS_OF_A_GROUP, nulls=0.05, seed=seed))


def measure(rows: int, path: Path) -> Peak:
    """Hash the file in a fresh process."""
    done = subprocess.run(
        [sys.executable, "-c", HASH, str(path)], capture_output=True, text=True, check=True
    )
    counted, megabytes, seconds = done.stdout.split()
    if int(counted) != rows:
        raise RuntimeError(f"Of {rows} rows {counted} were read.")
    return Peak(rows, round(float(megabytes), 1), round(float(seconds), 1))


def main() -> int:
    """Measure, print, and fail where a bar is not kept."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tenth", action="store_true", help="a tenth of the rows")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    peaks = []
    for full in ROWS:
        rows = full // 10 if options.tenth else full
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            write(rows, path)
            peaks.append(measure(rows, path))
    small, large = peaks
    growth = large.megabytes / small.megabytes - 1
    is_kept = large.megabytes < MOST_MB and abs(growth) <= MOST_GROWTH
    if options.json:
        print(json.dumps({"peaks": [asdict(peak) for peak in peaks], "growth": round(growth, 3)}))
    else:
        for peak in peaks:
            print(f"{peak.rows:>12,} rows: {peak.megabytes:6.1f} MB, {peak.seconds:.1f} s")
        print(f"growth {growth:.1%}: {'kept' if is_kept else 'NOT KEPT'}")
    return 0 if is_kept else 1


if __name__ == "__main__":
    sys.exit(main())
