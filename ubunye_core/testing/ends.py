"""How every store treats the end of a run."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ubunye_core.errors import ReceiptConflictError
from ubunye_core.receipt import Status
from ubunye_core.stores import ReceiptStore
from ubunye_core.testing.builders import A_TASK, a_receipt, a_step, at

FINAL = [status for status in Status if status.is_final]
DIFFERENT = [(first, later) for first in FINAL for later in FINAL if first is not later]


class Ends:
    """Tests of the rules about ends."""

    @pytest.mark.parametrize("status", list(Status))
    def test_a_running_run_takes_any_status(self, store: ReceiptStore, status: Status) -> None:
        store.save(a_receipt(status=Status.RUNNING))
        ended = a_receipt(status=status, host="worker-2")
        store.save(ended)
        assert store.load(A_TASK, "run-1") == ended

    @pytest.mark.parametrize("status", FINAL)
    def test_running_after_an_end_is_ignored(self, store: ReceiptStore, status: Status) -> None:
        ended = a_receipt(status=status, inputs=(a_step(),))
        store.save(ended)
        store.save(a_receipt(status=Status.RUNNING, heartbeat_at=at(30)))
        assert store.load(A_TASK, "run-1") == ended

    @pytest.mark.parametrize("status", FINAL)
    def test_the_same_end_again_erases_nothing(self, store: ReceiptStore, status: Status) -> None:
        ended = a_receipt(status=status, outputs=(a_step(),), error="first")
        store.save(ended)
        store.save(a_receipt(status=status, ended_at=at(99)))
        assert store.load(A_TASK, "run-1") == ended

    @pytest.mark.parametrize(("first", "later"), DIFFERENT)
    def test_another_end_is_refused_and_changes_nothing(
        self, store: ReceiptStore, first: Status, later: Status
    ) -> None:
        ended = a_receipt(status=first)
        store.save(ended)
        with pytest.raises(ReceiptConflictError):
            store.save(a_receipt(status=later))
        assert store.load(A_TASK, "run-1") == ended

    @pytest.mark.parametrize("own", FINAL)
    def test_an_end_by_a_third_party_yields_to_the_runs_own_word(
        self, store: ReceiptStore, own: Status
    ) -> None:
        store.save(a_receipt(status=Status.RUNNING))
        store.save(a_receipt(status=Status.INTERRUPTED, ended_by="close"))
        said = a_receipt(status=own, ended_at=at(45), outputs=(a_step(),))
        store.save(said)
        assert store.load(A_TASK, "run-1") == said

    def test_a_third_party_never_takes_the_runs_own_word_away(self, store: ReceiptStore) -> None:
        own = a_receipt()
        store.save(own)
        store.save(a_receipt(ended_by="listener"))
        with pytest.raises(ReceiptConflictError):
            store.save(a_receipt(status=Status.INTERRUPTED, ended_by="close"))
        assert store.load(A_TASK, "run-1") == own

    def test_a_second_third_party_does_not_outdo_the_first(self, store: ReceiptStore) -> None:
        closed = a_receipt(status=Status.INTERRUPTED, ended_by="close")
        store.save(closed)
        with pytest.raises(ReceiptConflictError):
            store.save(a_receipt(status=Status.ERROR, ended_by="reconcile"))
        assert store.load(A_TASK, "run-1") == closed

    def test_a_heartbeat_after_a_third_partys_end_is_ignored(self, store: ReceiptStore) -> None:
        closed = a_receipt(status=Status.INTERRUPTED, ended_by="close")
        store.save(closed)
        store.save(a_receipt(status=Status.RUNNING, heartbeat_at=at(30)))
        assert store.load(A_TASK, "run-1") == closed

    @pytest.mark.parametrize("status", list(Status))
    @pytest.mark.parametrize("later", list(Status))
    def test_a_run_of_other_data_never_takes_the_place_of_one(
        self, store: ReceiptStore, status: Status, later: Status
    ) -> None:
        first = a_receipt(status=status, variables={"month": "2026-09"})
        store.save(first)
        with pytest.raises(ReceiptConflictError, match="other data"):
            store.save(a_receipt(status=later, variables={"month": "2026-10"}))
        assert store.load(A_TASK, "run-1") == first

    @pytest.mark.parametrize("minutes", [-5.0, 5.0])
    def test_the_start_is_never_reset(self, store: ReceiptStore, minutes: float) -> None:
        store.save(a_receipt(status=Status.RUNNING))
        store.save(a_receipt(status=Status.RUNNING, started_at=at(minutes)))
        assert store.load(A_TASK, "run-1").started_at == at(0)
        store.save(a_receipt(started_at=at(minutes), ended_at=at(20)))
        assert store.load(A_TASK, "run-1") == a_receipt(ended_at=at(20))

    def test_a_heartbeat_replaces_the_one_before(self, store: ReceiptStore) -> None:
        running = a_receipt(status=Status.RUNNING)
        for minutes in (1.0, 2.0, 3.0):
            store.save(replace(running, heartbeat_at=at(minutes)))
        assert store.load(A_TASK, "run-1").heartbeat_at == at(3)
        assert len(store.search(A_TASK)) == 1
