"""The Delta store by delta-rs: its questions among a million receipts, and its saves.

    python benchmarks/stores_delta.py [--tenth] [--folder DIR]

Each figure: the first call on a table that was opened for it, the median of the next ones, and of
their CPU time on all cores. Two
events a run, so a million receipts are two million rows; documents of about 3 KB, each its own.
"""

from __future__ import annotations

import argparse
import os
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
from deltalake import DeltaTable, write_deltalake

from ubunye_core.receipt import Orchestrator, Receipt, Status
from ubunye_core.runids import new_run_id
from ubunye_core.stores.delta import DeltaStore, open_delta
from ubunye_core.stores.delta.place import place_of
from ubunye_core.stores.delta.shape import of_events
from ubunye_core.stores.delta.table import written_like
from ubunye_core.stores.events import Event, event_of, new_event_id
from ubunye_core.testing import a_receipt, a_step

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)
ENDED = timedelta(minutes=9)
BAR = 100.0
BASE = "base/base/base"


def a_run(task: str, number: int) -> Receipt:
    started = BEGAN + timedelta(minutes=10 * number)
    return a_receipt(
        task=task,
        run_id=new_run_id(started),
        status=Status.RUNNING,
        started_at=started,
        variables={"number": str(number), "region": "eu"},
        inputs=(a_step(),) * 3,
        orchestrator=Orchestrator(name="airflow", ids={"run_id": f"r{number}"}, attempt=1),
    )


def rows(task: str, numbers: range) -> Iterator[Event]:
    """Two events a run. Written by replacing texts in one document: to encode each takes longer."""
    template = a_run(task, 0)
    running = event_of(template, replaces=None, saved_at=template.started_at)
    ended = event_of(
        replace(template, status=Status.SUCCESS, ended_at=template.started_at + ENDED),
        replaces=running,
        saved_at=template.started_at + ENDED,
    )
    assert running.document
    assert ended.document
    for number in numbers:
        run = a_run(task, number)
        at, end = run.started_at, run.started_at + ENDED
        columns = event_of(replace(run, inputs=()), replaces=None, saved_at=at)
        swaps = {
            template.run_id: run.run_id,
            '"number": "0"': f'"number": "{number}"',
            '"run_id": "r0"': f'"run_id": "r{number}"',
            (template.started_at + ENDED).isoformat(): end.isoformat(),
            template.started_at.isoformat(): at.isoformat(),
        }
        yield replace(columns, document=swapped(running.document, swaps))
        yield replace(
            columns,
            event=new_event_id(end, after=columns),
            turn=1,
            status="success",
            ended_at=end,
            document=swapped(ended.document, swaps),
        )


def swapped(text: str, swaps: dict[str, str]) -> str:
    for old, new in swaps.items():
        text = text.replace(old, new)
    return text


def fill(store: DeltaStore, tasks: Sequence[str], each: int) -> None:
    """Write what many writers and the joining of their files leave: some files for each task."""
    store.save_many([])
    place = place_of(store.url)
    table, schema = DeltaTable(place.uri), of_events(place).schema
    base = pa.Table.from_pylist([e.as_row() for e in rows(BASE, range(each))], schema=schema)
    for first in range(0, len(tasks), 20):
        data = pa.concat_tables(of_task(base, task) for task in tasks[first : first + 20])
        write_deltalake(table, data, mode="append", writer_properties=written_like())
        sys.stderr.write(f"\r{first + 20} of {len(tasks)} tasks")
    sys.stderr.write("\n")


def of_task(base: pa.Table, task: str) -> pa.Table:
    """The same runs for another task: only its name differs."""
    document = base["document"]
    for name, text in zip(("task_path", "usecase", "package", "task_name"),
                          (BASE, *BASE.split("/")), strict=True):  # fmt: skip
        new = dict(zip(("task_path", "usecase", "package", "task_name"),
                       (task, *task.split("/")), strict=True))[name]  # fmt: skip
        document = pc.replace_substring(
            document, pattern=f'"{name}": "{text}"', replacement=f'"{name}": "{new}"'
        )
    names = pa.array([task] * len(base), pa.string())
    base = base.set_column(base.schema.get_field_index("task"), "task", names)
    return base.set_column(base.schema.get_field_index("document"), "document", document)


