"""Databases that are not there, not ours, or go away: what a user is told, and what is not."""

from __future__ import annotations

import logging
import multiprocessing
import os
import socket
import sqlite3
import threading
import time
import traceback
from pathlib import Path

import pytest
import sqlalchemy as sa

from tests.core.stores.sql.server import PostgresServer, running_postgres
from tests.core.stores.sql.stores import execute, made, opened, receipts_of
from ubunye_core import check_upstream, job_health
from ubunye_core.errors import ConfigError, StoreUnavailableError
from ubunye_core.questions import Verdict
from ubunye_core.receipt import Status
from ubunye_core.stores import ClaimKey, Summed, open_store
from ubunye_core.stores.sql import schema
from ubunye_core.stores.sql.store import SqlStore
from ubunye_core.stores.sql.tables import Tables
from ubunye_core.testing import A_TASK, a_receipt, at
from ubunye_core.upkeep import repair_store

SECRET = "Wachtwoord-42"


def test_a_database_without_tables_is_unavailable_and_not_empty(url: str) -> None:
    store = opened(url)
    for ask in (
        lambda: store.search(A_TASK),
        lambda: store.load(A_TASK, "run-1"),
        store.tasks,
        lambda: store.settled([A_TASK]),
        lambda: store.success_by_batch(A_TASK, {}, whole=True),
        lambda: store.holder(ClaimKey.of(A_TASK, {})),
        lambda: list(store.scan(A_TASK)),
    ):
        with pytest.raises(StoreUnavailableError, match="no tables of receipts yet"):
            ask()
    answer = check_upstream(A_TASK, variables={"month": "2026-10"}, store=store)
    assert (answer.verdict, answer.retryable) == (Verdict.UNKNOWN, True)
    assert job_health(A_TASK, store=store).verdict is Verdict.UNKNOWN
    store.save(a_receipt())
    assert list(store.search(A_TASK)) == [a_receipt()]
    store.close()


def test_a_reader_makes_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError):
        opened(f"sqlite:///{tmp_path}/deep/receipts.db").search()
    assert list(tmp_path.iterdir()) == []


def test_writers_that_meet_where_nothing_is_make_the_tables_once(url: str) -> None:
    stores, ready = [opened(url) for _ in range(8)], threading.Barrier(8)
    failed: list[BaseException] = []

    def save(number: int) -> None:
        ready.wait()
        try:
            stores[number].save(a_receipt(run_id=f"r{number}"))
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=save, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(stores[0].search(A_TASK)) == 8
    for store in stores:
        store.close()


def test_tables_of_a_newer_version_are_refused(store: SqlStore) -> None:
    versions = store._database.tables.versions
    execute(store, versions.update().values(version=99))
    try:
        other = opened(store.url)
        for do in (lambda: other.search(A_TASK), lambda: other.save(a_receipt())):
            with pytest.raises(ConfigError, match=r"version 99.*Install a newer version of ub"):
                do()
        with pytest.raises(ConfigError, match="version 99"):  # also a handle that had written
            store.save(a_receipt())
    finally:
        with store._database._pool(writes=True).begin() as connection:
            connection.execute(versions.update().values(version=len(schema.STEPS)))


def test_tables_of_an_older_version_are_changed_by_the_next_writer(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    store = made(url)
    store.save(a_receipt())

    def add_a_column(connection: sa.Connection, tables: Tables) -> None:
        name = connection.dialect.identifier_preparer.format_table(tables.receipts)
        connection.exec_driver_sql(f"ALTER TABLE {name} ADD COLUMN note TEXT")

    monkeypatch.setattr(schema, "STEPS", [*schema.STEPS, add_a_column])
    reader, writer = opened(url), opened(url)
    with pytest.raises(StoreUnavailableError, match=r"version 2.*next run that is recorded"):
        reader.search(A_TASK)
    writer.save(a_receipt(run_id="run-2"))
    assert len(reader.search(A_TASK)) == 2
    monkeypatch.undo()
    with pytest.raises(ConfigError, match="have version 3"):
        store.save(a_receipt(run_id="run-3"))
    for each in (store, reader, writer):
        each.close()


@pytest.mark.parametrize("changes", ["save", "repair"])
def test_tables_of_the_first_version_get_their_index_of_successes(
    url: str, changes: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "STEPS", schema.STEPS[:1])
    old = made(url)
    old.save(a_receipt())
    old.save(a_receipt(run_id="run-2", status=Status.ERROR))
    monkeypatch.undo()
    store = opened(url)
    with pytest.raises(StoreUnavailableError, match=r"version 1.*'ubunye-runs store rep") as older:
        store.search(A_TASK)
    assert store.url in str(older.value)
    if changes == "repair":
        assert repair_store(store).repaired.remark == "Its tables were brought from version 1 to 2."
        assert repair_store(store).repaired.remark == ""
    else:
        store.save(a_receipt(run_id="run-2", status=Status.ERROR))
    asked = Summed(since=at(-60), until=at(600))
    told = store.summaries(A_TASK, asked)
    assert list(told.successes) == [asked.success_of(a_receipt())]
    assert [each.run_id for each in told.others] == ["run-2"]
    for each in (old, store):
        each.close()


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("sqlite://", "names no file"),
        ("sqlite:///", "names no file"),
        ("sqlite:///:memory:", "memory://name"),
        ("sqlite:///x.db?mode=ro", "takes none"),
        ("sqlite://host/x.db", "names no file"),
        (f"postgresql://me:{SECRET}@host:port/db", "is not the URL"),
        (f"postgresql://me:{SECRET}@host/db?schema=a b", "names no schema"),
        ("mysql://host/db", "postgresql://"),
    ],
)
def test_a_url_that_names_no_store_is_an_error_that_says_how_to_write_it(
    url: str, says: str
) -> None:
    with pytest.raises(ConfigError, match=says) as refused:
        open_store(url)
    assert SECRET not in str(refused.value)


