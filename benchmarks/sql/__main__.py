"""Every question to the SQL store, beside a SELECT 1 of the same connection.

    python -m benchmarks.sql [--receipts 20000] [--tasks 200] [--only sqlite|postgresql]
                             [--check] [--json]

The full size is --receipts 1000000 --tasks 1000: a quarter of an hour, and 10 GB in the temporary
folder. PostgreSQL is a server of its own, which is gone at the end. The bars are ratios within one
run: the database's part of each question is at most ten times a SELECT 1 (the median of three
rounds), and health of 1,000 tasks takes at most 50 ms on PostgreSQL. Reading the documents is ours,
and is shown beside it.
``--check`` fails where a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from dataclasses import asdict
from pathlib import Path

from benchmarks.sql.data import Size, a_store, fill, sample
from benchmarks.sql.questions import Asker, Question, of_all_tasks, of_each_task, of_one_task
from benchmarks.sql.timing import Figures, Stopwatch
from ubunye_core.stores.sql.store import SqlStore

KINDS = ("postgresql", "sqlite")
HEALTH_MS = 50.0
TURNS, FEW_TURNS = 200, 30
LINE = "| {} | {} | {} | {} | {} | {} | {} |"


def measure(kind: str, store: SqlStore, size: Size) -> list[Figures]:
    """The figures of every question."""
    asker, watch = Asker(store, size), Stopwatch(store)
    asker.prepare(TURNS)
    found = [
        watch.beside_select_1(question, TURNS)
        for question in of_one_task(asker) + of_all_tasks(asker)
    ]
    bar = HEALTH_MS if kind == "postgresql" else None
    found += [watch.alone(question, FEW_TURNS) for question in of_each_task(asker, bar)]
    saves = Question(
        "save of a new run", lambda turn: store.save(sample("pay/new/task", turn)), finds=0
    )
    return [*found, watch.alone(saves, TURNS)]


def report(kind: str, size: Size, found: list[Figures]) -> None:
    """Print the figures as Markdown that can be kept."""
    print(f"\n{kind}, {size.receipts:,} receipts of {size.tasks:,} tasks; milliseconds\n")
    print(LINE.format("question", "SELECT 1", "database", "ratio", "with all", "CPU", "bar"))
    print("|---|--:|--:|--:|--:|--:|---|")
    for it in found:
        has_bar = it.ratio is not None or it.at_most is not None
        bar = ("kept" if it.is_good else "MISSED") if has_bar else ""
        told = (_ms(it.select_1), _ms(it.database), _times(it.ratio), _ms(it.whole), _ms(it.cpu))
        print(LINE.format(it.question, *told, bar))


def _ms(number: float | None) -> str:
    return "" if number is None else f"{number:.2f}" if number < 10 else f"{number:.0f}"


def _times(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:.1f}x"


def main() -> int:
    """Fill a store of each kind, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, prog="benchmarks.sql")
    parser.add_argument("--receipts", type=int, default=20_000)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--only", choices=KINDS)
    parser.add_argument("--check", action="store_true", help="fail where a bar is missed")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    size, figures = Size(given.receipts, given.tasks), {}
    for kind in [given.only] if given.only else KINDS:
        with tempfile.TemporaryDirectory() as folder, a_store(kind, Path(folder)) as store:
            began = time.perf_counter()
            fill(store, size, Path(folder))
            filled = time.perf_counter() - began
            print(f"{kind}: {size.receipts:,} receipts in {filled:.0f} s", file=sys.stderr)
            figures[kind] = measure(kind, store, size)
            if not given.json:
                report(kind, size, figures[kind])
    if given.json:
        print(json.dumps({kind: [_told(it) for it in found] for kind, found in figures.items()}))
    missed = [it for found in figures.values() for it in found if not it.is_good]
    return 1 if given.check and missed else 0


def _told(it: Figures) -> dict[str, object]:
    return asdict(it) | {"ratio": it.ratio, "is_good": it.is_good}


if __name__ == "__main__":
    sys.exit(main())
