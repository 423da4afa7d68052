"""Claims among processes: one of them wins, each time."""

from __future__ import annotations

import sys
import time
from collections.abc import Mapping
from datetime import timedelta
from typing import Any, ClassVar

import pytest

from ubunye_core.errors import ReceiptConflictError
from ubunye_core.receipt import Status
from ubunye_core.stores import ClaimKey
from ubunye_core.testing.builders import A_TASK, a_receipt
from ubunye_core.testing.children import Child, all_at_once, child, children
from ubunye_core.testing.claims import ClaimingStore, take
from ubunye_core.testing.handles import Handles
from ubunye_core.testing.marks import slow, soak, within

LONG_SECONDS = 900.0
CONTROL_SECONDS = 120.0
"""So long a soak looks on while processes do what is no claim: its saves may take seconds each."""
CONTROL = "pay/monthly/control"
"""The task of those who look and then save, which is no claim."""


class ClaimsAcrossProcesses(Handles):
    """Tests of claims with real processes, for a store that a URL opens.

    Subclass it beside ``ClaimsConformance``. The same processes also do what is no claim: they
    look for a run of the batch, and save one if there is none. In some round several of them must
    do so, or the machine would not have told a claim from it.
    """

    CLAIMERS: ClassVar[int] = 16
    ROUNDS: ClassVar[int] = 25
    TAKEOVERS: ClassVar[int] = 5
    SHORT: ClassVar[timedelta] = timedelta(seconds=1)
    SOAK_CLAIMERS: ClassVar[int] = 64
    SOAK_ROUNDS: ClassVar[int] = 200
    WHY_THE_CONTROL_CANNOT_FAIL: ClassVar[str | None] = None
    """Why those who look and then save do not meet in this store; None: they must."""

    @slow
    @within(900)
    def test_of_many_processes_one_takes_the_claim_each_time(self, store: ClaimingStore) -> None:
        with children(self.address(store), self.CLAIMERS) as claimers:
            for round_ in range(self.ROUNDS):
                race(claimers, round_)
            doubled = 0
            for round_ in range(self.ROUNDS):
                doubled += look_and_save(claimers, round_) - 1
                if doubled:
                    break
        assert doubled or self.WHY_THE_CONTROL_CANNOT_FAIL

    @soak
    @within(7200)
    def test_of_very_many_processes_one_takes_the_claim_each_time(
        self, store: ClaimingStore, capsys: pytest.CaptureFixture[str]
    ) -> None:
        with children(self.address(store), self.SOAK_CLAIMERS) as claimers:
            began = time.monotonic()
            for round_ in range(self.SOAK_ROUNDS):
                race(claimers, round_)
            took = time.monotonic() - began
            winners = looks = 0
            while looks < self.SOAK_ROUNDS and time.monotonic() < began + took + CONTROL_SECONDS:
                winners += look_and_save(claimers, looks)
                looks += 1
        with capsys.disabled():
            sys.stdout.write(
                f"\n{store.url}: {self.SOAK_CLAIMERS} processes, {self.SOAK_ROUNDS} rounds: "
                f"{self.SOAK_ROUNDS} claims ({took / self.SOAK_ROUNDS * 1000:.0f} ms a round); "
                f"in {looks} by looking and then saving: {winners}\n"
            )
        assert winners > looks or self.WHY_THE_CONTROL_CANNOT_FAIL

    @slow
    @within(900)
    def test_of_many_processes_one_takes_over_a_claim_that_has_run_out(
        self, store: ClaimingStore
    ) -> None:
        keys = [variables_of(f"takeover-{number}") for number in range(self.TAKEOVERS)]
        tokens: list[int] = []
        with children(self.address(store), self.CLAIMERS) as claimers:
            began = time.monotonic()
            for number, variables in enumerate(keys):
                store.save(
                    a_receipt(run_id=f"old-{number}", status=Status.RUNNING, variables=variables)
                )
                key = ClaimKey.of(A_TASK, variables)
                tokens.append(take(store, f"old-{number}", key, lease=self.SHORT).token)
            for variables in keys:
                while store.holder(ClaimKey.of(A_TASK, variables)) is not None:
                    assert time.monotonic() - began < 60
                    time.sleep(0.05)
            for number in range(self.TAKEOVERS):
                answers = race(claimers, f"takeover-{number}")
                assert {answer["token"] > tokens[number] for answer in answers} == {True}
        for number, variables in enumerate(keys):
            lost = store.load(A_TASK, f"old-{number}")
            assert (lost.status, lost.ended_by) == (Status.INTERRUPTED, "takeover")
            with pytest.raises(ReceiptConflictError):
                store.save(a_receipt(run_id=f"old-{number}", variables=variables))

    @slow
    def test_the_claim_of_a_killed_process_is_held_until_its_lease_is_over(
        self, store: ClaimingStore
    ) -> None:
        variables = variables_of("killed")
        with child(self.address(store)) as holder:
            began = time.monotonic()
            first = holder.ask("claim", **claim_by("old", variables, 2 * self.SHORT))
            holder.kill()
        assert first["won"]
        key = ClaimKey.of(A_TASK, variables)
        while not (answer := store.claim(key, run_id="new", lease=self.SHORT)):
            assert answer.run_id == "old"
            time.sleep(0.05)
        assert time.monotonic() - began >= 2 * self.SHORT.total_seconds() - 0.02
        assert answer.token > first["token"]

    @slow
    def test_a_stopped_process_that_wakes_learns_that_it_lost(self, store: ClaimingStore) -> None:
        variables = variables_of("stopped")
        with child(self.address(store)) as holder:
            first = claim_by("old", variables, self.SHORT)
            token = holder.ask("claim", **first)["token"]
            key = ClaimKey.of(A_TASK, variables)
            while not store.claim(key, run_id="new", lease=timedelta(minutes=15)):
                time.sleep(0.05)
            assert holder.ask("renew", **first, token=token) == {"lost": True}
            again = holder.ask("claim", **first)
        assert (again["won"], again["run_id"]) == (False, "new")


def variables_of(round_: object) -> dict[str, str]:
    """The batch of a round."""
    return {"round": str(round_)}


def claim_by(run_id: str, variables: Mapping[str, str], lease: timedelta) -> dict[str, Any]:
    """The arguments of a claim for ``worker.py``."""
    return {
        "task": A_TASK, "variables": dict(variables), "run_id": run_id,
        "lease": lease.total_seconds(),
    }  # fmt: skip


def race(claimers: list[Child], round_: object) -> list[Any]:
    """Have all claim one batch at once. Exactly one wins, and the others name it."""
    lease, variables = timedelta(seconds=LONG_SECONDS), variables_of(round_)
    given = [claim_by(f"r{round_}-{number}", variables, lease) for number in range(len(claimers))]
    answers = all_at_once(claimers, "claim", given)
    won = [answer for answer in answers if answer["won"]]
    assert len(won) == 1, f"round {round_}: {len(won)} of {len(claimers)} took the claim"
    assert {(each["run_id"], each["token"]) for each in answers} == {
        (won[0]["run_id"], won[0]["token"])
    }
    return answers


def look_and_save(claimers: list[Child], round_: object) -> int:
    """Have all look for a run of one batch at once and save one if there is none; how many did."""
    given = [
        {"task": CONTROL, "variables": variables_of(round_), "run_id": f"r{round_}-{number}"}
        for number in range(len(claimers))
    ]
    return sum(answer["won"] for answer in all_at_once(claimers, "look_then_save", given))
