"""Each row of the table against Airflow's own ExternalTaskSensor, shown by both sensors."""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.standard.sensors.external_task import (
    ExternalDagFailedError,
    ExternalTaskFailedError,
    ExternalTaskSensor,
)
from airflow.sdk import DAG, task
from airflow.sdk.exceptions import AirflowFailException, AirflowSensorTimeout, TaskDeferred

from tests.airflow.conftest import CALC, RAISED, Ended, RunDag, TellingSensor, a_receipt
from ubunye_airflow import UpstreamReceiptSensor
from ubunye_core import ConfigError, ReceiptStore, open_store

pytestmark = pytest.mark.slow  # forty tasks of Airflow
PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "from-external-task-sensor.md"
TEXT = PAGE.read_text(encoding="utf-8")
BEFORE, TODAY = datetime(2024, 10, 8, tzinfo=UTC), datetime(2024, 10, 17, tzinfo=UTC)
OCTOBER, NOVEMBER = {"month": "2024-10"}, {"month": "2024-11"}
ALL = ["calc", "tax"]
_rows: dict[str, str] = {}
Test = Callable[..., None]


def row(feature: str) -> Callable[[Test], Test]:
    """The row of the table that a test shows."""

    def mark(test: Test) -> Test:
        _rows[feature] = test.__name__
        return test

    return mark


class TellingExternalTaskSensor(ExternalTaskSensor):
    """Airflow's sensor, and what it raised."""

    def execute(self, context: Any) -> Any:
        try:
            return super().execute(context)
        except Exception as error:
            RAISED[self.task_id] = error
            raise


def signature() -> dict[str, inspect.Parameter]:
    """The parameters of Airflow's sensor, less those of every sensor."""
    found = inspect.signature(ExternalTaskSensor.__init__).parameters
    return {name: each for name, each in found.items() if name not in ("self", "kwargs")}


UNDERSTOOD: dict[str, Any] = {
    "allowed_states": ["success"],
    "skipped_states": [],
    "failed_states": ["failed"],
    "check_existence": False,
    "poll_interval": 30,
    "deferrable": True,
}


@dataclass(frozen=True)
class Both:
    """How the sensors of one DAG run have ended."""

    ended: Ended

    def state(self, name: str) -> str:
        return self.ended.states[name]

    def error(self, name: str) -> type[BaseException]:
        return type(self.ended.errors[name])


def upstream(run_dag: RunDag, store: str, name: str, **how: Any) -> None:
    """Run a DAG of two tasks, which leave receipts for a month."""
    with DAG(f"table_{name}", schedule=None) as dag:
        for task_id in ALL:

            @task.receipt(
                task_id=task_id,
                receipt_task=f"{name}/monthly/{task_id}",
                variables={"month": "{{ dag_run.conf['month'] }}"},
                store=store,
            )
            def work(run: Any, dag_run: Any = None) -> None:
                if dag_run.conf.get("how") == "fails":
                    raise ValueError("no people")
                if dag_run.conf.get("how") == "skips":
                    run.skip("nobody is to be paid")

            work()
    run_dag(dag, how.pop("conf"), **how)


