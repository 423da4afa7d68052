"""Slots, against a look at every minute of every day."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from functools import cache
from zoneinfo import ZoneInfo

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from tests.core.questions.builders import DAY, MINUTE, put
from ubunye_core import Maintenance, Receipt, check_slot, suggest_slot
from ubunye_core.stores import MemoryStore

NOW = datetime(2026, 11, 3, 12, tzinfo=UTC)  # clocks change in the days before it
ZONES = ("America/New_York", "Europe/London", "Australia/Lord_Howe", "Asia/Jakarta", "UTC")

moments = st.integers(1, 10 * 24 * 12 - 1).map(lambda at: NOW - at * 5 * MINUTE)
runs = st.lists(st.tuples(moments, st.integers(0, 300)), min_size=1, max_size=6)
times = st.integers(0, 24 * 12 - 1).map(lambda at: f"{at // 12:02}:{at % 12 * 5:02}")
lengths = st.sampled_from([5, 15, 60, 240]).map(lambda minutes: minutes * MINUTE)


def kept(found: list[tuple[datetime, int]]) -> MemoryStore:
    """Each run is of a task of its own, so it usually takes what it took."""
    store = MemoryStore("slots")
    for number, (start, minutes) in enumerate(found):
        put(
            store,
            Receipt(
                task=f"a/b/t{number}",
                run_id="r-1",
                status="success",
                started_at=start,
                ended_at=start + minutes * MINUTE,
            ),
        )
    return store


def counted(start: datetime, minutes: int) -> timedelta:
    """How long a run counts: one that is not over now, give or take two clocks, so far."""
    is_over = start + minutes * MINUTE <= NOW + 5 * MINUTE
    return max(minutes * MINUTE, MINUTE) if is_over else NOW - start


@cache
def moments_by_time(zone: str) -> dict[str, list[datetime]]:
    """When a wall clock shows each time, the first time on each day that it does."""
    seen: dict[str, dict[str, datetime]] = {}
    first, known = datetime(2026, 10, 22, tzinfo=UTC), ZoneInfo(zone)
    for step in range(14 * 24 * 12):
        moment = first + step * 5 * MINUTE
        local = moment.astimezone(known)
        if moment < NOW + DAY:
            seen.setdefault(f"{local:%H:%M}", {}).setdefault(f"{local:%m-%d}", moment)
    return {time: list(days.values()) for time, days in seen.items()}


@settings(max_examples=60, deadline=None, derandomize=True)
@given(runs, times, lengths, st.sampled_from(ZONES))
@example([(NOW - 5 * MINUTE, 66)], "00:00", 5 * MINUTE, "Australia/Lord_Howe")
@example([(NOW - 5 * MINUTE, 10), (NOW - 5 * MINUTE, 11)], "12:00", 5 * MINUTE, "UTC")
def test_a_slot_is_clean_when_no_run_shares_a_minute_with_it_on_any_day(
    found: list[tuple[datetime, int]], at: str, takes: timedelta, zone: str
) -> None:
    asked = {"store": kept(found), "takes": takes, "time_zone": zone, "days": 10, "now": NOW}
    in_the_way = {
        f"a/b/t{number}"
        for number, (start, minutes) in enumerate(found)
        for begins in moments_by_time(zone)[at]
        if start < begins + takes and begins < start + counted(start, minutes)
    }
    answer = check_slot(at, **asked)
    assert {each.task for each in answer.tasks} == in_the_way
    assert bool(answer) is not bool(in_the_way)


@pytest.mark.slow
@settings(max_examples=12, deadline=None, derandomize=True)
@given(runs, times, lengths, st.sampled_from(ZONES), st.booleans())
def test_what_is_suggested_is_clean_and_nothing_nearer_is(
    found: list[tuple[datetime, int]], wish: str, takes: timedelta, zone: str, is_kept: bool
) -> None:
    maintenance = [Maintenance(name="m", from_="22:00", to="04:00")] if is_kept else []
    asked = {
        "store": kept(found), "takes": takes, "time_zone": zone, "days": 10, "now": NOW,
        "maintenance": maintenance,
    }  # fmt: skip
    free = suggest_slot(wish, limit=2, **asked)
    hour, minute = map(int, wish.split(":"))
    wished = hour * 60 + minute

    def away(minutes: int) -> int:
        return min((minutes - wished) % 1440, (wished - minutes) % 1440)

    suggested = [slot.at.hour * 60 + slot.at.minute for slot in free.slots]
    assert [away(at) for at in suggested] == sorted(map(away, suggested))
    farthest = away(suggested[-1]) if len(suggested) == 2 else 720
    every = [(wished + step * 15) % 1440 for step in range(96)]
    near = [at for at in every if away(at) < farthest or at in suggested]
    clean = [at for at in near if check_slot(f"{at // 60:02}:{at % 60:02}", **asked)]
    assert set(clean) == set(suggested)
