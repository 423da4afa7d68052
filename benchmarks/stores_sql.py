"""Every question to the SQL store, beside a SELECT 1 of the same connection.

    python benchmarks/stores_sql.py [--receipts 20000] [--tasks 200] [--only sqlite|postgresql]
                                    [--json]

The full size is --receipts 1000000 --tasks 1000: some minutes, and 8 GB in the temporary folder.
PostgreSQL is a server of its own, which is gone at the end. The bars are ratios within one run:
the database's part of each question is at most ten times a SELECT 1, and health of 1,000 tasks
takes at most 50 ms on PostgreSQL. Reading the documents is ours, and is shown beside it.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import random
import sqlite3
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.core.stores.sql.server import running_postgres
from ubunye_core import Status, job_health
from ubunye_core.batch import Batch
from ubunye_core.codec import encode
from ubunye_core.receipt import Orchestrator, Receipt, Window
from ubunye_core.runids import new_run_id
from ubunye_core.stores import ClaimKey, open_store
from ubunye_core.stores.sql import searching
from ubunye_core.stores.sql.rows import SEALED, drawn, seal_of
from ubunye_core.stores.sql.store import SqlStore
from ubunye_core.testing import a_receipt, a_step

FIRST = datetime(2024, 1, 1, tzinfo=UTC)
EVERY = timedelta(hours=1)
MOST = 10.0
"""A question's part in the database is at most so many times a SELECT 1."""
HEALTH_MS = 50.0
LINE = "{:<46}{:>10}{:>12}{:>8}{:>10}"


@dataclass(frozen=True)
class Size:
    receipts: int
    tasks: int

    @property
    def runs(self) -> int:
        """Runs of each task."""
        return self.receipts // self.tasks

    def task(self, number: int) -> str:
        return f"pay/team_{number % 20}/task_{number}"


def variables(run: int) -> dict[str, str]:
    """Of the run of this number: an hour, one of four regions, and a mode that is never else."""
    return {
        "hour": (FIRST + run * EVERY).strftime("%Y-%m-%dT%H"),
        "region": f"r{run % 4}",
        "mode": "PROD",
    }


def sample(task: str, run: int) -> Receipt:
    started = FIRST + run * EVERY + timedelta(milliseconds=random.randrange(60_000))
    status = Status.ERROR if run % 10 == 3 else Status.SUCCESS
    return a_receipt(
        task=task,
        run_id=new_run_id(started),
        status=status,
        started_at=started,
        ended_at=started + timedelta(minutes=9),
        variables=variables(run),
        window=Window(start=FIRST + run * EVERY, end=FIRST + (run + 1) * EVERY),
        orchestrator=Orchestrator(
            name="airflow", ids={"dag_id": "pay", "run_id": str(run), "task_id": task}, attempt=1
        ),
        inputs=(a_step(data_hash="@1@"), a_step(name="rates", data_hash="@2@")),
        outputs=(a_step(name="adults", direction="output", data_hash="@3@"),),
        environment={"python": "3.12.4", "packages": {f"package-{n}": f"{n}.1" for n in range(20)}},
    )


@cache
def _drawn_of(run: int) -> dict[str, Any]:
    return drawn(sample("pay/a/b", run), b"")


@cache
def _template(run: int) -> str:
    """The document of a run of this number, with marks where tasks differ."""
    receipt = replace(sample("@a@/@b@/@c@".replace("@", "X"), run), run_id="XIDX")
    return encode(receipt).decode()