@pytest.fixture(scope="module")
def both(run_dag: RunDag, tmp_path_factory: pytest.TempPathFactory) -> Both:
    """What is on record, and one DAG with all the sensors that look at it."""
    from airflow import settings
    from airflow.models.dagrun import DagRun

    folder = tmp_path_factory.mktemp("receipts")
    store = folder.as_uri()
    upstream(run_dag, store, "paid", conf=OCTOBER, logical_date=BEFORE)
    upstream(run_dag, store, "dateless", conf=NOVEMBER, logical_date=None)
    upstream(run_dag, store, "failed", conf=OCTOBER | {"how": "fails"}, logical_date=TODAY)
    upstream(run_dag, store, "again", conf=OCTOBER, logical_date=TODAY)
    upstream(run_dag, store, "again", conf=OCTOBER | {"how": "fails"}, logical_date=TODAY)
    upstream(run_dag, store, "skipped", conf=OCTOBER | {"how": "skips"}, logical_date=TODAY)
    upstream(run_dag, store, "by_hand", conf=OCTOBER | {"how": "fails"}, logical_date=TODAY)
    session = settings.Session()
    session.query(DagRun).filter_by(dag_id="table_by_hand").update({"state": "success"})
    session.commit()
    open_store(store).save(a_receipt(task="shell/monthly/calc", month="2024-10"))

    with DAG("table", schedule=None) as dag:

        def theirs(name: str, dag_id: str, **options: Any) -> None:
            TellingExternalTaskSensor(
                task_id=f"their_{name}", external_dag_id=f"table_{dag_id}",
                poke_interval=0.1, timeout=0.3, **options,
            )  # fmt: skip

        def ours(name: str, required_task: str | None = None, **options: Any) -> None:
            TellingSensor(
                task_id=f"our_{name}", required_task=required_task, store=store,
                wait="0.3s", poll="0.1s", **{"variables": OCTOBER, **options},
            )  # fmt: skip

        theirs("elsewhere", "shell")
        ours("elsewhere", "shell/monthly/calc")
        theirs("same_date", "paid")
        ours("any_date", "paid/monthly/calc")
        theirs("dateless", "dateless")
        ours("dateless", "dateless/monthly/calc", variables=NOVEMBER)
        theirs("period", "paid", execution_delta=TODAY - BEFORE)
        ours(
            "period", "paid/monthly/calc",
            variables={"month": "{{ macros.ds_format(dag_run.conf['day'], '%d.%m.%Y', '%Y-%m') }}"},
        )  # fmt: skip
        theirs("periods", "paid", execution_date_fn=lambda at: [at, BEFORE])
        for name, months in {"periods": ("2024-10", "2024-12"), "met": ("2024-10",)}.items():
            requires = [{"task": "paid/monthly/calc", "variables": {"month": m}} for m in months]
            ours(name, requires=requires)
        theirs("several", "paid", external_task_ids=ALL, execution_delta=TODAY - BEFORE)
        ours("several", requires=["paid/monthly/calc", "paid/monthly/tax", "again/monthly/tax"])
        theirs("failed", "failed")
        theirs("failed_fails", "failed", failed_states=["failed"])
        ours("failed", "failed/monthly/calc")
        ours("failed_fails", "failed/monthly/calc", on_failed="fail")
        theirs("again", "again")
        ours("again", "again/monthly/calc")
        theirs("unknown", "payed", check_existence=True)
        ours("unknown", "payed/monthly/calc")
        theirs("skipped", "skipped", external_task_ids=["calc"])
        theirs("skips", "skipped", external_task_ids=["calc"], skipped_states=["skipped"])
        ours("skipped", "skipped/monthly/calc")
        ours("skips", "skipped/monthly/calc", soft_fail=True)
        theirs("skipped_dag", "skipped")
        ours("skipped_dag", "skipped/monthly/*")
        theirs("by_hand", "by_hand")
        ours("by_hand", "by_hand/monthly/calc")
        ours("old", "paid/monthly/calc", max_age="0.001s")
        theirs("soft", "failed", soft_fail=True)
        ours("soft", "failed/monthly/calc", soft_fail=True)
    return Both(run_dag(dag, {"day": "09.10.2024"}, logical_date=TODAY))


@row("where the upstream runs")
def test_a_run_elsewhere_is_seen_by_ours_only(both: Both) -> None:
    assert both.state("their_elsewhere") == "failed"
    assert both.state("our_elsewhere") == "success"


@row("which run counts")
def test_theirs_waits_for_its_own_date_and_ours_for_the_batch(both: Both) -> None:
    assert both.error("their_same_date") is AirflowSensorTimeout
    assert both.state("our_any_date") == "success"


@row("a run without a logical date")
def test_a_run_without_a_date_is_found_by_ours_only(both: Both) -> None:
    assert both.error("their_dateless") is AirflowSensorTimeout
    assert both.state("our_dateless") == "success"


