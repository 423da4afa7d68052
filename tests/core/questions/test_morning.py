"""What needs somebody in the morning, and what is well."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.core.questions.builders import FourMethods, put
from tests.core.questions.test_windows import BEAT, MORNING, NIGHTLY, a_night
from tests.pages import run_page
from ubunye_core import (
    ConfigError,
    Found,
    Morning,
    Receipt,
    ReceiptStore,
    StoreUnavailableError,
    ToCatchUp,
    TriggeredBy,
    Verdict,
    job_health,
    morning,
    open_store,
    plan_backfill,
    task_stats,
    window_states,
)
from ubunye_core.stores import FileStore, MemoryStore

CALC, SEND = "pay/monthly/calc", "pay/monthly/send"
DAY = timedelta(days=1)
MEANT = f"Did you mean {CALC}?"
SINCE = "2026-10-09T12:00:00Z"
CALC_NIGHTLY = ToCatchUp(task=CALC, schedule=NIGHTLY, retention="30d")


def the_morning(**more: object) -> list[Receipt]:
    """The classic one: four records, and all of them of the schedule."""
    records = [
        a_night(9, run_id="r-830"),
        a_night(10, run_id="r-835"),
        a_night(13, "error", run_id="r-841", error="ValueError: the source was empty"),
        a_night(14, "running", run_id="r-850", heartbeat_at=MORNING, heartbeat_every=BEAT),
    ]
    scheduled = TriggeredBy(kind="schedule")
    return [replace(each, triggered_by=scheduled, **more) for each in records]  # type: ignore[arg-type]


@pytest.fixture(params=["memory", "files", "sqlite"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ReceiptStore:
    """An empty store."""
    if request.param == "memory":
        return MemoryStore(request.node.name)
    if request.param == "sqlite":
        return open_store(f"sqlite:///{tmp_path}/receipts.db")
    folder = tmp_path / "receipts"
    folder.mkdir()
    return FileStore(folder)


def asked(store: ReceiptStore, *tasks: str, **changes: object) -> Morning:
    arguments = {"schedules": [CALC_NIGHTLY], "since": SINCE, "now": MORNING, **changes}
    return morning(tasks, store=store, **arguments)  # type: ignore[arg-type]


def told(answer: Morning, task: int = 0) -> list[tuple[str, str, str | None, tuple[str, ...]]]:
    """The windows of a task: name, state, action, runs."""
    found = []
    for each in answer.tasks[task].to_tell:
        planned = answer.planned(answer.tasks[task].task, each)
        action = None if planned is None else planned.action.value
        found.append((each.window.name, each.state.value, action, each.runs))
    return found


CLASSIC = [
    ("2026-10-11", "missing", "run", ()),
    ("2026-10-12", "missing", "run", ()),
    ("2026-10-13", "failed", "run", ("r-841",)),
    ("2026-10-14", "running", "skip", ("r-850",)),
]


@pytest.mark.parametrize("seed", range(2))
def test_the_classic_morning_on_one_screen(store: ReceiptStore, seed: int) -> None:
    records = the_morning()
    random.Random(seed).shuffle(records)
    put(store, *records)
    answer = asked(store)
    assert answer.verdict is Verdict.FAIL
    assert told(answer) == CLASSIC
    (calc,) = answer.tasks
    assert "run r-841" in calc.reason
    assert "the source was empty" in calc.reason
    assert "windows: 1 failed, 2 missing" in calc.reason
    assert "under way for 4h" in calc.to_tell[3].reason
    assert answer.reason.endswith(
        f"3 windows can be caught up, the oldest is 2026-10-11 of {CALC}."
    )
    assert (calc.stats.succeeded, calc.stats.runs) == (2, 3)
    assert calc.stats.durations is not None
    assert (answer.by_hand, calc.untold, answer.unreadable) == ((), 0, ())


def test_a_failed_rerun_after_a_success_changes_no_window(store: ReceiptStore) -> None:
    put(store, *the_morning(), a_night(10, "error", run_id="r-836", later=timedelta(hours=5)))
    assert told(asked(store)) == CLASSIC


def test_each_part_is_what_its_own_question_says(store: ReceiptStore) -> None:
    put(store, *the_morning())
    answer = asked(store, stuck_after="2h", max_age="2d", days=10)
    (calc,) = answer.tasks
    common = {"store": store, "now": MORNING}
    assert calc.health == job_health(CALC, stuck_after="2h", max_age="2d", **common).tasks[0]  # type: ignore[arg-type]
    assert calc.health.stale
    scheduled = {"since": SINCE, "stuck_after": "2h", **common}
    assert calc.windows == window_states(CALC, schedule=NIGHTLY, **scheduled)  # type: ignore[arg-type]
    assert answer.plan == plan_backfill(CALC_NIGHTLY, **scheduled)  # type: ignore[arg-type]
    assert calc.stats == task_stats(CALC, days=10, **common).tasks[0]  # type: ignore[arg-type]


def test_as_of_an_earlier_morning_what_came_later_is_hidden(store: ReceiptStore) -> None:
    by_hand = TriggeredBy(kind="manual", actor="sari", reason="late file")
    put(store, *the_morning(), a_night(12, run_id="m-1", later=2 * DAY, triggered_by=by_hand))
    answer = asked(store, now=MORNING - 4 * DAY)
    assert (answer.verdict, told(answer), answer.by_hand) == (Verdict.PASS, [], ())
    assert answer.reason == "Nothing needs anybody: 1 task, all well."
    assert [run.run_id for run in asked(store).by_hand] == ["m-1"]


def test_who_ran_what_by_hand_is_told_of_every_task_newest_first(store: ReceiptStore) -> None:
    by_hand = TriggeredBy(kind="manual", actor="sari", reason="late file")
    put(
        store, *the_morning(),
        a_night(11, run_id="m-1", later=DAY, triggered_by=by_hand),
        replace(a_night(12, run_id="m-2", later=DAY), task=SEND, triggered_by=by_hand),
        replace(a_night(12, run_id="x-1"), task=SEND),
        a_night(1, run_id="m-0", triggered_by=by_hand),
    )  # fmt: skip
    answer = asked(store, "pay/*/*")
    assert [(run.task, run.run_id) for run in answer.by_hand] == [(SEND, "m-2"), (CALC, "m-1")]
    assert [(each.task, each.untold) for each in answer.tasks] == [(CALC, 0), (SEND, 1)]


def test_what_is_older_than_the_source_keeps_it_is_not_caught_up(store: ReceiptStore) -> None:
    put(store, *the_morning())
    short = ToCatchUp(task=CALC, schedule=NIGHTLY, retention="3d")
    answer = asked(store, schedules=[short])
    assert [action for _, _, action, _ in told(answer)] == ["too_old", "too_old", "run", "skip"]
    assert "1 window can be caught up" in answer.reason


def test_what_is_required_and_missing_blocks_unless_it_is_asked_about_too(
    store: ReceiptStore,
) -> None:
    put(store, *the_morning())
    send = ToCatchUp(task=SEND, schedule=NIGHTLY, requires=CALC)
    answer = asked(store, schedules=[send])
    assert [action for _, _, action, _ in told(answer)] == [
        "run", "run", "blocked", "blocked", "blocked", None,
    ]  # fmt: skip
    both = asked(store, schedules=[send, CALC_NIGHTLY])
    by_task = {each.task: at for at, each in enumerate(both.tasks)}
    assert [action for _, _, action, _ in told(both, by_task[SEND])] == [*["run"] * 5, None]
    planned = both.planned(SEND, both.tasks[by_task[SEND]].to_tell[2])
    assert planned is not None
    assert planned.after == (f"{CALC} 2026-10-11",)


def test_a_task_without_a_schedule_has_health_and_numbers_only(store: ReceiptStore) -> None:
    put(store, *the_morning())
    for schedules in ([], [ToCatchUp(task=CALC, schedule=())]):
        answer = asked(store, CALC, schedules=schedules)
        (calc,) = answer.tasks
        assert (calc.windows, calc.to_tell, answer.plan) == (None, (), None)
        assert (calc.verdict, calc.stats.runs) == (Verdict.FAIL, 3)


def test_a_scheduled_task_that_never_ran_needs_somebody(store: ReceiptStore) -> None:
    put(store, *the_morning())
    never = ToCatchUp(task="pay/monthly/never", schedule=NIGHTLY)
    answer = asked(store, "pay/*/*", schedules=[never])
    found = {each.task: each for each in answer.tasks}
    assert found["pay/monthly/never"].verdict is Verdict.FAIL
    assert [each.state.value for each in found["pay/monthly/never"].to_tell] == [
        "missing", "missing", "missing", "missing", "missing", "late",
    ]  # fmt: skip
    assert CALC in found


def test_nothing_named_is_every_scheduled_task_or_else_all_of_the_store(
    store: ReceiptStore,
) -> None:
    put(store, *the_morning(), replace(a_night(14), task=SEND))
    assert [each.task for each in asked(store).tasks] == [CALC]
    assert {each.task for each in asked(store, schedules=[]).tasks} == {CALC, SEND}


def test_what_fails_comes_first_and_what_is_well_last(store: ReceiptStore) -> None:
    put(store, replace(a_night(14), task="a/a/a"), *the_morning())
    answer = asked(store, "a/a/a", "b/b/b", CALC)
    assert [(each.task, each.verdict.value) for each in answer.tasks] == [
        (CALC, "FAIL"), ("b/b/b", "UNKNOWN"), ("a/a/a", "PASS"),
    ]  # fmt: skip
    assert answer.verdict is Verdict.FAIL
    assert f"1 of 3 tasks needs somebody: {CALC}; 1 of 3 tasks cannot be told" in answer.reason


def test_where_no_task_fits_it_is_unknown(store: ReceiptStore) -> None:
    assert asked(store, schedules=[]).verdict is Verdict.UNKNOWN
    put(store, replace(a_night(14), task="a/a/a"))
    answer = asked(store, "pay/*/*", schedules=[])
    assert answer.verdict is Verdict.UNKNOWN
    assert "No task in" in answer.tasks[0].reason


def test_a_task_that_never_ran_is_told_with_the_one_that_was_meant(store: ReceiptStore) -> None:
    put(store, *the_morning())
    answer = asked(store, "pay/monthly/calk")
    assert answer.verdict is Verdict.UNKNOWN
    assert answer.tasks[0].reason.endswith(f"has never run, as far as the store knows. {MEANT}")


def test_an_unreadable_receipt_is_unknown_and_named(tmp_path: Path) -> None:
    folder = tmp_path / "receipts"
    folder.mkdir()
    store = FileStore(folder)
    put(store, a_night(10), a_night(14))
    well = asked(store, since="2026-10-14T12:00:00Z")
    assert well.verdict is Verdict.PASS
    (folder / CALC / "broken.json").write_text("{")
    answer = asked(store, since="2026-10-14T12:00:00Z")
    assert answer.verdict is Verdict.UNKNOWN
    assert [Path(bad.where).name for bad in answer.unreadable] == ["broken.json"]
    assert "broken.json" in answer.tasks[0].reason
    (calc,) = answer.tasks
    assert (calc.stats.succeeded, calc.to_tell) == (2, ())  # a success stays one
    missed = asked(store)
    assert {state for _, state, _, _ in told(missed)} == {"unknown"}
    assert {action for _, _, action, _ in told(missed)} == {"blocked"}


class Silent:
    """A store that cannot answer. Counts how often it is asked."""

    def __init__(self) -> None:
        self.asked: list[str] = []
        self.url = "test://silent"

    def __getattr__(self, name: str) -> Callable[..., Found]:
        if name not in ("save", "load", "list_runs", "search", "tasks"):
            raise AttributeError(name)

        def refuse(*_: object, **__: object) -> Found:
            self.asked.append(name)
            raise StoreUnavailableError("It does not answer.")

        return refuse


@pytest.mark.parametrize("names", [(), (CALC,), ("pay/*/*",), (CALC, "pay/*/*")])
def test_a_store_that_cannot_answer_is_unknown_and_asked_no_more_than_needed(
    names: tuple[str, ...],
) -> None:
    silent = Silent()
    answer = asked(silent, *names)  # type: ignore[arg-type]
    assert answer.verdict is Verdict.UNKNOWN
    assert all("It does not answer." in each.reason for each in answer.tasks)
    assert not answer.by_hand
    assert silent.asked.count("list_runs") + silent.asked.count("search") == 1
    assert len(silent.asked) <= 2
    assert asked(silent, schedules=[]).verdict is Verdict.UNKNOWN  # type: ignore[arg-type]


def test_the_runs_of_a_task_are_read_once(store: ReceiptStore) -> None:
    put(store, *the_morning())
    counting = FourMethods(store)
    assert told(asked(counting)) == CLASSIC  # type: ignore[arg-type]
    assert counting.calls == ["list_runs 50"]
    many = [a_night(9, later=n * timedelta(minutes=1)) for n in range(60)]
    put(store, *many)
    counting.calls.clear()
    asked(counting)  # type: ignore[arg-type]
    assert counting.calls == ["list_runs 50", "search any"]


def test_a_store_of_four_methods_is_asked_by_names(store: ReceiptStore) -> None:
    put(store, *the_morning())
    plain = FourMethods(store)
    assert told(asked(plain, CALC)) == CLASSIC  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="cannot list its tasks"):
        asked(plain, schedules=[])  # type: ignore[arg-type]


def test_a_window_longer_than_the_numbers_are_of_keeps_its_early_success(
    store: ReceiptStore,
) -> None:
    monthly = replace(NIGHTLY, cron="0 2 14 * *", window="month", format="%Y-%m")
    task = ToCatchUp(task=CALC, schedule=monthly)
    start = datetime(2026, 9, 3, tzinfo=UTC)  # before the month was over
    early = replace(
        a_night(9, run_id="r-1"),
        started_at=start,
        ended_at=start + DAY,
        variables={"dt": "2026-09"},
    )
    put(store, early)
    answer = asked(store, schedules=[task], days=1)
    assert answer.tasks[0].windows is not None
    assert [each.state.value for each in answer.tasks[0].windows.windows] == ["succeeded"]


@pytest.mark.parametrize(
    "wrong",
    [
        {"days": 0}, {"days": 10**9}, {"since": MORNING + DAY}, {"since": "soon"},
        {"schedules": [CALC_NIGHTLY, CALC_NIGHTLY]}, {"stuck_after": "long"}, {"max_age": "old"},
    ],
)  # fmt: skip
def test_what_nobody_means_is_refused(store: ReceiptStore, wrong: dict[str, object]) -> None:
    with pytest.raises(ConfigError):
        asked(store, **wrong)
    with pytest.raises(ConfigError):
        asked(store, "pay")


def test_the_page_on_mornings_runs(tmp_path: Path) -> None:
    assert run_page("how-to/morning.md", tmp_path) == 1
