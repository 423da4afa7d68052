"""How fast rows are hashed, beside the engine that published rows-v1.

    python benchmarks/hash.py [--rounds 7] [--tables mixed,nulls] [--scale 0.1] [--json]

Both engines run in one process each, on the same Arrow tables held in memory, and take turns in
every round; ubunye-engine 0.8.0 (`make engine`) hashes with one worker, its fastest way here. A
figure is the median of the rounds, a ratio the median of the rounds' ratios. The limit is what
SHA-256 alone takes for the lines of the same table once they are there.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
OURS = [sys.executable, __file__, "--worker", "ours"]
REFERENCE = [str(ROOT / ".venv-engine/bin/python"), __file__, "--worker", "reference"]


@dataclass(frozen=True)
class Case:
    """A table and the ratios that must be reached on it."""

    name: str
    table: str
    rows: int
    least_wall: float
    least_cpu: float = 0.0
    repeats: int = 1  # small tables are hashed many times in a round


CASES = [
    Case("mixed", "mixed", 2_000_000, 6, 3.5),
    Case("nulls", "nulls", 2_000_000, 5),
    Case("strings", "strings", 1_000_000, 10),
    Case("floats", "floats", 500_000, 10),
    Case("decimals", "decimals", 500_000, 10),
    Case("nested", "nested", 300_000, 10),
    Case("10 rows", "mixed", 10, 1, repeats=300),
    Case("100 rows", "mixed", 100, 1, repeats=200),
    Case("1000 rows", "mixed", 1_000, 1, repeats=100),
]


@dataclass(frozen=True)
class Figures:
    """What was measured for one case; nanoseconds for each row."""

    name: str
    rows: int
    ours_wall: float
    ours_cpu: float
    reference_wall: float
    reference_cpu: float
    wall_ratio: float
    cpu_ratio: float
    limit_cpu: float
    same_hash: bool
    is_reached: bool


class Worker:
    """One engine in a process of its own, which is told what to do line by line."""

    def __init__(self, command: list[str]) -> None:
        path = f"{ROOT}{os.pathsep}{ROOT / 'benchmarks'}"
        environment = {**os.environ, "UBUNYE_HASH_WORKERS": "1", "PYTHONPATH": path}
        self.process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=environment
        )

    def ask(self, **request: Any) -> dict[str, Any]:
        assert self.process.stdin
        assert self.process.stdout
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            raise RuntimeError(f"The worker ended: {self.process.args}")
        told: dict[str, Any] = json.loads(answer)
        return told

    def close(self) -> None:
        if self.process.stdin:
            self.process.stdin.close()
        self.process.wait(timeout=60)


@contextmanager
def workers() -> Iterator[tuple[Worker, Worker]]:
    """Both engines, which end with the block."""
    both = Worker(OURS), Worker(REFERENCE)
    try:
        yield both
    finally:
        for worker in both:
            worker.close()


def measure(case: Case, path: Path, rounds: int, ours: Worker, reference: Worker) -> Figures:
    """Let both engines hash the table in turns."""
    for worker in (ours, reference):
        worker.ask(load=str(path))
        worker.ask(hash=min(case.repeats, 20))  # imports, caches, tables of digits
    turns: list[tuple[dict[str, Any], dict[str, Any]]] = []
    for index in range(rounds):
        if index % 2:
            theirs, mine = reference.ask(hash=case.repeats), ours.ask(hash=case.repeats)
        else:
            mine, theirs = ours.ask(hash=case.repeats), reference.ask(hash=case.repeats)
        turns.append((mine, theirs))
    limit = ours.ask(limit=True)["cpu"] if case.rows >= 10_000 else 0.0
    per_row = 1e9 / case.rows
    wall = statistics.median(theirs["wall"] / mine["wall"] for mine, theirs in turns)
    cpu = statistics.median(theirs["cpu"] / mine["cpu"] for mine, theirs in turns)

    def median(side: int, what: str) -> float:
        return round(statistics.median(turn[side][what] for turn in turns) * per_row, 1)

    return Figures(
        name=case.name,
        rows=case.rows,
        ours_wall=median(0, "wall"),
        ours_cpu=median(0, "cpu"),
        reference_wall=median(1, "wall"),
        reference_cpu=median(1, "cpu"),
        wall_ratio=round(wall, 2),
        cpu_ratio=round(cpu, 2),
        limit_cpu=round(limit * per_row, 1),
        same_hash=all(mine["hash"] == theirs["hash"] is not None for mine, theirs in turns),
        is_reached=wall >= case.least_wall and cpu >= case.least_cpu,
    )


def work(side: str) -> None:
    """Answer requests until there are no more."""
    import pyarrow as pa

    hash_of = _ours() if side == "ours" else _reference()
    table: Any = None
    for line in sys.stdin:
        request = json.loads(line)
        answer: dict[str, Any] = {}
        if "load" in request:
            with pa.OSFile(request["load"]) as file:
                table = pa.ipc.open_file(file).read_all()
        elif "hash" in request:
            repeats = request["hash"]
            wall, cpu = time.perf_counter(), time.process_time()
            for _ in range(repeats):
                found = hash_of(table)
            answer = {
                "hash": found,
                "wall": (time.perf_counter() - wall) / repeats,
                "cpu": (time.process_time() - cpu) / repeats,
            }
        else:
            answer = {"cpu": _limit(table)}
        print(json.dumps(answer), flush=True)


def _ours() -> Callable[[Any], str | None]:
    from ubunye_core.hashing import fingerprint

    return lambda table: fingerprint(table).data_hash


def _reference() -> Callable[[Any], str | None]:
    from ubunye.lineage.content_hash import fingerprint_arrow

    return lambda table: fingerprint_arrow(table).data_hash


def _limit(table: Any) -> float:
    """The CPU seconds of SHA-256 and the sums, given ready lines."""
    from ubunye_core.hashing.fast.lines import object_parts
    from ubunye_core.hashing.fast.query import Column
    from ubunye_core.hashing.fast.texts import Texts

    texts = Texts()
    names = sorted(table.column_names)
    spent = 0.0
    for batch in table.combine_chunks().to_batches(max_chunksize=131_072):
        parts = object_parts(texts, [(name, batch.column(name)) for name in names])
        lines = texts.session.texts(parts, len(batch))
        cpu = time.process_time()
        texts.session.sums([Column(lines)], len(batch))
        spent += time.process_time() - cpu
    return spent


def write_table(case: Case, rows: int, folder: Path) -> Path:
    """The table of a case as an Arrow file."""
    import pyarrow as pa
    from hash_tables import MAKERS

    path = folder / f"{case.table}-{rows}.arrow"
    if not path.exists():
        table = MAKERS[case.table](rows)
        with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, table.schema) as writer:
            writer.write_table(table)
    return path


def tell(figures: list[Figures]) -> None:
    """Print a table that can be kept as Markdown."""
    print(
        "| table | rows | ours ns/row | cpu | reference | cpu | wall | cpu | limit's share | bar |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|--:|---|")
    for it in figures:
        share = f"{it.limit_cpu / it.ours_cpu:.0%}" if it.limit_cpu else ""
        bar = "reached" if it.is_reached else "MISSED"
        print(
            f"| {it.name} | {it.rows:,} | {it.ours_wall:,.0f} | {it.ours_cpu:,.0f} "
            f"| {it.reference_wall:,.0f} | {it.reference_cpu:,.0f} | {it.wall_ratio:.1f}x "
            f"| {it.cpu_ratio:.1f}x | {share} | {bar}{'' if it.same_hash else ', OTHER HASH'} |"
        )


def main() -> int:
    """Measure, print, and fail where a bar is not reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--worker", choices=["ours", "reference"])
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--tables", help="names, with commas between them")
    parser.add_argument("--scale", type=float, default=1.0, help="a share of the rows")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    if options.worker:
        work(options.worker)
        return 0
    if not Path(REFERENCE[0]).exists():
        print("ubunye-engine is not here to compare with: make engine")
        return 1
    chosen = options.tables.split(",") if options.tables else [case.name for case in CASES]
    figures = []
    with tempfile.TemporaryDirectory() as folder, workers() as (ours, reference):
        for case in CASES:
            if case.name not in chosen:
                continue
            rows = int(case.rows * options.scale) if case.rows > 1_000 else case.rows
            path = write_table(case, rows, Path(folder))
            scaled = Case(**{**asdict(case), "rows": rows})
            figures.append(measure(scaled, path, options.rounds, ours, reference))
    if options.json:
        print(json.dumps([asdict(it) for it in figures]))
    else:
        tell(figures)
    return 0 if all(it.is_reached and it.same_hash for it in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