@row("another period than this run's")
def test_both_can_look_at_another_period(both: Both) -> None:
    assert both.state("their_period") == "success"
    assert both.state("our_period") == "success"


@row("several periods at once")
def test_both_wait_for_every_period(both: Both) -> None:
    assert both.error("their_periods") is AirflowSensorTimeout
    assert both.error("our_periods") is AirflowSensorTimeout
    assert "2024-12" in str(both.ended.errors["our_periods"])
    assert both.state("our_met") == "success"


@row("several tasks at once")
def test_ours_waits_for_tasks_of_several_dags_at_once(both: Both) -> None:
    assert both.state("their_several") == "success"
    assert both.state("our_several") == "success"
    assert len(both.ended.returned["our_several"]["requirements"]) == 3
    assert signature()["external_dag_id"].annotation in (str, "str")


@row("the upstream has failed")
def test_a_failure_is_waited_for_or_fails(both: Both) -> None:
    assert both.error("their_failed") is AirflowSensorTimeout
    assert both.error("their_failed_fails") in (ExternalDagFailedError, ExternalTaskFailedError)
    assert both.error("our_failed") is AirflowSensorTimeout
    assert both.error("our_failed_fails") is AirflowFailException


@row("a rerun that failed after a success")
def test_a_later_failure_shuts_theirs_and_not_ours(both: Both) -> None:
    assert both.error("their_again") is AirflowSensorTimeout
    assert "does not undo that" in both.ended.returned["our_again"]["reason"]


@row("a name that nobody knows")
def test_an_unknown_name_fails_ours_at_once_and_offers_near_ones(both: Both) -> None:
    assert both.error("their_unknown") is AirflowSensorTimeout
    assert both.error("our_unknown") is AirflowFailException
    assert "paid/monthly/calc" in str(both.ended.errors["our_unknown"])


@row("a task that was skipped")
def test_a_skip_upstream_is_no_success_to_either(both: Both) -> None:
    assert both.error("their_skipped") is AirflowSensorTimeout
    assert both.state("their_skips") == "skipped"
    assert both.error("our_skipped") is AirflowFailException
    assert both.state("our_skips") == "skipped"


@row("a DAG whose tasks were all skipped")
def test_a_dag_of_skips_opens_theirs_and_not_ours(both: Both) -> None:
    assert both.state("their_skipped_dag") == "success"
    assert both.error("our_skipped_dag") is AirflowFailException


@row("a success that somebody set by hand")
def test_a_success_by_hand_opens_theirs_and_not_ours(both: Both) -> None:
    assert both.state("their_by_hand") == "success"
    assert both.error("our_by_hand") is AirflowSensorTimeout


@row("how old the success is")
def test_only_ours_asks_how_old_the_success_is(both: Both) -> None:
    assert not [name for name in signature() if "age" in name]
    assert both.error("our_old") is AirflowSensorTimeout


@row("the time is up")
def test_ours_says_what_is_missing_when_the_time_is_up(both: Both) -> None:
    assert "paid" not in str(both.ended.errors["their_same_date"])
    assert "month=2024-12" in str(both.ended.errors["our_periods"])


@row("a failure as a skip")
def test_soft_fail_makes_a_skip_of_either(both: Both) -> None:
    assert both.state("their_soft") == "skipped"
    assert both.state("our_soft") == "skipped"


@row("how it waits, unless told")
def test_theirs_holds_its_slot_and_ours_gives_it_back() -> None:
    theirs = ExternalTaskSensor(task_id="theirs", external_dag_id="d")
    ours = UpstreamReceiptSensor(task_id="ours", required_task=CALC, variables=OCTOBER)
    assert (theirs.mode, ours.mode) == ("poke", "reschedule")


