"""Of several saves of one run that meet, one is taken, and the others learn of it."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from ubunye_core import ReceiptConflictError, Status, StoreUnavailableError
from ubunye_core.stores.events import election, event_of
from ubunye_core.stores.spark import SparkStore, open_spark
from ubunye_core.stores.spark.reading import Reading
from ubunye_core.stores.spark.session import LostError
from ubunye_core.stores.spark.table import Table
from ubunye_core.testing import A_TASK, a_receipt, at

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
ROUNDS, WRITERS = 5, 6


def test_spark_drops_a_late_event_without_a_word_and_the_store_sees_it(
    table: str, store: SparkStore
) -> None:
    rows, reading = Table(table), Reading(Table(table), store.url)
    first = event_of(a_receipt(pid=1), replaces=None, saved_at=at(0))
    late = event_of(a_receipt(pid=2), replaces=None, saved_at=at(0))
    for event in (first, late):
        rows.append([event], elected_by=election(event))
    assert reading.holds(first)
    assert not reading.holds(late)


def test_of_events_of_one_turn_that_are_appended_at_once_one_gets_through(
    quick: Any, table: str, store: SparkStore
) -> None:
    reading = Reading(Table(table), store.url)
    for round_ in range(ROUNDS):
        ready = threading.Barrier(WRITERS)

        def append(number: int, ready: threading.Barrier = ready, round_: int = round_) -> bool:
            receipt = a_receipt(run_id=f"r{round_}", pid=number)
            event = event_of(receipt, replaces=None, saved_at=at(0))
            ready.wait()
            try:
                if number % 2:
                    Table(table).append([event], elected_by=election(event))
                else:
                    Table(table).append_new([event])
            except LostError:
                return False
            return reading.holds(event)

        with ThreadPoolExecutor(WRITERS) as pool:
            assert sum(pool.map(append, range(WRITERS))) == 1
        assert quick.table(table).where(f"run_id = 'r{round_}'").count() == 1


def test_appends_without_an_election_all_get_through(table: str, store: SparkStore) -> None:
    ready = threading.Barrier(WRITERS)

    def append(number: int) -> None:
        event = event_of(a_receipt(pid=number), replaces=None, saved_at=at(0))
        ready.wait()
        Table(table).append([event])

    with ThreadPoolExecutor(WRITERS) as pool:
        list(pool.map(append, range(WRITERS)))
    assert Table(table).rows().count() == WRITERS
    assert len(store.search(A_TASK)) == 1


def test_first_saves_at_once_make_one_table(table: str) -> None:
    ready = threading.Barrier(4)

    def save(number: int) -> None:
        store = open_spark(f"spark:///{table}")
        ready.wait()
        store.save(a_receipt(run_id=f"r{number}"))

    with ThreadPoolExecutor(4) as pool:
        list(pool.map(save, range(4)))
    assert len(open_spark(f"spark:///{table}").search(A_TASK)) == 4


def test_many_saves_and_single_ones_of_the_same_runs_agree(table: str, store: SparkStore) -> None:
    others = [open_spark(store.url) for _ in range(3)]
    ready = threading.Barrier(4)
    ends = [Status.SUCCESS, Status.ERROR, Status.SKIPPED, Status.INTERRUPTED]

    def save(number: int) -> set[str]:
        handle = [store, *others][number]
        receipts = [a_receipt(run_id=f"r{n}", status=ends[number]) for n in range(3)]
        ready.wait()
        taken = set()
        for group in [receipts] if number < 2 else [[receipt] for receipt in receipts]:
            try:
                handle.save_many(group) if number < 2 else handle.save(group[0])
            except ReceiptConflictError:
                continue
            taken |= {receipt.run_id for receipt in group}
        return taken

    with ThreadPoolExecutor(4) as pool:
        taken = list(pool.map(save, range(4)))
    for number, run_ids in enumerate(taken):
        for run_id in run_ids:
            assert store.load(A_TASK, run_id).status is ends[number]
    assert sorted(run.run_id for run in store.search(A_TASK)) == ["r0", "r1", "r2"]


def test_a_folder_in_the_place_of_a_table_is_said_after_others_had_time_to_make_it(
    table: str, quick: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("ubunye_core.stores.spark.table.OTHERS_MAKE_IT", 0.5)
    warehouse = Path(quick.conf.get("spark.sql.warehouse.dir").removeprefix("file:"))
    folder = warehouse / table.rpartition(".")[2]
    folder.mkdir(parents=True)
    (folder / "somebody-elses.txt").write_text("mine")
    with pytest.raises(StoreUnavailableError, match="NON_EMPTY_LOCATION"):
        open_spark(f"spark:///{table}").save(a_receipt())
    (folder / "somebody-elses.txt").unlink()
    folder.rmdir()
    open_spark(f"spark:///{table}").save(a_receipt())
