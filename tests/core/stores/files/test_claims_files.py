"""Claims in a folder, by the suite that every store with claims passes, and what only it does."""

from __future__ import annotations

import json
import os
import threading
import time
from datetime import timedelta
from pathlib import Path

import pytest

from tests.core.stores.broken_claims import is_given_to_nobody
from ubunye_core import Status, StoreUnavailableError
from ubunye_core.stores import Claim, ClaimKey, FileStore, Held
from ubunye_core.stores.atomic import lock
from ubunye_core.stores.files import claims
from ubunye_core.testing import A_TASK, ClaimsAcrossProcesses, ClaimsConformance, a_receipt

OCTOBER = ClaimKey.of(A_TASK, {"month": "2026-10"})
LONG = timedelta(minutes=15)


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    root = tmp_path / "receipts"
    root.mkdir()
    return FileStore(root)


class TestFileStore(ClaimsConformance, ClaimsAcrossProcesses):
    @pytest.fixture
    def store(self, tmp_path: Path) -> FileStore:
        root = tmp_path / "receipts"
        root.mkdir()
        return FileStore(root)


def tokens(store: FileStore) -> list[Path]:
    return sorted((store.root / A_TASK / ".claims" / OCTOBER.digest).glob("0*"))


def taken(store: FileStore, run_id: str, lease: timedelta = LONG) -> Claim:
    claim = store.claim(OCTOBER, run_id=run_id, lease=lease)
    assert isinstance(claim, Claim)
    return claim


def make_older(file: Path, seconds: float) -> None:
    since = os.stat(file).st_mtime_ns - int(seconds * 1e9)
    os.utime(file, ns=(since, since))


def test_only_the_highest_token_is_kept(store: FileStore) -> None:
    for number in range(5):
        store.release(taken(store, f"run-{number}"))
    assert [int(file.name) for file in tokens(store)] == [5]


def test_a_lease_is_told_by_the_dates_of_files_and_not_by_this_machines_clock(
    store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken(store, "run-1")
    monkeypatch.setattr(claims, "utc_now", lambda: pytest.fail("the clock of this machine"))
    held = store.holder(OCTOBER)
    assert held is not None
    make_older(tokens(store)[0], LONG.total_seconds() - 5)
    assert store.holder(OCTOBER) is not None
    make_older(tokens(store)[0], 10)
    assert store.holder(OCTOBER) is None


def test_a_slow_link_at_a_token_that_has_been_passed_wins_nothing(store: FileStore) -> None:
    for number in range(3):
        store.release(taken(store, f"run-{number}"))
    newest = taken(store, "run-9")
    late = tokens(store)[0].with_name(f"{2:020d}")
    late.write_text(tokens(store)[0].read_text().replace("run-9", "run-late"))
    held = store.claim(OCTOBER, run_id="run-late", lease=LONG)
    assert isinstance(held, Held)
    assert held.token == newest.token


def test_a_damaged_claim_is_nobodys_and_is_not_taken(store: FileStore) -> None:
    claim = taken(store, "run-1")
    good = json.loads(tokens(store)[0].read_text())
    bad: dict[str, object] = {
        "run_id": "../x", "lease": "long", "claimed_at": "2026-10-15T06:00:00", "is_open": None
    }  # fmt: skip
    said = [json.dumps(good | {name: value}) for name, value in bad.items()]
    for damage in ("", "{", "[]", json.dumps({"run_id": "a"}), *said):
        tokens(store)[0].write_text(damage)
        is_given_to_nobody(store, claim)


def test_a_link_in_the_place_of_claims_is_refused(store: FileStore, tmp_path: Path) -> None:
    store.save(a_receipt())
    (store.root / A_TASK / ".claims").symlink_to(tmp_path)
    with pytest.raises(StoreUnavailableError, match="is a link"):
        store.claim(OCTOBER, run_id="run-1", lease=LONG)


def test_a_claimer_that_is_stopped_does_not_stop_the_others(
    store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(claims, "TURN_WITHIN_SECONDS", 0.1)
    store.release(taken(store, "run-1"))
    with lock(tokens(store)[0].parent / "lock"):
        barrier, won = threading.Barrier(8), []

        def claim(number: int) -> None:
            barrier.wait()
            if FileStore(store.root).claim(OCTOBER, run_id=f"w{number}", lease=LONG):
                won.append(number)

        threads = [threading.Thread(target=claim, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    assert len(won) == 1


def test_who_may_only_read_learns_who_has_a_claim(
    store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    taken(store, "run-1")

    def refuse(*_: object, **__: object) -> None:
        raise PermissionError

    monkeypatch.setattr(claims, "unfinished", refuse)
    held = store.holder(OCTOBER)
    assert held is not None
    assert held.run_id == "run-1"


def test_a_run_that_says_its_end_while_its_claim_is_taken_over_keeps_it_or_loses_it(
    store: FileStore,
) -> None:
    store.save(a_receipt(status=Status.RUNNING))
    claim = taken(store, "run-1", timedelta(seconds=1))
    store.save(a_receipt())
    time.sleep(1.1)
    assert taken(store, "run-2").token == claim.token + 1
    assert store.load(A_TASK, "run-1").status is Status.SUCCESS