@row("deferrable, and already met")
def test_a_gate_that_is_met_ends_without_the_triggerer(store: ReceiptStore, store_url: str) -> None:
    store.save(a_receipt(month="2024-10"))
    theirs = ExternalTaskSensor(task_id="theirs", external_dag_id="d", deferrable=True)
    with pytest.raises(TaskDeferred):  # whatever the other DAG did
        theirs.execute({"logical_date": TODAY})
    ours = UpstreamReceiptSensor(
        task_id="ours", required_task=CALC, variables=OCTOBER, store=store_url, deferrable=True
    )
    assert ours.execute({})["verdict"] == "PASS"


@row("what it leaves for others")
def test_ours_leaves_its_answer_and_evidence(both: Both) -> None:
    assert "their_period" not in both.ended.returned
    answer = both.ended.returned["our_period"]
    assert answer["verdict"] == "PASS"
    assert [pin["task"] for pin in answer["pins"]] == ["paid/monthly/calc"]


@row("the link in the web UI")
def test_each_has_its_link() -> None:
    assert [link.name for link in ExternalTaskSensor.operator_extra_links] == ["External DAG"]
    assert [link.name for link in UpstreamReceiptSensor.operator_extra_links] == ["Receipt"]


def test_every_row_of_the_table_has_its_test() -> None:
    assert _rows == {feature: _rows.get(feature) for feature in rows_under("Feature by feature")}


def test_every_parameter_of_airflows_sensor_is_in_the_table() -> None:
    *listed, others = rows_under("Parameter by parameter")
    assert others.startswith("those of every sensor")
    assert [name.strip("`") for name in listed] == list(signature())


@pytest.mark.parametrize("name", signature())
def test_every_parameter_is_understood_or_refused_with_what_to_write(name: str) -> None:
    how = {"task_id": "t", "required_task": CALC, "variables": OCTOBER}
    if name in UNDERSTOOD:
        UpstreamReceiptSensor(**how, **{name: UNDERSTOOD[name]})
    else:
        with pytest.raises(ConfigError, match=f"'{name}' means nothing to a gate") as caught:
            UpstreamReceiptSensor(**how, **{name: "x"})
        assert caught.value.hint


@pytest.fixture
def names(store_url: str, monkeypatch: pytest.MonkeyPatch) -> dict[str, Any]:
    """What the code of the page makes."""
    monkeypatch.setenv("UBUNYE_STORE", store_url)
    names: dict[str, Any] = {"__name__": "a_dag_file"}
    for block in re.findall(r"^```python\n(.*?)^```", TEXT, re.S | re.M):
        exec(compile(block, str(PAGE), "exec"), names)
    return names


def test_the_gate_of_the_page_waits_as_long_as_the_sensor_before(names: dict[str, Any]) -> None:
    (old,), (new,) = names["before"]().tasks, names["after"]().tasks
    assert new.required_task == "pay/monthly/calc"
    assert new.timeout == old.timeout


def test_the_batch_travels_with_the_event_of_an_asset_and_in_the_conf(
    names: dict[str, Any], run_dag: RunDag
) -> None:
    from airflow import settings
    from airflow.models.asset import AssetEvent
    from airflow.sdk.execution_time.comms import AssetEventDagRunReferenceResult
    from airflow.sdk.execution_time.context import TriggeringAssetEventsAccessor

    assert run_dag(names["pay_calc"](), OCTOBER).state == "success"
    found = settings.Session().query(AssetEvent).filter_by(source_dag_id="pay_calc")
    assert [each.extra for each in found] == [OCTOBER]

    assert run_dag(names["pay_send"](), OCTOBER).states == {"calculated": "success"}
    told = names["pay_send"]().get_task("calculated").python_callable
    event = AssetEventDagRunReferenceResult.model_construct(
        asset=names["due"], extra=OCTOBER, source_aliases=[]
    )
    events = TriggeringAssetEventsAccessor.build([event])
    assert told(events) == OCTOBER


def rows_under(heading: str) -> list[str]:
    """The first cells of the table under a heading of the page."""
    section = TEXT.split(f"## {heading}\n")[1].split("\n## ")[0]
    cells = re.findall(r"^\| (.+?) \|", section, re.MULTILINE)
    return cells[1:]
