"""The button on a task: of a recorded task to its receipt, of a gate to what opened it."""

from __future__ import annotations

from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from airflow.sdk import DAG, task

from tests.airflow.conftest import CALC, T0, RunDag, TellingSensor, a_receipt
from ubunye_airflow import HealthCheckOperator, UpstreamReceiptSensor
from ubunye_airflow.links import ReceiptLink
from ubunye_airflow.page import PREFIX
from ubunye_airflow.provider_info import get_provider_info
from ubunye_core import ReceiptStore
from ubunye_core.web import create_app

MONTH = {"month": "2026-10"}


class Key:
    dag_id, run_id, task_id, map_index, try_number = "d", "manual__1 & 2", "t", -1, 2


def path_and_query(link: str) -> tuple[str, dict[str, list[str]]]:
    parts = urlsplit(link)
    return parts.path.removeprefix(PREFIX), parse_qs(parts.query)


def a_gate(**asked: Any) -> UpstreamReceiptSensor:
    return UpstreamReceiptSensor(task_id="gate", variables=MONTH, **asked)


@pytest.mark.parametrize(
    ("asked", "tasks"),
    [
        ({"required_task": CALC}, [CALC]),
        ({"required_task": "pay/*/*"}, ["pay/*/*"]),
        ({"requires": [{"task": CALC}, "pay/daily/in"]}, [CALC, "pay/daily/in"]),
        ({"requires": CALC}, [CALC]),
    ],
)
def test_a_gate_that_has_not_opened_leads_to_the_health_of_its_upstreams(asked, tasks) -> None:
    path, query = path_and_query(ReceiptLink().get_link(a_gate(**asked), ti_key=Key))
    assert (path, query) == ("/", {"tasks": tasks})


def test_a_health_check_leads_to_the_health_of_its_tasks() -> None:
    check = HealthCheckOperator(task_id="healthy", tasks=[CALC, "pay/daily/*"])
    (link,) = check.operator_extra_links
    assert path_and_query(link.get_link(check, ti_key=Key)) == (
        "/",
        {"tasks": [CALC, "pay/daily/*"]},
    )


def test_a_gate_with_a_file_leads_to_the_page() -> None:
    link = ReceiptLink().get_link(a_gate(config="receipts.yaml"), ti_key=Key)
    assert path_and_query(link) == ("/", {})


def test_the_link_is_under_airflows_own_address(monkeypatch: pytest.MonkeyPatch) -> None:
    gate = a_gate(required_task=CALC)
    monkeypatch.setenv("AIRFLOW__API__BASE_URL", "https://airflow.example/team")
    link = ReceiptLink().get_link(gate, ti_key=Key)
    assert link.startswith(f"https://airflow.example/team{PREFIX}/?")


@pytest.mark.slow
def test_a_run_leaves_links_to_the_receipt_that_opened_its_gate_and_to_its_own(
    run_dag: RunDag, store: ReceiptStore, store_url: str
) -> None:
    store.save(a_receipt("calc-7"))
    with DAG("links", schedule=None, start_date=T0) as dag:
        gate = TellingSensor(
            task_id="gate", required_task=CALC, variables=MONTH, store=store_url, wait="0s"
        )

        @task.receipt(receipt_task="pay/monthly/send", variables=MONTH, store=store_url)
        def send() -> None:
            pass

        gate >> send()
    ended = run_dag(dag)
    assert ended.states == {"gate": "success", "send": "success"}
    opened, sent = _links_of("links")
    assert path_and_query(opened) == (f"/task/{CALC}/run/calc-7", {})
    path, query = path_and_query(sent)
    assert path == "/task/pay/monthly/send/attempt"
    assert query["id.dag_id"] == ["links"]
    # It leads to the receipt of this very attempt.
    from starlette.testclient import TestClient

    asking = TestClient(create_app(store), "http://localhost", follow_redirects=False)
    answer = asking.get(sent.partition(PREFIX)[2])
    (receipt,) = store.list_runs("pay/monthly/send")
    assert answer.headers["location"] == f"/task/pay/monthly/send/run/{receipt.run_id}"


def _links_of(dag_id: str) -> list[str]:
    from airflow import settings
    from airflow.models.xcom import XComModel

    found = settings.Session().query(XComModel).filter_by(dag_id=dag_id, key="_link_ReceiptLink")
    told = {each.task_id: XComModel.deserialize_value(each) for each in found}
    return [told["gate"], told["send"]]


def test_airflow_knows_the_link_by_the_providers_metadata() -> None:
    assert get_provider_info()["extra-links"] == ["ubunye_airflow.links.ReceiptLink"]
