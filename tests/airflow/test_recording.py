"""A task's own receipt: written inside the task, whatever way the task ends."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG, BaseOperator, task
from airflow.sdk.exceptions import (
    AirflowException,
    AirflowFailException,
    AirflowRescheduleException,
    AirflowSensorTimeout,
    AirflowSkipException,
    AirflowTaskTerminated,
    AirflowTaskTimeout,
    DownstreamTasksSkipped,
    TaskDeferred,
)
from airflow.sdk.timezone import utcnow

from tests.airflow.conftest import CALC, RunDag, TellingSensor, a_receipt
from ubunye_airflow import ReceiptStoreHook, UpstreamReceiptSensor, record_airflow_run
from ubunye_airflow.recording import how_it_ended
from ubunye_airflow.triggers import UpstreamReceiptTrigger
from ubunye_core import ConfigError, Receipt, ReceiptStore, Run, Status

SEND = "pay/monthly/send"
MONTH = {"month": "{{ dag_run.conf['month'] }}"}
CONF = {"month": "2026-10"}


def the_receipt(store: ReceiptStore, name: str = SEND) -> Receipt:
    found = store.list_runs(name)
    assert len(found) == 1
    assert not found.unreadable
    return found[0]


def test_the_receipt_of_a_task_says_what_ran_and_who_started_it(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    conf = {
        **CONF,
        "reason": "the bank was late",
        "window": {"start": "2026-10-01T00:00:00Z", "end": "2026-11-01T00:00:00Z"},
    }
    with DAG("whole", schedule=None) as dag:

        @task.receipt(receipt_task=SEND, variables=MONTH, store=store_url, retries=2)
        def send(bank: str, run: Run) -> str:
            run.count(loaded=3)
            return f"{bank} {run.variables['month']}"

        send(bank="first")
    ended = run_dag(dag, conf)
    assert (ended.states, ended.returned) == ({"send": "success"}, {"send": "first 2026-10"})
    found = the_receipt(store)
    assert (found.status, dict(found.variables)) == (Status.SUCCESS, CONF)
    assert found.orchestrator is not None
    assert found.orchestrator.name == "airflow"
    ids = found.orchestrator.ids
    assert (ids["dag_id"], ids["task_id"], ids["map_index"]) == ("whole", "send", "-1")
    assert (found.orchestrator.attempt, found.orchestrator.max_attempts) == (1, 3)
    assert "/dags/whole/runs/" in (found.orchestrator.url or "")
    assert found.triggered_by is not None
    assert (found.triggered_by.kind, found.triggered_by.actor) == ("manual", "dag_test")
    assert (found.triggered_by.asserted_by, found.triggered_by.reason) == (
        "airflow",
        "the bank was late",
    )
    assert found.window is not None
    assert found.window.end - found.window.start == timedelta(days=31)
    assert found.counts is not None
    assert found.counts.loaded == 3
    assert (found.code_hash or "").startswith("sha256:")


def test_the_success_is_on_record_before_airflow_hears_of_it(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    seen = []
    with DAG("before", schedule=None) as dag:

        @task.receipt(
            receipt_task=SEND,
            store=store_url,
            post_execute=lambda context, result: seen.append(
                (the_receipt(store).status, context["ti"].state.value)
            ),
        )
        def send() -> None:
            seen.append(the_receipt(store).status)

        send()
    run_dag(dag)
    assert seen == [Status.RUNNING, (Status.SUCCESS, "running")]


def test_every_try_leaves_a_receipt_and_a_failed_one_says_that_tries_are_left(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    with DAG("tries", schedule=None) as dag:

        @task.receipt(receipt_task=SEND, store=store_url, retries=1, retry_delay=timedelta(0))
        def send(ti: Any = None) -> None:
            if ti.try_number == 1:
                raise ValueError("no people")

        send()
    assert run_dag(dag).states == {"send": "success"}
    second, first = store.list_runs(SEND)
    assert (first.status, first.error) == (Status.ERROR, "ValueError: no people")
    assert first.has_tries_left
    assert (second.status, second.orchestrator and second.orchestrator.attempt) == ("success", 2)
    assert first.orchestrator is not None
    assert second.orchestrator is not None
    assert first.orchestrator.scheduled_run == second.orchestrator.scheduled_run


@pytest.mark.parametrize("error", [AirflowFailException, AirflowSensorTimeout])
def test_what_airflow_will_not_retry_has_no_tries_left(
    error: type[Exception], store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    with DAG(f"gives_up_{error.__name__}", schedule=None) as dag:

        @task.receipt(receipt_task=SEND, store=store_url, retries=3)
        def send() -> None:
            raise error("never mind")

        send()
    assert run_dag(dag).states == {"send": "failed"}
    found = the_receipt(store)
    assert (found.status, found.has_tries_left) == (Status.ERROR, False)


@pytest.mark.parametrize("by", ["raising", "telling the run"])
def test_a_skip_is_a_skip_for_airflow_and_on_record(
    by: str, store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    with DAG(f"skip_{by[:7]}".strip(), schedule=None) as dag:

        @task.receipt(receipt_task=SEND, store=store_url)
        def send(run: Run) -> None:
            if by == "raising":
                raise AirflowSkipException("nobody to pay")
            run.skip("nobody to pay")

        send()
    assert run_dag(dag).states == {"send": "skipped"}
    found = the_receipt(store)
    assert found.status is Status.SKIPPED
    assert "nobody to pay" in (found.error or "")


def test_a_refusal_inside_the_task_is_on_record_as_refused(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    store.save(a_receipt(month="2026-09"))
    with DAG("guarded", schedule=None) as dag:

        @task.receipt(receipt_task=SEND, variables=MONTH, store=store_url)
        def send(run: Run) -> None:
            run.require(CALC)
            raise AssertionError("it must not come here")

        send()
    assert run_dag(dag, CONF).states == {"send": "failed"}
    found = the_receipt(store)
    assert (found.status, found.outcome) == (Status.SKIPPED, "refused")
    assert "has not succeeded for month=2026-10" in (found.error or "")


class Patient(BaseOperator):
    """Pauses once, and is resumed by Airflow: by a trigger, or by being started again."""

    def __init__(self, *, url: str, how: str, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.url, self.how = url, how
        self.paused = False

    def execute(self, context: Any) -> None:
        with record_airflow_run(SEND, store=self.url, context=context) as run:
            run.count(extracted=5)
            if self.how == "defer":
                trigger = UpstreamReceiptTrigger(
                    requires=[{"task": CALC, "variables": []}],
                    variables={},
                    store=self.url,
                    store_conn_id=None,
                    since=utcnow().isoformat(),
                    poll=1,
                )
                self.defer(trigger=trigger, method_name="resumed")
            if not PAUSED:
                PAUSED.append(1)
                raise AirflowRescheduleException(utcnow() + timedelta(seconds=0.1))

    def resumed(self, context: Any, event: Any = None) -> None:
        with record_airflow_run(SEND, store=self.url, context=context) as run:
            run.count(loaded=5)


PAUSED: list[int] = []


@pytest.mark.parametrize("how", ["defer", "reschedule"])
def test_a_task_that_pauses_goes_on_with_its_receipt_and_keeps_its_start(
    how: str, store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    PAUSED.clear()
    store.save(a_receipt())
    starts = []

    def note(context: Any, result: Any = None) -> None:
        starts.extend(receipt.started_at for receipt in store.list_runs(SEND))

    with DAG(f"pauses_{how}", schedule=None) as dag:
        Patient(task_id="send", url=store_url, how=how, pre_execute=note, post_execute=note)
    assert run_dag(dag).states == {"send": "success"}
    found = the_receipt(store)
    assert (found.status, found.error) == (Status.SUCCESS, None)
    assert set(starts) == {found.started_at}
    assert found.counts is not None
    assert found.counts.extracted == 5


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (AirflowSkipException("x"), Status.SKIPPED),
        (TaskDeferred(trigger=None, method_name="m"), Status.RUNNING),
        (AirflowRescheduleException(utcnow()), Status.RUNNING),
        (AirflowTaskTerminated("x"), Status.INTERRUPTED),
        (AirflowTaskTimeout("x"), Status.ERROR),
        (DownstreamTasksSkipped(tasks=["a"]), Status.SUCCESS),
        (AirflowException("x"), None),
        (ValueError("x"), None),
        (KeyboardInterrupt(), None),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_a_task_raises_means_what_airflow_makes_of_it(
    error: BaseException, status: Status | None
) -> None:
    assert how_it_ended(error) is status


def test_a_store_that_cannot_be_written_does_not_break_the_task(
    tmp_path: Path, run_dag: RunDag
) -> None:
    (tmp_path / "file").write_text("not a folder")
    with DAG("unwritable", schedule=None) as dag:

        @task.receipt(receipt_task=SEND, store=str(tmp_path / "file" / "receipts"))
        def send() -> str:
            return "paid"

        send()
    ended = run_dag(dag)
    assert (ended.states, ended.returned) == ({"send": "success"}, {"send": "paid"})


def test_a_connection_that_cannot_be_looked_up_now_does_not_break_the_task(
    run_dag: RunDag, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(conn_id: str) -> None:
        raise RuntimeError("the secrets backend is away")

    monkeypatch.setattr(ReceiptStoreHook, "get_connection", away)
    with DAG("no_connection", schedule=None) as dag:

        @task.receipt(receipt_task=SEND, store_conn_id="mine")
        def send(run: Run) -> str:
            run.count(loaded=1)
            return "paid"

        send()
    assert run_dag(dag).states == {"send": "success"}
    assert "no gate or health check will see it" in caplog.text


def test_a_store_that_nobody_names_is_an_error(run_dag: RunDag) -> None:
    ran = []
    with DAG("nameless", schedule=None) as dag:

        @task.receipt(receipt_task=SEND)
        def send() -> None:
            ran.append(1)

        send()
    assert (run_dag(dag).states, ran) == ({"send": "failed"}, [])


def test_what_is_empty_is_left_out_and_secrets_are_masked(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    with DAG("empty_and_secret", schedule=None) as dag:
        variables = {
            "month": "{{ dag_run.conf.get('month', '') }}",
            "none": None,
            "unset": "{{ dag_run.conf.get('region') }}",
            "bank_token": "hunter2",
            "full": True,
        }

        @task.receipt(receipt_task=SEND, variables=variables, store=store_url)
        def send() -> None: ...

        send()
    assert run_dag(dag, {}).states == {"send": "success"}
    assert dict(the_receipt(store).variables) == {"bank_token": "***", "full": "true"}


def test_what_opened_the_gates_upstream_is_pinned(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    for month in ("2026-08", "2026-09"):
        store.save(a_receipt(f"calc-{month}", month=month))
    store.save(a_receipt("tax-1", task="pay/monthly/tax", month="2026-09"))
    with DAG("pins", schedule=None) as dag:
        one = TellingSensor(
            task_id="one",
            required_task="pay/monthly/tax",
            variables={"month": "2026-09"},
            store=store_url,
        )
        several = UpstreamReceiptSensor.partial(
            task_id="several", required_task=CALC, store=store_url
        ).expand(variables=[{"month": "2026-08"}, {"month": "2026-09"}])

        @task.receipt(receipt_task=SEND, store=store_url)
        def send() -> None: ...

        [one, several] >> send()
    assert run_dag(dag).state == "success"
    pins = {(pin.task, pin.run_id) for pin in the_receipt(store).upstreams}
    assert pins == {
        ("pay/monthly/tax", "tax-1"),
        (CALC, "calc-2026-08"),
        (CALC, "calc-2026-09"),
    }


def test_mapped_tasks_leave_a_receipt_each(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    with DAG("mapped", schedule=None) as dag:

        @task.receipt(receipt_task=SEND, store=store_url)
        def send(bank: str, run: Run) -> None: ...

        send.expand(bank=["a", "b"])
    assert run_dag(dag).state == "success"
    found = store.list_runs(SEND)
    assert {each.orchestrator.ids["map_index"] for each in found if each.orchestrator} == {"0", "1"}


def test_a_coroutine_is_recorded_to_its_end(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    import asyncio

    with DAG("async", schedule=None) as dag:

        @task.receipt(receipt_task=SEND, store=store_url)
        async def send(run: Run) -> None:
            await asyncio.sleep(0.05)
            run.count(loaded=1)

        send()
    assert run_dag(dag).state == "success"
    found = the_receipt(store)
    assert found.counts is not None
    assert (found.status, found.counts.loaded) == (Status.SUCCESS, 1)


def test_any_task_can_record_a_part_of_itself(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    with DAG("plain", schedule=None) as dag:

        @task
        def send(dag_run: Any = None) -> None:
            variables = {"month": dag_run.conf["month"]}
            with record_airflow_run(SEND, variables=variables, store=store_url) as run:
                run.count(loaded=1)

        send()
    assert run_dag(dag, CONF).state == "success"
    found = the_receipt(store)
    assert (found.status, dict(found.variables)) == (Status.SUCCESS, CONF)
    assert found.code_hash is not None


def test_outside_of_airflow_there_is_nothing_to_record() -> None:
    with pytest.raises(ConfigError, match="no Airflow task running"):
        record_airflow_run(SEND, store="memory://x")


@pytest.mark.parametrize("name", ["send", "pay/*/send", "a/b/c/d", "../x/y"])
def test_a_name_that_is_no_task_is_an_error_of_the_dag(name: str) -> None:
    with DAG("wrong_name", schedule=None):

        @task.receipt(receipt_task=name)
        def send() -> None: ...

        with pytest.raises(ConfigError):
            send()


def test_an_argument_in_the_place_of_the_run_is_an_error_of_the_dag() -> None:
    with DAG("wrong_place", schedule=None):

        @task.receipt(receipt_task=SEND)
        def send(run: Run, bank: str) -> None: ...

        with pytest.raises(ConfigError, match="Put it last"):
            send("first")
