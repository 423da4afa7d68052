"""What every store that gives claims owes to those who claim."""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import timedelta
from typing import ClassVar, Protocol, cast

import pytest

from ubunye_core.errors import ClaimLostError, ConfigError, InvalidNameError, ReceiptConflictError
from ubunye_core.receipt import Status
from ubunye_core.stores import Claim, ClaimKey, GivesClaims, Held, ReceiptStore
from ubunye_core.testing.builders import A_TASK, a_receipt, at
from ubunye_core.testing.handles import Handles
from ubunye_core.testing.marks import slow, within
from ubunye_core.testing.writers import HOSTILE_SEGMENTS
from ubunye_core.times import utc_now

OCTOBER = ClaimKey.of(A_TASK, {"month": "2026-10"})
LONG = timedelta(minutes=15)
FINAL = [status for status in Status if status.is_final]


class ClaimingStore(ReceiptStore, GivesClaims, Protocol):
    """A store that gives claims."""


class ClaimsConformance(Handles):
    """Tests of claims; subclass it beside ``StoreConformance``.

    Leases are real and short, so some tests take seconds. A store whose clock is coarse waits
    longer before a takeover, never less.
    """

    LEASE: ClassVar[timedelta] = timedelta(seconds=1)
    PATIENCE: ClassVar[timedelta] = timedelta(seconds=20)
    """How long after a lease a takeover may take, on a slow machine."""
    THREADS: ClassVar[int] = 8
    THREAD_ROUNDS: ClassVar[int] = 5

    def other(self, store: ReceiptStore) -> ClaimingStore:
        """Another handle on the store under test."""
        return cast("ClaimingStore", self.reopened(store))

    def test_one_run_takes_a_claim_and_others_learn_who_has_it(self, store: ClaimingStore) -> None:
        assert store.holder(OCTOBER) is None
        won = take(store, "run-1")
        assert (won.key, won.run_id, won.lease) == (OCTOBER, "run-1", LONG)
        for handle in (store, self.other(store)):
            for held in (
                handle.claim(OCTOBER, run_id="run-2", lease=LONG),
                handle.holder(OCTOBER),
            ):
                assert isinstance(held, Held)
                assert not held
                assert (held.key, held.run_id, held.token) == (OCTOBER, "run-1", won.token)
                assert utc_now() < held.until < utc_now() + 2 * LONG

    def test_a_claim_is_no_receipt(self, store: ClaimingStore) -> None:
        take(store, "run-1")
        assert (list(store.search()), store.search().unreadable) == ([], ())
        assert (list(store.list_runs(A_TASK)), store.search(A_TASK).unreadable) == ([], ())
        tasks = getattr(store, "tasks", None)
        assert tasks is None or list(tasks()) == []

    def test_other_data_and_other_modes_and_other_tasks_are_claimed_apart(
        self, store: ClaimingStore
    ) -> None:
        take(store, "run-1")
        for number, key in enumerate(
            (
                ClaimKey.of(A_TASK, {"month": "2026-11"}),
                ClaimKey.of(A_TASK, {"month": "2026-10", "region": "eu"}),
                ClaimKey.of(A_TASK, {"month": "2026-10", "mode": "full"}),
                ClaimKey.of(A_TASK, {}),
                ClaimKey.of("pay/monthly/send", {"month": "2026-10"}),
            )
        ):
            take(store, f"other-{number}", key)
            assert isinstance(store.claim(key, run_id="run-1", lease=LONG), Held)
        assert isinstance(store.claim(OCTOBER, run_id="other-0", lease=LONG), Held)

    def test_a_batch_of_a_very_long_value_is_claimed_by_one(self, store: ClaimingStore) -> None:
        key = ClaimKey.of(A_TASK, {"month": "x" * 200_000})
        taken = take(store, "run-1", key)
        held = self.other(store).claim(key, run_id="run-2", lease=LONG)
        assert (bool(held), held.run_id) == (False, "run-1")
        store.release(taken)
        assert store.holder(key) is None

    def test_what_is_no_part_of_a_batch_makes_no_other_claim(self, store: ClaimingStore) -> None:
        take(store, "run-1")
        same = ClaimKey.of(A_TASK, {"month": "2026-10", "dtf": "2026-10-15"})
        assert isinstance(store.claim(same, run_id="run-2", lease=LONG), Held)

    def test_the_run_that_has_a_claim_gets_it_again_with_the_same_token(
        self, store: ClaimingStore
    ) -> None:
        first = take(store, "run-1")
        assert take(store, "run-1").token == first.token
        again = take(self.other(store), "run-1")
        assert again.token == first.token
        store.renew(first)
        self.other(store).renew(again)

    def test_a_claim_given_back_is_free_and_the_next_token_is_greater(
        self, store: ClaimingStore
    ) -> None:
        tokens = []
        for number in range(10):
            won = take(store, f"run-{number // 2}")  # each run takes it twice
            tokens.append(won.token)
            store.release(won)
            assert store.holder(OCTOBER) is None
        assert sorted(set(tokens)) == tokens

    def test_to_give_a_claim_back_twice_does_no_harm(self, store: ClaimingStore) -> None:
        first = take(store, "run-1")
        store.release(first)
        store.release(first)
        second = take(store, "run-2")
        store.release(first)
        held = store.holder(OCTOBER)
        assert held is not None
        assert (held.run_id, held.token) == ("run-2", second.token)
        store.renew(second)

    def test_a_claim_given_back_cannot_be_renewed(self, store: ClaimingStore) -> None:
        first = take(store, "run-1")
        store.release(first)
        with pytest.raises(ClaimLostError):
            store.renew(first)
        take(store, "run-1")
        with pytest.raises(ClaimLostError):
            store.renew(first)

    def test_only_the_run_that_has_a_claim_renews_it_and_gives_it_back(
        self, store: ClaimingStore
    ) -> None:
        won = take(store, "run-1")
        for other in (replace(won, run_id="run-2"), replace(won, token=won.token + 1)):
            with pytest.raises(ClaimLostError):
                store.renew(other)
            store.release(other)
        held = store.holder(OCTOBER)
        assert held is not None
        assert (held.run_id, held.token) == ("run-1", won.token)
        store.renew(won)

    def test_a_run_that_gave_its_claim_back_may_still_say_how_it_ended(
        self, store: ClaimingStore
    ) -> None:
        store.save(a_receipt(status=Status.RUNNING))
        store.release(take(store, "run-1"))
        take(store, "run-2")
        store.save(a_receipt())
        assert store.load(A_TASK, "run-1") == a_receipt()

    @pytest.mark.parametrize("name", HOSTILE_SEGMENTS, ids=lambda name: ascii(name)[:20])
    def test_a_hostile_run_id_claims_nothing(self, store: ClaimingStore, name: str) -> None:
        with pytest.raises(InvalidNameError):
            store.claim(OCTOBER, run_id=name, lease=LONG)
        assert store.holder(OCTOBER) is None

    @pytest.mark.parametrize("seconds", [0.0, 0.9, -900.0, 1e12])
    def test_a_lease_too_short_to_be_kept_is_refused_and_so_is_one_without_end(
        self, store: ClaimingStore, seconds: float
    ) -> None:
        with pytest.raises(ConfigError, match="too short" if seconds < 1 else "too long"):
            store.claim(OCTOBER, run_id="run-1", lease=timedelta(seconds=seconds))
        assert store.holder(OCTOBER) is None

    def test_of_several_threads_at_once_one_takes_the_claim(self, store: ClaimingStore) -> None:
        handles = [store, *(self.other(store) for _ in range(self.THREADS - 1))]
        for round_ in range(self.THREAD_ROUNDS):
            key, ready = ClaimKey.of(A_TASK, {"round": round_}), threading.Barrier(self.THREADS)

            def take_it(
                number: int, key: ClaimKey = key, ready: threading.Barrier = ready
            ) -> Claim | Held:
                ready.wait()
                return handles[number].claim(key, run_id=f"run-{number}", lease=LONG)

            with ThreadPoolExecutor(self.THREADS) as pool:
                answers = list(pool.map(take_it, range(self.THREADS)))
            (won,) = (answer for answer in answers if answer)
            assert {(each.run_id, each.token) for each in answers} == {(won.run_id, won.token)}

    # From here on, a lease runs out.

    def taken_over(self, store: ClaimingStore, by: str, key: ClaimKey = OCTOBER) -> Claim:
        """The claim of a run that tries until the lease of another is over."""
        began = time.monotonic()
        while time.monotonic() - began < (self.LEASE + self.PATIENCE).total_seconds():
            answer = store.claim(key, run_id=by, lease=LONG)
            if isinstance(answer, Claim):
                return answer
            time.sleep(0.05)
        raise AssertionError("a claim whose lease has run out was not taken over")

    def test_a_claim_is_taken_over_after_its_lease_and_not_before(
        self, store: ClaimingStore
    ) -> None:
        began = time.monotonic()
        first = take(store, "run-1", lease=self.LEASE)
        second = self.taken_over(self.other(store), "run-2")
        assert time.monotonic() - began >= self.LEASE.total_seconds() - 0.02
        assert second.token > first.token
        with pytest.raises(ClaimLostError):
            store.renew(first)
        store.release(first)
        held = store.claim(OCTOBER, run_id="run-1", lease=LONG)
        assert (held.run_id, held.token) == ("run-2", second.token)
        store.renew(second)

    @slow
    def test_nobody_has_a_claim_that_has_run_out(self, store: ClaimingStore) -> None:
        take(store, "run-1", lease=self.LEASE)
        until = time.monotonic() + (self.LEASE + self.PATIENCE).total_seconds()
        while store.holder(OCTOBER) is not None:
            assert time.monotonic() < until
            time.sleep(0.05)

    @slow
    def test_a_renewal_begins_the_lease_anew(self, store: ClaimingStore) -> None:
        first = take(store, "run-1", lease=2 * self.LEASE)
        for _ in range(3):
            time.sleep(self.LEASE.total_seconds())
            renewed = time.monotonic()
            store.renew(first)
        answer = None
        while not answer:
            time.sleep(0.05)
            answer = self.other(store).claim(OCTOBER, run_id="run-2", lease=LONG)
        assert time.monotonic() - renewed >= 2 * self.LEASE.total_seconds() - 0.02

    @slow
    def test_a_lease_that_is_over_is_renewed_while_nobody_has_taken_it(
        self, store: ClaimingStore
    ) -> None:
        first = take(store, "run-1", lease=self.LEASE)
        until = time.monotonic() + (self.LEASE + self.PATIENCE).total_seconds()
        while store.holder(OCTOBER) is not None:
            assert time.monotonic() < until
            time.sleep(0.05)
        store.renew(replace(first, lease=LONG))
        answers = (self.other(store).claim(OCTOBER, run_id="run-2", lease=LONG), first)
        assert {(each.run_id, each.token) for each in answers} == {("run-1", first.token)}

    @slow
    @within(300)
    def test_tokens_grow_whatever_ends_a_claim(self, store: ClaimingStore) -> None:
        tokens = []
        for number in range(4):
            won = self.taken_over(store, f"run-{number}")
            tokens.append(won.token)
            take(store, f"run-{number}", lease=self.LEASE)  # the same claim, a shorter lease
            if number % 2:
                store.release(won)
        assert sorted(set(tokens)) == tokens

    def test_the_old_holders_success_does_not_save(self, store: ClaimingStore) -> None:
        running = a_receipt(status=Status.RUNNING, heartbeat_at=at(1), host="worker-1")
        store.save(running)
        take(store, "run-1", lease=self.LEASE)
        self.taken_over(self.other(store), "run-2")
        with pytest.raises(ReceiptConflictError):
            store.save(a_receipt())
        store.save(a_receipt(status=Status.RUNNING, heartbeat_at=at(2)))
        lost = store.load(A_TASK, "run-1")
        assert (lost.status, lost.ended_by) == (Status.INTERRUPTED, "takeover")
        assert (lost.host, lost.variables) == (running.host, running.variables)
        assert len(store.search(A_TASK, Status.SUCCESS)) == 0

    @slow
    @pytest.mark.parametrize("like_it", [["run-10"], ["run-10", "run-11"]])
    def test_nor_where_the_old_holder_had_no_receipt_yet(
        self, store: ClaimingStore, like_it: list[str]
    ) -> None:
        for run_id in like_it:  # they begin like the holder
            store.save(a_receipt(run_id=run_id, status=Status.RUNNING))
        take(store, "run-1", lease=self.LEASE)
        self.taken_over(store, "run-2")
        late = utc_now()
        with pytest.raises(ReceiptConflictError):
            store.save(a_receipt(started_at=late))
        lost = store.load(A_TASK, "run-1")
        assert (lost.status, lost.ended_by) == (Status.INTERRUPTED, "takeover")
        assert [store.load(A_TASK, each).status for each in like_it] == ["running"] * len(like_it)

    @slow
    def test_an_old_holder_without_a_receipt_began_when_it_took_its_claim(
        self, store: ClaimingStore
    ) -> None:
        before = utc_now()
        first = take(store, "run-1", lease=self.LEASE)
        after = utc_now()
        for _ in range(3):
            time.sleep(self.LEASE.total_seconds())
            store.renew(first)
        self.taken_over(store, "run-2")
        began = store.load(A_TASK, "run-1").started_at
        second = timedelta(seconds=1)  # the clocks of some stores tell no less
        assert before - second <= began <= after + second

    @slow
    def test_nor_where_a_third_party_had_closed_it(self, store: ClaimingStore) -> None:
        store.save(a_receipt(status=Status.RUNNING))
        take(store, "run-1", lease=self.LEASE)
        store.save(a_receipt(status=Status.INTERRUPTED, ended_by="close"))
        self.taken_over(store, "run-2")
        with pytest.raises(ReceiptConflictError):
            store.save(a_receipt())
        lost = store.load(A_TASK, "run-1")
        assert (lost.status, lost.ended_by) == (Status.INTERRUPTED, "takeover")

    @slow
    @pytest.mark.parametrize("status", FINAL)
    def test_an_end_of_its_own_word_before_the_takeover_stands(
        self, store: ClaimingStore, status: Status
    ) -> None:
        take(store, "run-1", lease=self.LEASE)
        store.save(a_receipt(status=status))
        self.taken_over(store, "run-2")
        assert store.load(A_TASK, "run-1") == a_receipt(status=status)


def take(
    store: GivesClaims, run_id: str, key: ClaimKey = OCTOBER, *, lease: timedelta = LONG
) -> Claim:
    """The claim of a run that must get it."""
    answer = store.claim(key, run_id=run_id, lease=lease)
    assert isinstance(answer, Claim), f"{answer.run_id} has it"
    return answer
