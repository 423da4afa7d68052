"""The tests of claims find what is wrong with a store that only seems to give them."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from pathlib import Path
from typing import Any

import pytest

from ubunye_core.errors import ClaimLostError
from ubunye_core.stores import Claim, ClaimKey, Held, MemoryStore, own_claim
from ubunye_core.testing import ClaimsConformance


class EverybodyWins(MemoryStore):
    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        self._claims.clear()
        return super().claim(key, run_id=run_id, lease=lease)


class ForgetsTokens(MemoryStore):
    def release(self, claim: Claim) -> None:
        if own_claim(self._known(claim.key), claim):
            self._claims.clear()


class ReleasesForOthers(MemoryStore):
    def release(self, claim: Claim) -> None:
        for place, known in self._claims.items():
            self._claims[place] = replace(known, is_open=False)


class KnowsTokensOnly(MemoryStore):
    def renew(self, claim: Claim) -> None:
        known = self._known(claim.key)
        super().renew(replace(claim, run_id=claim.run_id if known is None else known.run_id))


class ForgetsWhenItWasTaken(MemoryStore):
    def renew(self, claim: Claim) -> None:
        super().renew(claim)
        self.claim(claim.key, run_id=claim.run_id, lease=claim.lease)


class RenewsInTimeOnly(MemoryStore):
    def renew(self, claim: Claim) -> None:
        if self.holder(claim.key) is None:
            raise ClaimLostError("too late")
        super().renew(claim)


class RenewsForOthers(MemoryStore):
    def renew(self, claim: Claim) -> None:
        return


class KnowsNoModes(MemoryStore):
    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        return super().claim(replace(key, mode=None), run_id=run_id, lease=lease)


class TakesOverTooEarly(MemoryStore):
    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        return super().claim(key, run_id=run_id, lease=max(lease / 2, timedelta(seconds=1)))


class NeverTakesOver(MemoryStore):
    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        return super().claim(key, run_id=run_id, lease=1000 * lease)


class LetsTheOldHolderSucceed(MemoryStore):
    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        known = self._known(key)
        if known is not None and known.run_id != run_id and not self.holder(key):
            self._claims[key.task, key.digest] = replace(known, is_open=False)
        return super().claim(key, run_id=run_id, lease=lease)


class LooksAndThenTakes(MemoryStore):
    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        held = self.holder(key)
        time.sleep(0.01)
        if held is None:
            self._claims.pop((key.task, key.digest), None)
        return held or super().claim(key, run_id=run_id, lease=lease)


class Impatient(ClaimsConformance):
    PATIENCE = timedelta(seconds=5)

    def reopened(self, store: Any) -> Any:
        return store


suite = Impatient()

FOUND: dict[Callable[[str], MemoryStore], list[Callable[[Any], None]]] = {
    EverybodyWins: [
        suite.test_one_run_takes_a_claim_and_others_learn_who_has_it,
        suite.test_other_data_and_other_modes_and_other_tasks_are_claimed_apart,
    ],
    ForgetsTokens: [suite.test_a_claim_given_back_is_free_and_the_next_token_is_greater],
    ReleasesForOthers: [suite.test_to_give_a_claim_back_twice_does_no_harm],
    RenewsForOthers: [
        suite.test_a_claim_given_back_cannot_be_renewed,
        suite.test_a_claim_is_taken_over_after_its_lease_and_not_before,
    ],
    KnowsTokensOnly: [suite.test_only_the_run_that_has_a_claim_renews_it_and_gives_it_back],
    ForgetsWhenItWasTaken: [
        suite.test_an_old_holder_without_a_receipt_began_when_it_took_its_claim
    ],
    RenewsInTimeOnly: [suite.test_a_lease_that_is_over_is_renewed_while_nobody_has_taken_it],
    KnowsNoModes: [suite.test_other_data_and_other_modes_and_other_tasks_are_claimed_apart],
    TakesOverTooEarly: [suite.test_a_renewal_begins_the_lease_anew],
    NeverTakesOver: [suite.test_a_claim_is_taken_over_after_its_lease_and_not_before],
    LetsTheOldHolderSucceed: [
        suite.test_the_old_holders_success_does_not_save,
        partial(suite.test_nor_where_the_old_holder_had_no_receipt_yet, like_it=["run-10"]),
        suite.test_nor_where_a_third_party_had_closed_it,
    ],
    LooksAndThenTakes: [suite.test_of_several_threads_at_once_one_takes_the_claim],
}


@pytest.mark.slow
@pytest.mark.parametrize("broken", FOUND)
def test_a_store_that_does_not_keep_its_word_is_found(
    broken: Callable[[str], MemoryStore],
) -> None:
    late = broken is RenewsInTimeOnly  # it refuses what it should have done
    usual = (AssertionError, ValueError, pytest.fail.Exception)
    for test in FOUND[broken]:
        with pytest.raises(ClaimLostError if late else usual):
            test(broken("broken"))
        test(MemoryStore("good"))


@pytest.mark.slow
def test_a_project_without_our_markers_can_use_the_suite(tmp_path: Path) -> None:
    (tmp_path / "test_mine.py").write_text(
        "import pytest\n"
        "from ubunye_core.stores import FileStore\n"
        "from ubunye_core.testing import ProcessConformance\n"
        "class TestMine(ProcessConformance):\n"
        "    @pytest.fixture\n"
        "    def store(self, tmp_path):\n"
        "        return FileStore(tmp_path)\n"
    )
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "--strict-markers", "-p", "no:cacheprovider", "-rs",
         "-k", "sees_a_save or many_kills", "test_mine.py"],
        cwd=tmp_path, capture_output=True, text=True, timeout=100,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout
    assert "1 passed, 1 skipped" in done.stdout
    assert "register the marker 'soak'" in done.stdout
    assert "arning" not in done.stdout
