"""Which row of the table of events stands, and what a save appends to it."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

import pytest

from ubunye_core import BadReceiptError, ConfigError, ReceiptConflictError, Status
from ubunye_core.receipt import Orchestrator, Receipt
from ubunye_core.stores import events
from ubunye_core.stores.events import Event, event_of, next_event, receipt_of, standing_events
from ubunye_core.testing import a_receipt, at

RUNNING = a_receipt(status=Status.RUNNING)


def saved(*receipts: Receipt) -> list[Event]:
    """The rows of one run that these saves leave, one after the other."""
    rows: list[Event] = []
    for receipt in receipts:
        following = next_event(rows[-1] if rows else None, receipt, where="here", saved_at=at(0))
        rows += [] if following is None else [following]
    return rows


def stands(rows: Sequence[Event]) -> Event:
    (one,) = standing_events(rows)
    return one


def test_the_last_event_stands_in_whatever_order_the_rows_come() -> None:
    closed = a_receipt(status=Status.INTERRUPTED, ended_by="close")
    rows = saved(RUNNING, replace(RUNNING, heartbeat_at=at(1)), closed, a_receipt())
    assert [row.turn for row in rows] == [0, 0, 1, 2]
    for shuffled in itertools.permutations(rows):
        assert stands(shuffled) == rows[-1]


def test_events_of_one_run_sort_as_they_were_saved_also_with_clocks_that_disagree() -> None:
    first = event_of(RUNNING, replaces=None, saved_at=at(10))
    later = event_of(RUNNING, replaces=first, saved_at=at(0))
    assert later.event > first.event
    assert stands([later, first]) == later


def test_a_heartbeat_that_did_not_see_the_end_does_not_undo_it() -> None:
    running, end = saved(RUNNING, a_receipt())
    late = event_of(replace(RUNNING, heartbeat_at=at(60)), replaces=running, saved_at=at(60))
    assert stands([running, end, late]) == end
    assert not events.needs_election(running, late)


def test_an_election_is_of_one_run_and_its_versions_grow_with_the_turn() -> None:
    running, end = saved(RUNNING, a_receipt())
    assert events.election(running)[0] == events.election(end)[0]
    assert (events.election(running)[1], events.election(end)[1]) == (1, 2)
    (other,) = saved(a_receipt(run_id="run-2"))
    assert events.election(other)[0] != events.election(running)[0]


def test_first_saves_and_ends_need_an_election() -> None:
    running, end = saved(RUNNING, a_receipt())
    assert events.needs_election(None, running)
    assert events.needs_election(running, end)


def test_of_two_ends_that_a_foreign_writer_let_through_the_first_stands() -> None:
    (running,) = saved(RUNNING)
    first = event_of(a_receipt(), replaces=running, saved_at=at(1))
    second = event_of(a_receipt(status=Status.ERROR), replaces=running, saved_at=at(2))
    assert stands([second, running, first]) == first


def test_an_end_heals_a_damaged_row_and_a_heartbeat_does_not() -> None:
    damaged = Event(task="pay/monthly/calc", run_id="run-1", event="x", document="{")
    with pytest.raises(BadReceiptError):
        next_event(damaged, RUNNING, where="here", saved_at=at(0))
    healed = next_event(damaged, a_receipt(), where="here", saved_at=at(0))
    assert healed is not None
    assert stands([damaged, healed]) == healed


def test_what_stands_already_appends_nothing_and_another_end_is_refused() -> None:
    (end,) = saved(a_receipt())
    assert next_event(end, a_receipt(), where="here", saved_at=at(1)) is None
    with pytest.raises(ReceiptConflictError):
        next_event(end, a_receipt(status=Status.ERROR), where="here", saved_at=at(1))


def test_a_row_that_disagrees_with_its_document_is_not_readable() -> None:
    (row,) = saved(a_receipt())
    assert receipt_of(row, where="here") == a_receipt()
    for change in (
        {"task": "pay/monthly/send"}, {"run_id": "run-2"}, {"status": "error"},
        {"started_at": at(1)}, {"batch_key": "0" * 64}, {"document": None},
    ):  # fmt: skip
        with pytest.raises(BadReceiptError):
            receipt_of(replace(row, **change), where="here")


def test_columns_leave_out_only_what_cannot_fit() -> None:
    (row,) = saved(a_receipt(variables={"month": "2026-10", "db_password": "hidden"}))
    assert row.variables == {"month": "2026-10"}
    assert events.may_fit(row, status=Status.SUCCESS, since=at(0), batch={"month": "2026-10"})
    assert not events.may_fit(row, status=Status.ERROR)
    assert not events.may_fit(row, since=at(1))
    assert not events.may_fit(row, batch={"month": "2026-11"})
    unknown = Event(task=row.task, run_id="run-2", event="x")
    assert events.may_fit(unknown, status=Status.ERROR, since=at(9), batch={"a": "b"})


def test_a_row_is_read_as_it_was_written() -> None:
    (row,) = saved(a_receipt(variables={"odd": "\ud800"}))
    as_row = row.as_row()
    assert list(as_row) == [column.name for column in events.COLUMNS]
    assert row.variables == {"odd": "?"}
    arrow_gives_pairs = {**as_row, "variables": list(as_row["variables"].items()), "more": 1}
    assert Event.from_row(arrow_gives_pairs) == row


def test_an_attempt_has_a_key_of_its_own() -> None:
    attempt = Orchestrator(name="airflow", ids={"dag_id": "d", "run_id": "r"}, attempt=1)
    same = Orchestrator(name="airflow", ids={"run_id": "r", "dag_id": "d"}, attempt=1)
    assert events.attempt_key(attempt) == events.attempt_key(same)
    assert events.attempt_key(attempt) != events.attempt_key(replace(attempt, attempt=2))


def test_a_table_of_other_columns_is_no_table_of_receipts() -> None:
    found = {column.name: str(column.kind) for column in events.COLUMNS}
    events.check_columns(found | {"more": "binary"}, where="here")
    with pytest.raises(ConfigError, match="'document' is not there"):
        events.check_columns({n: k for n, k in found.items() if n != "document"}, where="here")
    with pytest.raises(ConfigError, match="'turn' is string"):
        events.check_columns(found | {"turn": "string"}, where="here")
    engines = dict.fromkeys(("run_id", "recorded_at", "usecase", "pipeline", "target"), "string")
    with pytest.raises(ConfigError, match="ubunye-engine"):
        events.check_columns(engines, where="here")


def test_a_row_of_nulls_is_no_receipt() -> None:
    row = Event.from_row(dict.fromkeys(column.name for column in events.COLUMNS))
    with pytest.raises(BadReceiptError):
        receipt_of(row, where="here")
