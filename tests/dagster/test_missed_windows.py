"""A sensor launches one run for each partition that was missed, oldest first."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from tests.dagster.conftest import Put
from ubunye_core import Calendar, ConfigError, ReceiptStore, Schedule, Status
from ubunye_dagster import (
    ReceiptStoreResource,
    build_missed_windows_sensor,
    partition_format,
    recorded,
)

TASK = "sales/daily/load"
DAILY = dg.DailyPartitionsDefinition("2024-10-10", end_date="2024-10-15", timezone="Asia/Jakarta")
"""10 to 14 October."""
DT = {"dt": partition_format("%Y-%m-%d")}
Tick = Callable[..., Any]
BROKEN: set[str] = set()


@dg.asset(partitions_def=DAILY)
@recorded(TASK, variables=DT)
def load(context: dg.AssetExecutionContext) -> None:
    if context.partition_key in BROKEN:
        raise ValueError("the source is empty")


@dg.asset(partitions_def=DAILY)
def other() -> None: ...


JOB = dg.define_asset_job("load_job", [load])
ONE_OF_THEM: dict[str, Any] = {
    "partitions_def": DAILY,
    "variables": DT,
    "catchup": "all",
    "since": "2024-10-01T00:00:00Z",
    "job": JOB,
}


@pytest.fixture(autouse=True)
def whole() -> None:
    BROKEN.clear()


@pytest.fixture
def tick(receipts: Any, instance: dg.DagsterInstance) -> Tick:
    """Evaluate a sensor as its daemon does, but for launching and dropping known run keys."""

    def evaluate(*, resources: Any = receipts, **arguments: Any) -> Any:
        given = {**ONE_OF_THEM, **arguments}
        if "asset_selection" in given:
            del given["job"]
        sensor = build_missed_windows_sensor("catch_up", TASK, **given)
        defs = dg.Definitions(
            assets=[load, other], jobs=[JOB], sensors=[sensor], resources=resources
        )
        context = dg.build_sensor_context(
            instance=instance,
            repository_def=defs.get_repository_def(),
            resources=resources,
            sensor_name="catch_up",
        )
        with dg.partition_loading_context(dynamic_partitions_store=instance):
            return sensor.evaluate_tick(context)

    return evaluate


@pytest.fixture
def launch(receipts: Any, instance: dg.DagsterInstance) -> Callable[[Any], bool]:
    """Run what a tick has requested, with the tags that the daemon gives it."""

    def run(request: Any) -> bool:
        job = dg.Definitions(assets=[load], jobs=[JOB], resources=receipts).resolve_job_def(
            "load_job"
        )
        tags = {
            **request.tags, "dagster/run_key": request.run_key, "dagster/sensor_name": "catch_up",
        }  # fmt: skip
        return job.execute_in_process(
            partition_key=request.partition_key, tags=tags, instance=instance, raise_on_error=False
        ).success

    return run


def days(result: Any) -> list[int]:
    return [int(request.partition_key[-2:]) for request in result.run_requests]


def run_keys(result: Any) -> list[str]:
    return [request.run_key for request in result.run_requests]


def a_run(
    instance: dg.DagsterInstance, status: dg.DagsterRunStatus, job: str, **how: Any
) -> dg.DagsterRun:
    """A run as Dagster has it, before anything of it has run."""
    resources = {"receipts": ReceiptStoreResource(url="memory://unused")}
    definitions = dg.Definitions(assets=[load, other], jobs=[JOB], resources=resources)
    made = (
        definitions.resolve_job_def("load_job")
        if job == "load_job"
        else definitions.resolve_implicit_global_asset_job_def()
    )
    return instance.create_run_for_job(job_def=made, status=status, **how)


@pytest.fixture
def outage(put: Put) -> None:
    """Two days loaded, one not, one failed, and one under way."""
    for day, status in ((10, "success"), (11, "success"), (13, "error")):
        put(
            status, task=TASK, run_id=f"r{day}", dt=f"2024-10-{day}",
            started_at=datetime(2024, 10, day, 19, tzinfo=UTC),
        )  # fmt: skip
    now = datetime.now(UTC)
    put("running", task=TASK, run_id="r14", dt="2024-10-14", started_at=now - timedelta(minutes=1))


@pytest.mark.usefixtures("outage")
def test_case_24_missed_partitions_are_requested_oldest_first_with_their_reason(tick: Tick) -> None:
    result = tick()
    assert days(result) == [12, 13]
    assert run_keys(result) == ["2024-10-12:0", "2024-10-13:1"]
    tags = result.run_requests[1].tags
    assert tags["ubunye/task"] == TASK
    assert tags["ubunye/reason"] == "catch-up of 2024-10-13T00:00, which was failed"
    assert tags["dagster/partition"] == "2024-10-13"


@pytest.mark.parametrize(
    ("how", "requested", "says"),
    [
        ({"catchup": "latest"}, [13], ""),
        ({"catchup": "none"}, [], "2 to run, 1 skip; the oldest to run is 2024-10-12"),
        ({"catchup": "none"}, [], "None is requested: catchup is none."),
        ({"cap": 2}, [12], ""),  # one is under way
        ({"cap": 1}, [], "Left for the next ticks: 2."),
        ({"at_most": 1}, [12], ""),
        ({"include": "missing"}, [12], ""),
        ({"max_runs": 1}, [12], ""),
        ({"since": "2024-10-12T17:00:00Z"}, [12, 13], ""),  # due as it ends, in Jakarta
        ({"since": "2024-10-12T17:00:01Z"}, [13], ""),
    ],
    ids=str,
)
@pytest.mark.usefixtures("outage")
def test_how_much_is_requested_is_for_the_author_to_say(
    how: dict[str, Any], requested: list[int], says: str, tick: Tick
) -> None:
    result = tick(**how)
    assert days(result) == requested
    assert says in (result.skip_message or "")


def test_a_partition_is_requested_by_the_same_run_key_until_a_run_of_it_is_on_record(
    tick: Tick, launch: Callable[[Any], bool], store: ReceiptStore
) -> None:
    first = tick(at_most=1)
    assert run_keys(first) == run_keys(tick(at_most=1)) == ["2024-10-10:0"]
    BROKEN.add("2024-10-10")
    assert not launch(first.run_requests[0])
    again = tick(at_most=1)
    assert run_keys(again) == ["2024-10-10:1"]
    BROKEN.clear()
    assert launch(again.run_requests[0])
    assert run_keys(tick(at_most=1)) == ["2024-10-11:0"]
    (caught_up, failed) = store.list_runs(TASK)
    assert (caught_up.status, failed.status) == (Status.SUCCESS, Status.ERROR)
    assert caught_up.triggered_by is not None
    assert caught_up.triggered_by.kind == "sensor"
    assert caught_up.triggered_by.reason == "catch-up of 2024-10-10T00:00, which was failed"


def test_case_20_a_plan_that_was_run_in_part_goes_on_with_the_rest(
    tick: Tick, launch: Callable[[Any], bool]
) -> None:
    seen = []
    for _ in range(3):
        result = tick(at_most=2)
        seen += days(result)
        for request in result.run_requests:
            assert launch(request)
    assert seen == [10, 11, 12, 13, 14]
    assert "Nothing is to be caught up" in tick().skip_message


# Only Dagster's own queue makes QUEUED ones, which are looked for together with these.
CREATED, STARTED = dg.DagsterRunStatus.NOT_STARTED, dg.DagsterRunStatus.STARTED


@pytest.mark.parametrize(
    ("status", "job", "tags", "assets", "requested"),
    [
        (CREATED, "load_job", {"dagster/partition": "2024-10-11"}, None, [10, 12, 13]),
        (STARTED, "load_job", {"dagster/partition": "2024-10-11"}, None, [10, 12, 13]),
        (CREATED, "all", {"dagster/partition": "2024-10-11"}, [load.key], [10, 12, 13]),
        (CREATED, "all", {"dagster/partition": "2024-10-11"}, None, [10, 12, 13]),
        (CREATED, "all", {"dagster/partition": "2024-10-11"}, [other.key], [10, 11, 12, 13]),
        (
            CREATED,
            "load_job",
            {
                "dagster/asset_partition_range_start": "2024-10-11",
                "dagster/asset_partition_range_end": "2024-10-12",
            },
            None,
            [10, 13],
        ),
        (
            dg.DagsterRunStatus.FAILURE,
            "load_job",
            {"dagster/partition": "2024-10-11"},
            None,
            [10, 11, 12, 13],
        ),
    ],
)
@pytest.mark.parametrize("target", [{}, {"asset_selection": [load]}], ids=["job", "assets"])
def test_what_dagster_has_queued_or_started_without_a_receipt_is_not_doubled(
    status: dg.DagsterRunStatus,
    job: str,
    tags: dict[str, str],
    assets: list[dg.AssetKey] | None,
    requested: list[int],
    target: dict[str, Any],
    tick: Tick,
    instance: dg.DagsterInstance,
) -> None:
    chosen = None if assets is None else frozenset(assets)
    a_run(instance, status, job, tags=tags, asset_selection=chosen)
    result = tick(cap=4, **target)
    assert days(result) == requested


def test_case_22_without_catchup_the_five_that_were_missed_are_told_and_none_is_requested(
    tick: Tick, instance: dg.DagsterInstance
) -> None:
    skipped = tick(catchup="none")
    assert days(skipped) == []
    assert "5 to run; the oldest to run is 2024-10-10" in skipped.skip_message
    assert not instance.get_runs()


def test_case_23_a_sensor_starts_nothing_until_somebody_turns_it_on() -> None:
    sensor = build_missed_windows_sensor("catch_up", TASK, **ONE_OF_THEM)
    assert sensor.default_status is dg.DefaultSensorStatus.STOPPED
    with pytest.raises(TypeError, match="catchup"):
        build_missed_windows_sensor("s", TASK, partitions_def=DAILY, job=JOB)  # type: ignore[call-arg]


@pytest.mark.parametrize("word", ["missing", "missing+failed"])
def test_case_18_what_is_included_has_the_names_of_a_plan(word: str) -> None:
    assert build_missed_windows_sensor("s", TASK, **{**ONE_OF_THEM, "include": word})


def test_a_launched_run_that_left_no_receipt_is_named_and_stops_no_other(
    tick: Tick, instance: dg.DagsterInstance
) -> None:
    tags = {
        "dagster/partition": "2024-10-10", "dagster/run_key": "2024-10-10:0",
        "dagster/sensor_name": "catch_up",
    }  # fmt: skip
    run = a_run(instance, dg.DagsterRunStatus.FAILURE, "load_job", tags=tags)
    result = tick(at_most=1)
    assert days(result) == [11]
    alone = tick(since="2024-10-09T00:00:00Z", catchup="latest", at_most=1)
    assert days(alone) == [14]
    tags = {**tags, "dagster/partition": "2024-10-14", "dagster/run_key": "2024-10-14:0"}
    run = a_run(instance, dg.DagsterRunStatus.FAILURE, "load_job", tags=tags)
    alone = tick(catchup="latest")
    assert f"run {run.run_id} was launched for it, is FAILURE and left no" in alone.skip_message


def test_a_window_that_is_no_partition_is_named_and_loses_no_other(tick: Tick) -> None:
    nightly = Schedule(
        cron="0 2 * * *", time_zone="Asia/Jakarta", window="day", variable="dt",  # type: ignore[arg-type]
        start="2024-10-08T00:00:00Z", end="2024-10-13T00:00:00Z",
    )  # fmt: skip
    result = tick(schedule=nightly, variables=None)
    assert days(result) == [10, 11, 12]
    short = tick(schedule=nightly, variables=None, catchup="latest", since="2024-10-08T00:00:00Z")
    assert days(short) == [12]
    early = Schedule(
        cron="0 2 * * *", time_zone="Asia/Jakarta", window="day", variable="dt",  # type: ignore[arg-type]
        start="2024-10-08T00:00:00Z", end="2024-10-10T00:00:00Z",
    )  # fmt: skip
    skipped = tick(schedule=early, variables=None)
    assert "Not a partition (yet): 2024-10-08, 2024-10-09." in skipped.skip_message


def test_what_cannot_be_told_requests_nothing_and_says_why(
    tick: Tick, put: Put, url: str, tmp_path: Path
) -> None:
    gone = {"receipts": ReceiptStoreResource(url=str(tmp_path / "gone"))}
    assert tick(resources=gone).skip_message.startswith("UNKNOWN: The store folder")
    put(task=TASK, run_id="r10", dt="2024-10-10")
    (Path(url) / TASK / "damaged.json").write_text("{")
    skipped = tick()
    assert days(skipped) == []
    assert skipped.skip_message.startswith("UNKNOWN: ")


def test_a_window_whose_requirement_is_not_met_is_not_requested(tick: Tick, put: Put) -> None:
    put(task="sales/daily/source", dt="2024-10-12")
    requires = [{"task": "sales/daily/source", "variables": ["dt"]}]
    assert days(tick(requires=requires)) == [12]

    put(task=TASK, run_id="r12", dt="2024-10-12")
    skipped = tick(requires=requires).skip_message
    assert skipped.startswith("4 blocked. 2024-10-10T00:00 is blocked: sales/daily/source has not ")
    assert "for dt=2024-10-10: it has no run of this batch" in skipped


def test_keys_that_are_no_times_are_named_by_the_schedules_variable(
    receipts: Any, instance: dg.DagsterInstance
) -> None:
    days_by_hand = dg.DynamicPartitionsDefinition(name="days")

    @dg.asset(partitions_def=days_by_hand)
    @recorded(TASK)
    def by_hand(context: dg.AssetExecutionContext) -> None: ...

    weekdays = Schedule(
        cron="0 2 * * *", window="day", variable="partition", format="%d.%m.%Y",  # type: ignore[arg-type]
        start="2024-10-12T00:00:00Z", end="2024-10-16T00:00:00Z",
        calendar=Calendar(business_days=frozenset(range(5))),
    )  # fmt: skip
    instance.add_dynamic_partitions("days", ["11.10.2024", "14.10.2024"])
    sensor = build_missed_windows_sensor(
        "catch_up", TASK, partitions_def=days_by_hand, schedule=weekdays, catchup="all",
        since="2024-10-01T00:00:00Z", asset_selection=[by_hand],
    )  # fmt: skip
    defs = dg.Definitions(assets=[by_hand], sensors=[sensor], resources=receipts)
    context = dg.build_sensor_context(
        instance=instance, repository_def=defs.get_repository_def(), resources=receipts,
        sensor_name="catch_up",
    )  # fmt: skip
    with dg.partition_loading_context(dynamic_partitions_store=instance):
        result = sensor.evaluate_tick(context)
    assert [each.partition_key for each in result.run_requests] == ["11.10.2024", "14.10.2024"]


MULTI = dg.MultiPartitionsDefinition(
    {"day": DAILY, "region": dg.StaticPartitionsDefinition(["eu", "za"])}
)
WITHOUT_SUNDAYS = dg.TimeWindowPartitionsDefinition(
    start="2024-10-10", fmt="%Y-%m-%d", cron_schedule="0 0 * * *", exclusions=["0 0 * * 0"]
)
NIGHTLY = Schedule(cron="0 2 * * *")


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"catchup": "some"}, "catchup"),
        ({"include": "all"}, "again and again"),
        ({"include": "failed"}, "include"),
        ({"cap": 0}, "cap"),
        ({"max_runs": 0}, "max_runs"),
        ({"at_most": 0}, "at_most"),
        ({"since": "soon"}, "since"),
        ({"partitions_def": MULTI}, "several dimensions"),
        ({"partitions_def": WITHOUT_SUNDAYS}, "leave some times out"),
        ({"partitions_def": dg.StaticPartitionsDefinition(["a"])}, "when its partitions are due"),
        (
            {
                "partitions_def": dg.StaticPartitionsDefinition(["a"]),
                "schedule": NIGHTLY,
                "variables": None,
            },
            "cannot be told",
        ),
        ({"schedule": NIGHTLY}, "beside a schedule"),
        ({"variables": {"dt": "2024-10-10"}}, "one variable"),
        ({"variables": {**DT, "region": "eu"}}, "one variable"),
    ],
    ids=str,
)
def test_what_cannot_be_looked_at_is_refused_when_the_code_is_loaded(
    wrong: dict[str, Any], says: str
) -> None:
    with pytest.raises(ConfigError, match=says):
        build_missed_windows_sensor("s", TASK, **{**ONE_OF_THEM, **wrong})
