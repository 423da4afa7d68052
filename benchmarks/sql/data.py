"""A store in a database with very many receipts, put there by the fastest way that it has."""

from __future__ import annotations

import contextlib
import os
import random
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from functools import cache
from pathlib import Path
from typing import Any

import sqlalchemy as sa

from tests.core.stores.sql.server import running_postgres
from ubunye_core import Status
from ubunye_core.codec import encode
from ubunye_core.receipt import Orchestrator, Receipt, Window
from ubunye_core.runids import new_run_id
from ubunye_core.stores import open_store
from ubunye_core.stores.sql.rows import SEALED, attempt_key, drawn, micros, seal_of
from ubunye_core.stores.sql.store import SqlStore
from ubunye_core.testing import a_receipt, a_step

FIRST = datetime(2024, 1, 1, tzinfo=UTC)
EVERY, TOOK = timedelta(hours=1), timedelta(minutes=9)
HASHES = ("@1@", "@2@", "@3@")


@dataclass(frozen=True)
class Size:
    """How many receipts there are, of how many tasks."""

    receipts: int
    tasks: int

    @property
    def runs(self) -> int:
        """Runs of each task."""
        return self.receipts // self.tasks

    def task(self, number: int) -> str:
        """The name of one of the tasks."""
        return f"pay/team_{number % 20}/task_{number}"


def variables(run: int) -> dict[str, str]:
    """Of the run of this number: an hour, one of four regions, and a mode that is never else."""
    return {
        "hour": (FIRST + run * EVERY).strftime("%Y-%m-%dT%H"),
        "region": f"r{run % 4}",
        "mode": "PROD",
    }


def an_attempt(run: int, task: str) -> Orchestrator:
    """The scheduler's attempt that the run of this number was."""
    ids = {"dag_id": "pay", "run_id": str(run), "task_id": task}
    return Orchestrator(name="airflow", ids=ids, attempt=1)


def sample(task: str, run: int) -> Receipt:
    """The receipt of the run of this number; about 3 kB."""
    started = FIRST + run * EVERY + timedelta(milliseconds=random.randrange(60_000))
    return a_receipt(
        task=task,
        run_id=new_run_id(started),
        status=Status.ERROR if run % 10 == 3 else Status.SUCCESS,
        started_at=started,
        ended_at=started + TOOK,
        variables=variables(run),
        window=Window(start=FIRST + run * EVERY, end=FIRST + (run + 1) * EVERY),
        orchestrator=an_attempt(run, task),
        inputs=(a_step(data_hash="@1@"), a_step(name="rates", data_hash="@2@")),
        outputs=(a_step(name="adults", direction="output", data_hash="@3@"),),
        environment={"python": "3.12.4", "packages": {f"package-{n}": f"{n}.1" for n in range(20)}},
    )


def rows(size: Size) -> Iterator[dict[str, Any]]:
    """The rows that saving all of these receipts would make; the tasks run side by side."""
    for run in range(size.runs):
        for number in range(size.tasks):
            task = size.task(number)
            started = FIRST + run * EVERY + timedelta(milliseconds=number)
            run_id = new_run_id(started)
            row = _drawn_of(run) | {
                "task": task,
                "run_id": run_id,
                "started_at": micros(started),
                "ended_at": micros(started + TOOK),
                "attempt_key": attempt_key(an_attempt(run, task)),
                "document": _document(run, task, run_id, started),
            }
            sealed = tuple(row[name] for name in SEALED)
            yield row | {"seal": seal_of(len(row["document"]), *sealed)}


@cache
def _drawn_of(run: int) -> dict[str, Any]:
    return drawn(sample("pay/a/b", run), b"")


@cache
def _template(run: int) -> str:
    """The document of a run of this number, with marks where tasks differ."""
    receipt = replace(sample("XaX/XbX/XcX", run), run_id="XIDX")
    return encode(receipt).decode()


