"""``task_stats``: how runs ended, how long they took, and whether more of them fail."""

from __future__ import annotations

from datetime import timedelta
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.questions.builders import (
    CALC,
    DAY,
    HOUR,
    MINUTE,
    NOW,
    SEND,
    FourMethods,
    a_run,
    a_window,
    an_attempt,
    put,
)
from tests.pages import run_page
from ubunye_core import (
    ConfigError,
    Receipt,
    Status,
    TaskStats,
    Trend,
    Verdict,
    job_health,
    open_store,
    task_stats,
)
from ubunye_core.questions.stats import percent
from ubunye_core.questions.tally import percentile
from ubunye_core.runids import new_run_id
from ubunye_core.stores import MemoryStore


def counted(*runs: Receipt, days: int = 30, **asked: object) -> TaskStats:
    store = MemoryStore()
    put(store, *runs) if runs else None
    (found,) = task_stats(CALC, store=store, days=days, **{"now": NOW, **asked}).tasks  # type: ignore[arg-type]
    return found


def test_runs_that_succeeded_or_failed_make_the_rate_and_others_are_counted_apart(store) -> None:
    put(
        store,
        *(a_run(ago=hours * HOUR) for hours in (1, 2, 3)),
        a_run("error", ago=4 * HOUR),
        a_run("interrupted", ago=5 * HOUR),
        a_run("running", ago=HOUR),
        a_run("running", ago=9 * HOUR, variables={"month": "2026-09"}),
        a_run("skipped", ago=6 * HOUR),
        a_run("skipped", ago=7 * HOUR, outcome="refused"),
        a_run("error", ago=8 * HOUR, task=SEND),
    )
    answer = task_stats(CALC, store=store, now=NOW)
    (found,) = answer.tasks
    assert (found.runs, found.succeeded, found.failed, found.success_rate) == (5, 3, 2, 0.6)
    assert (found.running, found.stuck, found.skipped, found.refused) == (1, 1, 1, 1)
    assert answer.verdict is Verdict.PASS
    assert "3 of 5 runs of the last 30 days succeeded (60.0%)" in answer.reason


def test_attempts_of_a_scheduled_run_count_once_as_for_health() -> None:
    tries = [
        a_run(status, ago=ago * HOUR, orchestrator=an_attempt(number))
        for status, ago, number in (("error", 9, 1), ("error", 8, 2), ("success", 7, 3))
    ]
    failed = [
        a_run("error", ago=(6 - number) * HOUR, orchestrator=an_attempt(number, run="scheduled-2"))
        for number in (1, 2, 3)
    ]
    found = counted(*tries, *failed)
    assert (found.succeeded, found.failed, found.longest_failing_streak) == (1, 1, 1)
    owed = counted(a_run("error", orchestrator=an_attempt(1)))
    assert (owed.failed, owed.retrying, owed.runs) == (0, 1, 0)
    given_up = counted(a_run("error", ago=9 * HOUR, orchestrator=an_attempt(1)))
    assert (given_up.failed, given_up.retrying) == (1, 0)


def test_durations_are_those_of_successes_by_nearest_rank() -> None:
    took = [a_run(ago=n * HOUR, took=n * MINUTE) for n in range(1, 21)]
    found = counted(*took, a_run("error", took=9 * HOUR)).durations
    assert found is not None
    assert (found.p50, found.p95, found.longest) == (10 * MINUTE, 19 * MINUTE, 20 * MINUTE)
    assert found.runs == 20


def test_a_length_that_cannot_be_counts_for_nothing() -> None:
    backwards = a_run(ended_at=NOW - 2 * HOUR)
    unknown = a_run(ended_at=None)
    measured = a_run(ended_at=None, duration_sec=90.0)
    absurd = a_run(ended_at=None, duration_sec=1e300)
    found = counted(backwards, unknown, measured, absurd)
    assert found.succeeded == 4
    assert found.durations is not None
    assert (found.durations.runs, found.durations.p95) == (1, 90 * timedelta(seconds=1))
    assert counted(unknown).durations is None


@settings(max_examples=200, deadline=None, derandomize=True)
@given(st.lists(st.integers(0, 50), min_size=1, max_size=60), st.integers(1, 100))
def test_a_percentile_is_the_smallest_value_that_so_many_do_not_exceed(
    minutes: list[int], percent: int
) -> None:
    values = sorted(each * MINUTE for each in minutes)
    found = percentile(values, percent)

    def part(limit: timedelta) -> Fraction:
        return Fraction(sum(value <= limit for value in values), len(values))

    assert found in values
    assert part(found) >= Fraction(percent, 100)
    assert all(part(value) < Fraction(percent, 100) for value in values if value < found)


