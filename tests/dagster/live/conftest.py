"""One server for all tests here, and one store that it and other processes write to."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.dagster.live.client import Client, RunSeen, TickSeen
from tests.dagster.live.server import PYTHON, DagsterDev, until
from ubunye_core import ReceiptStore, open_store, record_run

A_WHILE = 180.0
"""How many seconds anything may take on a busy machine."""
Succeed = Callable[..., None]


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.timeout(600))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A test that failed shows how the server's log ended."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    server = getattr(item, "funcargs", {}).get("server")
    if report.failed and isinstance(server, DagsterDev):
        report.sections.append(("The server's log ended with", server.tail()))


@pytest.fixture(scope="package")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tmp_path_factory.mktemp("receipts").as_uri()


@pytest.fixture(scope="package")
def store(store_url: str) -> ReceiptStore:
    return open_store(store_url)


@pytest.fixture(scope="package")
def the_server(tmp_path_factory: pytest.TempPathFactory, store_url: str) -> Iterator[DagsterDev]:
    if not PYTHON.exists():
        pytest.fail("the web server of Dagster is not installed: run `make dagster` first")
    server = DagsterDev(tmp_path_factory.mktemp("dagster"), store_url)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def server(the_server: DagsterDev) -> DagsterDev:
    """The server, healthy; another test may have stopped it."""
    if not the_server.is_started:
        the_server.start()
    return the_server


@pytest.fixture
def client(server: DagsterDev) -> Client:
    return server.client


@pytest.fixture
def succeed(store: ReceiptStore) -> Succeed:
    """A run of a task succeeds somewhere else: in this process, which knows no Dagster."""

    def run(task: str, **variables: str) -> None:
        with record_run(task, variables=variables, store=store):
            pass

    return run


def two_ticks_after(client: Client, location: str, sensor: str, number: int) -> list[TickSeen]:
    """The ticks of a sensor after this one, once two have ended: the second began after it, too."""

    def found() -> list[TickSeen]:
        return [tick for tick in client.ticks(location, sensor) if tick.number > number]

    until(lambda: len(found()) >= 2, within=A_WHILE, what=f"more ticks of {sensor}")
    return found()


def finished(client: Client, run_id: str) -> RunSeen:
    """The run, once it has ended."""
    until(
        lambda: client.run(run_id).is_finished,
        within=A_WHILE,
        what=lambda: f"run {run_id} to end; it is {client.run(run_id)}",
    )
    return client.run(run_id)
