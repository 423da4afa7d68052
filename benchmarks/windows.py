"""How long the states of five years of hours take, and a plan over 500 tasks.

    python benchmarks/windows.py [--years 5] [--tasks 500] [--rounds 3] [--postgres]
                                 [--place FOLDER] [--json]

Receipts of 3 kB, one for each hour, of which one in 97 failed; each names its hour and has its
window. Each figure is of the first question of a fresh process, without its imports, with the files
in the page cache; ``whole`` has the start of Python and the imports in it, and ``read`` is what it
takes to read the text and the runs of every answer. Of the memory store the later rounds are not
the first question. Of each figure the median of the rounds is shown. Every answer is compared with
what was saved. ``loop`` is the time of a loop that does nothing else, for comparisons between
machines. ``--place`` keeps the stores for the next time.
"""

from __future__ import annotations

import argparse
import json
import math
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from statistics import median
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

from benchmarks.stores.data import a_pattern, a_receipt, without_hints  # noqa: E402
from ubunye_core import (  # noqa: E402
    Receipt,
    Schedule,
    Status,
    ToCatchUp,
    Window,
    open_store,
    plan_backfill,
    window_states,
)
from ubunye_core.stores import MemoryStore, ReceiptStore  # noqa: E402

NOW = datetime(2026, 10, 15, tzinfo=UTC)
TASK = "bench/hourly/load"
HOURLY = Schedule(cron="0 * * * *", window="hour", time_zone="Europe/London", variable="hour")
NIGHTLY = Schedule(cron="0 2 * * *", window="day", time_zone="Asia/Jakarta", variable="dt")
DAYS, OUTAGE = 30, 3
FAILS_EACH = 97
BARS = {
    "memory": 0.5, "SQLite": 0.5, "PostgreSQL": 0.5, "files": 1.0, "files, names alone": 6.0,
    "plan": 10.0,
}  # fmt: skip
"""Seconds."""
LOOPS = 3_000_000


def hours(since: datetime) -> Iterator[Receipt]:
    pattern = a_pattern(TASK)
    for number, each in enumerate(HOURLY.due_between(since, NOW)):
        status = Status.SUCCESS if number % FAILS_EACH else Status.ERROR
        start = each.due + timedelta(seconds=3)
        run = a_receipt(pattern, start, status, {"hour": each.name})
        yield replace(run, window=Window(start=each.start, end=each.end))


def nights(tasks: int) -> Iterator[Receipt]:
    """A month of each task, but for an outage; every other task requires the one before it."""
    since = NOW - timedelta(days=DAYS)
    windows = NIGHTLY.due_between(since, NOW)
    lost = range(len(windows) - OUTAGE - 5, len(windows) - 5)
    for task in map(name_of, range(tasks)):
        pattern = a_pattern(task)
        for number, each in enumerate(windows):
            if number not in lost:
                start = each.due + timedelta(seconds=3)
                yield a_receipt(pattern, start, Status.SUCCESS, {"dt": each.name})


def name_of(number: int) -> str:
    return f"bench/nightly/t{number:04}"


def to_catch_up(tasks: int) -> list[ToCatchUp]:
    return [
        ToCatchUp(
            task=name_of(number),
            schedule=NIGHTLY,
            requires=[{"task": name_of(number - 1), "variables": ["dt"]}] if number % 2 else (),
        )
        for number in range(tasks)
    ]


def made(url: str, receipts: Iterator[Receipt]) -> ReceiptStore:
    """The store with these receipts; a folder that is there already is believed."""
    place = Path(url.removeprefix("sqlite:///"))
    done = place.with_name(f"{place.name}.done")
    store = open_store(url)
    if not done.exists():
        place.parent.mkdir(parents=True, exist_ok=True)
        store.save_many(receipts)  # type: ignore[attr-defined]
        done.touch()
    return store