def test_a_window_fails_once_however_often_it_is_tried() -> None:
    window = a_window(NOW - DAY)
    tries = [a_run("error", ago=hours * HOUR, window=window) for hours in (4, 3, 2)]
    found = counted(*tries)
    assert (found.failed, found.windows, found.windows_failed) == (3, 1, 1)
    refused = a_run("skipped", ago=HOUR, window=window, outcome="refused")
    assert counted(*tries, refused).windows_failed == 1
    decided = a_run("skipped", ago=HOUR, window=window)
    again = a_run("running", ago=HOUR, window=window)
    for later in (decided, again):
        assert counted(*tries, later).windows_failed == 0


@pytest.mark.parametrize("ago", [1, 9])
def test_a_window_with_a_success_has_not_failed_whenever_that_was(ago: int) -> None:
    window = a_window(NOW - DAY)
    tries = [a_run("error", ago=hours * HOUR, window=window) for hours in (4, 3)]
    found = counted(*tries, a_run(ago=ago * HOUR, window=window))
    assert (found.windows, found.windows_failed, found.windows_recovered) == (1, 0, 1)


def test_a_success_covers_the_windows_inside_its_own() -> None:
    wide = a_run(window=a_window(NOW, 7 * DAY), variables={})
    inside = a_run("error", ago=2 * HOUR, window=a_window(NOW - 2 * DAY), variables={})
    astride = a_run("error", ago=3 * HOUR, window=a_window(NOW - 6 * DAY, 2 * DAY), variables={})
    beyond = a_run("error", ago=4 * HOUR, window=a_window(NOW + HOUR), variables={})
    found = counted(wide, inside, astride, beyond)
    assert (found.windows, found.windows_failed, found.windows_recovered) == (4, 2, 1)


def test_without_a_window_the_batch_says_what_a_run_was_for_and_without_both_nothing() -> None:
    months = [
        a_run("error", ago=n * HOUR, variables={"month": f"2026-0{n % 2 + 1}"}) for n in (1, 2, 3)
    ]
    assert (counted(*months).failed, counted(*months).windows_failed) == (3, 2)
    bare = [a_run("error", ago=n * HOUR, variables={}) for n in (1, 2)]
    assert counted(*bare).windows_failed == 2
    masked = [a_run("error", ago=n * HOUR, variables={"url": "s3://u?token=***"}) for n in (1, 2)]
    assert counted(*masked).windows_failed == 2


def test_the_trend_compares_both_halves_and_each_day_stands_by_itself() -> None:
    early = [a_run(ago=9 * DAY), a_run("error", ago=8 * DAY)]
    worse = counted(*early, a_run("error", ago=2 * DAY), a_run("error", ago=DAY), days=10)
    assert worse.trend is Trend.RISING
    assert (worse.earlier.failed, worse.later.failed, worse.later.succeeded) == (1, 2, 0)
    assert counted(*early, a_run(ago=DAY), days=10).trend is Trend.FALLING
    same = [a_run("error", ago=DAY), a_run(ago=2 * DAY)]
    assert counted(*early, *same, days=10).trend is Trend.STEADY
    assert counted(*early, days=10).trend is Trend.UNKNOWN
    days = worse.by_day
    assert (len(days), days[0].start, days[-1].end) == (10, NOW - 10 * DAY, NOW)
    assert [(day.succeeded, day.failed) for day in days] == [
        (0, 0), (1, 0), (0, 1), (0, 0), (0, 0), (0, 0), (0, 0), (0, 0), (0, 1), (0, 1),
    ]  # fmt: skip


def test_only_runs_that_started_in_the_period_count() -> None:
    edge, before = a_run(ago=10 * DAY), a_run(ago=10 * DAY + MINUTE)
    found = counted(edge, before, days=10)
    assert (found.runs, found.by_day[0].succeeded) == (1, 1)
    ahead = counted(a_run(ago=-2 * MINUTE, took=MINUTE), days=10)
    assert ahead.by_day[-1].succeeded == 1  # a clock is a little ahead


def test_the_longest_row_of_failures_is_ended_by_a_success_alone() -> None:
    story = ["success", "error", "interrupted", "skipped", "error", "success", "error"]
    found = counted(*(a_run(status, ago=n * HOUR) for n, status in enumerate(story, 1)))
    assert found.longest_failing_streak == 3


