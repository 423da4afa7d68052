"""May a task start at this time of day, and when else?"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.core.questions.builders import DAY, HOUR, MINUTE, FourMethods, put
from tests.pages import run_page
from ubunye_core import (
    ConfigError,
    Maintenance,
    Receipt,
    ReceiptStore,
    Verdict,
    check_slot,
    suggest_slot,
)
from ubunye_core.runids import new_run_id

NOW = datetime(2026, 10, 14, 23, tzinfo=UTC)  # 06:00 of the 15th in Jakarta
MIDNIGHT = datetime(2026, 10, 14, 17, tzinfo=UTC)  # of the 15th in Jakarta
JAKARTA = {"time_zone": "Asia/Jakarta", "now": NOW}
OTHERS = ("sales/in/orders", "sales/in/refunds", "sales/in/stock")
BACKUP = Maintenance(name="backup warehouse", from_="00:00", to="01:00", time_zone="Asia/Jakarta")


def a_run(
    task: str, started_at: datetime, took: timedelta | None = 20 * MINUTE, status: str = "success",
    **fields: object,
) -> Receipt:  # fmt: skip
    given = {
        "task": task, "run_id": new_run_id(started_at), "status": status, "started_at": started_at,
        "ended_at": None if took is None else started_at + took, **fields,
    }  # fmt: skip
    return Receipt(**given)  # type: ignore[arg-type]


def nightly(task: str, started_at: datetime, nights: int = 5, **fields: object) -> list[Receipt]:
    """Runs of a task at one time of day, the newest at ``started_at``."""
    return [a_run(task, started_at - number * DAY, **fields) for number in range(nights)]


@pytest.fixture
def classic(store: ReceiptStore) -> ReceiptStore:
    """Three tasks that start at midnight in Jakarta, and the one at 02:00 that is asked about."""
    for task in OTHERS:
        put(store, *nightly(task, MIDNIGHT))
    return store


def test_the_classic_morning_has_its_conflicts_at_midnight_and_none_at_two(classic) -> None:
    at_midnight = check_slot("00:00", maintenance=[BACKUP], store=classic, **JAKARTA)
    assert at_midnight.verdict is Verdict.FAIL
    (backup,) = at_midnight.maintenance
    assert (backup.name, backup.times, backup.next_at) == (
        "backup warehouse", "00:00–01:00", MIDNIGHT + DAY,
    )  # fmt: skip
    assert [each.task for each in at_midnight.tasks] == list(OTHERS)
    assert [(each.starts, each.runs_over, each.days) for each in at_midnight.tasks] == 3 * [
        (5, 0, 5)
    ]
    assert "'backup warehouse' (00:00–01:00 Asia/Jakarta) and 3 tasks" in at_midnight.reason
    at_two = check_slot("02:00", maintenance=[BACKUP], store=classic, **JAKARTA)
    assert at_two.verdict is Verdict.PASS
    assert "02:00–02:15 Asia/Jakarta is clean" in at_two.reason
    assert (at_two.maintenance, at_two.tasks) == ((), ())


def test_its_own_runs_are_no_conflict_for_the_task_that_asks(classic) -> None:
    own = "sales/daily/load"
    put(classic, *nightly(own, MIDNIGHT + 2 * HOUR, took=40 * MINUTE))
    assert not check_slot("02:00", store=classic, **JAKARTA)
    asked = check_slot("02:00", store=classic, asker=own, **JAKARTA)
    assert asked
    assert asked.slot.takes == 40 * MINUTE, "as long as it usually takes"
    named = check_slot("02:00", store=classic, asker=own, tasks="sales/in/*", **JAKARTA)
    assert named
    assert named.slot.takes == 40 * MINUTE
    assert check_slot("02:00", store=classic, asker=own, takes="2h", **JAKARTA).slot.takes == (
        2 * HOUR
    )


def test_what_runs_all_day_can_be_ignored(classic) -> None:
    put(classic, *(a_run("ops/all/ping", NOW - n * 10 * MINUTE, 9 * MINUTE) for n in range(150)))
    put(classic, *nightly("ops/all/beat", MIDNIGHT + 2 * HOUR))
    asked = {"store": classic, **JAKARTA}
    assert suggest_slot("02:00", **asked).verdict is Verdict.FAIL
    assert [each.task for each in check_slot("02:00", ignore="ops/*/ping", **asked).tasks] == [
        "ops/all/beat"
    ]
    assert check_slot("02:00", ignore=["ops/*/ping", "ops/all/beat"], **asked)
    assert not check_slot("00:00", ignore="ops/*/*", **asked)
    assert check_slot("02:00", ignore="ops/*/*", asker="sales/in/stock", **asked)


def test_a_task_whose_runs_usually_last_into_the_slot_is_in_the_way(store) -> None:
    put(store, *nightly("a/b/long", MIDNIGHT - HOUR, took=90 * MINUTE))
    (found,) = check_slot("00:00", store=store, **JAKARTA).tasks
    assert (found.starts, found.runs_over, found.first, found.usual_length) == (
        0, 5, "23:00", 90 * MINUTE,
    )  # fmt: skip
    assert "runs over it from 23:00 (5 runs on 5 days, 1h 30m)" in found.reason
    assert check_slot("00:30", store=store, **JAKARTA), "it ends when the slot begins"


def test_a_slot_as_long_as_the_task_meets_what_starts_before_it_ends(classic) -> None:
    assert check_slot("23:00", store=classic, takes="1h", **JAKARTA)
    assert not check_slot("23:00", store=classic, takes="61m", **JAKARTA)


def test_how_long_runs_take_is_told_by_nearest_rank_at_that_time_of_day(store) -> None:
    """Of 40 runs two took long: 95 of 100 did not. At another time of day all do."""
    begins = MIDNIGHT - 35 * DAY
    lengths = 38 * [10 * MINUTE] + 2 * [3 * HOUR]
    put(store, *(a_run("a/b/c", begins + n * DAY, took) for n, took in enumerate(lengths, -4)))
    put(store, *nightly("a/b/c", MIDNIGHT - 12 * HOUR, took=3 * HOUR))
    asked = {"store": store, "days": 60, **JAKARTA}
    assert check_slot("00:10", **asked)
    put(store, a_run("a/b/c", MIDNIGHT - 50 * DAY, 3 * HOUR))
    assert not check_slot("00:10", **asked), "three of 41 are more than 5 of 100"
    assert not check_slot("14:00", **asked)


def test_many_that_fail_at_once_do_not_hide_how_long_successes_take(store) -> None:
    put(store, a_run("a/b/c", MIDNIGHT, 2 * HOUR))
    for number in range(1, 25):
        put(store, a_run("a/b/c", MIDNIGHT - number * DAY, MINUTE, "error"))
        put(store, a_run("a/b/c", MIDNIGHT - number * DAY + MINUTE, MINUTE, "skipped"))
    (found,) = check_slot("01:30", store=store, **JAKARTA).tasks
    assert found.usual_length == 2 * HOUR


def test_a_run_that_is_under_way_has_taken_as_long_as_it_has(store) -> None:
    put(store, a_run("a/b/c", NOW - 4 * HOUR, None, "running"))
    assert not check_slot("05:30", store=store, **JAKARTA)
    assert check_slot("06:00", store=store, **JAKARTA)


def test_what_somebody_else_ended_took_as_long_as_it_showed_signs_of_life(store) -> None:
    fields = {"heartbeat_at": MIDNIGHT + HOUR, "heartbeat_every": MINUTE, "ended_by": "close"}
    put(store, a_run("a/b/c", MIDNIGHT, 5 * HOUR, "interrupted", **fields))
    assert not check_slot("00:45", store=store, **JAKARTA)
    assert check_slot("01:00", store=store, **JAKARTA)


def test_a_run_of_which_no_length_is_on_record_leaves_it_unknown(store) -> None:
    put(store, a_run("a/b/c", MIDNIGHT, None, "error"))
    answer = check_slot("02:00", store=store, **JAKARTA)
    assert answer.verdict is Verdict.UNKNOWN
    assert "how long it took is not on record" in answer.reason
    assert check_slot("00:00", store=store, **JAKARTA).verdict is Verdict.FAIL
    put(store, a_run("a/b/c", MIDNIGHT - DAY, HOUR))
    assert check_slot("02:00", store=store, **JAKARTA), "another run of the kind tells"


def test_a_length_that_its_recorder_measured_counts(store) -> None:
    put(store, a_run("a/b/c", MIDNIGHT, None, "success", duration_sec=7200.0))
    assert not check_slot("01:59", store=store, **JAKARTA)
    assert check_slot("02:00", store=store, **JAKARTA)


def test_a_run_that_was_skipped_shows_when_its_task_starts(store) -> None:
    put(store, *nightly("a/b/c", MIDNIGHT, took=timedelta(0), status="skipped", outcome="refused"))
    assert not check_slot("00:00", store=store, **JAKARTA)
    assert check_slot("00:15", store=store, **JAKARTA)


def test_only_runs_of_the_days_asked_for_count(store) -> None:
    put(store, a_run("a/b/c", MIDNIGHT - 10 * DAY), a_run("a/b/c", MIDNIGHT + 5 * HOUR))
    assert not check_slot("00:00", store=store, **JAKARTA)
    assert check_slot("00:00", store=store, days=7, **JAKARTA)


def test_the_slots_of_the_first_and_the_last_day_are_whole(store) -> None:
    put(store, a_run("a/b/c", NOW - 30 * DAY + 5 * MINUTE, MINUTE))
    assert not check_slot("05:55", store=store, **JAKARTA), "that slot began before those days"
    put(store, a_run("a/b/d", NOW - DAY - 15 * MINUTE, HOUR))
    assert check_slot("06:50", store=store, **JAKARTA)
    put(store, a_run("a/b/d", NOW - MINUTE, None, "running"))
    assert not check_slot("06:50", store=store, **JAKARTA), "it usually still runs then"


def test_an_answer_for_the_past_does_not_see_later_runs(store) -> None:
    put(store, *nightly("a/b/c", MIDNIGHT, nights=2), a_run("a/b/d", MIDNIGHT - 9 * HOUR))
    before = MIDNIGHT - 2 * DAY
    put(store, a_run("a/b/e", before - HOUR))
    asked = {"store": store, "time_zone": "Asia/Jakarta", "now": before}
    assert check_slot("00:00", **asked)


@pytest.mark.parametrize("at", ["00:00", "02:00"])
def test_what_is_unreadable_never_leaves_a_slot_clean(files, at) -> None:
    put(files, *nightly("a/b/c", MIDNIGHT))
    unreadable = files.root / "a/b/d" / "r-1.json"
    unreadable.parent.mkdir(parents=True)
    unreadable.write_text("{")
    answer = check_slot(at, store=files, **JAKARTA)
    assert answer.verdict is (Verdict.FAIL if at == "00:00" else Verdict.UNKNOWN)
    assert len(answer.unreadable) == 1
    free = suggest_slot(at, store=files, **JAKARTA)
    assert (free.verdict, free.slots) == (Verdict.UNKNOWN, ())
    assert free.wish == answer
    for tasks in ("a/b/c", "*/*/c"):
        assert check_slot("02:00", store=files, tasks=tasks, **JAKARTA), "it is another task's"
    asked = {"store": files, "asker": "a/b/d", **JAKARTA}
    assert check_slot("02:00", takes="1h", **asked), "it is the asker's own"
    assert check_slot("02:00", **asked).verdict is Verdict.UNKNOWN, "which may take longer"
    assert check_slot("02:00", store=files, ignore="*/*/d", **JAKARTA), "it is ignored"


def test_a_store_that_does_not_answer_leaves_it_unknown_unless_maintenance_decides(
    tmp_path,
) -> None:
    gone = {"store": tmp_path / "gone", "maintenance": [BACKUP], **JAKARTA}
    unknown = check_slot("02:00", **gone)
    assert (unknown.verdict, unknown.retryable) == (Verdict.UNKNOWN, True)
    assert not unknown
    assert unknown.reason.endswith(unknown.unreadable[0].why)
    decided = check_slot("00:00", **gone)
    assert (decided.verdict, len(decided.unreadable)) == (Verdict.FAIL, 1)
    free = suggest_slot("02:00", **gone)
    assert (free.verdict, free.retryable) == (Verdict.UNKNOWN, True)


@pytest.mark.parametrize("tasks", [(), "sales/out/*", "sales/out/x", ["sales/in/*", "sales/o/*"]])
def test_no_run_at_all_is_nothing_to_judge_by(store, tasks) -> None:
    if tasks:
        put(store, *nightly("sales/in/orders", MIDNIGHT))
    answer = check_slot("02:00", store=store, tasks=tasks, **JAKARTA)
    assert answer.verdict is Verdict.UNKNOWN
    assert "on record" in answer.reason


def test_only_the_tasks_named_are_looked_at(classic) -> None:
    put(classic, *nightly("pay/in/people", MIDNIGHT + 6 * HOUR))
    assert check_slot("00:00", store=classic, tasks="pay/*/*", **JAKARTA)
    assert not check_slot("00:00", store=classic, tasks=["pay/*/*", OTHERS[0]], **JAKARTA)
    assert check_slot("00:00", store=classic, tasks=["pay/in/people"], **JAKARTA)


def test_a_store_of_four_methods_is_enough(classic) -> None:
    for tasks in ((), "sales/*/*", OTHERS):
        plain = FourMethods(classic)
        assert not check_slot("00:00", store=plain, tasks=tasks, **JAKARTA)
        assert check_slot("02:00", store=plain, tasks=tasks, **JAKARTA)


def test_maintenance_that_is_over_is_none_and_what_is_to_come_is(classic) -> None:
    over = Maintenance(name="over", from_="02:00", to="03:00", end="2026-10-14")
    to_come = Maintenance(name="to come", from_="05:00", to="06:00", start="2027-09-01")
    asked = {"maintenance": [over, to_come], "store": classic, "now": NOW}
    assert check_slot("02:00", **asked)
    (found,) = check_slot("05:30", **asked).maintenance
    assert found.next_at == datetime(2027, 9, 1, 5, tzinfo=UTC)
    assert found.days == 45


def test_maintenance_over_midnight_is_in_the_way_on_the_next_day(classic) -> None:
    patches = Maintenance(name="patches", from_="23:00", to="02:00", days=frozenset({5}))
    asked = {"maintenance": [patches], "store": classic, "tasks": OTHERS[0], "now": NOW}
    (found,) = check_slot("01:30", **asked).maintenance
    assert found.next_at == datetime(2026, 10, 17, 23, tzinfo=UTC)
    assert found.days == 52
    assert check_slot("02:00", **asked)


def test_a_slot_is_a_local_time_whatever_that_is_in_utc(store) -> None:
    """At midnight in London, before and after the clocks change on 25 October."""
    for day in range(20, 31):
        hour = 23 if day <= 25 else 24
        put(store, a_run("a/b/c", datetime(2026, 10, day - 1, tzinfo=UTC) + hour * HOUR))
    asked = {"store": store, "now": "2026-10-31T12:00:00Z"}
    (found,) = check_slot("00:00", time_zone="Europe/London", **asked).tasks
    assert (found.starts, found.days, found.first, found.last) == (11, 11, "00:00", "00:00")
    assert check_slot("23:00", time_zone="Europe/London", **asked)
    (found,) = check_slot("23:00", **asked).tasks
    assert found.starts == 6, "in UTC it was at two times"


def test_maintenance_by_utc_is_in_the_way_of_a_local_slot_for_half_the_year(classic) -> None:
    backup = Maintenance(name="backup", from_="00:00", to="00:30")
    asked = {"maintenance": [backup], "store": classic, "tasks": OTHERS[0], "now": NOW}
    summer = check_slot("01:00", time_zone="Europe/London", **asked).maintenance[0]
    winter = check_slot("00:00", time_zone="Europe/London", **asked).maintenance[0]
    assert summer.days + winter.days == 366
    assert winter.next_at == datetime(2026, 10, 26, tzinfo=UTC)


def test_a_slot_that_the_clocks_skip_is_the_moment_at_which_they_do(store) -> None:
    skipped = datetime(2027, 3, 14, 7, tzinfo=UTC)
    put(store, a_run("a/b/c", skipped, 10 * MINUTE))
    asked = {"time_zone": "America/New_York", "store": store, "now": skipped + HOUR}
    assert not check_slot("02:30", **asked)
    assert check_slot("03:30", **asked)


def test_free_slots_are_named_the_nearest_first(classic) -> None:
    asked = {"maintenance": [BACKUP], "store": classic, **JAKARTA}
    free = suggest_slot("00:00", takes="1h", **asked)
    assert [f"{slot.at:%H:%M}" for slot in free.slots] == ["01:00", "23:00", "01:15"]
    assert free.wish.verdict is Verdict.FAIL
    assert all(check_slot(slot.at, takes="1h", **asked) for slot in free.slots)
    itself = suggest_slot("02:05", limit=1, **asked)
    assert [f"{slot.at:%H:%M}" for slot in itself.slots] == ["02:05"]
    assert itself.wish


def test_a_day_without_a_free_slot_is_a_no(classic) -> None:
    closed = Maintenance(name="closed", from_="00:00", to="24:00")
    free = suggest_slot("00:00", maintenance=[closed], store=classic, **JAKARTA)
    assert (free.verdict, free.slots) == (Verdict.FAIL, ())
    assert "No slot of 15m is free" in free.reason


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"at": "25:00"}, "no time of day"),
        ({"at": "2"}, "no time of day"),
        ({"takes": "0s"}, "from 1m to 24h"),
        ({"takes": "25h"}, "from 1m to 24h"),
        ({"takes": "long"}, "no.* length of time|not a length of time"),
        ({"time_zone": "Mars/Base"}, "no time zone"),
        ({"days": 0}, "days is 0"),
        ({"days": 10**6}, "days is"),
        ({"tasks": "a/b"}, "is not a task"),
        ({"asker": "a/b/*"}, "is not a task"),
        ({"ignore": ["a"]}, "is not a task"),
    ],
)
def test_what_cannot_be_asked_is_refused(store, given, why) -> None:
    with pytest.raises(ConfigError, match=why):
        check_slot(**{"at": "02:00", "store": store, **given})


def test_at_least_one_slot_is_asked_for(store) -> None:
    with pytest.raises(ConfigError, match="limit is 0"):
        suggest_slot("02:00", limit=0, store=store)


def test_many_conflicts_are_counted_and_the_busiest_named(store) -> None:
    for number in range(8):
        put(store, *nightly(f"a/b/t{number}", MIDNIGHT, nights=number + 1))
    answer = check_slot("00:00", store=store, **JAKARTA)
    assert "8 tasks: a/b/t7" in answer.reason
    assert answer.reason.endswith("; and 3 more.")
    assert len(answer.tasks) == 8


def test_the_page_on_slots_runs(tmp_path: Path) -> None:
    assert run_page("how-to/calendar.md", tmp_path) == 1


def test_the_maintenance_of_the_page_can_be_read(tmp_path: Path) -> None:
    from tests.pages import blocks
    from ubunye_core import read_maintenance

    (text,) = [text for language, text in blocks("how-to/calendar.md") if language == "yaml"]
    path = tmp_path / "maintenance.yaml"
    path.write_text(text)
    assert [each.name for each in read_maintenance(path)] == [
        "backup warehouse", "patches", "month end",
    ]  # fmt: skip
