"""Folders of receipts that look like real ones, as both sides read them.

A folder is made once and used again; ``facts.json`` beside it says what is in it. Its receipts
bear the file dates of their ends, as if each had been saved then, so whatever is newer was saved
by a measurement and is removed before the next.
"""

from __future__ import annotations

import hashlib
import json
import os
import random
import shutil
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from ubunye_core.codec import encode
from ubunye_core.receipt import Expectation, Receipt, Recorder, Status, Step, Timing
from ubunye_core.runids import new_run_id

VERSION = 1
A_YEAR = timedelta(days=365)
SUCCEED = 0.95
REGIONS = ("north", "south", "east", "west", "sea")
PACKAGES = {
    name: f"{number}.{number + 2}.{number % 3}"
    for number, name in enumerate(
        ("numpy", "pandas", "pyarrow", "pyspark", "delta-spark", "polars", "duckdb", "sqlalchemy")
    )
}


@dataclass(frozen=True)
class Row:
    """What the questions ask of one receipt."""

    task: str
    run_id: str
    started_at: datetime
    status: Status
    batch: dict[str, str]


@dataclass(frozen=True)
class Folder:
    """A store's folder, and what is in it."""

    root: Path
    facts: dict[str, Any]


def folder(place: Path, tasks: int, receipts: int) -> Folder:
    """The folder of so many tasks with so many receipts each; made where it is not there yet."""
    home = place / f"v{VERSION}-{tasks}x{receipts}"
    known = home / "facts.json"
    if not known.exists():
        shutil.rmtree(home, ignore_errors=True)
        facts = _write(home / "receipts", tasks, receipts)
        known.write_text(json.dumps(facts))
    return Folder(home / "receipts", json.loads(known.read_text()))


def clean(it: Folder) -> None:
    """Remove what measurements saved, and every hint: only the receipts stay."""
    made_at = it.facts["made_at"]
    without_hints(it.root)
    for directory, _, names in os.walk(it.root):
        for name in names:
            path = os.path.join(directory, name)
            if os.stat(path).st_mtime > made_at:
                os.unlink(path)


def without_hints(root: Path) -> None:
    """Remove whatever is no receipt: hints, locks, unfinished files."""
    for directory, folders, names in os.walk(root):
        for name in [name for name in folders if name.startswith(".")]:
            shutil.rmtree(os.path.join(directory, name))
            folders.remove(name)
        for name in names:
            if name.startswith(".") or not name.endswith(".json"):
                os.unlink(os.path.join(directory, name))


def warm(root: Path) -> None:
    """Read every file once, so that both sides find them in memory."""
    for directory, _, names in os.walk(root):
        for name in names:
            Path(directory, name).read_bytes()


def _write(root: Path, tasks: int, receipts: int) -> dict[str, Any]:
    until = datetime.now(UTC) - timedelta(minutes=2)
    random_numbers = random.Random(tasks * 1_000_003 + receipts)
    rows: list[Row] = []
    names = (
        ["bench/hourly/load"]
        if tasks == 1
        else [f"bench/group-{at % 20:02}/task-{at:04}" for at in range(tasks)]
    )
    told = time.monotonic()
    for at, task in enumerate(names):
        place = root.joinpath(*task.split("/"))
        place.mkdir(parents=True)
        last = Status.RUNNING if tasks == 1 else _a_status(random_numbers, running=0.02)
        late = timedelta(minutes=at * 3)
        for receipt in _runs(task, receipts, until - late, last, random_numbers):
            path = place / f"{receipt.run_id}.json"
            path.write_bytes(encode(receipt))
            ended = receipt.finished_at.timestamp()
            os.utime(path, (ended, ended))
            batch = receipt.batch.as_dict()
            rows.append(Row(task, receipt.run_id, receipt.started_at, receipt.status, batch))
            if time.monotonic() - told > 5:
                told = time.monotonic()
                print(f"  {len(rows):,} of {tasks * receipts:,} receipts", file=sys.stderr)
    return _facts(names, rows, until)