@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(st.tuples(st.sampled_from(list(Status)), st.integers(0, 6)), max_size=12))
def test_the_numbers_fit_together_and_agree_with_health(
    story: list[tuple[Status, int]],
) -> None:
    tries: dict[int, int] = {}
    runs = []
    for hour, (status, scheduled) in enumerate(story):
        tries[scheduled] = tries.get(scheduled, 0) + 1
        attempt = an_attempt(tries[scheduled], 3, str(scheduled)) if scheduled else None
        runs.append(a_run(status, ago=(20 - hour) * HOUR, orchestrator=attempt))
    found = counted(*runs)
    apart = found.retrying + found.running + found.stuck + found.skipped + found.refused
    single = sum(1 for _, scheduled in story if not scheduled)
    assert found.runs + apart == single + len({s for _, s in story if s})
    assert sum(day.succeeded for day in found.by_day) == found.succeeded
    assert sum(day.failed for day in found.by_day) == found.failed
    assert found.windows_failed + found.windows_recovered <= found.windows <= found.runs
    if runs:
        store = MemoryStore()
        put(store, *runs)
        (health,) = job_health(CALC, store=store, now=NOW).tasks
        assert found.longest_failing_streak >= health.consecutive_failures
        assert found.stuck <= len(health.stuck)
        assert found.last_success_at is None or found.last_success_at <= health.last_success_at


def test_what_is_unreadable_makes_the_answer_say_so(files) -> None:
    put(files, a_run())
    (files.root / CALC / "broken.json").write_text("{")
    (found,) = task_stats(CALC, store=files, now=NOW).tasks
    assert found.verdict is Verdict.UNKNOWN
    assert "broken.json" in found.reason
    assert "The others say: " in found.reason
    assert (found.runs, len(found.unreadable)) == (1, 1)


def test_damage_from_before_the_period_changes_nothing(files) -> None:
    put(files, a_run())
    old = new_run_id(NOW - 40 * DAY)
    (files.root / CALC / f"{old}.json").write_text("{")
    assert task_stats(CALC, store=files, now=NOW).verdict is Verdict.PASS


def test_a_task_that_nobody_knows_is_unknown_and_one_that_was_quiet_is_not(store) -> None:
    put(store, a_run(ago=40 * DAY))
    quiet = task_stats(CALC, store=store, now=NOW)
    assert (quiet.verdict, quiet.tasks[0].runs, quiet.tasks[0].success_rate) == (
        Verdict.PASS, 0, None,
    )  # fmt: skip
    mistyped = task_stats("pay/monthly/clac", store=store, now=NOW)
    assert mistyped.verdict is Verdict.UNKNOWN
    assert "Did you mean pay/monthly/calc?" in mistyped.reason
    assert task_stats("pay/daily/*", store=store, now=NOW).verdict is Verdict.UNKNOWN


def test_a_store_that_cannot_answer_is_unknown_and_worth_another_try(tmp_path) -> None:
    for task in (CALC, "pay/*/*"):
        found = task_stats(task, store=open_store(tmp_path / "gone"), now=NOW)
        assert (found.verdict, found.retryable) == (Verdict.UNKNOWN, True)


def test_several_tasks_are_told_each_and_together(store) -> None:
    put(store, a_run(), a_run("error", task=SEND), a_run(task="retail/daily/orders"))
    found = task_stats(["pay/*/*", CALC], store=store, now=NOW)
    assert [each.task for each in found.tasks] == [CALC, SEND]
    assert "2 tasks: 1 of 2 runs of the last 30 days succeeded" in found.reason


def test_a_task_is_read_once() -> None:
    store = FourMethods(MemoryStore())
    put(store, a_run())
    store.calls.clear()
    assert task_stats(CALC, store=store, now=NOW)
    assert store.calls == ["search any"]


def test_in_the_past_it_is_told_as_it_looked_then() -> None:
    found = counted(a_run(ago=2 * HOUR, took=90 * MINUTE), a_run(ago=HOUR), now=NOW - 90 * MINUTE)
    assert (found.running, found.runs) == (1, 0)


@pytest.mark.parametrize("wrong", [{"days": 0}, {"days": 9999}, {"task": []}, {"task": "pay"}])
def test_what_nobody_means_is_refused(store, wrong) -> None:
    with pytest.raises(ConfigError):
        task_stats(**{"task": CALC, "store": store, "now": NOW, **wrong})


def test_a_part_is_never_rounded_up_to_all() -> None:
    assert [percent(*each) for each in ((1999, 2000), (2, 2), (0, 3), (1, 3))] == [
        "99.9%", "100%", "0.0%", "33.3%",
    ]  # fmt: skip


def test_the_page_on_stats_runs(tmp_path) -> None:
    assert run_page("how-to/stats.md", tmp_path) == 1
