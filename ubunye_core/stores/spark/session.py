"""The active Spark session, and what its errors mean."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from typing import Any

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from ubunye_core.errors import StoreUnavailableError, UbunyeError

_CONDITION = re.compile(r"\[([A-Z][A-Z0-9_]+(?:\.[A-Z0-9_]+)?)\]")
_CLASS = re.compile(r"\b(?:[a-z][\w$]*\.)+([A-Z]\w*(?:Exception|Error))\b")

_HINTS = {
    "TABLE_OR_VIEW_NOT_FOUND": "Check its name; the first save makes the table.",
    "SCHEMA_NOT_FOUND": "Make the schema first: CREATE SCHEMA.",
    "DATA_SOURCE_NOT_FOUND": "The session has no Delta: set spark.jars.packages, "
    "spark.sql.extensions and spark.sql.catalog.spark_catalog as its documentation says.",
    "DELTA_CONFIGURE_SPARK_SESSION_WITH_EXTENSION_AND_CATALOG": "Set spark.sql.extensions and "
    "spark.sql.catalog.spark_catalog as the documentation of Delta says.",
}


_LOST = frozenset(
    {
        "DELTA_METADATA_CHANGED",
        "DELTA_PROTOCOL_CHANGED",
        "DELTA_TABLE_ALREADY_EXISTS",
        "TABLE_OR_VIEW_ALREADY_EXISTS",
    }
)
"""Names of errors that say that another came first; so do all that speak of concurrency."""


class LostError(Exception):
    """Another writer has committed first: look again."""


class NoTableError(StoreUnavailableError):
    """The table is not there."""


def active_session() -> Any:
    """The session of this process.

    Raises:
        StoreUnavailableError: there is none. None is started: where and as what it would run is
            not for a store to say.
    """
    try:
        return SparkSession.active()
    except PySparkException as error:
        raise StoreUnavailableError(
            "There is no active Spark session.",
            hint="Start one first, with SparkSession.builder.getOrCreate(); a notebook of "
            "Databricks has one.",
        ) from error


@contextlib.contextmanager
def telling(table: str, done: str) -> Iterator[None]:
    """What Spark cannot do is a ``StoreUnavailableError``; a lost race is ``LostError``.

    Of Spark's own error only its name is told: its text may hold values of the query.
    """
    try:
        yield
    except (UbunyeError, LostError):
        raise
    except Exception as error:
        name = name_of(error)
        if "CONCURRENT" in name.upper() or name in _LOST:
            raise LostError(name) from None
        kind = NoTableError if name == "TABLE_OR_VIEW_NOT_FOUND" else StoreUnavailableError
        raise kind(
            f"The table {table} cannot be {done} through Spark: {name}.", hint=_HINTS.get(name)
        ) from None


def name_of(error: BaseException) -> str:
    """The name of an error of Spark: its condition, else its class in Java, else in Python."""
    condition = error.getCondition() if isinstance(error, PySparkException) else None
    if condition:
        return str(condition)
    text = str(error)
    for pattern in (_CONDITION, _CLASS):
        named = pattern.search(text)
        if named:
            return named[1]
    return type(error).__name__
