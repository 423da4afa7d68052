"""A sensor ends the receipts of runs that died without a word."""

# Fixtures are asked for by their names.
# ruff: noqa: F401, F811
from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import dagster as dg
import pytest

from tests.dagster.reconciling import (
    TASK,
    Deleted,
    Dies,
    Tick,
    dead,
    deleted,
    dies,
    end_of,
    tick,
)
from ubunye_core import (
    Orchestrator,
    Receipt,
    ReceiptStore,
    Status,
    Verdict,
    job_health,
    record_run,
)
from ubunye_dagster import ReceiptStoreResource, partition_key, recorded
from ubunye_dagster.compat.runs import Ended, instance_id
from ubunye_dagster.sensors import reconcile


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


@pytest.mark.parametrize(("told", "ends"), [(-5, 1), (2, 2), (9, 3), (None, 1)], ids=str)
def test_an_end_is_never_before_the_last_sign_of_life_nor_in_the_future(
    told: int | None, ends: int
) -> None:
    """A receipt from the future is believed by nobody, and clocks differ."""
    start = datetime(2024, 10, 9, 6, tzinfo=UTC)

    def after(minutes: int) -> datetime:
        return start + timedelta(minutes=minutes)

    running = Receipt(
        task=TASK, run_id="r1", status=Status.RUNNING, started_at=start, heartbeat_at=after(1)
    )
    said = Ended("it is over", None if told is None else after(told))
    ended = reconcile._interrupted(running, said, now=after(3))
    assert ended.ended_at == after(ends)
    assert ended.duration_sec == 60 * ends


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


def test_a_run_that_was_deleted_is_ended_once_it_is_silent(
    tick: Tick, deleted: Deleted, store: ReceiptStore
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
    tick: Tick, deleted: Deleted, store: ReceiptStore
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
    assert scheduler.ids["instance"] == instance_id(instance)
    with dg.DagsterInstance.ephemeral() as another:
        assert instance_id(another) != instance_id(instance)


def test_what_did_not_run_in_dagster_is_left_alone(
    tick: Tick, put: Any, store: ReceiptStore
) -> None:
    put("running", started_at=datetime.now(UTC) - timedelta(days=1))
    airflow = Orchestrator(name="airflow", ids={"run_id": "manual__2024"})
    with record_run("pay/monthly/send", store=store, orchestrator=airflow):
        assert tick().skip_message == "No receipt is to be ended."
    assert end_of(store).status is Status.RUNNING