def test_a_relative_path_stays_where_it_was_when_the_folder_changes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = opened("sqlite:///my receipts%3F.db")
    monkeypatch.chdir("/")
    store.save(a_receipt())
    assert (tmp_path / "my receipts?.db").exists()
    assert list(opened(store.url).search()) == [a_receipt()]
    store.close()


def test_a_file_that_is_no_database_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "x.db").write_bytes(b"no database, " * 100)
    store = opened(f"sqlite:///{tmp_path}/x.db")
    for do in (lambda: store.search(), lambda: store.save(a_receipt())):
        with pytest.raises(StoreUnavailableError, match="not a database"):
            do()
    store.close()


def test_a_file_that_is_locked_for_long_is_unavailable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ubunye_core.stores.sql.sqlite.PATIENCE", 0.2)
    store = made(f"sqlite:///{tmp_path}/receipts.db")
    other = sqlite3.connect(tmp_path / "receipts.db", isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    with pytest.raises(StoreUnavailableError, match="locked"):
        store.save(a_receipt())
    assert len(store.search(A_TASK)) == 0  # readers are not in the way
    other.execute("ROLLBACK")
    other.close()
    store.save(a_receipt())
    store.close()


def test_a_server_that_is_not_there_is_told_in_seconds(tmp_path: Path) -> None:
    began = time.monotonic()
    for place in (f"/db?host={tmp_path}", "127.0.0.1:1/db"):
        store = opened(f"postgresql://me:{SECRET}@{place}")
        with pytest.raises(StoreUnavailableError) as refused:
            store.search(A_TASK)
        assert SECRET not in f"{refused.value} {store.url}"
        assert job_health(A_TASK, store=store).retryable
    assert time.monotonic() - began < 20


def test_a_server_that_does_not_answer_is_told_in_seconds() -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        store = opened(f"postgresql://me:{SECRET}@127.0.0.1:{port}/db?connect_timeout=2")
        began = time.monotonic()
        with pytest.raises(StoreUnavailableError, match=r"(?i)time"):
            store.save(a_receipt())
        assert time.monotonic() - began < 20


def test_an_option_that_nobody_knows_is_told_without_the_password() -> None:
    with pytest.raises(ConfigError, match="colour") as refused:
        open_store(f"postgresql://me:{SECRET}@127.0.0.1:1/db?colour=red")
    assert SECRET not in str(refused.value)


def test_an_older_sqlite_is_refused_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sqlite3, "sqlite_version_info", (3, 34, 1))
    with pytest.raises(ConfigError, match=r"needs 3\.35"):
        open_store("sqlite:///x.db")


def test_a_user_who_owns_only_the_schema_makes_the_tables(postgres: PostgresServer) -> None:
    with postgres.connect() as connection:
        connection.execute("CREATE ROLE owner LOGIN")
        connection.execute("CREATE SCHEMA owned AUTHORIZATION owner")
    store = opened(postgres.url("owned").replace("postgres@", "owner@"))
    store.save(a_receipt())
    assert list(store.search()) == [a_receipt()]
    store.close()


def test_a_file_below_a_folder_that_nobody_may_enter_is_unavailable(tmp_path: Path) -> None:
    (tmp_path / "a-file").write_text("")
    store = opened(f"sqlite:///{tmp_path}/a-file/receipts.db")
    for do in (lambda: store.search(), lambda: store.save(a_receipt())):
        with pytest.raises(StoreUnavailableError):
            do()


