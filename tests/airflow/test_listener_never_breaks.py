"""Whatever becomes of its receipt, a task runs and ends as without the listener."""

from __future__ import annotations

import signal
import threading
from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from airflow.listeners import hookimpl
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.operators.python import PythonOperator
from airflow.providers.standard.triggers.temporal import TimeDeltaTrigger
from airflow.sdk import DAG, BaseOperator, BaseSensorOperator, task
from airflow.sdk.listener import get_listener_manager

from tests.airflow.conftest import CALC, RunDag
from tests.airflow.test_listener import CONF, MONTH, OPTION, listener, the_receipt
from ubunye_airflow import receipts
from ubunye_airflow.listener import hooks, inside
from ubunye_core import Found, Receipt, ReceiptStore, Status

__all__ = ["listener"]
Log = pytest.LogCaptureFixture


class Remembering:
    """A store, and how each save of a receipt left it."""

    def __init__(self, store: ReceiptStore) -> None:
        self._store, self.url = store, store.url
        self.saved: list[tuple[str, timedelta | None]] = []

    def save(self, receipt: Receipt) -> None:
        self._store.save(receipt)
        self.saved.append((str(receipt.status), receipt.heartbeat_every))

    def load(self, task: str, run_id: str) -> Receipt:
        return self._store.load(task, run_id)

    def list_runs(self, task: str, n: int = 20) -> Found:
        return self._store.list_runs(task, n)

    def search(self, *args: Any, **how: Any) -> Found:
        return self._store.search(*args, **how)


class Hanging(Remembering):
    """A store whose server takes every question, and answers none for a minute."""

    def __init__(self, store: ReceiptStore) -> None:
        super().__init__(store)
        self.is_back, self.answers = threading.Event(), 0

    def save(self, receipt: Receipt) -> None:
        self.is_back.wait(60)
        self.answers += 1

    def search(self, *args: Any, **how: Any) -> Found:
        self.is_back.wait(60)
        self.answers += 1
        return Found()


def calc_dag(dag_id: str, **arguments: Any) -> DAG:
    with DAG(dag_id, schedule=None) as dag:
        BashOperator(
            task_id="calc",
            **{"bash_command": "true", "params": receipts(CALC, MONTH), **arguments},
        )
    return dag


def warnings_of(log: Log) -> list[str]:
    return [each.getMessage() for each in log.records if each.name.startswith("ubunye")]


def test_a_store_that_hangs_delays_a_task_only_so_long(
    listener: None,
    store: ReceiptStore,
    run_dag: RunDag,
    monkeypatch: pytest.MonkeyPatch,
    caplog: Log,
) -> None:
    hanging = Hanging(store)
    monkeypatch.setattr(inside, "listener_store", lambda: hanging)
    monkeypatch.setattr(inside, "background", inside.Background())
    monkeypatch.setattr(inside, "WAIT_TO_BEGIN", 0.2)
    monkeypatch.setattr(inside, "WAIT_TO_END", 0.3)
    assert run_dag(calc_dag("hangs"), CONF).state == "success"
    assert hanging.answers == 0  # the task did not wait for one
    assert [each for each in warnings_of(caplog) if "did not answer within" in each] == [
        f"The receipt of {CALC}: the receipt store did not answer within {seconds} seconds."
        for seconds in (0.2, 0.3)
    ]
    hanging.is_back.set()
    assert inside.background.drain(20)


def test_a_store_that_cannot_be_written_is_a_line_in_the_log(
    listener: None,
    run_dag: RunDag,
    monkeypatch: pytest.MonkeyPatch,
    tmp_path: Path,
    caplog: Log,
) -> None:
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setenv(f"{OPTION}STORE", (tmp_path / "file").as_uri())
    assert run_dag(calc_dag("unwritable"), CONF).state == "success"
    assert any("could not be saved" in each for each in warnings_of(caplog))


@pytest.mark.parametrize(
    ("option", "value", "why"),
    [
        ("STORE", "", "No receipt store is named for the listener"),
        ("STORE", "nosuch://place", "nosuch"),
        ("RECEIPT_TASKS", "{", "receipt_tasks is no JSON"),
    ],
)
def test_a_wrong_configuration_is_a_line_in_the_log(
    option: str,
    value: str,
    why: str,
    listener: None,
    store: ReceiptStore,
    run_dag: RunDag,
    monkeypatch: pytest.MonkeyPatch,
    caplog: Log,
) -> None:
    monkeypatch.setenv(f"{OPTION}{option}", value)
    dag = calc_dag(f"wrong_{option.lower()}_{len(value)}")
    if option != "STORE":
        dag.get_task("calc").params = {}  # the mapping is asked next
    assert run_dag(dag, CONF).state == "success"
    assert [why in each for each in warnings_of(caplog)] == [True, True]  # one for each hook
    assert not store.search()


