"""Rows that somebody changed, or placed, with SQL of their own."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import sqlalchemy as sa

from tests.core.stores.sql.stores import change, execute, made, place, receipts_of
from ubunye_core.codec import encode
from ubunye_core.errors import BadReceiptError, ReceiptConflictError
from ubunye_core.receipt import Orchestrator, Status, Window
from ubunye_core.runids import new_run_id
from ubunye_core.stores import Summed, Unreadable
from ubunye_core.stores.sql import searching
from ubunye_core.stores.sql.store import SqlStore
from ubunye_core.testing import A_TASK, a_receipt, at

OCTOBER = {"month": "2026-10"}
EVER = Summed(since=datetime(2000, 1, 1, tzinfo=UTC), until=datetime(2100, 1, 1, tzinfo=UTC))


def counts(found: Any) -> tuple[int, int]:
    return len(found), len(found.unreadable)


@pytest.mark.parametrize(
    "columns",
    [
        {"status": "error"},
        {"status": "a word of somebody else"},
        {"status": "zzz"},
        {"started_at": 1_760_000_000_000_000},
        {"ended_at": None},
        {"document": b"{"},
        {"document": encode(a_receipt(status=Status.ERROR))},
        {"document": encode(a_receipt(run_id="another"))},
    ],
    ids=str,
)
def test_a_row_whose_columns_are_not_those_of_its_document_is_unreadable(
    store: SqlStore, columns: dict[str, Any]
) -> None:
    store.save(a_receipt())
    change(store, **columns)
    for found in (store.list_runs(A_TASK), store.search(A_TASK), store.search()):
        assert counts(found) == (0, 1)
    with pytest.raises(BadReceiptError):
        store.load(A_TASK, "run-1")
    assert store.settled([A_TASK]) == {}
    assert not store.success_by_batch(A_TASK, OCTOBER, whole=True)
    (scanned,) = store.scan(A_TASK)
    assert isinstance(scanned, Unreadable)
    told = store.summaries(A_TASK, EVER)
    assert not told.successes
    assert counts(told.others) == (0, 1)


@pytest.mark.parametrize("status", ["success", "error", "running"])
@pytest.mark.parametrize("start", ["2026-10-15", b"\xff", 1e300], ids=["text", "bytes", "huge"])
def test_a_start_that_is_no_number_is_unreadable(
    sqlite_url: str, status: str, start: object
) -> None:
    store = made(sqlite_url)
    store.save(a_receipt(run_id="good"))
    store.save(a_receipt(run_id="bad", status=Status(status)))
    execute(store, sa.text("UPDATE ubunye_receipts SET started_at = :start WHERE run_id = 'bad'")
            .bindparams(start=start))  # fmt: skip
    told = store.summaries(A_TASK, EVER)
    assert len(told.successes) == 1
    for found in (told.others, store.list_runs(A_TASK), store.search(A_TASK, since=at(-60))):
        assert [bad.started_at for bad in found.unreadable] == [None]
    store.close()


@pytest.mark.parametrize("number", [1, 25])
def test_a_window_that_somebody_changed_in_a_row_is_told_by_its_document(
    store: SqlStore, number: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(searching, "PAGE", 10)  # rows that are doubtful are read so many at a time
    runs = [a_receipt(run_id=f"run-{each}", started_at=at(each)) for each in range(number)]
    window = Window(start=at(-60), end=at(0))
    runs = [replace(run, window=window, ended_at=run.started_at) for run in runs]
    store.save_many(runs)
    assert len(store.summaries(A_TASK, EVER).successes) == number
    for column in ("window_start", "pairs", "seal"):
        for run in runs:
            change(store, run.run_id, **{column: 5 if column == "window_start" else "5"})
        told = store.summaries(A_TASK, EVER)
        assert {run.window for run in told.successes} == {(at(-60), at(0))}
        assert len(told.successes) == number
        assert counts(told.others) == (0, 0)


def test_damage_of_an_older_run_is_known_to_be_older_by_its_column(store: SqlStore) -> None:
    store.save(a_receipt(run_id="older", started_at=at(-60)))
    store.save(a_receipt())
    change(store, "older", document=b"{")
    assert counts(store.list_runs(A_TASK, 1)) == (1, 0)
    (bad,) = store.search(A_TASK).unreadable
    assert bad.started_at == at(-60)


def test_a_document_that_somebody_placed_is_found_by_every_question(store: SqlStore) -> None:
    receipt = a_receipt(run_id="placed", started_at=at(5))
    store.save(a_receipt())
    place(store, A_TASK, "placed", encode(receipt))
    assert store.load(A_TASK, "placed") == receipt
    for found in (
        store.list_runs(A_TASK, 1),
        store.search(A_TASK, Status.SUCCESS, at(1), batch=OCTOBER),
        store.search(since=at(1)),
    ):
        assert list(found) == [receipt]
    assert store.settled([A_TASK]) == {}
    assert store.success_by_batch(A_TASK, OCTOBER, whole=True) is None


def test_a_row_that_says_when_and_not_how_is_found_once_and_hides_none(store: SqlStore) -> None:
    orchestrator = Orchestrator(name="airflow", ids={"run": "r"}, attempt=1)
    runs = [
        a_receipt(run_id=f"run-{n}", started_at=at(n), orchestrator=orchestrator) for n in range(4)
    ]
    store.save_many(runs)
    change(store, "run-2", status=None)
    newest_first = sorted(runs, key=lambda run: run.started_at, reverse=True)
    for found in (
        store.list_runs(A_TASK),
        store.search(A_TASK, batch=OCTOBER),
        store.search(since=at(0)),
        store.of_attempt(A_TASK, orchestrator),
    ):
        assert list(found) == newest_first
    assert list(store.list_runs(A_TASK, 3)) == newest_first[:3]
    assert list(store.search(batch=OCTOBER, limit=3)) == newest_first[:3]


def test_repair_draws_columns_from_documents_and_sets_damage_aside(store: SqlStore) -> None:
    placed = a_receipt(run_id="placed", started_at=at(5))
    place(store, A_TASK, "placed", encode(placed))
    store.save(a_receipt())
    change(store, status="error")
    store.save(a_receipt(run_id="damaged"))
    change(store, "damaged", document=b"{")
    repaired = store.repair()
    assert (repaired.hints, repaired.set_aside, len(repaired.left)) == (2, (), 1)
    assert list(store.search(A_TASK, batch=OCTOBER)) == [placed, a_receipt()]
    assert set(store.settled([A_TASK])) == {A_TASK}
    assert len(store.search(A_TASK).unreadable) == 1
    repaired = store.repair(set_aside=True)
    assert (repaired.hints, len(repaired.set_aside), repaired.left) == (0, 1, ())
    assert store.search(A_TASK).unreadable == ()
    assert store.repair(set_aside=True).set_aside == ()


def test_an_end_that_heals_a_damaged_record_keeps_a_copy_of_it(store: SqlStore) -> None:
    store.save(a_receipt(status=Status.RUNNING))
    change(store, document=b'{"half": ')
    store.save(a_receipt())
    damaged = store._database.tables.damaged
    kept = store._database.read(
        lambda connection: connection.execute(sa.select(damaged.c.document)).scalar_one()
    )
    assert kept in ('{"half": ', b'{"half": ')
    assert list(store.search(A_TASK)) == [a_receipt()]


def test_a_masked_value_is_equal_to_nothing(store: SqlStore) -> None:
    store.save(a_receipt(variables={"month": "2026-10", "key": "***"}))
    assert counts(store.search(A_TASK, batch={"month": "2026-10"})) == (1, 0)
    for wanted in ({"key": "***"}, {"month": "2026-10", "key": "***"}, {"db_password": "x"}):
        assert counts(store.search(A_TASK, batch=wanted)) == (0, 0)
        for whole in (True, False):
            assert store.success_by_batch(A_TASK, wanted, whole=whole) is None


def test_text_that_no_database_holds_can_be_asked_for(store: SqlStore) -> None:
    texts = {"nul": "a\0b", "half": "\ud800", "name\0": "x", "long": "y" * 100_000}
    attempt = Orchestrator(name="air\0flow", ids={"run": "\udfff"}, attempt=1)
    receipt = a_receipt(variables=texts, orchestrator=attempt, ended_by=None)
    store.save(receipt)
    assert list(store.search(A_TASK, batch=texts)) == [receipt]
    assert list(store.of_attempt(A_TASK, attempt)) == [receipt]
    for whole in (True, False):
        assert store.success_by_batch(A_TASK, texts, whole=whole) is not None


def test_variables_that_come_with_the_end_are_found(store: SqlStore) -> None:
    store.save(a_receipt(status=Status.RUNNING, variables={}))
    store.save(a_receipt())
    assert counts(store.search(A_TASK, batch=OCTOBER)) == (1, 0)


def test_settled_tells_only_of_tasks_that_need_no_look(store: SqlStore) -> None:
    window = Window(start=at(-1440), end=at(0))
    tasks = [f"pay/monthly/{name}" for name in ("good", "failed", "running", "damaged", "none")]
    store.save(a_receipt(task=tasks[0], run_id="old", status=Status.ERROR, started_at=at(-60)))
    store.save(a_receipt(task=tasks[0], window=window))
    store.save(a_receipt(task=tasks[1], run_id="old", started_at=at(-60)))
    store.save(a_receipt(task=tasks[1], status=Status.ERROR))
    store.save(a_receipt(task=tasks[2], run_id="r", status=Status.RUNNING, started_at=at(-9)))
    store.save(a_receipt(task=tasks[2]))
    store.save(a_receipt(task=tasks[3]))
    place(store, tasks[3], "damaged", b"{")
    settled = store.settled(tasks)
    assert set(settled) == {tasks[0]}
    good = settled[tasks[0]]
    assert (good.run_id, good.started_at, good.finished_at, good.window_end) == (
        "run-1", at(0), at(10), at(0),
    )  # fmt: skip
    assert store.settled([]) == {}


def test_many_are_saved_with_the_rules_about_ends(store: SqlStore) -> None:
    store.save(a_receipt(run_id="r000", status=Status.ERROR))
    store.save(a_receipt(run_id="r001", status=Status.RUNNING))
    many = [a_receipt(run_id=f"r{n:03}", started_at=at(0)) for n in range(450)]
    with pytest.raises(ReceiptConflictError, match=r"1 of the receipts.*r000"):
        store.save_many([*many, a_receipt(run_id="r449", status=Status.RUNNING)])
    assert len(store.search(A_TASK, Status.SUCCESS)) == 449
    assert store.load(A_TASK, "r000").status is Status.ERROR
    store.save_many(many[1:])
    assert len(list(store.scan(A_TASK))) == 450
    assert store.remove(A_TASK, [each.run_id for each in many] + ["none"]) == 450
    assert counts(store.search(A_TASK)) == (0, 0)
    left = sa.select(sa.func.count()).select_from(store._database.tables.variables)
    assert store._database.read(lambda connection: connection.execute(left).scalar()) == 0


def test_a_search_goes_on_over_pages(store: SqlStore) -> None:
    runs = [a_receipt(run_id=f"r{n}", started_at=at(n % 50)) for n in range(1100)]
    store.save_many(runs)
    assert list(store.search(A_TASK)) == sorted(runs, key=lambda run: run.order, reverse=True)
    assert len(store.search(batch=OCTOBER)) == 1100
    assert len(store.search(batch=OCTOBER, limit=700)) == 700
    execute(store, receipts_of(store).update().values(document="{"))
    assert counts(store.list_runs(A_TASK, 3)) == (0, 1100)


def test_the_examination_leaves_no_trace_and_tells_of_rights(store: SqlStore) -> None:
    findings = {finding.what: finding for finding in store.examine()}
    assert {"server", "write", "durability", "claim", "tables"} <= set(findings)
    assert findings["write"].good
    assert store.tasks() == []


def test_a_run_id_of_another_letter_case_is_another_run(store: SqlStore) -> None:
    for run_id in ("Run-1", "run-1", "RUN-1"):
        store.save(a_receipt(run_id=run_id))
    assert [run.run_id for run in store.search(A_TASK)] == ["run-1", "Run-1", "RUN-1"]
    assert len(list(store.scan(A_TASK))) == 3
    v7 = new_run_id(at(0) + timedelta(milliseconds=7))
    store.save(a_receipt(run_id=v7, started_at=at(0) + timedelta(milliseconds=7)))
    assert store.load(A_TASK, v7[:9]).run_id == v7


def test_a_task_that_is_no_task_is_not_among_the_tasks(store: SqlStore) -> None:
    place(store, "../etc/passwd", "x", b"{")
    assert store.tasks() == []
    assert len(store.search().unreadable) == 1


def test_a_batch_of_very_many_variables_is_found_and_refused_like_any_other(
    store: SqlStore,
) -> None:
    many = {f"name-{number}": str(number) for number in range(1200)}
    store.save(a_receipt(variables=many))
    store.save(a_receipt(run_id="other", variables={**many, "name-1199": "else"}))
    assert [run.run_id for run in store.search(A_TASK, batch=many)] == ["run-1"]
    known = store.success_by_batch(A_TASK, many, whole=True)
    assert known is not None
    assert [run.run_id for run in known] == ["run-1"]
    assert len(store.search(A_TASK, batch={**many, "name-3": "0"})) == 0