def _document(run: int, task: str, run_id: str, started: datetime) -> str:
    usecase, package, name = task.split("/")
    document = _template(run).replace("XaX/XbX/XcX", task).replace("XIDX", run_id)
    for mark, text in (("XaX", usecase), ("XbX", package), ("XcX", name)):
        document = document.replace(mark, text)
    for mark in HASHES:  # so that documents differ, and compress as true ones do
        document = document.replace(mark, f"sha256:{os.urandom(32).hex()}")
    lines = document.split("\n", 12)
    for at, line in enumerate(lines):
        if line.startswith('  "started_at"'):
            lines[at] = f'  "started_at": "{started.isoformat()}",'
        elif line.startswith('  "ended_at"'):
            lines[at] = f'  "ended_at": "{(started + TOOK).isoformat()}",'
    return "\n".join(lines)


@contextlib.contextmanager
def a_store(kind: str, folder: Path) -> Iterator[SqlStore]:
    """An empty store; the server of PostgreSQL is gone at the end."""
    with contextlib.ExitStack() as stack:
        url = f"sqlite:///{folder}/receipts.db"
        if kind == "postgresql":
            server = stack.enter_context(running_postgres(shared_buffers="512MB"))
            url = server.url("bench")
        store = open_store(url)
        assert isinstance(store, SqlStore)
        yield store
        store.close()


def fill(store: SqlStore, size: Size, folder: Path) -> None:
    """Put all rows in; the indexes come after."""
    database = store._database
    store.save(a_receipt())
    store.remove(a_receipt().task, [a_receipt().run_id])
    indexes = database.tables.receipts.indexes
    database.write(lambda connection: [each.drop(connection) for each in indexes])
    if store.url.startswith("sqlite"):
        store.close()
        _into_sqlite(store, rows(size), folder / "receipts.db")
    else:
        database.write(lambda connection: _into_postgres(store, rows(size), connection))
    database.write(lambda connection: [each.create(connection) for each in indexes])
    database.read(lambda connection: connection.exec_driver_sql(_tidy(store)))


def _tidy(store: SqlStore) -> str:
    """What a server does by itself after a while."""
    return "ANALYZE" if store.url.startswith("sqlite") else "VACUUM ANALYZE"


def _into_sqlite(store: SqlStore, made: Iterator[dict[str, Any]], path: Path) -> None:
    names = [column.name for column in store._database.tables.receipts.c]
    marks = ", ".join("?" * len(names))
    connection = sqlite3.connect(path, isolation_level=None)
    connection.executescript("PRAGMA synchronous = OFF; BEGIN;")
    insert = f"INSERT INTO ubunye_receipts ({', '.join(names)}) VALUES ({marks})"
    connection.executemany(insert, ([row[name] for name in names] for row in made))
    told = connection.execute(
        "CREATE TEMP TABLE told AS SELECT task, run_id, started_at, pairs FROM ubunye_receipts"
    ).execute("SELECT * FROM told")
    connection.executemany(
        "INSERT INTO ubunye_variables (pair, task, started_at, run_id) VALUES (?, ?, ?, ?)",
        (
            (int(pair), task, started_at, run_id)
            for task, run_id, started_at, pairs in told
            for pair in pairs.split()
        ),
    )
    connection.execute("COMMIT")
    connection.close()


def _into_postgres(
    store: SqlStore, made: Iterator[dict[str, Any]], connection: sa.Connection
) -> None:
    tables = store._database.tables
    names = [column.name for column in tables.receipts.c]
    in_full = connection.dialect.identifier_preparer.format_table
    receipts, pairs = in_full(tables.receipts), in_full(tables.variables)
    cursor = connection.connection.cursor()
    with cursor.copy(f"COPY {receipts} ({', '.join(names)}) FROM STDIN") as into:
        for row in made:
            into.write_row([row[name] for name in names])
    cursor.execute(
        f"INSERT INTO {pairs} (pair, task, started_at, run_id) "
        "SELECT pair::bigint, task, started_at, run_id "
        f"FROM {receipts}, LATERAL unnest(string_to_array(pairs, ' ')) AS pair"
    )