def test_a_variable_that_cannot_be_told_is_left_out_and_one_that_is_secret_is_masked(
    listener: None, store: ReceiptStore, run_dag: RunDag, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_BANK", '{"conn_type": "http", "password": "geheim-77"}')
    variables = {
        **MONTH,
        "missing": "{{ dag_run.conf['nothing'] }}",
        "empty": "{{ dag_run.conf.get('nothing') }}",
        "bank": "via {{ conn.bank.password }}",
        "api_key": "k-1",
    }

    def fail() -> None:
        raise ValueError("nobody is let in by geheim-77")

    with DAG("masked", schedule=None) as dag:
        PythonOperator(task_id="calc", python_callable=fail, params=receipts(CALC, variables))
    run_dag(dag, CONF)
    found = the_receipt(store)
    assert found.error == "ValueError: nobody is let in by ***"
    assert dict(found.variables) == {**CONF, "bank": "***", "api_key": "***"}


def test_a_text_that_looks_like_a_number_stays_text_in_a_dag_of_native_objects(
    listener: None, store: ReceiptStore, run_dag: RunDag
) -> None:
    with DAG("native", schedule=None, render_template_as_native_obj=True) as dag:
        variables = {"version": "{{ dag_run.conf['version'] }}"}
        BashOperator(task_id="calc", bash_command="true", params=receipts(CALC, variables))
    run_dag(dag, {"version": "1.10"})
    assert dict(the_receipt(store).variables) == {"version": "1.10"}


def test_a_task_that_fails_before_it_begins_leaves_an_error(
    listener: None, store: ReceiptStore, run_dag: RunDag
) -> None:
    dag = calc_dag("before", bash_command="{{ dag_run.conf['nothing'] }}")
    assert run_dag(dag, CONF).state == "failed"
    found = the_receipt(store)
    assert (found.status, dict(found.variables)) == (Status.ERROR, CONF)
    assert (found.error or "").startswith("UndefinedError")


class Defers(BaseOperator):
    def execute(self, context: Any) -> None:
        self.defer(trigger=TimeDeltaTrigger(timedelta(0)), method_name="done")

    def done(self, context: Any, event: Any = None) -> None:
        pass


class LooksTwice(BaseSensorOperator):
    looks = 0

    def poke(self, context: Any) -> bool:
        LooksTwice.looks += 1
        return LooksTwice.looks > 1


@pytest.fixture
def remembering(
    listener: None, store: ReceiptStore, monkeypatch: pytest.MonkeyPatch
) -> Remembering:
    found = Remembering(store)
    monkeypatch.setattr(inside, "listener_store", lambda: found)
    return found


@pytest.mark.parametrize("kind", [Defers, LooksTwice])
def test_a_task_that_pauses_has_one_receipt_and_no_sign_of_life_is_due_meanwhile(
    kind: Any, remembering: Remembering, store: ReceiptStore, run_dag: RunDag
) -> None:
    LooksTwice.looks = 0
    how = {"mode": "reschedule", "poke_interval": 0.1} if kind is LooksTwice else {}
    with DAG(kind.__name__, schedule=None) as dag:
        kind(task_id="calc", params=receipts(CALC, MONTH), **how)
    assert run_dag(dag, CONF).state == "success"
    assert the_receipt(store).status is Status.SUCCESS
    due = timedelta(seconds=30)
    assert remembering.saved == [
        ("running", due),
        ("running", None),
        ("running", due),
        ("success", due),
    ]


def test_what_satisfied_the_gate_upstream_is_pinned(
    listener: None, store: ReceiptStore, run_dag: RunDag, store_url: str
) -> None:
    from tests.airflow.conftest import a_receipt
    from ubunye_airflow import UpstreamReceiptSensor

    store.save(a_receipt("r-1"))
    with DAG("gated", schedule=None) as dag:
        gate = UpstreamReceiptSensor(
            task_id="gate", required_task=CALC, variables=MONTH, store=store_url
        )

        @task(params=receipts("pay/monthly/send", MONTH))
        def send() -> None:
            pass

        gate >> send()
    assert run_dag(dag, CONF).state == "success"
    (pin,) = the_receipt(store, "pay/monthly/send").upstreams
    assert (pin.task, pin.run_id) == (CALC, "r-1")


def test_a_failure_that_airflow_does_not_explain_is_no_success(
    listener: None, store: ReceiptStore, run_dag: RunDag, monkeypatch: pytest.MonkeyPatch
) -> None:
    told = hooks.on_task_instance_failed
    unexplained = hookimpl(
        lambda previous_state, task_instance: told(previous_state, task_instance, None)
    )
    manager = get_listener_manager()
    manager.pm.unregister(hooks)
    kept = SimpleNamespace(
        on_task_instance_running=hooks.on_task_instance_running,
        on_task_instance_failed=unexplained,
    )
    manager.add_listener(kept)
    try:
        run_dag(calc_dag("unexplained", bash_command="false"), CONF)
    finally:
        manager.pm.unregister(kept)
        manager.add_listener(hooks)
    found = the_receipt(store)
    assert (found.status, found.error) == (
        Status.ERROR,
        "AirflowException: The task failed; Airflow does not say why.",
    )


class Faulty:
    """Somebody else's listener."""

    @hookimpl
    def on_task_instance_running(self, previous_state: Any, task_instance: Any) -> None:
        raise RuntimeError("a fault of somebody else's")


def test_a_success_is_on_record_though_another_listener_kept_its_start_from_us(
    listener: None, store: ReceiptStore, run_dag: RunDag
) -> None:
    faulty = Faulty()
    get_listener_manager().add_listener(faulty)  # the last to come is called first
    try:
        assert run_dag(calc_dag("kept_from_us"), CONF).state == "success"
    finally:
        get_listener_manager().pm.unregister(faulty)
    found = the_receipt(store)
    assert (found.status, dict(found.variables)) == (Status.SUCCESS, CONF)


def test_the_start_of_a_scheduler_brings_what_recording_needs_and_leaves_nothing(
    listener: None, store: ReceiptStore
) -> None:
    handler, threads = signal.getsignal(signal.SIGTERM), set(threading.enumerate())
    hooks.on_starting("a scheduler")
    assert signal.getsignal(signal.SIGTERM) is handler
    assert not {each for each in threading.enumerate() if "heartbeat" in each.name}
    assert set(threading.enumerate()) <= threads
    assert not store.search()
