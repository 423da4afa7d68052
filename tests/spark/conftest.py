"""A Spark session for the tests of a whole run; its JVM takes seconds to start."""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from typing import Any

import pytest

from tests.javas import java_homes
from tests.spark.sessions import classic_session, delta_settings


@pytest.fixture(scope="session")
def spark(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A classic session on two cores, on the oldest Java there is; with Delta where it is there."""
    folder = tmp_path_factory.mktemp("spark")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("JAVA_HOME", next(iter(java_homes().values())))
        patch.setenv("PYSPARK_PYTHON", sys.executable)
        ours = signal.getsignal(signal.SIGINT)
        session = classic_session(**{"spark.local.dir": str(folder), **delta_settings(folder)})
        signal.signal(signal.SIGINT, ours)  # Spark takes Ctrl-C for itself
        yield session
        session.stop()


@pytest.fixture
def settings(spark: Any) -> Iterator[Any]:
    """Sets a setting of the session for one test."""
    before: dict[str, str] = {}

    def set_(name: str, value: str) -> None:
        before.setdefault(name, spark.conf.get(name))
        spark.conf.set(name, value)

    yield set_
    for name, value in before.items():
        spark.conf.set(name, value)
