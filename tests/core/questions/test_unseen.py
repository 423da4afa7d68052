"""A schedule none of whose windows has a run: the answer says why, where the question is wrong."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from tests.core.questions.builders import CALC, DAY, FourMethods, a_run, a_window, put
from ubunye_core import Receipt, Schedule, StoreUnavailableError, ToCatchUp, plan_backfill
from ubunye_core.questions.windows import Windows, window_states
from ubunye_core.stores import MemoryStore

NOW = datetime(2026, 10, 15, 6, tzinfo=UTC)
DAILY = Schedule(cron="0 2 * * *", window="day", variable="dt")
NAMELESS = replace(DAILY, variable=None)


def asked(
    *receipts: Receipt, schedule: Schedule = DAILY, task: str = CALC, since: timedelta = 4 * DAY
) -> Windows:
    store = MemoryStore()
    if receipts:
        put(store, *receipts)
    return window_states(task, schedule=schedule, since=since, store=store, now=NOW)


@pytest.mark.parametrize("status", ["success", "error"])
def test_a_schedule_without_a_variable_is_told_of_where_runs_say_no_window(status: str) -> None:
    runs = [
        a_run(status, ago=n * DAY, run_id=f"r-{n}", variables={"dt": "2026-10-13"}) for n in (1, 2)
    ]
    found = asked(*runs, schedule=NAMELESS)
    assert found.unseen == (
        f"None of the 2 runs of {CALC} in this time is for one of these windows: the newest, r-1, "
        f"has no window of its own but is for dt=2026-10-13, and the schedule does not say which "
        f"variable names a window. Try: 'variable' in the schedule (in a shell --variable)."
    )
    assert found.reason.endswith(f" {found.unseen}")


def test_a_run_that_says_nothing_of_its_data_is_told_of() -> None:
    found = asked(a_run(run_id="r-1", variables={}), schedule=NAMELESS)
    assert "r-1 has neither a window nor a variable" in found.unseen


def test_a_variable_that_is_written_otherwise_is_shown_beside_what_is_expected() -> None:
    found = asked(a_run(run_id="r-1", variables={"dt": "20261014"}))
    assert found.unseen == (
        f"The run of {CALC} in this time is not for one of these windows: r-1 is for dt=20261014, "
        f"and a run of 2026-10-14 has dt=2026-10-14."
    )


def test_windows_of_another_time_zone_are_shown_beside_what_is_expected() -> None:
    of_jakarta = a_window(datetime(2026, 10, 14, 17, tzinfo=UTC))
    found = asked(a_run(run_id="r-1", window=of_jakarta))
    assert "r-1 has the window 2026-10-13T17:00:00Z to 2026-10-14T17:00:00Z" in found.unseen
    assert "2026-10-14 is 2026-10-14T00:00:00Z to 2026-10-15T00:00:00Z" in found.unseen
    assert "another time zone" in found.unseen


def test_a_misspelt_task_says_which_names_are_near() -> None:
    found = asked(a_run(), task="pay/monthly/clac")
    assert found.unseen == (
        f"pay/monthly/clac has never run, as far as the store knows. Did you mean {CALC}?"
    )


def test_nothing_is_said_where_a_run_of_a_window_was_found() -> None:
    seen = asked(a_run(variables={"dt": "2026-10-14"}), a_run(variables={"dt": "20261013"}))
    assert not seen.unseen


def test_nothing_is_said_where_all_runs_are_older_or_no_window_is_missed() -> None:
    assert not asked(a_run(ago=90 * DAY)).unseen
    assert not asked(
        schedule=replace(DAILY, start=NOW - timedelta(days=3000), end=NOW - 300 * DAY)
    ).unseen


def test_a_plan_for_a_misspelt_task_says_so() -> None:
    store = MemoryStore()
    put(store, a_run())
    plan = plan_backfill(
        ToCatchUp(task="pay/monthly/clac", schedule=DAILY), since=2 * DAY, store=store, now=NOW
    )
    assert plan.reason.endswith(f"the store knows. Did you mean {CALC}?")


def test_a_store_that_stops_answering_takes_no_answer_away() -> None:
    class ListsNothing(FourMethods):
        def list_runs(self, *_: object, **__: object):  # type: ignore[no-untyped-def]
            raise StoreUnavailableError("It is away.")

    found = window_states(
        CALC, schedule=DAILY, since=2 * DAY, store=ListsNothing(MemoryStore()), now=NOW
    )
    assert not found.unseen
    assert [each.state.value for each in found.windows] == ["missing", "late"]