def measure(name: str, url: str, ask: Callable[[DeltaStore], object], times: int = 9) -> float:
    store = open_delta(url)
    took, cpu = [], []
    for _ in range(times + 1):
        began, used = time.perf_counter(), time.process_time()
        answer = ask(store)
        took.append((time.perf_counter() - began) * 1000)
        cpu.append((time.process_time() - used) * 1000)
    median = statistics.median(took[1:])
    size = len(answer) if hasattr(answer, "__len__") else ""
    print(
        f"| {name} | {took[0]:,.1f} | {median:,.1f} | {statistics.median(cpu[1:]):,.1f} | {size} |",
        flush=True,
    )
    return median


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--tenth", action="store_true")
    options.add_argument("--folder", type=Path)
    given = options.parse_args()
    print(f"load of the machine: {os.getloadavg()[0]:.0f}")
    with tempfile.TemporaryDirectory(dir=given.folder) as folder:
        run(Path(folder), tasks=100 if given.tenth else 1000)


def run(folder: Path, tasks: int) -> None:
    names = [f"pay/p{number // 100}/t{number}" for number in range(tasks)]
    url = f"delta+{(folder / 'receipts').as_uri()}"
    began = time.perf_counter()
    fill(open_delta(url), names, 1000)
    size = sum(path.stat().st_size for path in folder.rglob("*.parquet"))
    print(f"{tasks * 1000:,} receipts of {tasks:,} tasks: {size / 1e6:,.0f} MB on disk, "
          f"written in {time.perf_counter() - began:,.0f} s\n")  # fmt: skip
    print("| question | first, ms | later, ms | CPU, ms | answers |\n|---|--:|--:|--:|--:|")
    task, whole = names[len(names) // 2], {"number": "500", "region": "eu"}
    attempt = Orchestrator(name="airflow", ids={"run_id": "r500"}, attempt=1)
    run_id = open_delta(url).list_runs(task, 1)[0].run_id
    since = BEGAN + timedelta(minutes=10 * 900)
    batch = measure("success of a batch", url,
                    lambda s: s.success_by_batch(task, whole, whole=True))  # fmt: skip
    measure("a batch that has not succeeded", url,
            lambda s: s.success_by_batch(task, {"number": "x"}, whole=True))  # fmt: skip
    measure("success of a part of a batch", url,
            lambda s: s.success_by_batch(task, {"number": "500"}, whole=False))  # fmt: skip
    searched = measure("the same by search", url, lambda s: s.search(task, "success", batch=whole))
    measure("newest 50 of a task", url, lambda s: s.list_runs(task, 50))
    measure("since: 100 of a task", url, lambda s: s.search(task, since=since))
    measure("one run", url, lambda s: s.load(task, run_id))
    measure("a scheduler's attempt", url, lambda s: s.of_attempt(task, attempt))
    measure("all 1,000 of a task", url, lambda s: s.search(task), times=3)
    measure("tasks", url, lambda s: s.tasks())
    measure("settled, all tasks", url, lambda s: s.settled(names), times=3)
    measure("newest 50 of all tasks", url, lambda s: s.search(limit=50), times=1)
    numbers = iter(range(10_000, 20_000))
    measure("save of a run that begins", url, lambda s: s.save(a_run(task, next(numbers))), 40)
    after = single_saves(f"delta+{(folder / 'small').as_uri()}")
    for name, took in (("batch", batch), ("search", searched), ("after 1,000 saves", after)):
        print(f"bar of {BAR:.0f} ms, {name}: {'reached' if took <= BAR else 'NOT reached'}")


def single_saves(url: str) -> float:
    """A thousand saves of one task, one by one: what they take, and the answer after them."""
    store, took = open_delta(url), []
    for number in range(1000):
        receipt = a_run("pay/monthly/calc", number)
        began = time.perf_counter()
        store.save(receipt)
        took.append((time.perf_counter() - began) * 1000)
    took.sort()
    files = len(DeltaTable(place_of(url).uri).file_uris())
    print(f"\n1,000 single saves: median {took[500]:.1f} ms, 95% {took[950]:.1f}, longest "
          f"{took[-1]:.0f}; {files} files\n")  # fmt: skip
    print(
        "| after 1,000 single saves | first, ms | later, ms | CPU, ms | answers |\n"
        "|---|--:|--:|--:|--:|"
    )
    whole = {"number": "500", "region": "eu"}
    measure("newest 50", url, lambda s: s.list_runs("pay/monthly/calc", 50))
    return measure("a batch by search", url, lambda s: s.search("pay/monthly/calc", batch=whole))


if __name__ == "__main__":
    main()