def rows(size: Size) -> Iterator[dict[str, Any]]:
    """The rows that saving all of these receipts would make."""
    for run in range(size.runs):
        template, of_run = _template(run), _drawn_of(run)
        for number in range(size.tasks):
            task, offset = size.task(number), timedelta(milliseconds=number)
            started = FIRST + run * EVERY + offset
            usecase, package, name = task.split("/")
            run_id = new_run_id(started)
            document = template
            for mark, text in (
                ("XaX/XbX/XcX", task), ("XaX", usecase), ("XbX", package), ("XcX", name),
                ("XIDX", run_id), ("@1@", f"sha256:{os.urandom(32).hex()}"),
                ("@2@", f"sha256:{os.urandom(32).hex()}"),
                ("@3@", f"sha256:{os.urandom(32).hex()}"),
            ):  # fmt: skip
                document = document.replace(mark, text)
            document = _with_times(document, started)
            micros = int((started - datetime(1970, 1, 1, tzinfo=UTC)) / timedelta(microseconds=1))
            row = of_run | {
                "task": task,
                "run_id": run_id,
                "started_at": micros,
                "ended_at": micros + 540_000_000,
                "attempt_key": _attempt_key(run, task),
                "document": document,
            }
            sealed = tuple(row[name] for name in SEALED)
            yield row | {"seal": seal_of(sealed, len(document))}


def _with_times(document: str, started: datetime) -> str:
    lines = document.split("\n", 12)
    for at, line in enumerate(lines):
        if line.startswith('  "started_at"'):
            lines[at] = f'  "started_at": "{started.isoformat()}",'
        elif line.startswith('  "ended_at"'):
            lines[at] = f'  "ended_at": "{(started + timedelta(minutes=9)).isoformat()}",'
    return "\n".join(lines)


def _attempt_key(run: int, task: str) -> str:
    from ubunye_core.stores.sql.rows import attempt_key

    return attempt_key(an_attempt(run, task))


def an_attempt(run: int, task: str) -> Orchestrator:
    return Orchestrator(
        name="airflow", ids={"dag_id": "pay", "run_id": str(run), "task_id": task}, attempt=1
    )


def fill(store: SqlStore, size: Size, folder: Path) -> None:
    """Put all rows in, by the fastest way the database has; the indexes come after."""
    database = store._database
    store.save(a_receipt())
    store.remove(a_receipt().task, [a_receipt().run_id])
    receipts, pairs = database.tables.receipts, database.tables.variables
    names = [column.name for column in receipts.c]

    def change(work: Callable[[sa.Connection], None]) -> None:
        database.write(work)

    change(lambda connection: [index.drop(connection) for index in receipts.indexes] and None)
    if store.url.startswith("sqlite"):
        store.close()
        connection = sqlite3.connect(folder / "receipts.db", isolation_level=None)
        connection.executescript("PRAGMA synchronous = OFF; BEGIN;")
        marks = ", ".join("?" * len(names))
        insert = f"INSERT INTO ubunye_receipts ({', '.join(names)}) VALUES ({marks})"
        connection.executemany(insert, ([row[name] for name in names] for row in rows(size)))
        connection.execute("CREATE TEMP TABLE p AS SELECT task, run_id, started_at, pairs "
                           "FROM ubunye_receipts")  # fmt: skip
        connection.executemany(
            "INSERT INTO ubunye_variables (pair, task, started_at, run_id) VALUES (?, ?, ?, ?)",
            (
                (int(pair), task, started_at, run_id)
                for task, run_id, started_at, pairs in connection.execute("SELECT * FROM p")
                for pair in pairs.split()
            ),
        )
        connection.execute("COMMIT")
        connection.close()
    else:

        def copy(connection: sa.Connection) -> None:
            cursor = connection.connection.cursor()
            place = connection.dialect.identifier_preparer.format_table(receipts)
            with cursor.copy(f"COPY {place} ({', '.join(names)}) FROM STDIN") as into:
                for row in rows(size):
                    into.write_row([row[name] for name in names])
            place_of_pairs = connection.dialect.identifier_preparer.format_table(pairs)
            cursor.execute(
                f"INSERT INTO {place_of_pairs} (pair, task, started_at, run_id) "
                f"SELECT p::bigint, task, started_at, run_id "
                f"FROM {place}, LATERAL unnest(string_to_array(pairs, ' ')) AS p"
            )  # fmt: skip

        change(copy)
    change(lambda connection: [index.create(connection) for index in receipts.indexes] and None)
    database.read(lambda connection: connection.exec_driver_sql("ANALYZE") and None)