def test_both_names_of_the_scheme_open_the_same_store(postgres_url: str) -> None:
    store = made(postgres_url)
    store.save(a_receipt())
    other = opened(postgres_url.replace("postgresql://", "postgresql+psycopg://"))
    assert list(other.search()) == [a_receipt()]
    for each in (store, other):
        each.close()


def test_a_connection_that_was_killed_is_opened_anew(
    postgres: PostgresServer, postgres_url: str
) -> None:
    store = made(postgres_url)

    def kill_all() -> None:
        with postgres.connect() as connection:
            connection.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE pid <> pg_backend_pid() AND backend_type = 'client backend'"
            )

    store.save(a_receipt(status=Status.RUNNING))
    kill_all()
    assert len(store.search(A_TASK)) == 1
    kill_all()
    store.save(a_receipt())
    kill_all()
    assert store.load(A_TASK, "run-1") == a_receipt()
    store.close()


def test_a_server_that_stops_is_unavailable_and_is_found_again(tmp_path: Path) -> None:
    with running_postgres() as server:
        store = made(server.url())
        store.save(a_receipt())
        assert len(store.search(A_TASK)) == 1
        left = server.process
    assert left.returncode == 0
    with pytest.raises(StoreUnavailableError):
        store.search(A_TASK)
    store.close()


def test_a_forked_process_uses_connections_of_its_own(store: SqlStore) -> None:
    store.save(a_receipt(run_id="before"))
    context = multiprocessing.get_context("fork")
    children = [context.Process(target=_in_child, args=(store, n)) for n in range(4)]
    for child in children:
        child.start()
    for number in range(10):
        store.save(a_receipt(run_id=f"parent-{number}"))
    for child in children:
        child.join(60)
        assert child.exitcode == 0
    assert len(store.search(A_TASK)) == 1 + 10 + 4 * 5


def _in_child(store: SqlStore, number: int) -> None:
    for run in range(5):
        store.save(a_receipt(run_id=f"child-{number}-{run}"))
    assert len(store.search(A_TASK)) >= 5
    os._exit(0)  # no tear-down of the parent's fixtures


def test_one_handle_serves_many_threads(store: SqlStore) -> None:
    failed: list[BaseException] = []

    def work(number: int) -> None:
        try:
            for run in range(5):
                store.save(a_receipt(run_id=f"{number}-{run}", started_at=at(run)))
                assert store.list_runs(A_TASK, 1)
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=work, args=(number,)) for number in range(20)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
    assert len(store.search(A_TASK)) == 100


def test_no_error_and_no_log_shows_what_stands_in_a_row(
    store: SqlStore, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.DEBUG)
    table = receipts_of(store)
    name = f"{table.schema}.{table.name}" if table.schema else table.name
    is_sqlite = store.url.startswith("sqlite")
    lock = (
        f"CREATE TRIGGER nope BEFORE INSERT ON {name} BEGIN SELECT RAISE(ABORT, 'no room'); END"
        if is_sqlite
        else f"ALTER TABLE {name} ADD CONSTRAINT nope CHECK (task = 'x') NOT VALID"
    )
    unlock = "DROP TRIGGER nope" if is_sqlite else f"ALTER TABLE {name} DROP CONSTRAINT nope"
    execute(store, sa.text(lock))
    try:
        with pytest.raises(StoreUnavailableError) as refused:
            store.save(a_receipt(variables={"month": SECRET}, error=SECRET))
    finally:
        execute(store, sa.text(unlock))
    shown = "".join(traceback.format_exception(refused.value))
    assert SECRET not in shown
    assert SECRET not in caplog.text
    assert store.search().unreadable == ()


def test_the_rights_of_a_user_are_told(postgres: PostgresServer, postgres_url: str) -> None:
    store = made(postgres_url)
    store.save(a_receipt())
    schema_name = store._database.tables.schema
    with postgres.connect() as connection:
        connection.execute("DROP ROLE IF EXISTS reader")
        connection.execute("CREATE ROLE reader LOGIN")
        connection.execute(f"GRANT USAGE ON SCHEMA {schema_name} TO reader")
        connection.execute(f"GRANT SELECT ON ALL TABLES IN SCHEMA {schema_name} TO reader")
    reader = opened(postgres_url.replace("postgres@", "reader@"))
    assert list(reader.search(A_TASK)) == [a_receipt()]
    with pytest.raises(StoreUnavailableError, match="permission denied"):
        reader.save(a_receipt(run_id="run-2"))
    (write,) = (finding for finding in reader.examine() if finding.what == "write")
    assert write.good is False
    assert "INSERT" in write.why
    for each in (store, reader):
        each.close()
    with postgres.connect() as connection:
        connection.execute("DROP OWNED BY reader")
        connection.execute("DROP ROLE reader")
