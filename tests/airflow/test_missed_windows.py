"""The operator says which windows were missed, and hands on those that are to start."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from airflow.providers.standard.operators.trigger_dagrun import TriggerDagRunOperator
from airflow.sdk import DAG, CronDataIntervalTimetable, task
from airflow.sdk.exceptions import AirflowFailException

from tests.airflow.conftest import Ended, RunDag, filled_in
from ubunye_airflow import MissedWindowsOperator
from ubunye_core import ConfigError, Receipt, ReceiptStore, Schedule, Status

LOAD = "sales/daily/load"
WEEK = Schedule(
    cron="0 2 * * *",
    time_zone="Asia/Jakarta",
    window="day",  # type: ignore[arg-type]
    variable="dt",
    start="2024-10-10T00:00:00Z",
    end="2024-10-15T00:00:00Z",
)
"""Five nights of 2024, which load 10 to 14 October."""


def a_night(
    day: int, status: str = "success", run_id: str | None = None, **changes: Any
) -> Receipt:
    start = datetime(2024, 10, day, 19, tzinfo=UTC)
    ended = None if status == "running" else start + timedelta(hours=1)
    return Receipt(
        task=LOAD,
        run_id=run_id or f"r-{day}-{status}",
        status=Status(status),
        started_at=start,
        ended_at=ended,
        variables={"dt": f"2024-10-{day:02}"},
        **changes,
    )


def run_ids(ended: Ended) -> list[str]:
    return [each["trigger_run_id"] for each in ended.returned["missed"]]


def id_of(day: int, number: int = 0) -> str:
    return f"catchup__sales.daily.load__2024-10-{day}__{number}"


@pytest.fixture
def outage(store: ReceiptStore) -> None:
    """Two days loaded, one not, one failed, and one under way."""
    alive = {"heartbeat_at": datetime.now(UTC), "heartbeat_every": timedelta(hours=1)}
    for receipt in (
        a_night(10), a_night(11), a_night(13, "error", error="ValueError: the source was empty"),
        a_night(14, "running", **alive),
    ):  # fmt: skip
        store.save(receipt)


def asked(run_dag: RunDag, dag_id: str, conf: dict[str, Any] | None = None, **how: Any) -> Ended:
    with DAG(dag_id, schedule=None) as dag:
        given = {"receipt_task": LOAD, "schedule": WEEK, "since": "2024-10-01T00:00:00Z", **how}
        missed = MissedWindowsOperator(task_id="missed", **given)

        @task(trigger_rule="all_done")
        def told(answer: Any) -> Any:
            return answer

        told(missed.output["answer"])
    return run_dag(dag, conf or {})


@pytest.mark.usefixtures("outage")
def test_missed_windows_fail_the_task_after_the_whole_answer_is_pushed(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    ended = asked(run_dag, "missed_fails", store=store_url)
    assert ended.states["missed"] == "failed"
    assert "missed" not in ended.returned
    answer = ended.returned["told"]
    assert (answer["verdict"], answer["store"]) == ("PASS", store.url)
    assert [(each["name"], each["action"]) for each in answer["windows"]] == [
        ("2024-10-12", "run"), ("2024-10-13", "run"), ("2024-10-14", "skip"),
    ]  # fmt: skip
    assert "the source was empty" in answer["windows"][1]["reason"]
    assert answer["windows"][0]["end"] == "2024-10-12T17:00:00Z"
    assert not any(each["starts_now"] for each in answer["windows"])


@pytest.mark.usefixtures("outage")
def test_case_24_what_is_caught_up_is_handed_on_oldest_first_with_its_window_and_why(
    store_url: str, run_dag: RunDag
) -> None:
    ended = asked(
        run_dag,
        "missed_all",
        {"which": "all", "cap": 3},
        store=store_url,
        catchup="{{ dag_run.conf.which }}",
        cap="{{ dag_run.conf.cap }}",
    )
    assert ended.states["missed"] == "success"
    first, second = ended.returned["missed"]
    assert first == {
        "trigger_run_id": id_of(12),
        "logical_date": None,
        "conf": {
            "dt": "2024-10-12",
            "window": {
                "start": "2024-10-11T17:00:00Z",
                "end": "2024-10-12T17:00:00Z",
                "time_zone": "Asia/Jakarta",
            },
            "reason": "catch-up of 2024-10-12, which was missing",
        },
    }
    assert second["trigger_run_id"] == id_of(13, 1)
    assert second["conf"]["reason"] == "catch-up of 2024-10-13, which was failed"


@pytest.mark.parametrize(
    ("how", "handed_on", "state"),
    [
        ({"on_missed": "succeed"}, [], "success"),
        ({"catchup": "latest"}, [id_of(13, 1)], "success"),
        ({"catchup": "all", "cap": 2}, [id_of(12)], "success"),  # one is under way
        ({"catchup": "all", "include": "missing"}, [id_of(12)], "success"),
        ({"catchup": "all", "max_runs": 1}, [id_of(12)], "success"),
        ({"catchup": "all", "backfill_limit": "0"}, [], "success"),
        ({"catchup": "all", "on_missed": "fail"}, None, "failed"),
        ({"catchup": "all", "on_missed": "{{ 'fail' }}"}, None, "failed"),
        ({"on_missed": "{{ 'succeed' }}"}, [], "success"),
        ({"catchup": "all", "on_missed": "{{ 'never' }}"}, None, "failed"),
        ({"on_missed": "succeed", "catchup": "{{ 'some' }}"}, None, "failed"),
        ({"catchup": "all", "cap": "{{ 'many' }}"}, None, "failed"),
    ],
    ids=str,
)
@pytest.mark.usefixtures("outage")
def test_how_much_is_handed_on_is_for_the_author_to_say(
    how: dict[str, Any], handed_on: list[str] | None, state: str, store_url: str, run_dag: RunDag
) -> None:
    ended = asked(run_dag, "missed_how", store=store_url, **how)
    assert ended.states["missed"] == state
    assert handed_on is None or run_ids(ended) == handed_on


def test_a_task_of_which_nothing_is_missed_succeeds(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    for day in range(10, 15):
        store.save(a_night(day))
    ended = asked(run_dag, "missed_none", store=store_url)
    assert (ended.states["missed"], ended.returned["missed"]) == ("success", [])


def test_what_cannot_be_told_fails_and_hands_on_nothing(
    store_url: str, tmp_path: Path, run_dag: RunDag
) -> None:
    ended = asked(run_dag, "missed_down", store=str(tmp_path / "gone"), catchup="all")
    assert ended.states["missed"] == "failed"
    assert ended.returned["told"]["verdict"] == "UNKNOWN"
    damaged = tmp_path / "receipts" / LOAD
    damaged.mkdir(parents=True)
    (damaged / "no-time.json").write_text("{")
    ended = asked(run_dag, "missed_damaged", store=store_url, catchup="all")
    assert ended.states["missed"] == "failed"
    assert {each["action"] for each in ended.returned["told"]["windows"]} == {"blocked"}


@pytest.mark.slow
def test_case_20_planned_windows_become_dag_runs_and_none_of_them_twice(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    from airflow import settings
    from airflow.models.dagrun import DagRun

    store.save(a_night(10))
    with DAG("sales_load", schedule=None) as load:

        @task.receipt(receipt_task=LOAD, store=store_url, variables={"dt": "{{ dag_run.conf.dt }}"})
        def loaded(run: Any) -> None:
            run.count(loaded=1)

        loaded()
    run_dag(load, {"dt": "2024-10-11"})

    def triggered(dag_id: str, trigger_dag_id: str | None = "sales_load") -> Ended:
        with DAG(dag_id, schedule=None) as dag:
            missed = MissedWindowsOperator(
                task_id="missed", receipt_task=LOAD, schedule=WEEK, since="2024-10-01T00:00:00Z",
                catchup="all", cap=2, store=store_url, trigger_dag_id=trigger_dag_id,
            )  # fmt: skip
            TriggerDagRunOperator.partial(
                task_id="catch_up", trigger_dag_id="sales_load", skip_when_already_exists=True
            ).expand_kwargs(missed.output)
        return run_dag(dag, {})

    def runs() -> dict[str, DagRun]:
        found = settings.Session().query(DagRun).filter_by(dag_id="sales_load")
        return {each.run_id: each for each in found if each.run_id.startswith("catchup__")}

    first = triggered("catching_up")
    assert first.states == {"missed": "success", "catch_up[0]": "success", "catch_up[1]": "success"}
    assert sorted(runs()) == [id_of(12), id_of(13)]
    made = runs()[id_of(12)]
    assert (made.run_type, made.state, made.logical_date) == ("operator_triggered", "queued", None)

    # Both are queued, and have left no receipt: they are neither handed on nor made again.
    assert triggered("catching_up").returned["missed"] == []
    again = triggered("catching_up", None)
    assert again.states == {"missed": "success", "catch_up[0]": "skipped", "catch_up[1]": "skipped"}
    assert len(runs()) == 2

    run_dag(load, dict(made.conf))  # as the scheduler would
    caught_up = store.list_runs(LOAD)[0]
    assert caught_up.window is not None
    assert caught_up.window.start == datetime(2024, 10, 11, 17, tzinfo=UTC)
    assert caught_up.triggered_by is not None
    assert caught_up.triggered_by.reason == "catch-up of 2024-10-12, which was missing"
    assert run_ids(triggered("catching_up")) == [id_of(14)]  # 13 is still queued
    assert sorted(runs()) == [id_of(12), id_of(13), id_of(14)]


def test_case_22_without_catchup_the_five_that_were_missed_are_told_and_none_is_handed_on(
    store_url: str, run_dag: RunDag
) -> None:
    ended = asked(run_dag, "case_22", store=store_url, catchup="none", on_missed="succeed")
    assert ended.states["missed"] == "success"
    assert [each["action"] for each in ended.returned["told"]["windows"]] == ["run"] * 5
    assert ended.returned["missed"] == []


def test_case_23_looking_starts_no_dag_run_by_itself(store_url: str, run_dag: RunDag) -> None:
    from airflow import settings
    from airflow.models.dagrun import DagRun

    def runs() -> set[tuple[str, str]]:
        found = settings.Session().query(DagRun.dag_id, DagRun.run_id)
        return {(dag_id, run_id) for dag_id, run_id in found if dag_id != "case_23"}

    before = runs()
    ended = asked(run_dag, "case_23", store=store_url, catchup="all")
    assert run_ids(ended) == [id_of(day) for day in range(10, 15)]
    assert runs() == before


def test_a_run_that_airflow_itself_has_queued_for_a_window_is_not_doubled(
    store: ReceiptStore, store_url: str, run_dag: RunDag
) -> None:
    from airflow import settings
    from airflow.models.dagrun import DagRun
    from airflow.utils.types import DagRunType

    for day in (10, 11, 12):
        store.save(a_night(day))
    with DAG("sales_nightly", schedule=None) as nightly:

        @task
        def loaded() -> None: ...

        loaded()
    run_dag(nightly)
    session = settings.Session()
    due = datetime(2024, 10, 13, 19, tzinfo=UTC)
    queued = DagRun(
        dag_id="sales_nightly", run_id="scheduled__x", logical_date=due, run_after=due,
        run_type=DagRunType.SCHEDULED, state="queued",
    )  # fmt: skip
    session.add(queued)
    session.commit()
    how = {"store": store_url, "catchup": "all", "trigger_dag_id": "sales_nightly"}
    assert run_ids(asked(run_dag, "beside_airflow", **how)) == [id_of(14)]
    session.query(DagRun).filter_by(run_id="scheduled__x").update({"state": "failed"})
    session.commit()
    assert run_ids(asked(run_dag, "beside_airflow", **how)) == [id_of(13), id_of(14)]


WRONG: list[dict[str, Any]] = [
    {"catchup": "some"},
    {"include": "failed"},
    {"on_missed": "skip"},
    {"config": "receipts.yaml"},
]


def test_case_18_what_is_included_has_the_three_names_of_a_plan() -> None:
    for word in ("missing", "missing+failed", "all"):
        operator = MissedWindowsOperator(task_id="missed", receipt_task=LOAD, include=word)
        assert operator.include == word
    with pytest.raises(ConfigError, match=r"missing, missing\+failed, all"):
        MissedWindowsOperator(task_id="missed", receipt_task=LOAD, include="failed")


@pytest.mark.parametrize("wrong", WRONG, ids=str)
def test_a_word_that_nobody_knows_is_an_error_of_the_dag(wrong: dict[str, Any]) -> None:
    with pytest.raises(ConfigError):
        MissedWindowsOperator(
            **{"task_id": "missed", "receipt_task": LOAD, "schedule": WEEK, **wrong}
        )


WRONG_LATER: list[dict[str, Any]] = [
    {"store": "nope://x"},
    {"receipt_task": "load"},
    {"since": "soon"},
    {"backfill_limit": "few"},
    {"schedule": None, "config": "/nowhere/receipts.yaml"},
    {"schedule": Schedule(cron="0 2 * * *", variable="window", start="2024-10-10T00:00:00Z")},
]


@pytest.mark.parametrize("wrong", WRONG_LATER, ids=str)
def test_a_wrong_argument_is_not_retried(store_url: str, wrong: dict[str, Any]) -> None:
    how = {"receipt_task": LOAD, "schedule": WEEK, "store": store_url, "catchup": "all"}
    in_the_dag = {name: value for name, value in wrong.items() if name in ("schedule", "config")}
    operator = MissedWindowsOperator(task_id="missed", **{**how, **in_the_dag})
    with pytest.raises(AirflowFailException):
        filled_in(operator, wrong if not in_the_dag else {}).execute({})


def test_without_a_schedule_the_windows_are_those_of_the_dag_that_the_operator_is_in(
    store_url: str, run_dag: RunDag
) -> None:
    how: dict[str, Any] = {
        "receipt_task": LOAD, "store": store_url, "catchup": "all", "since": timedelta(days=9000),
    }  # fmt: skip
    limits: dict[str, Any] = {
        "start_date": datetime(2024, 10, 10, tzinfo=UTC),
        "end_date": datetime(2024, 10, 11, 12, tzinfo=UTC),
    }
    nightly = CronDataIntervalTimetable("0 2 * * *", timezone="UTC")
    with DAG("own_timetable", schedule=nightly, **limits) as dag:
        MissedWindowsOperator(task_id="missed", **how)
    ended = run_dag(dag, {}, logical_date=limits["start_date"])
    assert [each["conf"]["window"]["start"] for each in ended.returned["missed"]] == [
        "2024-10-10T02:00:00Z", "2024-10-11T02:00:00Z",
    ]  # fmt: skip
    with DAG("no_timetable", schedule=None):
        clockless = MissedWindowsOperator(task_id="missed", **how)
    with pytest.raises(AirflowFailException, match="NullTimetable of the DAG 'no_timetable'"):
        clockless.execute({})


def test_the_schedule_and_what_is_required_may_stand_in_the_tasks_yaml(
    store: ReceiptStore, store_url: str, tmp_path: Path
) -> None:
    lines = [
        "requires: [{task: sales/daily/source, variables: [dt]}]",
        "schedule:",
        "  cron: 0 2 * * *",
        "  window: day",
        "  variable: dt",
        "  start: 2024-10-10T00:00:00Z",
        "  end: 2024-10-12T00:00:00Z",
    ]
    (tmp_path / "receipts.yaml").write_text("\n".join(lines))
    how = {
        "receipt_task": LOAD,
        "config": tmp_path,
        "since": "2024-10-01T00:00:00Z",
        "store": store_url,
        "catchup": "all",
    }
    assert MissedWindowsOperator(task_id="missed", **how).execute({}) == []
    store.save(replace(a_night(10), task="sales/daily/source"))
    (only,) = MissedWindowsOperator(task_id="missed", **how).execute({})
    assert only["conf"]["dt"] == "2024-10-10"
    (tmp_path / "receipts.yaml").write_text("owner: ann")
    with pytest.raises(AirflowFailException, match="has no schedule"):
        MissedWindowsOperator(task_id="missed", **how).execute({})
