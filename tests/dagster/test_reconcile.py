"""A sensor ends the receipts of runs that died without a word."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import dagster as dg
import pytest

from ubunye_core import (
    ConfigError,
    Orchestrator,
    Receipt,
    ReceiptStore,
    Status,
    StoreUnavailableError,
    Verdict,
    job_health,
    record_run,
)
from ubunye_dagster import (
    ReceiptStoreResource,
    build_reconcile_sensor,
    compat,
    partition_key,
    reconcile,
    recorded,
)

TASK = "pay/monthly/calc"
Tick = Callable[..., Any]
Dies = Callable[..., Receipt]


@pytest.fixture
def tick(receipts: Any, instance: dg.DagsterInstance) -> Tick:
    """Evaluate the sensor once."""

    def evaluate(
        cursor: str | None = None,
        *,
        resources: Any = receipts,
        at: dg.DagsterInstance = instance,
        **arguments: Any,
    ) -> Any:
        sensor = build_reconcile_sensor("ended", **arguments)
        context = dg.build_sensor_context(instance=at, cursor=cursor, resources=resources)
        return sensor.evaluate_tick(context)

    return evaluate


class DeadProcess(ReceiptStoreResource):
    """What a process that is killed writes: no end."""

    def get_store(self) -> Any:
        return WithoutEnds(super().get_store())


class WithoutEnds:
    def __init__(self, store: ReceiptStore) -> None:
        self._store = store

    def save(self, receipt: Receipt) -> None:
        if not receipt.status.is_final:
            self._store.save(receipt)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.fixture
def dead(url: str) -> dict[str, Any]:
    return {"receipts": DeadProcess(url=url)}


@pytest.fixture
def dies(dead: Any, store: ReceiptStore, instance: dg.DagsterInstance) -> Dies:
    """A run of Dagster whose receipt says running, as if its process had been killed."""

    def run(*, fails: bool = True) -> Receipt:
        @dg.asset
        @recorded(TASK, variables={"month": "2024-10"})
        def calc(context: dg.AssetExecutionContext) -> None:
            if fails:
                raise ValueError("the data is bad")

        dg.materialize([calc], resources=dead, instance=instance, raise_on_error=False)
        return end_of(store)

    return run


def end_of(store: ReceiptStore) -> Receipt:
    (receipt,) = store.list_runs(TASK)
    return receipt


def test_a_run_that_failed_without_a_word_is_interrupted_when_dagster_says_it_ended(
    tick: Tick, dies: Dies, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    running = dies()
    said = tick()
    receipt = end_of(store)
    assert (receipt.status, receipt.ended_by) == (Status.INTERRUPTED, "reconcile")
    (record,) = instance.get_run_records()
    (step,) = instance.get_run_step_stats(record.dagster_run.run_id)
    assert receipt.ended_at is not None
    assert receipt.ended_at.timestamp() == pytest.approx(step.end_time, abs=1e-5)
    assert record.dagster_run.run_id in str(receipt.error)
    assert "FAILURE" in str(receipt.error)
    assert receipt.variables == running.variables
    assert running.run_id in said.skip_message
    assert not said.run_requests


def test_a_run_of_which_no_step_says_anything_ends_with_the_run(
    tick: Tick, dies: Dies, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    running = dies()
    (record,) = instance.get_run_records()
    ids = {"run_id": record.dagster_run.run_id, "step": "unheard_of"}
    store.save(replace(running, orchestrator=Orchestrator(name="dagster", ids=ids)))
    tick()
    receipt = end_of(store)
    assert receipt.status is Status.INTERRUPTED
    assert receipt.ended_at is not None
    assert receipt.ended_at.timestamp() == pytest.approx(record.end_time, abs=1e-5)


def test_a_run_that_dagster_calls_a_success_is_never_one_by_its_word(
    tick: Tick, dies: Dies, store: ReceiptStore
) -> None:
    dies(fails=False)
    tick()
    receipt = end_of(store)
    assert receipt.status is Status.INTERRUPTED
    assert "SUCCESS" in str(receipt.error)


def test_looking_twice_or_from_two_places_changes_nothing(
    tick: Tick, dies: Dies, store: ReceiptStore, receipts: Any
) -> None:
    running = dies()
    tick()
    ended = end_of(store)
    assert "No receipt is to be ended" in tick().skip_message
    store.save(replace(ended, error="another daemon", ended_at=datetime.now(UTC)))
    assert end_of(store) == ended
    store.save(running)  # a heartbeat that was on its way
    assert end_of(store) == ended


def test_the_later_word_of_the_run_itself_stands(
    tick: Tick, dies: Dies, store: ReceiptStore
) -> None:
    running = dies()
    tick()
    own = replace(running, status=Status.SUCCESS, ended_at=datetime.now(UTC))
    store.save(own)
    tick()
    assert end_of(store).status is Status.SUCCESS


def test_a_run_that_ends_while_it_is_looked_at_keeps_its_end(
    tick: Tick, dies: Dies, store: ReceiptStore, url: str
) -> None:
    running = dies()

    class SeenTooEarly(ReceiptStoreResource):
        def get_store(self) -> Any:
            class Store:
                def search(self, *asked: Any, **more: Any) -> Any:
                    found = store.search(*asked, **more)
                    store.save(replace(running, status=Status.SUCCESS, ended_at=datetime.now(UTC)))
                    return found

                def __getattr__(self, name: str) -> Any:
                    return getattr(store, name)

            return Store()

    said = tick(resources={"receipts": SeenTooEarly(url=url)})
    assert end_of(store).status is Status.SUCCESS
    assert "No receipt is to be ended" in said.skip_message


def test_what_shows_signs_of_life_after_its_end_is_left_alone_until_it_falls_silent(
    tick: Tick, dies: Dies, store: ReceiptStore
) -> None:
    running = dies()
    beat = datetime.now(UTC) + timedelta(seconds=2)
    store.save(replace(running, heartbeat_at=beat))
    said = tick()
    assert end_of(store).status is Status.RUNNING
    assert f"signs of life: {TASK} {running.run_id}" in said.skip_message
    silent = replace(running, heartbeat_at=beat, heartbeat_every=timedelta(seconds=1))
    assert not reconcile._is_silent(silent, beat + timedelta(minutes=5))
    assert reconcile._is_silent(silent, beat + timedelta(minutes=5, seconds=1))


def test_a_run_that_goes_on_is_left_alone(
    tick: Tick, receipts: Any, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    said = []

    @dg.asset
    @recorded(TASK)
    def calc(context: dg.AssetExecutionContext) -> None:
        said.append(tick().skip_message)
        assert end_of(store).status is Status.RUNNING

    dg.materialize([calc], resources=receipts, instance=instance)
    assert end_of(store).status is Status.SUCCESS
    assert said == ["No receipt is to be ended."]


def test_an_attempt_that_died_is_ended_while_the_next_one_runs(
    tick: Tick, dead: Any, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    seen: list[Receipt] = []

    @dg.asset(retry_policy=dg.RetryPolicy(max_retries=1))
    @recorded(TASK)
    def calc(context: dg.AssetExecutionContext) -> None:
        if context.retry_number == 0:
            raise ValueError("no memory")
        tick()
        seen.extend(store.list_runs(TASK))

    dg.materialize([calc], resources=dead, instance=instance)
    second, first = seen
    assert (first.status, first.ended_by) == (Status.INTERRUPTED, "reconcile")
    assert "to be retried" in str(first.error)
    assert second.status is Status.RUNNING
    tick()
    assert store.list_runs(TASK)[0].status is Status.INTERRUPTED


def two_steps(second: Callable[[], object]) -> dg.JobDefinition:
    """The first step dies; the second does something while the run goes on."""

    @dg.op(out=dg.Out(dg.Nothing))
    @recorded(TASK)
    def first(context: dg.OpExecutionContext) -> None:
        raise ValueError("no memory")

    @dg.op
    def next_one() -> None:
        second()

    @dg.job
    def both() -> None:
        first()
        next_one()

    return both


def test_case_14_a_step_that_failed_is_ended_while_its_run_still_says_started(
    tick: Tick, dead: Any, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    seen: list[Any] = []

    def look() -> None:
        tick()
        seen.append(end_of(store))
        seen.append(instance.get_runs()[0].status)

    two_steps(look).execute_in_process(instance=instance, resources=dead, raise_on_error=False)
    receipt, status = seen
    assert status is dg.DagsterRunStatus.STARTED
    assert (receipt.status, receipt.ended_by) == (Status.INTERRUPTED, "reconcile")
    assert "step first of run" in str(receipt.error)


def test_case_14_where_dagster_itself_is_silent_the_run_is_stuck(
    tick: Tick, dead: Any, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    def a_day_later() -> datetime:
        return datetime.now(UTC) + timedelta(days=1)

    @dg.asset
    @recorded(TASK)
    def calc(context: dg.AssetExecutionContext) -> None:
        assert tick().skip_message == "No receipt is to be ended."
        health = job_health(TASK, store=store, now=a_day_later())
        assert health.verdict is Verdict.FAIL
        assert health.tasks[0].stuck == (end_of(store).run_id,)

    assert dg.materialize([calc], resources=dead, instance=instance).success


def test_each_partition_of_a_range_is_ended(
    tick: Tick, dead: Any, store: ReceiptStore, instance: dg.DagsterInstance
) -> None:
    @dg.asset(
        partitions_def=dg.StaticPartitionsDefinition(["a", "b"]),
        backfill_policy=dg.BackfillPolicy.single_run(),
    )
    @recorded(TASK, variables={"part": partition_key()})
    def calc(context: dg.AssetExecutionContext) -> None:
        raise ValueError("no memory")

    ends = {"start": "a", "end": "b"}
    tags = {f"dagster/asset_partition_range_{end}": key for end, key in ends.items()}
    dg.materialize([calc], tags=tags, resources=dead, instance=instance, raise_on_error=False)
    assert {each.status for each in store.list_runs(TASK)} == {Status.RUNNING}
    tick()
    ended = store.list_runs(TASK)
    assert sorted(str(each.variables["part"]) for each in ended) == ["a", "b"]
    assert {each.ended_by for each in ended} == {"reconcile"}


def test_a_run_of_another_dagster_is_left_alone(
    tick: Tick, dies: Dies, store: ReceiptStore
) -> None:
    dies()
    with dg.DagsterInstance.ephemeral() as another:
        said = tick(at=another)
    assert end_of(store).status is Status.RUNNING
    assert said.skip_message == "No receipt is to be ended. 1 running of another Dagster."


@pytest.fixture
def deleted(instance: dg.DagsterInstance, store: ReceiptStore) -> Callable[..., Receipt]:
    """A receipt of a run that Dagster does not know any more."""

    def put_receipt(run_id: str, ago: timedelta, **ids: str | None) -> Receipt:
        of = {"instance": compat.instance_id(instance), "run_id": f"of {run_id}", **ids}
        known = {name: text for name, text in of.items() if text is not None}
        receipt = Receipt(
            task=TASK,
            run_id=run_id,
            status=Status.RUNNING,
            started_at=datetime.now(UTC) - ago,
            orchestrator=Orchestrator(name="dagster", ids=known),
        )
        store.save(receipt)
        return receipt

    return put_receipt


def test_a_run_that_was_deleted_is_ended_once_it_is_silent(
    tick: Tick, deleted: Callable[..., Receipt], store: ReceiptStore
) -> None:
    deleted("r1", timedelta(hours=5))  # it has no heartbeats
    said = tick()
    assert end_of(store).status is Status.RUNNING
    assert "signs of life" in said.skip_message
    silent = deleted("r2", timedelta(hours=7))
    tick()
    receipt = store.load(TASK, "r2")
    assert (receipt.status, receipt.ended_at) == (Status.INTERRUPTED, silent.started_at)
    assert "deleted" in str(receipt.error)
    assert store.load(TASK, "r1").status is Status.RUNNING


def test_a_deleted_run_that_does_not_say_of_which_dagster_it_is_is_left_to_people(
    tick: Tick, deleted: Callable[..., Receipt], store: ReceiptStore
) -> None:
    deleted("r1", timedelta(days=7), instance=None)
    deleted("r2", timedelta(days=7), instance="another")
    said = tick().skip_message
    assert f"do not say of which one they are: {TASK} r1. If they are dead" in said
    assert "ubunye-runs close" in said
    assert "1 running of another Dagster" in said
    assert {each.status for each in store.list_runs(TASK)} == {Status.RUNNING}


def test_a_receipt_says_of_which_dagster_its_run_is(
    dies: Dies, instance: dg.DagsterInstance
) -> None:
    scheduler = dies().orchestrator
    assert scheduler is not None
    assert scheduler.ids["instance"] == compat.instance_id(instance)
    with dg.DagsterInstance.ephemeral() as another:
        assert compat.instance_id(another) != compat.instance_id(instance)


def test_what_did_not_run_in_dagster_is_left_alone(
    tick: Tick, put: Any, store: ReceiptStore
) -> None:
    put("running", started_at=datetime.now(UTC) - timedelta(days=1))
    airflow = Orchestrator(name="airflow", ids={"run_id": "manual__2024"})
    with record_run("pay/monthly/send", store=store, orchestrator=airflow):
        assert tick().skip_message == "No receipt is to be ended."
    assert end_of(store).status is Status.RUNNING


@pytest.fixture
def many(deleted: Callable[..., Receipt]) -> None:
    """Runs that were deleted, of which the oldest two do not say of which Dagster they are."""
    for number in range(5):
        of = {"instance": None} if number < 2 else {}
        deleted(f"r{number}", timedelta(hours=9, minutes=-number), **of)


def test_a_tick_goes_on_where_the_one_before_it_stopped(
    tick: Tick, many: None, store: ReceiptStore
) -> None:
    def running() -> list[str]:
        return sorted(each.run_id for each in store.search(TASK, Status.RUNNING))

    first = tick(at_most=2)
    assert running() == ["r0", "r1", "r2", "r3", "r4"]  # the oldest two are left alone
    assert "More follow" in first.skip_message
    second = tick(first.cursor, at_most=2)
    assert running() == ["r0", "r1", "r4"]
    third = tick(second.cursor, at_most=2)
    assert running() == ["r0", "r1"]
    assert "More follow" not in third.skip_message
    assert "r0" in tick(third.cursor, at_most=2).skip_message  # and begins anew


def test_a_lost_cursor_loses_nothing(tick: Tick, many: None, store: ReceiptStore) -> None:
    for cursor in (None, "", "not a cursor", "5", "{}"):
        assert tick(cursor).skip_message
    assert len(store.search(TASK, Status.INTERRUPTED)) == 3


def test_only_the_tasks_that_are_named_are_looked_after(
    tick: Tick, dies: Dies, store: ReceiptStore
) -> None:
    dies()
    tick(tasks=["pay/monthly/send"])
    assert end_of(store).status is Status.RUNNING
    tick(tasks="pay/*/send")
    assert end_of(store).status is Status.RUNNING
    tick(tasks=["pay/monthly/send", "*/*/calc"])
    assert end_of(store).status is Status.INTERRUPTED
    assert "No receipt" in tick(tasks=TASK).skip_message


def test_what_started_too_long_ago_is_left_to_people(
    tick: Tick, many: None, store: ReceiptStore
) -> None:
    assert tick(lookback=timedelta(hours=1)).skip_message == "No receipt is to be ended."
    assert len(store.search(TASK, Status.RUNNING)) == 5


def test_a_store_that_is_away_is_said_and_nothing_fails(tick: Tick, tmp_path: Path) -> None:
    away = {"receipts": ReceiptStoreResource(url=str(tmp_path / "not mounted"))}
    said = tick(resources=away)
    assert said.skip_message.startswith("UNKNOWN: ")
    assert "not mounted" in said.skip_message


@pytest.fixture
def read_only(many: None, store: ReceiptStore) -> Any:
    """The store with receipts to end, and no right to write them."""

    class Store:
        def save(self, receipt: Receipt) -> None:
            raise StoreUnavailableError(f"{receipt.run_id}: Read-only file system")

        def __getattr__(self, name: str) -> Any:
            return getattr(store, name)

    class ReadOnly(ReceiptStoreResource):
        def get_store(self) -> Any:
            return Store()

    return {"receipts": ReadOnly()}


def test_a_store_that_cannot_be_written_is_said_with_the_receipts_it_concerns(
    tick: Tick, read_only: Any, store: ReceiptStore
) -> None:
    said = tick(resources=read_only)
    assert f"UNKNOWN: {TASK} r2 cannot be ended: r2: Read-only" in said.skip_message
    assert "r4" in said.skip_message
    assert len(store.search(TASK, Status.RUNNING)) == 5
    tick()
    assert len(store.search(TASK, Status.RUNNING)) == 2


def test_a_receipt_that_cannot_be_read_is_said_and_keeps_no_other_from_its_end(
    tick: Tick, dies: Dies, store: ReceiptStore, url: str
) -> None:
    dies()
    bad = Path(url) / TASK / "damaged.json"
    bad.write_text("{")
    said = tick()
    assert "damaged.json" in said.skip_message
    assert [each.status for each in store.list_runs(TASK)] == [Status.INTERRUPTED]


def test_wrong_arguments_are_errors_of_the_code() -> None:
    with pytest.raises(ConfigError, match="at_most"):
        build_reconcile_sensor("ended", at_most=0)
    with pytest.raises(ConfigError, match="task"):
        build_reconcile_sensor("ended", tasks=["pay"])
