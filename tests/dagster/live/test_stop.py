"""The last test of the suite: the server goes, and all that it has started."""

from __future__ import annotations

from tests.dagster.live.server import DagsterDev


def test_a_server_that_is_asked_to_stop_leaves_no_process(server: DagsterDev) -> None:
    assert len(server.processes()) > 1
    server.stop()
    assert server.exit_code == 0
    assert server.processes() == []