def states(store: ReceiptStore, since: datetime) -> dict[str, float]:
    clock, cpu = time.perf_counter(), time.process_time()
    found = window_states(TASK, schedule=HOURLY, since=since, until=NOW, store=store, now=NOW)
    took = {"seconds": time.perf_counter() - clock, "cpu": time.process_time() - cpu}
    number, cpu = len(found.windows), time.process_time()
    if any(not each.reason or len(each.runs) != 1 for each in found.windows):
        raise SystemExit("a wrong answer: a window without a run")
    took["read"] = time.process_time() - cpu
    counts = Counter(each.state.value for each in found.windows)
    failed = -(-number // FAILS_EACH)
    if counts != {"succeeded": number - failed, "failed": failed}:
        raise SystemExit(f"a wrong answer: {counts}")
    return took | {"windows": number, "loop": loop()}


def loop() -> float:
    """The CPU time of so many additions."""
    cpu, number = time.process_time(), 0
    for each in range(LOOPS):
        number += each
    return time.process_time() - cpu


def whole(store: ReceiptStore) -> dict[str, float]:
    """To read every receipt of the task, and ask nothing: what the other figures compare with."""
    clock, cpu = time.perf_counter(), time.process_time()
    number = sum(isinstance(each, Receipt) for each in store.scan(TASK))  # type: ignore[attr-defined]
    took = {"seconds": time.perf_counter() - clock, "cpu": time.process_time() - cpu}
    return took | {"windows": number, "loop": loop()}


def plan(store: ReceiptStore, tasks: int) -> dict[str, float]:
    given = to_catch_up(tasks)
    clock, cpu = time.perf_counter(), time.process_time()
    found = plan_backfill(given, since=timedelta(days=DAYS), store=store, now=NOW)
    took = {"seconds": time.perf_counter() - clock, "cpu": time.process_time() - cpu}
    waiting = sum(bool(each.after) for each in found.to_run)
    if (len(found.to_run), waiting) != (OUTAGE * tasks, OUTAGE * (tasks // 2)):
        raise SystemExit(f"a wrong plan: {found.reason}, {waiting} wait")
    return took | {"windows": len(found.to_run)}


def in_a_process(*asked: str) -> dict[str, float]:
    clock = time.perf_counter()
    done = subprocess.run(
        [sys.executable, __file__, "--ask", *asked],
        capture_output=True, text=True, check=False, env={**os.environ, "PYTHONPATH": str(ROOT)},
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return json.loads(done.stdout) | {"whole": time.perf_counter() - clock}


def medians(rounds: list[dict[str, float]]) -> dict[str, float]:
    return {name: median(each[name] for each in rounds) for name in rounds[0]}


def measured(place: Path, given: argparse.Namespace) -> dict[str, dict[str, float]]:
    days, tasks = round(given.years * 365.25), given.tasks
    since = NOW - timedelta(days=days)
    found: dict[str, dict[str, float]] = {}

    def asked(name: str, *what: str) -> None:
        found[name] = medians([in_a_process(*what) for _ in range(given.rounds)])

    memory = MemoryStore()
    for each in hours(since):
        memory.save(each)
    found["memory"] = medians([states(memory, since) for _ in range(given.rounds)])
    del memory
    database, folder = f"sqlite:///{place}/hours-{days}.db", f"{place}/hours-{days}"
    made(database, hours(since))
    asked("SQLite", "states", database, since.isoformat())
    if given.postgres:
        from tests.core.stores.sql.server import running_postgres

        with running_postgres() as server:
            open_store(server.url()).save_many(hours(since))  # type: ignore[attr-defined]
            asked("PostgreSQL", "states", server.url(), since.isoformat())
    made(folder, hours(since))
    open_store(folder).repair()  # type: ignore[attr-defined]
    asked("files", "states", folder, since.isoformat())
    without_hints(Path(folder))
    asked("files, names alone", "states", folder, since.isoformat())
    asked("every receipt", "whole", folder, "-")
    for name, url in (
        ("plan, SQLite", f"sqlite:///{place}/nights-{tasks}.db"),
        ("plan, files", f"{place}/nights-{tasks}"),
    ):
        made(url, nights(tasks))
        asked(name, "plan", url, str(tasks))
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--years", type=float, default=5)
    parser.add_argument("--tasks", type=int, default=500)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--postgres", action="store_true", help="with a server of its own")
    parser.add_argument("--place", type=Path)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--ask", nargs=3, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.ask:
        what, url, more = given.ask
        store = open_store(url)
        asked: dict[str, Any] = (
            states(store, datetime.fromisoformat(more))
            if what == "states"
            else whole(store)
            if what == "whole"
            else plan(store, int(more))
        )
        print(json.dumps(asked))
        return
    with tempfile.TemporaryDirectory() as temporary:
        found = measured(given.place or Path(temporary), given)
    if given.json:
        print(json.dumps(found))
        return
    print("| question | windows | seconds | CPU | read | whole process | loop | bar |")
    for name, took in found.items():
        bar = BARS.get(name, BARS["plan"] if name.startswith("plan") else math.inf)
        said = "" if bar == math.inf else f"{bar:g} s "
        said += "" if not said else "reached" if took["seconds"] <= bar else "NOT REACHED"
        print(
            f"| {name} | {took['windows']:,} | {took['seconds']:.2f} | {took['cpu']:.2f} "
            f"| {took.get('read', 0):.2f} | {took.get('whole', 0):.2f} | {took.get('loop', 0):.3f} "
            f"| {said} |"
        )


if __name__ == "__main__":
    main()
