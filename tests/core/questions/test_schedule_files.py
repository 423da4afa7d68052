"""The schedule of a task, as it stands in its YAML."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path

import pytest

from ubunye_core import ConfigError, read_tasks
from ubunye_core.questions.maintenancefiles import read_maintenance
from ubunye_core.questions.policyfiles import read_policy
from ubunye_core.questions.schedulefiles import read_calendar, read_schedule
from ubunye_core.questions.taskfiles import read_requirements
from ubunye_core.questions.taskfolders import read_retention, read_task
from ubunye_core.schedules import Of, Period, Schedule


def written(folder: Path, text: str, name: str = "receipts.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_schedule_is_read_as_it_is_written(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        """
        owner: payments
        schedule:
          cron: "0 2 * * *"
          time_zone: Asia/Jakarta
          window: day
          of: previous
          variable: dt
          format: "%Y%m%d"
          finish_by: 6h
          max_runtime: 3h
          min_duration: 10m
          min_rows: 1000
          early_margin: 15m
          start: 2026-01-01T00:00:00+07:00
          calendar:
            business_days: [mon, tue, wed, thu, Friday]
            holidays: {2026-12-25: Christmas}
        """,
    )
    (schedule,) = read_schedule(path)
    assert schedule == read_schedule(tmp_path)[0]
    assert (schedule.window, schedule.of) == (Period.DAY, Of.PREVIOUS)
    assert schedule.finish_by == timedelta(hours=6)
    assert schedule.min_rows == 1000
    assert schedule.start == datetime(2025, 12, 31, 17, tzinfo=UTC)
    assert schedule.calendar is not None
    assert schedule.calendar.holidays == {date(2026, 12, 25): "Christmas"}
    assert schedule.calendar.why_not(date(2026, 12, 26)) == "Saturday"
    windows = schedule.due_between(
        datetime(2026, 10, 14, tzinfo=UTC), datetime(2026, 10, 15, tzinfo=UTC)
    )
    assert [schedule.value_of(window) for window in windows] == ["20261014"]


def test_a_schedule_has_versions_and_a_calendar_may_stand_in_a_file(tmp_path: Path) -> None:
    written(tmp_path, "holidays: [2026-12-25, 2026-12-26]\n", "holidays.yaml")
    written(
        tmp_path,
        """
        schedule:
          - {every: 6h, end: "2026-06-01T00:00Z"}
          - {every: 1h, start: "2026-06-01T00:00Z", calendar: holidays.yaml}
        """,
    )
    before, after = read_schedule(tmp_path)
    assert before == Schedule(every="6h", end="2026-06-01T00:00Z")
    assert after.calendar == read_calendar(tmp_path / "holidays.yaml")


def test_a_task_without_a_schedule_has_none(tmp_path: Path) -> None:
    written(tmp_path, "requires: [pay/in/people]\n")
    assert read_schedule(tmp_path) == ()
    written(tmp_path, "CONFIG: {}\n", "config.yaml")
    assert read_schedule(tmp_path / "config.yaml") == ()


def test_requirements_and_a_schedule_stand_side_by_side(tmp_path: Path) -> None:
    written(tmp_path, "requires: [{task: pay/in/people, variables: []}]\nschedule: {every: 1h}\n")
    assert len(read_requirements(tmp_path)) == len(read_schedule(tmp_path)) == 1


@pytest.mark.parametrize(
    ("text", "line", "why"),
    [
        ("schedule:\n  cron: 0 2 * *\n", 2, "no cron expression"),
        ("schedule:\n  every: 6h\n  time_zone: Mars/Base\n", 3, "no time zone"),
        ("schedule:\n  every: 6h\n  window: year\n", 3, "'window'"),
        ("schedule:\n  every: 6h\n  finish_by: soon\n", 3, "length of time"),
        ("schedule:\n  every: 6h\n  format: '%Y'\n", 3, "no 'variable'"),
        ("schedule:\n  every: 6h\n  retention: 30d\n", 3, "not a known key"),
        ("schedule:\n  every: 6h\n  min_rows: many\n", 3, "no number"),
        (f"schedule:\n  every: 6h\n  min_rows: {'9' * 5000}\n", 3, "more rows than anything"),
        ("schedule:\n  every: 6h\n  calendar:\n    business_days: [funday]\n", 4, "no day"),
        ("schedule:\n  every: 6h\n  calendar:\n    holidays: [25.12.2026]\n", 4, "no day"),
        ("schedule:\n  every: 6h\n  calendar:\n    country: XX\n", 4, "No holidays are known"),
        ("schedule:\n  every: 6h\n  calendar:\n    country: NO\n    subdivision: QQ\n", 5, "QQ"),
        ("schedule:\n  every: 6h\n  calendar:\n    subdivision: BY\n", 4, "no country"),
        ("schedule:\n  every: 6h\n  calendar:\n    region: BY\n", 4, "not a known key"),
        ("schedule:\n  time_zone: UTC\n", 2, "either 'cron' or 'every'"),
        ("schedule: []\n", 1, "is empty"),
        ("schedule: daily\n", 1, "not a map"),
    ],
)
def test_a_mistake_is_named_with_its_line(tmp_path: Path, text: str, line: int, why: str) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError, match=why) as refused:
        read_schedule(path)
    assert f"{path}, line {line}: " in str(refused.value)


@pytest.mark.parametrize("path", ["~nobody-has-this-name/task", "a\0b", "a" * 5000])
@pytest.mark.parametrize(
    "read",
    [read_schedule, read_calendar, read_requirements, read_policy, read_maintenance, read_tasks],
)
def test_a_path_where_nothing_can_be_is_refused(path: str, read: Callable[[str], object]) -> None:
    with pytest.raises(ConfigError):
        read(path)


@pytest.mark.parametrize("kind", [str, Path])
@pytest.mark.parametrize("read", [read_schedule, read_maintenance, read_tasks])
def test_a_url_is_no_path_and_its_password_is_not_shown(
    read: Callable[[object], object], kind: type
) -> None:
    with pytest.raises(ConfigError, match=r"s3://key:\*\*\*@bucket/x' is a URL") as refused:
        read(kind("s3://key:hunter2@bucket/x"))
    assert "hunter2" not in str(refused.value)


def test_a_schedule_beside_a_file_is_refused_where_nothing_can_be(tmp_path: Path) -> None:
    path = written(tmp_path, f"requires: [{{task: a/b/c, windows: all, schedule: {'a' * 5000}}}]")
    with pytest.raises(ConfigError, match="name too long"):
        read_requirements(path)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        (
            "policy: {require_reasn: true}",
            2,
            "'require_reasn' is not a known key of a policy. ",
        ),
        ("requires:\n- task: a/b/c\n  wiat: 2h", 4, "Did you mean 'wait'? Known: task, "),
        ("schedule: {every: 6h, time_zon: UTC}", 2, "Did you mean 'time_zone'? Known: cron, "),
        ("schedule: [{every: 6h, calendar: {holiday: []}}]", 2, "Did you mean 'holidays'? Known:"),
        ("requires: [{task: a/b/c, schedule: {evry: 6h}}]", 2, "Did you mean 'every'? Known: cro"),
        ("polcy: {guard: true}", 2, "of receipts.yaml. Did you mean 'policy'? Known: requires, "),
        ("secrets: x", 2, "'secrets' is not a known key of receipts.yaml. Known: requires, "),
    ],
)
@pytest.mark.parametrize(
    "read",
    [
        *(read_schedule, read_requirements, read_policy, read_retention),
        partial(read_task, task="a/b/c"),
    ],
)
def test_an_unknown_key_is_told_whichever_part_of_the_file_is_read(
    tmp_path: Path, read: Callable[[str], object], text: str, line: int, said: str
) -> None:
    path = written(tmp_path, f"owner: payments\n{text}\n")
    with pytest.raises(ConfigError) as refused:
        read(str(path))
    assert f"{path}, line {line}: " in str(refused.value)
    assert said in str(refused.value)


@pytest.mark.parametrize("read", [read_requirements, read_policy, read_retention])
def test_a_part_of_the_engines_file_that_is_ours_is_read_as_strictly(
    tmp_path: Path, read: Callable[[str], object]
) -> None:
    (tmp_path / "config.yaml").write_text("CONFIG:\n  policy: {gard: true}\n")
    (tmp_path / "receipts.yaml").write_text("owner: payments\n")
    with pytest.raises(ConfigError, match=r"config.yaml, line 2: 'gard' .* Did you mean 'guard'"):
        read(str(tmp_path))
