"""How a window stands that has succeeded: the answer is the same, however it was made."""

from __future__ import annotations

import copy
import pickle
from dataclasses import replace
from datetime import timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.questions.builders import CALC, DAY, HOUR, MINUTE, NOW, a_run
from ubunye_core import Schedule, Status, Window, WindowState
from ubunye_core.questions.answer import Moment
from ubunye_core.questions.expected import Expected, ExpectedWindows, expected_windows
from ubunye_core.questions.symptoms import Limits
from ubunye_core.questions.window_match import NamedWindows, by_window, runs_by_window
from ubunye_core.questions.window_runs import RunsByWindow, RunsSeen, runs_since
from ubunye_core.questions.window_state import Judge, Known, WindowAnswer
from ubunye_core.stores import MemoryStore
from ubunye_core.stores.successes import Success, Successes
from ubunye_core.times import microseconds

HOURLY = Schedule(cron="0 * * * *", window="hour", variable="hour")
EXPECTED = expected_windows([HOURLY], NOW, NOW + HOUR)[0]
SUCCESS = Success(microseconds(NOW), "r-850", microseconds(NOW + MINUTE))
LATE = SUCCESS._replace(started=SUCCESS.started + 5, run_id="r-851")


def quick() -> WindowAnswer:
    expected = ExpectedWindows.of([EXPECTED])
    runs_for = RunsByWindow(1, RunsSeen(Successes.of([LATE, SUCCESS]), ()))
    runs_for.add(0, 1)
    return WindowAnswer.of_success(Known(expected, runs_for), 0)


PLAIN = WindowAnswer(
    window=EXPECTED.window,
    state=WindowState.SUCCEEDED,
    reason="run r-850 succeeded at 2026-10-15T06:01:00Z",
    runs=("r-850",),
    schedule=HOURLY,
)


def test_a_quick_answer_is_the_one_that_the_constructor_makes() -> None:
    assert quick() == PLAIN
    assert quick() == PLAIN
    assert repr(quick()) == repr(PLAIN)
    assert quick().reason == PLAIN.reason
    assert quick().runs == PLAIN.runs
    assert quick().variables == {"hour": "2026-10-15T05"}


@pytest.mark.parametrize("read_first", [False, True])
def test_a_quick_answer_can_be_copied_pickled_and_changed(read_first: bool) -> None:
    answer = quick()
    if read_first:
        assert answer.reason
    for same in (copy.copy(answer), pickle.loads(pickle.dumps(answer)), replace(answer)):
        assert same == PLAIN
    assert replace(answer, reason="so it is").reason == "so it is"
    assert b"r-851" not in pickle.dumps(answer), "the runs of other windows went along"


@pytest.mark.parametrize("answer", [quick(), PLAIN])
def test_an_answer_has_no_other_attributes(answer: WindowAnswer) -> None:
    with pytest.raises(AttributeError, match="no attribute 'verdict'"):
        answer.verdict  # type: ignore[attr-defined]  # noqa: B018


SCHEDULES = (
    HOURLY, Schedule(every="2h", min_duration="5m"), Schedule(every="1h", early_margin="10m"),
    Schedule(cron="30 * * * *", window="hour", of="current", variable="hour", finish_by="20m"),
)  # fmt: skip


@st.composite
def histories(draw: st.DrawFn) -> MemoryStore:
    store = MemoryStore()
    for number in range(draw(st.integers(0, 15))):
        ago = timedelta(minutes=draw(st.integers(60, 600)))
        start = (NOW - timedelta(hours=draw(st.integers(0, 12)))).replace(minute=0)
        status = draw(st.sampled_from([*Status, *[Status.SUCCESS] * 5]))
        store.save(
            a_run(
                status,
                ago=ago,
                took=draw(st.sampled_from([MINUTE, HOUR])),
                run_id=f"run-{number}",
                variables={"hour": f"{start:%Y-%m-%dT%H}"},
                window=draw(st.sampled_from([None, Window(start=start, end=start + HOUR)])),
            )
        )
    return store


@pytest.mark.slow
@settings(max_examples=200, deadline=None)
@given(histories(), st.lists(st.sampled_from(SCHEDULES), min_size=1, max_size=2, unique=True))
def test_the_answers_for_all_windows_are_those_for_each(store, schedules) -> None:
    expected = expected_windows(schedules, NOW - DAY, NOW)
    moment = Moment(NOW, NOW)
    seen = runs_since(
        CALC, NOW - 3 * DAY, store, moment, variables=NamedWindows(expected), rows=False
    )
    judge = Judge(NOW, Limits(), seen.unreadable, None)
    runs_for = by_window(seen, expected, NamedWindows(expected))
    answers = list(judge.answers(expected, runs_for))
    whole = store.search(CALC, since=NOW - 3 * DAY)
    for each, answer in zip(expected, answers, strict=True):
        assert answer == judge.answer(each, runs_by_window(whole, [each])[0])


def test_windows_in_columns_are_the_windows() -> None:
    each = Expected(EXPECTED.window, NOW, HOURLY)
    columns = ExpectedWindows.of([each, EXPECTED])
    assert list(columns) == [each, EXPECTED]
    assert list(columns[1:]) == [EXPECTED]
    assert columns[-1] == EXPECTED
    assert not ExpectedWindows.of([])


def test_the_runs_for_windows_are_a_sequence() -> None:
    failed = a_run(Status.ERROR, run_id="r-852", ago=-HOUR)
    seen = RunsSeen(Successes.of([SUCCESS, LATE]), (failed,))
    runs = RunsByWindow(3, seen)
    for run in range(3):
        runs.add(1, run)
    runs.add(2, 2)
    assert list(runs) == [(), [failed, LATE, SUCCESS], [failed]]
    assert runs[-2] == runs[1] == runs[:][1]
    assert runs.has_any
    assert not RunsByWindow(2, seen).has_any


def test_successes_in_columns_are_the_successes() -> None:
    windowed = Success(3, "r-853", 9, start=1, end=2, rows=7)
    named = Success(4, "r-854", 8, named=(("dt", "2026-10-15"),))
    columns = Successes.of([windowed, named])
    assert list(columns) == [windowed, named]
    assert (columns[-1], columns[:1]) == (named, [windowed])
    columns.append(LATE)
    assert (len(columns), columns[2]) == (3, LATE)
    assert Successes.of(columns) is columns
    assert list(Successes.of([])) == []
