"""How a store that holds documents treats one that is no receipt."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest

from ubunye_core.codec import encode
from ubunye_core.errors import BadReceiptError
from ubunye_core.receipt import Orchestrator, Status
from ubunye_core.runids import new_run_id
from ubunye_core.stores import Found, ReceiptStore
from ubunye_core.testing.builders import A_TASK, a_receipt, at

SECRET = "Wachtwoord-42"
"""Stands in every damaged document; must stand in no message."""


def _changed(**changes: object) -> bytes:
    document = json.loads(encode(a_receipt(run_id="damaged", error=SECRET)))
    for name, value in changes.items():
        document[name] = value
    return json.dumps(document).encode()


def _without(name: str) -> bytes:
    document = json.loads(_changed())
    del document[name]
    return json.dumps(document).encode()


DAMAGED: dict[str, bytes] = {
    "empty": b"",
    "blank": b" \n",
    "zeros": b"\0" * 4096,
    "cut short": _changed()[:-40],
    "cut in a name": _changed()[:10],
    "not JSON": f"status: success\nerror: {SECRET}\n".encode(),
    "not UTF-8": b'{"error": "' + SECRET.encode("utf-16") + b'"}',
    "bytes after the end": _changed() + SECRET.encode(),
    "two documents": _changed() * 2,
    "a list": b"[" + _changed() + b"]",
    "text": json.dumps(SECRET).encode(),
    "null": b"null",
    "an empty object": b"{}",
    "nested beyond reason": b'{"a":' * 100_000 + b"1" + b"}" * 100_000,
    "nested deeply": _changed(llm_calls=json.loads("[" * 200 + "]" * 200)),
    "a number beyond reason": _changed()[:-1] + b', "n": 1e999}',
    "a field that stands twice": _changed()[:-1] + b', "status": "success"}',
    "an integer beyond reason": _changed()[:-1] + b', "n": ' + b"9" * 5000 + b"}",
    "an infinite variable": _changed(variables={"n": "@"}).replace(b'"@"', b"1e999"),
    "no run id": _without("run_id"),
    "no task": _without("task_path"),
    "no status": _without("status"),
    "no start": _without("started_at"),
    "a run id of another run": _changed(run_id="run-1"),
    "a task of another place": _changed(task_path="pay/monthly/send", task_name="send"),
    "a task that disagrees": _changed(task_name="send"),
    "a hostile task": _changed(task_path=f"../{SECRET}/x"),
    "a hostile run id": _changed(run_id=f"../../{SECRET}"),
    "a run id that is a number": _changed(run_id=7),
    "an unknown status": _changed(status=SECRET),
    "a status that is a list": _changed(status=["success"]),
    "a status in capitals": _changed(status="SUCCESS"),
    "a start without a zone": _changed(started_at="2026-10-15T06:00:00"),
    "a start that is no time": _changed(started_at=SECRET),
    "a start that is a number": _changed(started_at=1_760_508_000),
    "a start before the calendar": _changed(started_at="0001-01-01T00:00:00+10:00"),
    "variables that are a list": _changed(variables=["month"]),
    "a variable that is a list": _changed(variables={SECRET: [1]}),
    "a variable that is a map": _changed(variables={"month": {"is": SECRET}}),
    "inputs that are text": _changed(inputs=SECRET),
    "an input that is text": _changed(inputs=[SECRET]),
    "an input without a name": _changed(inputs=[{"format": "csv"}]),
    "a row count that is text": _changed(inputs=[{"name": "people", "row_count": SECRET}]),
    "an error that is a map": _changed(error={"is": SECRET}),
    "a window that is text": _changed(window=SECRET),
    "a window that ends before it starts": _changed(
        window={"start": "2026-10-02T00:00:00Z", "end": "2026-10-01T00:00:00Z"}
    ),
    "an unknown trigger": _changed(triggered_by={"kind": SECRET}),
    "a heartbeat that is text": _changed(heartbeat_every=SECRET),
    "a heartbeat beyond reason": _changed(heartbeat_every=1e300),
    "a heartbeat every thousand years": _changed(heartbeat_every=3e10),
    "a heartbeat before the last": _changed(heartbeat_every=-8e13),
    "a record version to come": _changed(record_version=99),
}


class HoldsDocuments:
    """Tests for stores in which somebody else can put a document.

    Give a fixture ``put_document(task, run_id, document)`` that places bytes where the store
    keeps that receipt.
    """

    @pytest.mark.parametrize("kind", DAMAGED)
    def test_a_damaged_document_is_listed_as_unreadable(
        self, store: ReceiptStore, put_document: Callable[[str, str, bytes], None], kind: str
    ) -> None:
        store.save(a_receipt())
        put_document(A_TASK, "damaged", DAMAGED[kind])
        for found in (
            store.search(A_TASK),
            store.search(),
            store.list_runs(A_TASK, 1),
            store.search(A_TASK, Status.SUCCESS, at(-60), batch={"month": "2026-10"}),
        ):
            assert [receipt.run_id for receipt in found] == ["run-1"]
            (bad,) = found.unreadable
            assert "damaged" in bad.where
            assert bad.task == A_TASK
            assert bad.why
            assert SECRET not in bad.why
            assert len(bad.why) < 200
        with pytest.raises(BadReceiptError) as refused:
            store.load(A_TASK, "damaged")
        assert SECRET not in str(refused.value)

    def test_a_damaged_document_may_be_of_any_attempt(
        self, store: ReceiptStore, put_document: Callable[[str, str, bytes], None]
    ) -> None:
        find: Callable[[str, Orchestrator], Found] | None = getattr(store, "of_attempt", None)
        if find is None:
            return
        attempt = Orchestrator(name="airflow", ids={"run": "s-1"}, attempt=1)
        store.save(a_receipt(orchestrator=attempt))
        put_document(A_TASK, "damaged", DAMAGED["empty"])
        found = find(A_TASK, attempt)
        assert [receipt.run_id for receipt in found] == ["run-1"]
        assert [bad.task for bad in found.unreadable] == [A_TASK]

    def test_damage_in_another_task_does_not_show(
        self, store: ReceiptStore, put_document: Callable[[str, str, bytes], None]
    ) -> None:
        put_document("pay/monthly/send", "damaged", b"")
        assert store.search(A_TASK).unreadable == ()
        assert len(store.search().unreadable) == 1

    def test_a_task_with_only_damage_is_no_unknown_task(
        self, store: ReceiptStore, put_document: Callable[[str, str, bytes], None]
    ) -> None:
        put_document(A_TASK, "damaged", b"")
        assert list(store.search(A_TASK)) == []
        assert len(store.search(A_TASK).unreadable) == 1
        tasks = getattr(store, "tasks", None)
        assert tasks is None or list(tasks()) == [A_TASK]

    def test_unreadable_documents_do_not_use_up_n(
        self, store: ReceiptStore, put_document: Callable[[str, str, bytes], None]
    ) -> None:
        for number in range(3):
            store.save(a_receipt(run_id=f"r{number}", started_at=at(number)))
            put_document(A_TASK, f"zz{number}", b"{")
        assert [receipt.run_id for receipt in store.list_runs(A_TASK, 2)] == ["r2", "r1"]

    def test_damage_whose_name_shows_that_it_is_older_does_not_show(
        self, store: ReceiptStore, put_document: Callable[[str, str, bytes], None]
    ) -> None:
        store.save(a_receipt(started_at=at(0)))
        put_document(A_TASK, new_run_id(at(-1)), b"")
        assert store.list_runs(A_TASK, 1).unreadable == ()
        assert store.search(A_TASK, since=at(0)).unreadable == ()
        assert len(store.search(A_TASK).unreadable) == 1
        put_document(A_TASK, new_run_id(at(1)), b"")
        assert len(store.list_runs(A_TASK, 1).unreadable) == 1

    def test_a_name_tells_the_start_to_the_millisecond_and_no_finer(
        self, store: ReceiptStore, put_document: Callable[[str, str, bytes], None]
    ) -> None:
        deciding = at(0).replace(microsecond=300)
        put_document(A_TASK, new_run_id(at(0).replace(microsecond=900)), b"")
        store.save(a_receipt(started_at=deciding))
        assert len(store.list_runs(A_TASK, 1).unreadable) == 1
        assert len(store.search(A_TASK, since=deciding).unreadable) == 1

    def test_nan_of_an_older_recorder_is_read_as_nothing(
        self, store: ReceiptStore, put_document: Callable[[str, str, bytes], None]
    ) -> None:
        document = _changed(duration_sec="@", variables={"n": "@"}).replace(b'"@"', b"NaN")
        put_document(A_TASK, "damaged", document)
        receipt = store.load(A_TASK, "damaged")
        assert receipt.duration_sec is None
        assert not receipt.batch

    def test_a_byte_order_mark_does_no_harm(
        self, store: ReceiptStore, put_document: Callable[[str, str, bytes], None]
    ) -> None:
        put_document(A_TASK, "damaged", b"\xef\xbb\xbf" + _changed())
        assert store.load(A_TASK, "damaged").status is Status.SUCCESS

    def test_a_run_heals_its_own_damaged_record_with_its_end(
        self, store: ReceiptStore, put_document: Callable[[str, str, bytes], None]
    ) -> None:
        put_document(A_TASK, "run-1", b"{")
        store.save(a_receipt())
        assert list(store.search(A_TASK)) == [a_receipt()]
        assert store.search(A_TASK).unreadable == ()

    def test_a_heartbeat_does_not_write_over_a_damaged_record(
        self, store: ReceiptStore, put_document: Callable[[str, str, bytes], None]
    ) -> None:
        put_document(A_TASK, "run-1", b"{")
        with pytest.raises(BadReceiptError):
            store.save(a_receipt(status=Status.RUNNING))
        assert len(store.search(A_TASK).unreadable) == 1
