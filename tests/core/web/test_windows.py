"""The windows of a task, by a schedule that is known or given."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest
from click.testing import CliRunner

from tests.core.web.conftest import CALC, NOW, client, read
from ubunye_core import Schedule
from ubunye_core.cli.app import commands

WINDOWS = f"/task/{CALC}/windows"
DAILY = "cron=0+2+*+*+*&window=day&variable=dt"


def test_each_window_has_its_state_in_words(look, keep):
    keep(hours_ago=27, variables={"dt": "2026-10-29"})
    keep("error", hours_ago=3, variables={"dt": "2026-10-30"})
    seen = look(f"{WINDOWS}?{DAILY}&since=3d")
    assert seen.status == 200
    assert "FAIL" in seen.text
    assert "2026-10-30 failed 2026-10-29 succeeded 2026-10-28 missing" in seen.text
    for state in ("failed", "succeeded", "missing"):
        assert f'class="cell is-{state}"' in seen.html
    assert f"/task/{CALC}/run/r-2" in seen.links


def test_without_a_schedule_the_page_says_so_and_asks_for_one(look, keep):
    keep()
    seen = look(WINDOWS)
    assert seen.status == 200
    assert "No schedule of this task is known here" in seen.text
    assert 'name="cron"' in seen.html


def test_a_schedule_that_is_known_need_not_be_given(keep, store):
    keep(variables={"dt": "2026-10-30"})
    daily = Schedule(cron="0 2 * * *", window="day", variable="dt")
    seen = read(client(store, schedules={CALC: (daily,)}).get(f"{WINDOWS}?since=2d"))
    assert "2026-10-30 succeeded" in seen.text


def test_a_known_schedule_shows_what_is_missing_of_a_task_that_never_ran(store):
    asking = client(store, schedules={CALC: (Schedule(cron="0 2 * * *"),)})
    assert "missing" in read(asking.get(WINDOWS)).text
    assert asking.get("/task/no/such/task/windows").status_code == 404


def test_the_windows_are_those_of_as_many_days_as_on_the_command_line(look, keep, store):
    keep()
    page = look(f"{WINDOWS}?{DAILY}")
    words = ["windows", CALC, "--cron", "0 2 * * *", "--window", "day", "--variable", "dt"]
    asked = [*words, "--now", NOW.isoformat(), "--store", str(store.root), "--json"]
    found = json.loads(CliRunner().invoke(commands, asked).stdout)
    shown = [f"{each['name']} {each['state']}" for each in found["windows"]]
    assert len(shown) == 7
    assert " ".join(reversed(shown)) in page.text
    assert "2026-10-22" not in page.text


def test_what_is_unreadable_is_named_above_the_windows(look, keep, damage):
    keep(variables={"dt": "2026-10-30"})
    damage()
    seen = look(f"{WINDOWS}?{DAILY}&since=2d")
    assert "1 unreadable" in seen.text
    assert "unknown" in seen.text


@pytest.mark.parametrize(
    "query",
    [
        "cron=nonsense",
        "every=0s",
        "window=day",
        "cron=0+2+*+*+*&every=1h",
        "cron=0+2+*+*+*&time_zone=Mars/North",
        "cron=*+*+*+*+*&since=90d",
        "every=1s&since=3000d",
        "every=1h&since=100d",
        f"{DAILY}&format=%25Q%25",
        f"{DAILY}&since=never",
    ],
)
def test_a_schedule_that_cannot_be_is_refused(look, keep, query):
    keep()
    answer = look(f"{WINDOWS}?{query}")
    assert answer.status in (200, 400)
    if "format" not in query:
        assert answer.status == 400


def test_a_period_in_the_future_has_no_window(look, keep):
    keep()
    seen = look(f"{WINDOWS}?{DAILY}&since=2027-01-01")
    assert seen.status == 200
    assert "No window" in seen.text


def test_a_store_that_is_down_is_told(tmp_path):
    daily = Schedule(cron="0 2 * * *", start=datetime(2026, 10, 1, tzinfo=UTC))
    asking = client(str(tmp_path / "gone"), schedules={CALC: (daily,)})
    assert asking.get(WINDOWS).status_code == 503
