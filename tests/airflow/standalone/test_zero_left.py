"""The server is stopped to its last process. By its name this file comes last."""

from __future__ import annotations

from tests.airflow.standalone.server import Standalone


def test_stopping_the_server_leaves_no_process_behind(server: Standalone) -> None:
    parts = ("scheduler", "dag-processor", "triggerer")
    assert all(server.component(part) for part in parts)
    server.stop()
    assert server.processes() == []
    assert server.health() == {}
