"""What people know from ``ExternalTaskSensor``: understood, or refused by the name of ours."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from airflow.sdk import DAG, TaskInstanceState

from tests.airflow.conftest import CALC
from ubunye_airflow import UpstreamReceiptSensor
from ubunye_core import ConfigError


def a_sensor(**asked: Any) -> UpstreamReceiptSensor:
    how = {"task_id": "gate", "required_task": CALC, "variables": {"month": "2026-10"}}
    return UpstreamReceiptSensor(**{**how, **asked})


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ({"failed_states": ["failed"]}, {"on_failed": "fail"}),
        ({"failed_states": [TaskInstanceState.FAILED, "upstream_failed"]}, {"on_failed": "fail"}),
        ({"failed_states": "failed"}, {"on_failed": "fail"}),
        ({"failed_states": ["failed"], "on_failed": "fail"}, {"on_failed": "fail"}),
        ({"failed_states": []}, {}),
        ({"failed_states": None}, {}),
        ({"failed_states": ["skipped"]}, {}),
        ({"allowed_states": ["success"]}, {}),
        ({"allowed_states": [TaskInstanceState.SUCCESS]}, {}),
        ({"skipped_states": []}, {}),
        ({"check_existence": True}, {}),
        ({"check_existence": False}, {"allow_unknown": True}),
        ({"poll_interval": 30}, {"poll": "30s"}),
        ({"poll_interval": 2.5}, {"poll": timedelta(seconds=2.5)}),
    ],
    ids=str,
)
def test_a_name_that_means_something_here_is_understood(
    theirs: dict[str, Any], ours: dict[str, Any]
) -> None:
    found, meant = a_sensor(**theirs), a_sensor(**ours)
    assert found.gate().requires == meant.gate().requires
    assert (found.poke_interval, found.timeout) == (meant.poke_interval, meant.timeout)


@pytest.mark.parametrize(
    ("theirs", "says"),
    [
        ({"external_dag_id": "pay"}, "required_task='usecase/package/task_name'"),
        ({"external_task_id": "calc"}, "required_task="),
        ({"task": CALC, "required_task": None}, "required_task="),
        ({"receipt_task": CALC, "required_task": None}, "required_task="),
        ({"external_task_ids": ["calc"]}, "required_task="),
        ({"external_task_group_id": "calc"}, "required_task="),
        ({"execution_delta": timedelta(days=1)}, "variables="),
        ({"execution_date_fn": str}, "variables="),
        ({"skipped_states": ["skipped"]}, "soft_fail=True"),
        ({"allowed_states": ["success", "skipped"]}, "optional=True"),
        ({"allowed_states": []}, "only a success opens a gate"),
        ({"failed_states": ["running"]}, "on_failed='fail'"),
        ({"poll_interval": 30, "poll": "1m"}, "'poll' is '1m'"),
        ({"failed_states": ["failed"], "required_task": None, "requires": [CALC]}, "beside"),
    ],
    ids=str,
)
def test_a_name_without_a_meaning_is_refused_by_that_of_ours_when_the_dag_is_read(
    theirs: dict[str, Any], says: str
) -> None:
    with pytest.raises(ConfigError) as refused, DAG("external", schedule=None):
        a_sensor(**theirs)
    assert says in str(refused.value)