@dataclass(frozen=True)
class Question:
    name: str
    ask: Callable[[int], object]
    """Given a number that is another each time."""
    reads_documents: int = 1


def questions(store: SqlStore, size: Size) -> list[Question]:
    def task(turn: int) -> str:
        return size.task(turn * 7 % size.tasks)

    def hour(turn: int) -> str:
        return variables(turn * 11 % size.runs)["hour"]

    def batch(turn: int) -> dict[str, str]:
        run = turn * 10 % size.runs
        return {name: variables(run)[name] for name in ("hour", "region")}

    ids = {turn: store.list_runs(task(turn), 1)[0].run_id for turn in range(60)}
    late = FIRST + (size.runs - 5) * EVERY
    return [
        Question("load one run", lambda turn: store.load(task(turn), ids[turn])),
        Question("newest run of a task", lambda turn: store.list_runs(task(turn), 1)),
        Question("newest 50 of a task", lambda turn: store.list_runs(task(turn), 50), 50),
        Question(
            "newest success of a task",
            lambda turn: store.search(task(turn), Status.SUCCESS, limit=1),
        ),
        Question(
            "newest failure of a task", lambda turn: store.search(task(turn), Status.ERROR, limit=1)
        ),
        Question(
            "success of a whole batch",
            lambda turn: store.success_by_batch(task(turn), batch(turn), whole=True),
        ),
        Question(
            "success of some variables of a batch",
            lambda turn: store.success_by_batch(
                task(turn), {"hour": batch(turn)["hour"], "mode": "PROD"}, whole=False
            ),
        ),
        Question(
            "the same where none has succeeded",
            lambda turn: store.success_by_batch(
                task(turn), {"hour": f"none-{turn}", "mode": "PROD"}, whole=False
            ),
            0,
        ),
        Question(
            "runs of a batch (search)",
            lambda turn: store.search(task(turn), batch={"hour": hour(turn), "mode": "PROD"}),
        ),
        Question("since, 5 runs of a task", lambda turn: store.search(task(turn), since=late), 5),
        Question("newest 5 of all tasks", lambda turn: store.search(limit=5), 5),
        Question("running runs of all tasks", lambda turn: store.search(None, Status.RUNNING), 0),
        Question(
            "a scheduler's attempt",
            lambda turn: store.of_attempt(task(turn), an_attempt(turn * 3, task(turn))),
        ),
        Question(
            "holder of a claim",
            lambda turn: store.holder(ClaimKey(task=task(turn), batch=Batch.of(batch(turn)))),
            0,
        ),
    ]


class Stopwatch:
    """How much of a question is the database's part: statements and fetching, less the reading."""

    def __init__(self, store: SqlStore) -> None:
        self._store = store

    @contextlib.contextmanager
    def without_reading(self) -> Iterator[None]:
        """Answers without what documents say."""
        real = searching.Stored.read
        searching.Stored.read = lambda row, url: _READ  # type: ignore[assignment, method-assign]
        real_receipt = searching.Stored.receipt
        searching.Stored.receipt = lambda row, url: _READ  # type: ignore[method-assign]
        real_agrees = searching.agrees
        searching.agrees = lambda *_: True  # type: ignore[assignment]
        real_same = Batch.is_same
        Batch.is_same = lambda *_: True  # type: ignore[method-assign]
        try:
            yield
        finally:
            searching.Stored.read = real  # type: ignore[method-assign]
            searching.Stored.receipt = real_receipt  # type: ignore[method-assign]
            searching.agrees = real_agrees  # type: ignore[assignment]
            Batch.is_same = real_same  # type: ignore[method-assign]


_READ = a_receipt()


