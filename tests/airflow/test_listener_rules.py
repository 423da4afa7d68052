"""Which receipt task a task has, and what names it."""

from __future__ import annotations

import json
from datetime import date
from typing import Any

import pytest
from airflow.models.taskinstancekey import TaskInstanceKey
from airflow.providers.standard.operators.bash import BashOperator
from airflow.sdk import DAG, Param, task
from airflow.serialization.serialized_objects import DagSerialization
from hypothesis import given
from hypothesis import strategies as st

from tests.airflow.conftest import CALC
from ubunye_airflow import MissedWindowsOperator, receipts
from ubunye_airflow.listener.plugin import ReceiptListenerPlugin
from ubunye_airflow.listener.rules import PARAM, Named, RefusedError, by_rule, named
from ubunye_airflow.mixins import ReceiptMixin
from ubunye_airflow.page import PREFIX
from ubunye_core import ConfigError, Receipt, Status
from ubunye_core.testing import at

MONTH = {"month": "{{ dag_run.conf['month'] }}"}
RULE = "airflow/{dag_id}/{task_id}"


def configure(monkeypatch: pytest.MonkeyPatch, **options: Any) -> None:
    for name, value in options.items():
        text = value if isinstance(value, str) else json.dumps(value)
        monkeypatch.setenv(f"AIRFLOW__UBUNYE_RECEIPTS__{name.upper()}", text)


def operator(**arguments: Any) -> BashOperator:
    with DAG("pay", schedule=None):
        return BashOperator(task_id="calc", bash_command="true", **arguments)


def test_without_a_word_a_task_has_no_receipt() -> None:
    assert named("pay", "calc", operator(params={"mine": 1})) is None
    assert named("pay", "calc", None) is None


