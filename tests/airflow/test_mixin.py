"""Any operator as one that is recorded: also one that defers, fails, or is one's own."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.standard.operators.bash import BashOperator
from airflow.providers.standard.triggers.temporal import TimeDeltaTrigger
from airflow.sdk import DAG, BaseOperator

from tests.airflow.conftest import CALC, RunDag, a_receipt
from ubunye_airflow import ReceiptMixin
from ubunye_airflow.compat import BaseHook, hide, known_secrets_in
from ubunye_airflow.links import ReceiptLink
from ubunye_core import ConfigError, Receipt, ReceiptStore, Status
from ubunye_core.masking import without_secrets

SEND = "pay/monthly/send"
MONTH = {"month": "{{ dag_run.conf['month'] }}"}
CONF = {"month": "2026-10"}


class RecordedBash(ReceiptMixin, BashOperator):
    pass


class Load(BaseOperator):
    """An operator of one's own, which notes what it does where it is recorded."""

    receipt_run = None

    def execute(self, context: Any) -> str:
        if self.receipt_run is None:
            return "not recorded"
        self.receipt_run.count(loaded=17)
        return self.receipt_run.variables["month"]


class RecordedLoad(ReceiptMixin, Load):
    pass


class Deferring(BaseOperator):
    def execute(self, context: Any) -> None:
        self.defer(trigger=TimeDeltaTrigger(timedelta(0)), method_name="go_on")

    def go_on(self, context: Any, event: Any) -> str:
        return "gone on"


class RecordedDeferring(ReceiptMixin, Deferring):
    pass


def only(store: ReceiptStore, task: str = SEND) -> Receipt:
    (found,) = store.list_runs(task)
    return found


