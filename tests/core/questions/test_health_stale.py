"""Health: how old the newest data may be."""

from __future__ import annotations

from tests.core.questions.builders import CALC, DAY, HOUR, NOW, FourMethods, a_run, a_window, put
from ubunye_core import ReceiptStore, TaskHealth, Verdict, job_health
from ubunye_core.stores import MemoryStore


def health(store: ReceiptStore, max_age: str) -> TaskHealth:
    return job_health(CALC, store=store, now=NOW, max_age=max_age).tasks[0]


def test_without_windows_the_end_of_the_last_success_counts(store: ReceiptStore) -> None:
    put(store, a_run(ago=26 * HOUR, took=3 * HOUR))
    assert health(store, "23h").verdict is Verdict.PASS
    found = health(store, "22h")
    assert (found.verdict, found.stale) == (Verdict.FAIL, True)
    assert "its last success was 2026-10-14T07:00:00Z, older than 22h" in found.reason


def test_the_newest_window_counts_and_not_the_newest_write(store: ReceiptStore) -> None:
    put(store, a_run(ago=2 * DAY, window=a_window(NOW - 3 * DAY)))
    put(store, a_run(ago=HOUR, window=a_window(NOW - 90 * DAY)))  # a backfill, just now
    found = health(store, "2d")
    assert (found.verdict, found.stale) == (Verdict.FAIL, True)
    assert "newest succeeded window ended 2026-10-12T06:00:00Z" in found.reason
    assert health(store, "4d").verdict is Verdict.PASS


def test_a_rerun_without_a_window_does_not_make_old_data_fresh(store: ReceiptStore) -> None:
    put(store, a_run(ago=9 * DAY, window=a_window(NOW - 9 * DAY)), a_run(ago=HOUR))
    assert health(store, "2d").stale


def test_a_failed_window_does_not_make_a_task_fresh(store: ReceiptStore) -> None:
    put(store, a_run(ago=3 * DAY, window=a_window(NOW - 3 * DAY)))
    put(store, a_run("error", ago=HOUR, window=a_window(NOW - HOUR)))
    assert health(store, "2d").stale


def test_a_task_that_never_succeeded_is_stale(store: ReceiptStore) -> None:
    put(store, a_run("running", ago=HOUR))
    found = health(store, "40d")
    assert (found.verdict, found.stale) == (Verdict.FAIL, True)
    assert "never succeeded" in found.reason


def test_a_living_run_does_not_make_a_stale_task_fresh(store: ReceiptStore) -> None:
    put(store, a_run(ago=3 * DAY), a_run("running", ago=HOUR))
    assert health(store, "2d").stale


def test_a_long_backfill_does_not_hide_the_newest_window() -> None:
    counted = FourMethods(MemoryStore())
    put(counted, a_run(ago=DAY, window=a_window(NOW - DAY)))
    for index in range(60):
        old = a_window(NOW - (100 + index) * DAY)
        put(counted, a_run(ago=HOUR - index * HOUR / 100, window=old))
    counted.calls.clear()
    assert health(counted, "2d").verdict is Verdict.PASS
    assert counted.calls == ["list_runs 50", "search success"]


def test_without_an_age_nothing_is_stale(store: ReceiptStore) -> None:
    put(store, a_run(ago=3650 * DAY))
    found = job_health(CALC, store=store, now=NOW).tasks[0]
    assert (found.verdict, found.stale) == (Verdict.PASS, False)
