"""Airflow's ``airflow_local_settings`` of the server: one user may not read one DAG."""

from __future__ import annotations

import sys
from typing import Any

HIDDEN = {"outsider": "secret_from_outsiders"}


def _hide() -> None:
    from airflow.api_fastapi.auth.managers.simple.simple_auth_manager import SimpleAuthManager

    usual = SimpleAuthManager.is_authorized_dag

    def is_authorized_dag(
        self: Any, *, method: Any, user: Any, access_entity: Any = None, details: Any = None
    ) -> bool:
        if details is not None and details.id == HIDDEN.get(user.username, ""):
            return False
        return bool(
            usual(self, method=method, user=user, access_entity=access_entity, details=details)
        )

    SimpleAuthManager.is_authorized_dag = is_authorized_dag  # type: ignore[method-assign]


# "airflow standalone" takes no auth manager but this one; only the API server has one.
if "api-server" in sys.argv:
    _hide()
__all__: list[str] = []