def _runs(
    task: str, count: int, until: datetime, last: Status, random_numbers: random.Random
) -> Iterator[Receipt]:
    """A year of runs. What fails is run again at once, but for one batch in the middle."""
    pause = A_YEAR / count
    slots = pause / SUCCEED
    pattern = a_pattern(task)
    slot = 0
    for at in range(count):
        started_at = until - pause * (count - 1 - at) + pause * 0.2 * (random_numbers.random() - 1)
        started_at = started_at.replace(microsecond=started_at.microsecond // 1000 * 1000 + 7)
        status = _a_status(random_numbers)
        if at == count // 2 + 7:
            status = Status.ERROR
        elif at == count - 1:
            status = last
        yield a_receipt(pattern, started_at, status, batch_of(until - A_YEAR, slots, slot))
        if status is Status.SUCCESS or at == count // 2 + 7:
            slot += 1


def batch_of(first: datetime, length: timedelta, slot: int) -> dict[str, str]:
    """The variables of one slot: five regions share a ``dt``."""
    dt = (first + length * (slot - slot % 5)).strftime("%Y-%m-%dT%H:%M")
    return {"dt": dt, "region": REGIONS[slot % 5], "month": dt[:7]}


def _a_status(random_numbers: random.Random, running: float = 0.0) -> Status:
    drawn = random_numbers.random()
    if drawn < SUCCEED:
        return Status.SUCCESS
    if drawn < SUCCEED + running:
        return Status.RUNNING
    return Status.ERROR if drawn < 0.99 else Status.INTERRUPTED


def _hash(*parts: object) -> str:
    return f"sha256:{hashlib.sha256(repr(parts).encode()).hexdigest()}"


def a_pattern(task: str) -> Receipt:
    """What all runs of a task share."""
    steps = [
        Step(
            name=name,
            direction=direction,
            format="delta",
            location=f"/srv/lake/{task}/{name}",
            row_count=120_000,
            schema_hash=_hash(task, name, "schema"),
            hash_method="rows-v1",
            hash_seconds=0.123,
            route="arrow",
        )
        for name, direction in (("orders", "input"), ("people", "input"), ("totals", "output"))
    ]
    return Receipt(
        task=task,
        run_id="pattern",
        status=Status.SUCCESS,
        started_at=datetime(2026, 1, 1, tzinfo=UTC),
        inputs=tuple(steps[:2]),
        outputs=tuple(steps[2:]),
        timings=tuple(Timing(step=step, seconds=1.25) for step in ("read", "transform", "write")),
        expectations=(
            Expectation(rule="not_null: amount", passed=True, output="totals", failed=0, total=9),
        ),
        heartbeat_every=timedelta(seconds=30),
        host="worker-7.example.org",
        pid=4711,
        code_hash=_hash(task, "code"),
        config_hash=_hash(task, "config"),
        environment={
            "python": "3.11.7",
            "implementation": "CPython",
            "platform": "linux",
            "machine": "x86_64",
            "packages": dict(PACKAGES),
        },
        environment_hash=_hash("environment"),
        time_zone="Asia/Jakarta",
        recorder=Recorder(name="ubunye-receipts", version="0.1.0"),
    )


def a_receipt(
    pattern: Receipt, started_at: datetime, status: Status, batch: dict[str, str]
) -> Receipt:
    run_id = new_run_id(started_at)
    took = timedelta(seconds=40)
    steps = [replace(it, data_hash=_hash(run_id, it.name)) for it in pattern.inputs]
    wrote = [replace(it, data_hash=_hash(run_id, it.name)) for it in pattern.outputs]
    is_success = status is Status.SUCCESS
    return replace(
        pattern,
        run_id=run_id,
        status=status,
        started_at=started_at,
        ended_at=started_at + took if status.is_final else None,
        duration_sec=took.total_seconds() if status.is_final else None,
        heartbeat_at=started_at + took * 0.75,
        variables={"mode": "PROD", **batch},
        inputs=tuple(steps),
        outputs=tuple(wrote) if is_success else (),
        error=None if is_success else "ValueError: 3 rows of orders have no amount",
    )


def _facts(names: list[str], rows: list[Row], until: datetime) -> dict[str, Any]:
    """What is in a folder, and what the right answers are."""
    rows.sort(key=lambda row: (row.started_at, row.run_id))
    facts: dict[str, Any] = {
        "tasks": names,
        "receipts": len(rows),
        "made_at": until.timestamp() + 60,
        "since": rows[-100].started_at.isoformat(),
        "newest": [row.run_id for row in rows[:-101:-1]],
    }
    if len(names) == 1:
        facts |= _batches(rows, until)
    return facts


def _batches(rows: list[Row], until: datetime) -> dict[str, Any]:
    """Batches of one task to ask for, each with the run that meets it and who agrees with it."""
    count = len(rows)
    good = [at for at, row in enumerate(rows) if row.status is Status.SUCCESS]
    near = good[-1]
    middle = next(at for at in good if at >= count // 2)
    later = [batch_of(until, A_YEAR / count, slot) for slot in (3, 9, 14)]
    asked = {
        "newest": rows[near].batch,
        "middle": rows[middle].batch,
        "failed": rows[count // 2 + 7].batch,
        "running": rows[-1].batch,
        "absent": later[0],
        "foreign": later[1],
        "another": later[2],
    }
    for names in (("dt",), ("dt", "region"), ("month",), ("region",)):
        asked["middle " + ", ".join(names)] = {name: rows[middle].batch[name] for name in names}
    found = {}
    for title, batch in asked.items():
        wanted = batch.items()
        fitting = [row for row in rows if wanted <= row.batch.items()]
        success = [row.run_id for row in fitting if row.status is Status.SUCCESS]
        agreeing = [sum(pair in row.batch.items() for row in rows) for pair in wanted]
        found[title] = {
            "batch": batch,
            "success": success[-1] if success else None,
            "fitting": len(fitting),
            "agreeing_rarest": min(agreeing),
            "agreeing_any": sum(bool(wanted & row.batch.items()) for row in rows),
        }
    return {"batches": found, "a_run": rows[middle].run_id}