def test_an_operator_of_a_provider_leaves_a_receipt(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    with DAG("bash", schedule=None) as dag:
        RecordedBash(
            task_id="send",
            bash_command="echo {{ dag_run.conf['month'] }}",
            receipt_task=SEND,
            receipt_variables=MONTH,
            receipt_store=store_url,
        )
    ended = run_dag(dag, CONF)
    assert (ended.states, ended.returned) == ({"send": "success"}, {"send": "2026-10"})
    found = only(store)
    assert (found.status, dict(found.variables)) == (Status.SUCCESS, CONF)
    assert found.orchestrator is not None
    assert found.orchestrator.ids["task_id"] == "send"
    assert (found.code_hash or "").startswith("sha256:")


def test_each_try_of_a_command_that_fails_is_on_record(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    with DAG("failing", schedule=None) as dag:
        RecordedBash(
            task_id="send",
            bash_command="exit 3",
            retries=1,
            retry_delay=timedelta(0),
            receipt_task=SEND,
            receipt_store=store_url,
        )
    assert run_dag(dag).states == {"send": "failed"}
    second, first = store.list_runs(SEND)
    assert [first.status, second.status] == [Status.ERROR, Status.ERROR]
    assert (first.has_tries_left, second.has_tries_left) == (True, False)


class LoggingIn(BaseOperator):
    def execute(self, context: Any) -> None:
        password = BaseHook.get_connection("bank").password
        raise ValueError(f"nobody is let in by {password}, not even twice: {password}")


class RecordedLoggingIn(ReceiptMixin, LoggingIn):
    pass


def test_what_airflow_hides_in_logs_is_in_no_receipt(
    store: ReceiptStore, store_url: str, run_dag: RunDag, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_BANK", '{"conn_type": "http", "password": "geheim (78)"}')
    hide(["geheim (78)"])  # by the time a DAG run begins, another task has asked for it
    with DAG("hidden", schedule=None) as dag:
        RecordedLoggingIn(task_id="send", receipt_task=SEND, receipt_store=store_url)
    run_dag(dag, {"reason": "as geheim (78) is new"})
    found = only(store)
    assert found.error == "ValueError: nobody is let in by ***, not even twice: ***"
    assert found.triggered_by is not None
    assert found.triggered_by.reason == "as *** is new"


@pytest.mark.parametrize(
    "text",
    ["", "nothing", "geheim (78)", "*** geheim (78)", "geheim (78)geheim (78)", "a geheim (78)\ng"],
)
def test_the_secrets_in_a_text_are_found(text: str) -> None:
    hide(["geheim (78)"])
    masked = text.replace("geheim (78)" * 2, "***").replace("geheim (78)", "***")
    assert without_secrets(text, known_secrets_in(text)) == masked


def test_an_operator_of_ones_own_notes_what_it_does(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    with DAG("own", schedule=None) as dag:
        RecordedLoad(
            task_id="send", receipt_task=SEND, receipt_variables=MONTH, receipt_store=store_url
        )
        Load(task_id="bare")
    assert run_dag(dag, CONF).returned == {"send": "2026-10", "bare": "not recorded"}
    counts = only(store).counts
    assert counts is not None
    assert counts.loaded == 17


def test_an_operator_that_defers_leaves_one_receipt_from_its_first_start_to_its_end(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    with DAG("deferring", schedule=None) as dag:
        RecordedDeferring(task_id="send", receipt_task=SEND, receipt_store=store_url)
    assert run_dag(dag).returned == {"send": "gone on"}
    assert only(store).status is Status.SUCCESS


def test_a_guard_keeps_a_finished_batch_from_being_run_again(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    store.save(a_receipt(task=SEND))
    for again, state in (("", "failed"), ("true", "success")):
        with DAG(f"guarded{again}", schedule=None) as dag:
            RecordedLoad(
                task_id="send",
                receipt_task=SEND,
                receipt_variables=MONTH,
                receipt_store=store_url,
                receipt_guard=True,
                receipt_rerun="{{ dag_run.conf.get('again', '') }}",
            )
        assert run_dag(dag, {**CONF, "again": again}).states == {"send": state}
    again, refused, _ = store.list_runs(SEND)
    assert (again.status, refused.outcome) == (Status.SUCCESS, "refused")


def test_a_mapped_operator_leaves_a_receipt_of_each_of_its_runs(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    with DAG("mapped", schedule=None) as dag:
        RecordedBash.partial(task_id="send", receipt_task=SEND, receipt_store=store_url).expand(
            bash_command=["true", "true"]
        )
    run_dag(dag)
    ids = [found.orchestrator.ids["map_index"] for found in store.list_runs(SEND)]  # type: ignore[union-attr]
    assert sorted(ids) == ["0", "1"]


def test_its_arguments_are_templates_beside_those_of_the_operator() -> None:
    assert set(BashOperator.template_fields) < set(RecordedBash.template_fields)
    assert {"receipt_task", "receipt_variables", "receipt_store"} < set(
        RecordedBash.template_fields
    )
    assert "receipt_task" not in BashOperator.template_fields
    assert [type(link) for link in RecordedBash.operator_extra_links] == [ReceiptLink]


def test_an_operator_that_would_run_past_the_recording_is_refused() -> None:
    with pytest.raises(TypeError, match=r"class RecordedMine\(ReceiptMixin, Mine\)"):

        class Mine(ReceiptMixin, BaseOperator):
            def execute(self, context: Any) -> None:
                pass

    with pytest.raises(TypeError, match=r"class Right\(ReceiptMixin, BashOperator\)"):

        class Right(BashOperator, ReceiptMixin):
            pass

    class Further(RecordedBash):
        def execute(self, context: Any) -> None:
            super().execute(context)


@pytest.mark.parametrize("task", ["calc", "pay/*/calc", "pay/monthly/../calc"])
def test_what_is_no_task_is_an_error_of_the_dag(task: str) -> None:
    with pytest.raises(ConfigError):
        RecordedBash(task_id="send", bash_command="true", receipt_task=task)


def test_the_code_that_is_hashed_is_that_of_the_operator_unless_told_otherwise(
    tmp_path: Path,
) -> None:
    assert RecordedLoad(task_id="a", receipt_task=CALC)._code() == Path(__file__)
    told = RecordedLoad(task_id="b", receipt_task=CALC, receipt_code=tmp_path)
    assert told._code() == tmp_path
