"""Airflow itself, on a database of its own, and receipts to ask about."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

import pytest

# Airflow reads this when it is first imported. Every DAG of these tests is made in its test.
_HOME = Path(os.environ["AIRFLOW_HOME"])
(_HOME / "dags").mkdir(parents=True, exist_ok=True)
os.environ |= {
    "AIRFLOW__CORE__DAGS_FOLDER": str(_HOME / "dags"),
    "AIRFLOW__LOGGING__LOGGING_LEVEL": "INFO",
    "AIRFLOW__CORE__DEFAULT_TASK_RETRY_DELAY": "0",
    "AIRFLOW__API_AUTH__JWT_SECRET": "only-for-tests-" * 5,  # before 3.3, dag.test() needs one
}

from ubunye_airflow import UpstreamReceiptSensor  # noqa: E402
from ubunye_core import Orchestrator, Receipt, ReceiptStore, Status, open_store  # noqa: E402

T0 = datetime(2026, 1, 5, 6, 0, tzinfo=UTC)
CALC = "pay/monthly/calc"


def a_receipt(
    run_id: str = "run-1",
    status: Status = Status.SUCCESS,
    *,
    task: str = CALC,
    month: str | None = "2026-10",
    attempt: tuple[int, int] | None = None,
    **fields: Any,
) -> Receipt:
    """A receipt of an hour's run."""
    ended = None if status is Status.RUNNING else T0 + timedelta(hours=1)
    orchestrator = None
    if attempt is not None:
        ids = {"dag_id": "d", "run_id": "r", "task_id": "t"}
        orchestrator = Orchestrator(
            name="airflow", ids=ids, attempt=attempt[0], max_attempts=attempt[1]
        )
    return Receipt(
        **{
            "task": task,
            "run_id": run_id,
            "status": status,
            "started_at": T0,
            "ended_at": ended,
            "variables": {} if month is None else {"month": month},
            "orchestrator": orchestrator,
            **fields,
        }
    )


@pytest.fixture
def store_url(tmp_path: Path) -> str:
    folder = tmp_path / "receipts"
    folder.mkdir()
    return folder.as_uri()


@pytest.fixture
def store(store_url: str) -> ReceiptStore:
    return open_store(store_url)


@dataclass
class Ended:
    """How the tasks of one DAG run have ended."""

    state: str
    states: dict[str, str]
    errors: dict[str, BaseException]
    returned: dict[str, Any] = field(default_factory=dict)


@pytest.fixture(scope="session")
def airflow_db() -> Iterator[None]:
    from airflow import settings
    from airflow.dag_processing.bundles.manager import DagBundlesManager
    from airflow.utils.db import initdb

    settings.configure_orm()
    session = settings.Session()
    initdb(session=session)
    DagBundlesManager().sync_bundles_to_db(session=session)
    session.commit()
    return


RunDag = Callable[..., Ended]
Filled = TypeVar("Filled")


def filled_in(operator: Filled, fields: Mapping[str, Any]) -> Filled:
    """An operator whose arguments were templates, once Airflow has filled these in."""
    for name, value in fields.items():
        setattr(operator, name, value)
    return operator


RAISED: dict[str, BaseException] = {}
"""With what each task of the DAG run has failed, for ``dag.test()`` only logs it."""


class TellingSensor(UpstreamReceiptSensor):
    """The sensor, and what it raised."""

    def execute(self, context: Any) -> Any:
        return self._told(super().execute, context)

    def resume_execution(self, *args: Any, **kwargs: Any) -> Any:
        return self._told(super().resume_execution, *args, **kwargs)

    def _told(self, call: Callable[..., Any], *args: Any, **kwargs: Any) -> Any:
        try:
            return call(*args, **kwargs)
        except Exception as error:
            RAISED[self.task_id] = error
            raise


@pytest.fixture(scope="session")
def run_dag(airflow_db: None) -> RunDag:
    """Run a DAG to its end: ``dag.test()``, and how each task has ended."""
    from airflow import settings
    from airflow.dag_processing.dagbag import DagBag, sync_bag_to_db
    from airflow.models.xcom import XComModel
    from airflow.sdk.definitions.dag import DAG

    def run(dag: DAG, conf: dict[str, Any] | None = None, **how: Any) -> Ended:
        RAISED.clear()
        bag = DagBag(dag_folder=os.devnull)
        bag.bag_dag(dag)
        session = settings.Session()
        sync_bag_to_db(bag, "dags-folder", None, session=session)
        session.commit()
        dag_run = dag.test(run_conf=conf, **how)
        tis = dag_run.get_task_instances(session=session)
        found = session.query(XComModel).filter_by(
            dag_id=dag.dag_id, run_id=dag_run.run_id, key="return_value"
        )
        returned = {each.task_id: XComModel.deserialize_value(each) for each in found}
        states = {
            f"{ti.task_id}[{ti.map_index}]" if ti.map_index >= 0 else ti.task_id: str(ti.state)
            for ti in tis
        }
        return Ended(str(dag_run.state), states, dict(RAISED), returned)

    return run
