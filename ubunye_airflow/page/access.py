"""Which receipts a user of Airflow may see: those of the DAGs that they may read."""

from __future__ import annotations

from functools import cache
from typing import Any

from airflow.api_fastapi.app import get_auth_manager
from airflow.api_fastapi.auth.managers.models.resource_details import DagDetails
from airflow.models.dag import DagModel

from ubunye_airflow.compat import conf
from ubunye_airflow.options import SECTION
from ubunye_core import ConfigError, Receipt
from ubunye_core.web import Sees


def receipts_seen_by(user: Any) -> Sees:
    """What tells, for one request of this user, whether a receipt may be seen.

    A receipt that Airflow wrote names its DAG. One of another orchestrator, or of none, has no
    owner that Airflow knows: those are shown to all or to nobody, as the configuration says.
    """
    others = _shows_others()
    may_read = cache(lambda dag_id: _may_read(user, dag_id))

    def sees(receipt: Receipt) -> bool:
        dag_id = receipt.ids_in("airflow").get("dag_id")
        return others if dag_id is None else may_read(dag_id)

    return sees


def _shows_others() -> bool:
    try:
        return bool(conf.getboolean(SECTION, "show_other_orchestrators", fallback=False))
    except Exception as error:  # Airflow's own has moved from version to version
        raise ConfigError(
            f"The option 'show_other_orchestrators' in [{SECTION}] of Airflow's configuration is "
            f"{conf.get(SECTION, 'show_other_orchestrators')!r}.",
            hint="Say true or false.",
        ) from error


def _may_read(user: Any, dag_id: str) -> bool:
    details = DagDetails(id=dag_id, team_name=DagModel.get_team_name(dag_id))
    return bool(get_auth_manager().is_authorized_dag(method="GET", details=details, user=user))
