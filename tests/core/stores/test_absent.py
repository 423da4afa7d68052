"""What all stores do alike where there is nothing yet, or nothing any more, and where it is asked
for what there cannot be."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from ubunye_core import Status, StoreUnavailableError, repair_store
from ubunye_core.errors import InvalidNameError
from ubunye_core.receipt import Orchestrator
from ubunye_core.stores import Claim, ClaimKey, open_store
from ubunye_core.testing import A_TASK, at

URLS = {
    "file": "file://{}/receipts",
    "jsonl": "jsonl://{}/ledger.jsonl",
    "sqlite": "sqlite:///{}/receipts.db",
    "delta": "delta+file://{}/receipts",
}
REMOVING = ("file", "sqlite", "delta")
REPAIRING = ("file", "sqlite")
KEY = ClaimKey.of(A_TASK, {"month": "2026-10"})
CLAIM = Claim(key=KEY, run_id="run-1", token=1, lease=timedelta(minutes=15))
ATTEMPT = Orchestrator(name="airflow", ids={"run": "s-1"}, attempt=1)


@pytest.fixture(params=URLS)
def absent(request: pytest.FixtureRequest, tmp_path: Path) -> Any:
    """A store of which nothing is there."""
    return open_store(URLS[request.param].format(tmp_path))


def unavailable(ask: Callable[[], object], folder: Path) -> None:
    with pytest.raises(StoreUnavailableError, match="first recorded run makes"):
        ask()
    assert list(folder.iterdir()) == []


def test_a_question_to_a_store_that_is_not_there_is_no_answer(absent: Any, tmp_path: Path) -> None:
    for ask in (
        absent.tasks,
        lambda: absent.load(A_TASK, "run-1"),
        lambda: absent.list_runs(A_TASK),
        lambda: absent.search(limit=0),
        lambda: absent.search(A_TASK),
        lambda: list(absent.scan(A_TASK)),
        lambda: absent.settled([A_TASK]),
        lambda: absent.holder(KEY),
    ):
        unavailable(ask, tmp_path)


def test_a_claim_is_not_lost_because_its_store_cannot_be_reached(
    absent: Any, tmp_path: Path
) -> None:
    """A share that is not mounted for a moment tells a run nothing, and no store is made there."""
    unavailable(lambda: absent.renew(CLAIM), tmp_path)
    unavailable(lambda: absent.release(CLAIM), tmp_path)


@pytest.mark.parametrize("absent", REMOVING, indirect=True)
def test_nothing_is_made_by_a_removal(absent: Any, tmp_path: Path) -> None:
    unavailable(lambda: absent.remove(A_TASK, ["run-1"]), tmp_path)


@pytest.mark.parametrize("absent", REPAIRING, indirect=True)
def test_nothing_is_made_by_a_repair(absent: Any, tmp_path: Path) -> None:
    unavailable(lambda: repair_store(absent), tmp_path)


def test_every_store_that_removes_or_repairs_is_asked_to(tmp_path: Path) -> None:
    stores = {name: open_store(url.format(tmp_path)) for name, url in URLS.items()}
    assert {name for name, store in stores.items() if hasattr(store, "remove")} == {*REMOVING}
    assert {name for name, store in stores.items() if hasattr(store, "repair")} == {*REPAIRING}


def test_what_is_asked_wrongly_is_told_before_a_place_is_looked_at(absent: Any) -> None:
    naive: Any = at(0).replace(tzinfo=None)
    unknown: Any = "finished"
    for task in (None, A_TASK):
        with pytest.raises(ValueError, match="time zone"):
            absent.search(task, since=naive)
        with pytest.raises(ValueError, match="finished"):
            absent.search(task, unknown)
    hostile = "../x"
    for ask in (
        lambda: absent.load(hostile, "run-1"),
        lambda: absent.load(A_TASK, hostile),
        lambda: absent.list_runs(hostile),
        lambda: absent.search(hostile, Status.SUCCESS),
        lambda: list(absent.scan(hostile)),
        lambda: absent.settled([hostile]),
        lambda: absent.of_attempt(hostile, ATTEMPT),
        lambda: absent.success_by_batch(hostile, {"month": "2026-10"}, whole=True),
        lambda: getattr(absent, "remove", absent.load)(hostile, []),
    ):
        with pytest.raises(InvalidNameError):
            ask()


def test_of_no_tasks_nothing_is_settled(absent: Any) -> None:
    assert absent.settled([]) == {}