def test_the_operator_names_it_before_the_mapping_and_the_mapping_before_the_rule(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    configure(monkeypatch, receipt_task_rule=RULE)
    assert named("pay", "calc", operator()) == Named(task="airflow/pay/calc", variables={})
    configure(monkeypatch, receipt_tasks={"pay/calc": CALC, "pay/other": None})
    configure(monkeypatch, receipt_variables=MONTH)
    assert named("pay", "calc", operator()) == Named(task=CALC, variables=MONTH)
    assert named("pay", "other", operator()) is None
    given_here = operator(params={**receipts("pay/monthly/send", {"day": "1"}), "mine": 1})
    assert named("pay", "calc", given_here) == Named(
        task="pay/monthly/send", variables={"day": "1"}
    )


def test_a_mapping_may_give_variables_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = {"task": CALC, "variables": {"day": "{{ ds }}"}}
    configure(monkeypatch, receipt_tasks={"pay/calc": whole}, receipt_variables=MONTH)
    assert named("pay", "calc", None) == Named(task=CALC, variables={"day": "{{ ds }}"})


class RecordedBash(ReceiptMixin, BashOperator):
    pass


def test_a_task_that_records_itself_is_known_as_written_and_as_airflow_keeps_it() -> None:
    with DAG("itself", schedule="@daily") as dag:

        @task.receipt(receipt_task=CALC, variables=MONTH, store="file:///srv/receipts")
        def calc(country: str) -> None:
            pass

        calc("ZA")
        calc.override(task_id="mapped").expand(country=["ZA", "ID"])
        RecordedBash(
            task_id="bash",
            bash_command="true",
            receipt_task=CALC,
            receipt_variables=MONTH,
            receipt_store="file:///srv/receipts",
        )
        MissedWindowsOperator(task_id="missed", receipt_task=CALC)
    kept = DagSerialization.from_dict(DagSerialization.to_dict(dag))
    expected = Named(task=CALC, variables=MONTH, records_itself=True, store="file:///srv/receipts")
    for of in (dag, kept):
        for task_id in ("calc", "mapped", "bash"):
            assert named("itself", task_id, of.get_task(task_id)) == expected
        assert named("itself", "missed", of.get_task("missed")) is None


def test_what_receipts_declares_is_known_as_airflow_keeps_it_also_of_a_mapped_task() -> None:
    with DAG("kept", schedule=None) as dag:
        BashOperator(task_id="calc", bash_command="true", params=receipts(CALC, MONTH))
        mapped = BashOperator.partial(task_id="mapped", params=receipts(CALC, MONTH))
        mapped.expand(bash_command=["true", "false"])
    kept = DagSerialization.from_dict(DagSerialization.to_dict(dag))
    for of in (dag, kept):
        for task_id in ("calc", "mapped"):
            found = named("kept", task_id, of.get_task(task_id))
            assert found == Named(task=CALC, variables=MONTH)


def test_a_task_that_the_listener_records_has_a_button_and_no_other_has(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with DAG("kept", schedule=None) as dag:
        BashOperator(task_id="calc", bash_command="true", params=receipts(CALC))
        BashOperator(task_id="without", bash_command="true")
        BashOperator(task_id="odd", bash_command="true", params={PARAM: CALC})
    kept = DagSerialization.from_dict(DagSerialization.to_dict(dag))
    assert ReceiptListenerPlugin().global_operator_extra_links == []
    configure(monkeypatch, listener="True", receipt_tasks={"kept/other": "pay/monthly/other"})
    (link,) = ReceiptListenerPlugin().global_operator_extra_links

    def leads_to(task_id: str) -> str:
        key = TaskInstanceKey("kept", task_id, "manual__1", 2, -1)
        return link.get_link(kept.get_task(task_id), ti_key=key)

    path, _, query = leads_to("calc").partition("?")
    assert path.endswith(f"{PREFIX}/task/{CALC}/attempt")
    assert "id.task_id=calc" in query
    assert "attempt=2" in query
    assert (leads_to("without"), leads_to("odd")) == ("", "")
    configure(monkeypatch, receipt_task_rule=RULE)
    assert "/task/airflow/kept/without/attempt?" in leads_to("without")


def test_what_the_conf_of_a_run_says_cannot_change_the_name() -> None:
    from airflow.sdk.definitions.param import process_params
    from airflow.sdk.exceptions import ParamValidationError

    calc = operator(params=receipts(CALC, MONTH))
    conf = {PARAM: {"task": "pay/monthly/send", "variables": {}}}
    with pytest.raises(ParamValidationError, match=PARAM):
        process_params(calc.dag, calc, conf, suppress_exception=False)
    assert named("pay", "calc", calc) == Named(task=CALC, variables=MONTH)


def test_params_that_receipts_did_not_make_and_those_of_a_dag_are_refused() -> None:
    for params in ({PARAM: CALC}, {PARAM: Param({"task": CALC})}):
        with pytest.raises(RefusedError, match="receipts"):
            named("pay", "calc", operator(params=params))
    with DAG("shared", schedule=None, params=receipts(CALC)):
        calc = BashOperator(task_id="calc", bash_command="true")
    with pytest.raises(RefusedError, match="all its tasks"):
        named("shared", "calc", calc)


@pytest.mark.parametrize("wrong", ["pay/calc", "pay/*/calc", "{{ task }}", "", 3, None])
def test_receipts_refuses_what_names_no_task_when_the_dag_is_read(wrong: Any) -> None:
    with pytest.raises(ConfigError):
        receipts(wrong)


def test_receipts_takes_dates_and_refuses_what_is_no_single_value() -> None:
    declared = receipts(CALC, {"day": date(2026, 10, 1), "n": 3})[PARAM].value
    assert declared == {"task": CALC, "variables": {"day": "2026-10-01", "n": 3}}
    for wrong in ({"month": ["2026-10"]}, {"": "x"}, ["month"]):
        with pytest.raises(ConfigError):
            receipts(CALC, wrong)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("options", "why"),
    [
        ({"receipt_tasks": "{"}, "no JSON"),
        ({"receipt_tasks": "[]"}, "no JSON object"),
        ({"receipt_tasks": {"pay.calc": CALC}}, "'dag_id/task_id'"),
        ({"receipt_tasks": {"pay/calc": 3}}, "names no receipt task"),
        ({"receipt_tasks": {"pay/calc": {"task": CALC, "variables": "month"}}}, "no map"),
        ({"receipt_tasks": {"pay/calc": CALC}, "receipt_variables": "month"}, "no JSON"),
        ({"receipt_task_rule": "airflow/all/tasks"}, "each once"),
        ({"receipt_task_rule": "airflow/{dag_id}/all"}, "each once"),
        ({"receipt_task_rule": "{dag_id}/{dag_id}/{task_id}"}, "each once"),
        ({"receipt_task_rule": "airflow/{dag_id}/{task_id}{run_id}"}, "each once"),
        ({"receipt_task_rule": "airflow/{dag_id/x"}, "receipt_task_rule is"),
        ({"receipt_task_rule": "airflow/all/{dag_id}.{task_id}"}, "Put '/' between"),
        ({"receipt_task_rule": "airflow/{{/{task_id}{dag_id}/all"}, "Put '/' between"),
        ({"receipt_task_rule": "airflow/{dag_id}/{task_id:.3}"}, "whole"),
        ({"receipt_task_rule": "airflow/{dag_id!r}/{task_id}"}, "whole"),
        ({"receipt_task_rule": f"{'a' * 120}/{{dag_id}}/{{task_id}}"}, "too long"),
    ],
)
def test_what_cannot_be_understood_is_refused_by_name(
    options: dict[str, Any], why: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    configure(monkeypatch, **options)
    with pytest.raises(RefusedError, match=why):
        named("pay", "calc", None)


AIRFLOW_IDS = st.text(st.sampled_from("ab.-_é0"), min_size=1, max_size=90)


@given(first=st.tuples(AIRFLOW_IDS, AIRFLOW_IDS), second=st.tuples(AIRFLOW_IDS, AIRFLOW_IDS))
def test_a_rule_makes_a_name_of_every_id_and_two_of_two(
    first: tuple[str, str], second: tuple[str, str]
) -> None:
    names = [by_rule(RULE, *ids) for ids in (first, second)]
    for name in names:
        Receipt(task=name, run_id="r", status=Status.SKIPPED, started_at=at(0))
    assert (names[0] == names[1]) is (first == second)


def test_an_id_that_fits_is_kept_and_one_that_does_not_ends_with_a_part_of_its_hash() -> None:
    assert by_rule(RULE, "pay.v2", "group.calc-1") == "airflow/pay.v2/group.calc-1"
    assert by_rule(RULE, "zahlung_für", "calc") == "airflow/zahlung_f_r-b1369cc7/calc"
    long = by_rule(RULE, "d" * 250, "t" * 250)
    assert len(long) <= 128
    assert by_rule(RULE, "d" * 100, "calc") == f"airflow/{'d' * 100}/calc"
