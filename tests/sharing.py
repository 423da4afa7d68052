"""A pytest plugin: how several workers (`-n 2`) share the tests, and in which order."""

from __future__ import annotations

import re
from typing import Any

import pytest

TOGETHER = (
    "tests/spark",
    "tests/airflow/standalone",
    "tests/airflow",
    "tests/dagster/live",
    "tests/dagster",
)
"""Folders of which one worker runs all: what their tests stand on takes seconds to start. A folder
inside another comes before it."""
_OF_THEIR_OWN = (
    "tests/spark/java25/",
    "tests/spark/test_connect.py",
    "tests/spark/test_vectors.py",
    "tests/spark/test_workers.py",
)
"""Each test here starts a JVM anyway."""
_ADDRESS = re.compile(r" at 0x[0-9a-f]{6}")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest unit first, so that no worker ends with it while the others have no work."""
    for item in items:
        if _ADDRESS.search(item.nodeid):
            raise pytest.UsageError(
                f"{item.nodeid}: the name changes from run to run, so that workers cannot share "
                "the tests: give the parameter an id."
            )
    items.sort(key=lambda item: unit_of(item.nodeid) != TOGETHER[0])


@pytest.hookimpl(optionalhook=True)
def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    """Units instead of single tests: a fixture of a module or a class is made once."""
    from xdist.scheduler import LoadScopeScheduling

    class ByUnit(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return unit_of(nodeid)

    config.option.loadscopereorder = False  # the order of the collection
    return ByUnit(config, log)


def unit_of(test: str) -> str:
    """What a worker takes at once: a folder, else a class or the functions of a file."""
    if not test.startswith(_OF_THEIR_OWN):
        for folder in TOGETHER:
            if test.startswith(f"{folder}/"):
                return folder
    return test.partition("[")[0].rpartition("::")[0]
