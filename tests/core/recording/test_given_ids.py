"""Run ids that a caller gives: one that shows a time shows the start of its run."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest

from ubunye_core import record_run
from ubunye_core.runids import new_run_id, time_in
from ubunye_core.stores import open_store
from ubunye_core.times import utc_now

CALC = "pay/monthly/calc"


def test_a_run_started_when_its_id_of_version_7_was_made() -> None:
    store, run_id = open_store(f"memory://{uuid.uuid4()}"), new_run_id(utc_now())
    with record_run(CALC, store=store, run_id=run_id):
        pass
    receipt = store.load(CALC, run_id)
    assert receipt.started_at == time_in(run_id)


@pytest.mark.parametrize("hours", [-3, 3])
def test_an_id_from_another_time_gives_way_to_one_of_the_runs_own(
    hours: int, caplog: pytest.LogCaptureFixture
) -> None:
    store = open_store(f"memory://{uuid.uuid4()}")
    run_id = new_run_id(utc_now() + timedelta(hours=hours))
    with record_run(CALC, store=store, run_id=run_id):
        pass
    (receipt,) = store.list_runs(CALC)
    assert receipt.run_id != run_id
    assert run_id in caplog.text
