"""What users of other tools ran into with monitors. Numbers are of the cases."""

from __future__ import annotations

import shutil
from pathlib import Path

from tests.core.questions.builders import (
    CALC,
    DAY,
    HOUR,
    NOW,
    SEND,
    FourMethods,
    a_run,
    a_window,
    an_attempt,
    put,
)
from ubunye_core import Verdict, check_upstream, job_health, open_store
from ubunye_core.stores import MemoryStore


def test_case_34_some_failures_are_tolerated() -> None:
    store = MemoryStore()
    put(store, a_run(ago=9 * HOUR), a_run("error", ago=8 * HOUR), a_run("error", ago=7 * HOUR))
    assert job_health(CALC, store=store, now=NOW, failure_threshold=3).verdict is Verdict.PASS
    put(store, a_run("error", ago=6 * HOUR))
    assert job_health(CALC, store=store, now=NOW, failure_threshold=3).verdict is Verdict.FAIL


def test_case_36_a_success_inside_the_age_is_fresh_and_health_starts_nothing() -> None:
    store = FourMethods(MemoryStore())
    put(store, a_run(ago=2 * HOUR, window=a_window(NOW - 2 * HOUR)))
    put(store, *(a_run(ago=(3 + i) * HOUR) for i in range(5)))  # events without end
    store.calls.clear()
    found = job_health(CALC, store=store, now=NOW, max_age="1d").tasks[0]
    assert (found.verdict, found.stale) == (Verdict.PASS, False)
    assert store.calls == ["list_runs 50"]


def test_case_38_old_data_is_a_failure_and_no_warning() -> None:
    store = MemoryStore()
    put(store, a_run(ago=3 * DAY))
    found = job_health(CALC, store=store, now=NOW, max_age="2d")
    assert (found.verdict, found.tasks[0].stale) == (Verdict.FAIL, True)


def test_case_41_no_answer_hangs_on_a_schedulers_database(tmp_path: Path) -> None:
    scheduler = tmp_path / "airflow"
    scheduler.mkdir()
    (scheduler / "airflow.db").write_bytes(b"all that the scheduler remembers")
    store = open_store((tmp_path / "receipts").as_uri())
    put(store, a_run(orchestrator=an_attempt(1)), a_run("error", task=SEND))

    def answers() -> list[object]:
        asked = {"variables": {"month": "2026-10"}, "now": NOW}
        return [
            check_upstream([CALC, SEND], store=open_store(store.url), **asked),  # type: ignore[arg-type]
            job_health("pay/*/*", store=open_store(store.url), now=NOW),
        ]

    before = answers()
    shutil.rmtree(scheduler)
    assert answers() == before
