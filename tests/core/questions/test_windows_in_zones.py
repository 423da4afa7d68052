"""Windows and plans in zones whose clocks change, and in some whose clocks do not."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.questions.builders import CALC, put
from ubunye_core import Receipt, Schedule, Status, Window
from ubunye_core.questions.answer import CLOCK_SKEW
from ubunye_core.questions.plan import plan_backfill
from ubunye_core.questions.planned import Action, ToCatchUp
from ubunye_core.questions.window_state import WindowState
from ubunye_core.questions.windows import window_states
from ubunye_core.runids import new_run_id
from ubunye_core.schedules import ScheduledWindow
from ubunye_core.stores import MemoryStore

ZONES = (
    "America/Chicago", "Europe/London", "Australia/Lord_Howe", "Pacific/Apia",
    "Asia/Jakarta", "Africa/Johannesburg",
)  # fmt: skip
CHANGES = (
    datetime(2024, 3, 10, tzinfo=UTC),  # Chicago
    datetime(2024, 11, 3, tzinfo=UTC),
    datetime(2024, 3, 31, tzinfo=UTC),  # London
    datetime(2024, 10, 27, tzinfo=UTC),
    datetime(2024, 4, 7, tzinfo=UTC),  # Lord Howe, by half an hour
    datetime(2024, 10, 6, tzinfo=UTC),
    datetime(2011, 12, 30, tzinfo=UTC),  # Apia, which leaves this day out
    datetime(2012, 4, 1, tzinfo=UTC),
    datetime(2024, 7, 1, tzinfo=UTC),
)
"""Days on which the clocks of one of them change, and one on which none do."""
GRAINS = (
    ("0 * * * *", "hour", 1), ("0 2 * * *", "day", 5), ("30 2 * * *", "tick", 5),
    ("*/30 * * * *", "tick", 1), ("0 0 * * *", "day", 5), ("15 1 * * 1", "week", 30),
    ("0 0 1 * *", "month", 100),
)  # fmt: skip
MINUTE = timedelta(minutes=1)
zones = st.sampled_from(ZONES)
grains = st.sampled_from(GRAINS)
changes = st.sampled_from(CHANGES)


def a_schedule(zone: str, cron: str, window: str, **more: object) -> Schedule:
    return Schedule(cron=cron, window=window, time_zone=zone, **more)  # type: ignore[arg-type]


def a_run(window: ScheduledWindow, status: str, at: datetime, **fields: object) -> Receipt:
    given = {"ended_at": at + MINUTE if Status(status).is_final else None, **fields}
    return Receipt(
        task=CALC,
        run_id=new_run_id(at),
        status=Status(status),
        started_at=at,
        window=Window(start=window.start, end=window.end),
        **given,  # type: ignore[arg-type]
    )


@settings(max_examples=150, deadline=None)
@given(zones, grains, changes, st.integers(-50, 50), st.sampled_from(["previous", "current"]))
def test_windows_tile_time_without_gap_or_overlap(zone, grain, change, hours, of) -> None:
    cron, window, days = grain
    schedule = a_schedule(zone, cron, window, of=of)
    since = change + timedelta(hours=hours) - timedelta(days=days)
    until = since + 2 * timedelta(days=days)
    found = schedule.touching(since, until)
    assert found[0].start <= since
    assert until <= found[-1].end
    for one, then in pairwise(found):
        assert one.end == then.start
        assert one.due < then.due
        assert one.name != then.name
    inside = [each for each in found if since <= each.start and each.end <= until]
    assert schedule.windows(since, until) == inside


@settings(max_examples=120, deadline=None)
@given(st.data(), zones, grains, changes)
def test_every_window_has_exactly_one_state(data, zone, grain, change) -> None:
    cron, window, days = grain
    schedule = a_schedule(zone, cron, window)
    since, until = change - timedelta(days=days), change + timedelta(days=days)
    expected = schedule.due_between(since, until)
    now = data.draw(st.sampled_from([change, until, until + timedelta(days=40)]))
    store, done = MemoryStore(), set()
    for each in data.draw(st.lists(st.sampled_from(expected), max_size=12)):
        status = data.draw(st.sampled_from([status.value for status in Status]))
        late = data.draw(st.integers(0, 90)) * MINUTE
        run = put(store, a_run(each, status, each.due + late))
        if status == "success" and run.finished_at <= now + CLOCK_SKEW:
            done.add((each.start, each.end))
    found = window_states(
        CALC, schedule=schedule, since=since, until=until, store=store, now=now
    ).windows
    assert [each.window for each in found] == expected
    for each in found:
        has_succeeded = each.state in (WindowState.SUCCEEDED, WindowState.SUCCEEDED_LATE)
        assert has_succeeded == ((each.window.start, each.window.end) in done)
        assert not (has_succeeded and each.state.is_missed)
        if each.window.due > now and not each.runs:
            assert each.state is WindowState.NOT_DUE


@pytest.mark.slow
@settings(max_examples=100, deadline=None)
@given(st.data(), zones, grains, changes, st.sampled_from(["missing", "missing+failed", "all"]))
def test_replanning_after_any_part_has_run_gives_the_rest(
    data, zone, grain, change, include
) -> None:
    cron, window, days = grain
    schedule = a_schedule(zone, cron, window)
    since, until = change - timedelta(days=days), change + timedelta(days=days)
    now = until + timedelta(days=40)
    expected = schedule.due_between(since, until)
    recheck = data.draw(st.sampled_from([0, 41]))
    store, running, done = MemoryStore(), set(), set()
    for each in data.draw(st.lists(st.sampled_from(expected), unique=True, max_size=12)):
        status = data.draw(st.sampled_from([status.value for status in Status]))
        alive = {"heartbeat_at": now, "heartbeat_every": MINUTE} if status == "running" else {}
        put(store, a_run(each, status, each.due, **alive))
        if status in ("running", "success"):
            (running if status == "running" else done).add(each)
    terms = {
        "since": since, "until": until, "store": store, "include": include, "now": now,
        "recheck_days": recheck,
    }  # fmt: skip
    given = ToCatchUp(task=CALC, schedule=schedule)
    before = plan_backfill(given, **terms)
    to_run = [each.window for each in before.to_run]
    assert len(set(to_run)) == len(to_run)
    assert not running & set(to_run)
    for each in done:
        is_asked = include == "all" or now - each.start <= timedelta(days=recheck)
        assert (each in to_run) == is_asked
    for each in before.windows:
        assert (each.action is Action.SKIP) == (each.window in running)
    parts = st.lists(st.sampled_from(to_run), unique=True) if to_run else st.just([])
    ran = data.draw(parts)
    for number, each in enumerate(ran):
        put(store, a_run(each, "success", now - MINUTE * 30 + timedelta(seconds=number)))
    after = plan_backfill(given, **(terms | {"include": "missing+failed", "recheck_days": 0}))
    failed = {each.window for each in before.to_run if each.state is WindowState.FAILED}
    rest = [each.window for each in after.to_run]
    assert not set(ran) & set(rest)
    assert not (running | done) & set(rest)
    if include == "missing+failed" and not recheck:
        assert rest == [each for each in to_run if each not in ran]
    assert failed - set(ran) <= set(rest)
