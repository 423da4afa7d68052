"""What every store must answer."""

from __future__ import annotations

from datetime import timedelta, timezone
from typing import cast

import pytest

from ubunye_core.errors import AmbiguousRunError, ReceiptNotFoundError
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores import ReceiptStore
from ubunye_core.testing.builders import A_TASK, a_receipt, a_step, at

JAKARTA = timezone(timedelta(hours=7))


class Reads:
    """Tests of ``load``, ``list_runs`` and ``search``."""

    def test_a_saved_receipt_is_read_as_it_was(self, store: ReceiptStore) -> None:
        receipt = a_receipt(
            inputs=(a_step(),), outputs=(a_step(name="adults", direction="output"),)
        )
        store.save(receipt)
        assert store.load(A_TASK, "run-1") == receipt
        assert list(store.list_runs(A_TASK)) == [receipt]
        assert list(store.search()) == [receipt]

    def test_fields_it_does_not_know_survive(self, store: ReceiptStore) -> None:
        extra = {"llm_calls": [{"model": "m", "tokens": 3}], "engine_version": "9.9", "none": None}
        receipt = a_receipt(extra=extra, inputs=(a_step(extra={"source_note": "moved"}),))
        store.save(receipt)
        assert store.load(A_TASK, "run-1") == receipt

    def test_text_of_any_language_survives(self, store: ReceiptStore) -> None:
        texts = {"city": "Kraków ☂", "quote": 'it\'s "so"; --', "line": "a\nb", "half": "\ud800"}
        store.save(a_receipt(variables=texts, error="Δ" * 300))
        assert store.load(A_TASK, "run-1").variables == texts
        assert len(store.search(A_TASK, batch=texts)) == 1

    def test_what_a_caller_does_with_an_answer_does_not_change_the_store(
        self, store: ReceiptStore
    ) -> None:
        store.save(a_receipt())
        variables = store.load(A_TASK, "run-1").variables
        if isinstance(variables, dict):
            variables["month"] = "1999-01"
        assert store.load(A_TASK, "run-1").variables == {"month": "2026-10"}

    def test_an_unknown_task_has_no_runs(self, store: ReceiptStore) -> None:
        store.save(a_receipt())
        for task in ("pay/monthly/send", "pay/monthly/cal", "pay/monthly/calc2", "nobody/has/this"):
            assert list(store.list_runs(task)) == []
            assert list(store.search(task)) == []
            assert store.search(task).unreadable == ()

    def test_an_unknown_run_is_not_found(self, store: ReceiptStore) -> None:
        store.save(a_receipt())
        for task, run_id in ((A_TASK, "run-2"), (A_TASK, "run-11"), ("pay/monthly/send", "run-1")):
            with pytest.raises(ReceiptNotFoundError):
                store.load(task, run_id)

    def test_the_beginning_of_a_run_id_is_enough_if_it_fits_one_run(
        self, store: ReceiptStore
    ) -> None:
        for run_id in ("0199-aa", "0199-ab", "0200"):
            store.save(a_receipt(run_id=run_id))
        assert store.load(A_TASK, "0199-aa").run_id == "0199-aa"
        assert store.load(A_TASK, "02").run_id == "0200"
        with pytest.raises(AmbiguousRunError) as refused:
            store.load(A_TASK, "0199")
        assert sorted(refused.value.run_ids) == ["0199-aa", "0199-ab"]

    def test_a_whole_run_id_wins_over_those_it_begins(self, store: ReceiptStore) -> None:
        for run_id in ("run-1", "run-10", "run-11"):
            store.save(a_receipt(run_id=run_id))
        assert store.load(A_TASK, "run-1").run_id == "run-1"

    def test_a_character_that_means_something_elsewhere_means_itself(
        self, store: ReceiptStore
    ) -> None:
        for run_id in ("a_b", "axb", "a.b"):
            store.save(a_receipt(run_id=run_id))
        assert store.load(A_TASK, "a_").run_id == "a_b"
        assert store.load(A_TASK, "a.").run_id == "a.b"

    def test_one_run_id_may_stand_in_two_tasks(self, store: ReceiptStore) -> None:
        store.save(a_receipt())
        store.save(a_receipt(task="pay/monthly/send", status=Status.ERROR))
        assert store.load(A_TASK, "run-1").status is Status.SUCCESS
        assert store.load("pay/monthly/send", "run-1").status is Status.ERROR
        assert len(store.search()) == 2

    def test_the_newest_start_comes_first_whatever_was_saved_last(
        self, store: ReceiptStore
    ) -> None:
        for run_id, minutes in (("b", 20.0), ("d", 40.0), ("a", 10.0), ("c", 30.0)):
            store.save(a_receipt(run_id=run_id, started_at=at(minutes)))
        assert _ids(store.list_runs(A_TASK)) == ["d", "c", "b", "a"]
        assert _ids(store.search()) == ["d", "c", "b", "a"]

    def test_equal_starts_are_ordered_by_run_id(self, store: ReceiptStore) -> None:
        for run_id in ("m", "z", "a"):
            store.save(a_receipt(run_id=run_id))
        assert _ids(store.list_runs(A_TASK)) == ["z", "m", "a"]
        assert _ids(store.search(A_TASK, limit=2)) == ["z", "m"]

    def test_n_and_limit_mean_the_newest(self, store: ReceiptStore) -> None:
        for number in range(25):
            store.save(a_receipt(run_id=f"r{number:02}", started_at=at(number)))
        assert _ids(store.list_runs(A_TASK, 3)) == ["r24", "r23", "r22"]
        assert _ids(store.list_runs(A_TASK)) == [f"r{n:02}" for n in range(24, 4, -1)]
        assert _ids(store.search(A_TASK, limit=2)) == ["r24", "r23"]
        assert _ids(store.search(limit=1)) == ["r24"]
        assert len(store.search(A_TASK)) == 25
        assert list(store.list_runs(A_TASK, 0)) == list(store.search(A_TASK, limit=0)) == []

    def test_a_limit_counts_only_what_fits(self, store: ReceiptStore) -> None:
        for number, status in enumerate([Status.SUCCESS, *[Status.ERROR] * 5]):
            store.save(a_receipt(run_id=f"r{number}", started_at=at(number), status=status))
        assert _ids(store.search(A_TASK, Status.SUCCESS, limit=1)) == ["r0"]

    def test_each_status_is_found(self, store: ReceiptStore) -> None:
        for status in Status:
            store.save(a_receipt(run_id=status.value, status=status))
        for status in Status:
            assert _ids(store.search(A_TASK, status)) == [status.value]

    def test_since_compares_instants_whatever_the_offset(self, store: ReceiptStore) -> None:
        store.save(a_receipt(run_id="before", started_at=at(-1)))
        store.save(a_receipt(run_id="at-six", started_at=at(0).astimezone(JAKARTA)))
        store.save(a_receipt(run_id="half-a-second", started_at=at(0.5 / 60)))
        for since in (at(0), at(0).astimezone(JAKARTA)):
            assert _ids(store.search(A_TASK, since=since)) == ["half-a-second", "at-six"]
        assert _ids(store.search(A_TASK, since=at(0.25 / 60))) == ["half-a-second"]

    def test_a_search_for_what_there_cannot_be_is_refused(self, store: ReceiptStore) -> None:
        for task in (None, A_TASK):
            with pytest.raises(ValueError, match="time zone"):
                store.search(task, since=at(0).replace(tzinfo=None))
            with pytest.raises(ValueError, match="finished"):
                store.search(task, cast("Status", "finished"))

    def test_a_batch_is_found_by_the_variables_named(self, store: ReceiptStore) -> None:
        store.save(a_receipt(run_id="a", variables={"month": "2026-10", "mode": "PROD"}))
        store.save(a_receipt(run_id="b", variables={"month": "2026-10", "region": "eu"}))
        store.save(a_receipt(run_id="c", variables={"month": "2026-09", "region": "eu"}))
        store.save(a_receipt(run_id="d", variables={}))
        assert _ids(store.search(A_TASK, batch={"month": "2026-10"})) == ["b", "a"]
        assert _ids(store.search(A_TASK, batch={"month": "2026-10", "region": "eu"})) == ["b"]
        assert _ids(store.search(A_TASK, batch={"mode": "PROD"})) == ["a"]
        assert _ids(store.search(A_TASK, batch={"country": "pl"})) == []
        assert _ids(store.search(A_TASK, batch={})) == ["d", "c", "b", "a"]

    def test_a_batch_is_compared_as_text(self, store: ReceiptStore) -> None:
        values = {"n": 10, "f": 1.5, "yes": True, "nothing": None, "zeros": "010", "price": "1.10"}
        store.save(a_receipt(variables=values))
        texts = {"n": "10", "f": "1.5", "yes": "true", "zeros": "010", "price": "1.10"}
        assert len(store.search(A_TASK, batch=texts)) == 1
        for name, other in (("zeros", "10"), ("price", "1.1"), ("yes", "True"), ("nothing", "")):
            assert len(store.search(A_TASK, batch={name: other})) == 0, name

    def test_everything_given_must_fit(self, store: ReceiptStore) -> None:
        store.save(a_receipt(run_id="a"))
        store.save(a_receipt(run_id="b", started_at=at(1), status=Status.ERROR))
        store.save(a_receipt(run_id="c", started_at=at(2), variables={"month": "2026-11"}))
        store.save(a_receipt(run_id="d", started_at=at(3)))
        store.save(a_receipt(run_id="e", started_at=at(3), task="pay/monthly/send"))
        found = store.search(A_TASK, Status.SUCCESS, at(1), batch={"month": "2026-10"}, limit=5)
        assert _ids(found) == ["d"]

    def test_many_receipts_come_back_whole(self, store: ReceiptStore) -> None:
        for number in range(150):
            store.save(a_receipt(run_id=f"r{number}", started_at=at(number % 7)))
        assert len({receipt.run_id for receipt in store.search(A_TASK)}) == 150

    def test_tasks_are_listed_if_the_store_can(self, store: ReceiptStore) -> None:
        tasks = getattr(store, "tasks", None)
        for task in ("pay/monthly/send", A_TASK, "etl/in/orders"):
            store.save(a_receipt(task=task))
        if tasks is not None:
            assert list(tasks()) == ["etl/in/orders", A_TASK, "pay/monthly/send"]


def _ids(receipts: object) -> list[str]:
    assert hasattr(receipts, "unreadable")
    return [receipt.run_id for receipt in receipts if isinstance(receipt, Receipt)]  # type: ignore[attr-defined]