def least_ms(*asks: Callable[[int], object], turns: int = 60) -> list[float]:
    """What each takes where nobody else is in the way: the lower decile, asked in turns."""
    took: list[list[float]] = [[] for _ in asks]
    for turn in range(turns):
        for ask, times in zip(asks, took, strict=True):
            began = time.perf_counter()
            ask(turn)
            times.append((time.perf_counter() - began) * 1000)
    return [sorted(times)[turns // 10] for times in took]


def measure(store: SqlStore, size: Size) -> list[dict[str, Any]]:
    """Each question in turns with a SELECT 1, so that a busy machine slows both."""

    def one(_: int) -> object:
        return store._database.read(lambda connection: connection.execute(sa.select(1)).scalar())

    found: list[dict[str, Any]] = []
    watch = Stopwatch(store)
    for question in questions(store, size):
        (whole,) = least_ms(question.ask)
        with watch.without_reading():
            base, database = least_ms(one, question.ask)
        found.append(
            {"question": question.name, "select_1_ms": base, "database_ms": database,
             "ratio": database / base, "whole_ms": whole, "bar": MOST}
        )  # fmt: skip
    names = [size.task(number) for number in range(size.tasks)]
    now = FIRST + size.runs * EVERY
    of_all = {
        "settled": lambda _: store.settled(names),
        "health": lambda _: job_health(names, store=store, now=now),
        "names": lambda _: store.tasks(),
    }
    for name, took in zip(of_all, least_ms(*of_all.values(), turns=20), strict=True):
        found.append({"question": f"{name} of {size.tasks:,} tasks", "whole_ms": took})
    found[-2]["bar_ms"] = HEALTH_MS * max(1, size.tasks / 1000)
    (saves,) = least_ms(lambda turn: store.save(sample("pay/new/task", turn)))
    found.append({"question": "save of a new run", "whole_ms": saves})
    return found


def report(kind: str, found: list[dict[str, Any]]) -> bool:
    """Print a table; whether every bar holds."""
    good = True
    print(f"\n{kind}")
    print(LINE.format("question", "SELECT 1", "database", "ratio", "with all"))
    for each in found:
        ratio, ok = each.get("ratio"), True
        if ratio is not None:
            ok = ratio <= each["bar"]
        elif "bar_ms" in each and kind == "postgresql":
            ok = each["whole_ms"] <= each["bar_ms"]
        good = good and ok
        print(
            LINE.format(
                each["question"],
                f"{each['select_1_ms']:.2f}" if ratio is not None else "",
                f"{each['database_ms']:.2f}" if ratio is not None else "",
                f"{ratio:.1f}" if ratio is not None else "",
                f"{each['whole_ms']:.2f}",
            )
            + ("" if ok else "  over its bar")
        )
    return good


@contextlib.contextmanager
def a_store(kind: str, folder: Path) -> Iterator[SqlStore]:
    with contextlib.ExitStack() as stack:
        url = f"sqlite:///{folder}/receipts.db"
        if kind == "postgresql":
            server = stack.enter_context(running_postgres(shared_buffers="512MB"))
            url = server.url("bench")
        store = open_store(url)
        assert isinstance(store, SqlStore)
        yield store
        store.close()


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--receipts", type=int, default=20_000)
    parser.add_argument("--tasks", type=int, default=200)
    parser.add_argument("--only", choices=["sqlite", "postgresql"])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    size, good, figures = Size(given.receipts, given.tasks), True, {}
    for kind in [given.only] if given.only else ["postgresql", "sqlite"]:
        with tempfile.TemporaryDirectory() as folder, a_store(kind, Path(folder)) as store:
            began = time.perf_counter()
            fill(store, size, Path(folder))
            filled = time.perf_counter() - began
            print(f"{kind}: {size.receipts:,} receipts in {filled:.0f} s", file=sys.stderr)
            figures[kind] = measure(store, size)
            if not given.json:
                good = report(kind, figures[kind]) and good
    if given.json:
        print(json.dumps(figures, indent=2))
    return 0 if good else 1


if __name__ == "__main__":
    raise SystemExit(main())
