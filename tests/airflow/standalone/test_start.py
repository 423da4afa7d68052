"""The server itself, before anything is asked of the gates."""

from __future__ import annotations

from tests.airflow.standalone.rest import User
from tests.airflow.standalone.server import Standalone


def test_every_part_of_the_server_is_healthy(server: Standalone) -> None:
    assert server.health() == {
        "metadatabase": "healthy",
        "scheduler": "healthy",
        "triggerer": "healthy",
        "dag_processor": "healthy",
    }


def test_every_dag_file_is_read_without_an_error(admin: User) -> None:
    assert admin.import_errors() == []
