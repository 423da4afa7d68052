"""One server for all tests here, and one store that it and other processes write to."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.airflow.standalone.early import Early
from tests.airflow.standalone.rest import User
from tests.airflow.standalone.server import ROOT, Standalone
from ubunye_core import ReceiptStore, open_store

LAST_OF_EACH_FILE = (
    "backfill_missed_windows",
    "pay_calc",
    "pay_send",
    "gates_on_the_unknown",
    "gate_after_a_hand",
)
"""Known only when every DAG of that file is."""


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if here in item.path.parents:
            item.add_marker(pytest.mark.slow)
            item.add_marker(pytest.mark.timeout(900))


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    """A test that failed shows how the server's log ended."""
    outcome = yield
    report = outcome.get_result()  # type: ignore[attr-defined]
    server = getattr(item, "funcargs", {}).get("server")
    if report.failed and isinstance(server, Standalone):
        report.sections.append(("The server's log ended with", server.tail()))


@pytest.fixture(scope="package")
def store_url(tmp_path_factory: pytest.TempPathFactory) -> str:
    return tmp_path_factory.mktemp("receipts").as_uri()


@pytest.fixture(scope="package")
def store(store_url: str) -> ReceiptStore:
    return open_store(store_url)


@pytest.fixture(scope="package")
def the_server(tmp_path_factory: pytest.TempPathFactory, store_url: str) -> Iterator[Standalone]:
    home = tmp_path_factory.mktemp("standalone")
    shutil.copy(ROOT / "example_dags/data/people.csv", home)
    server = Standalone(home, store_url)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def server(the_server: Standalone) -> Standalone:
    """The server, healthy; another test may have stopped it."""
    if not the_server.is_started:
        the_server.start()
        User(the_server.url).unpause_all(LAST_OF_EACH_FILE)
    return the_server


@pytest.fixture(scope="package")
def begun() -> Iterator[list[Early]]:
    found: list[Early] = []
    yield found
    for each in found:
        each.let_the_upstream_end()


@pytest.fixture
def early(server: Standalone, begun: list[Early], store_url: str) -> Early:
    if not begun:
        begun.append(Early(server.url, store_url))
    return begun[0]


@pytest.fixture
def admin(server: Standalone, early: Early) -> User:
    """A user who may do everything. With the first one, what waits long begins."""
    return User(server.url)
