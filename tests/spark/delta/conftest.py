"""Tables of Delta for the tests, in the one session that all tests of Spark share."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from typing import Any

import pytest

from tests.spark.delta.tables import QUICK, an_empty_store
from tests.spark.sessions import JARS
from ubunye_core.stores.spark import SparkStore

_numbers = itertools.count()


@pytest.fixture(scope="session")
def delta(spark: Any) -> Any:
    """The session, which has Delta."""
    if not list(JARS.glob("delta-spark_*.jar")):
        pytest.fail("the jars of Delta are not here: run `make jars` first")
    return spark


@pytest.fixture(scope="module")
def quick(delta: Any) -> Iterator[Any]:
    """The session, set for small queries."""
    before = {name: delta.conf.get(name, None) for name in QUICK}
    for name, value in QUICK.items():
        delta.conf.set(name, value)
    yield delta
    for name, was in before.items():
        if was is None:
            delta.conf.unset(name)
        else:
            delta.conf.set(name, was)


@pytest.fixture
def table(quick: Any) -> Iterator[str]:
    """The name of a table that is not there yet."""
    name = f"spark_catalog.default.receipts_{next(_numbers)}"
    yield name
    quick.sql(f"DROP TABLE IF EXISTS {name}")


@pytest.fixture
def store(table: str) -> SparkStore:
    """A store whose table is there, and empty."""
    return an_empty_store(table)
