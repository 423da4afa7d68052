"""What Airflow calls when a DAG run ends. Nothing here raises: a lost receipt is logged."""

from __future__ import annotations

import logging
from typing import Any

from airflow.listeners import hookimpl

log = logging.getLogger(__name__)


@hookimpl
def on_dag_run_success(dag_run: Any, msg: Any) -> None:
    """A DAG run is over. A task of it may have been killed all the same."""
    _ended(dag_run, "success")


@hookimpl
def on_dag_run_failed(dag_run: Any, msg: Any) -> None:
    """A DAG run is over."""
    _ended(dag_run, "failed")


def _ended(dag_run: Any, state: str) -> None:
    try:
        from ubunye_airflow.listener.left_open import dag_run_ended

        dag_run_ended(dag_run, state)
    except Exception as error:
        log.warning("What a DAG run left open is not looked for: %s", type(error).__name__)
