"""A failure may say that the scheduler will not try again, whatever it promised."""

from __future__ import annotations

import contextlib

import pytest

from ubunye_core import Orchestrator, open_store, record_run

STORE = "memory://run-attempts"


@pytest.mark.parametrize(("at_most", "has_tries_left"), [(1, False), (3, True)])
def test_the_last_word_on_attempts_is_the_runs_own(at_most: int, has_tries_left: bool) -> None:
    task = f"pay/monthly/at_most_{at_most}"
    promised = Orchestrator(name="any", ids={"run": "1"}, attempt=1, max_attempts=2)
    recording = record_run(task, store=STORE, orchestrator=promised)
    with contextlib.suppress(RuntimeError), recording as run:
        run.attempts(at_most=at_most)
        raise RuntimeError("no use")
    (receipt,) = open_store(STORE).list_runs(task)
    assert receipt.has_tries_left is has_tries_left


def test_a_run_without_a_scheduler_has_no_attempts_to_correct() -> None:
    with record_run("pay/monthly/alone", store=STORE) as run:
        run.attempts(at_most=2)
    assert open_store(STORE).list_runs("pay/monthly/alone")[0].orchestrator is None
