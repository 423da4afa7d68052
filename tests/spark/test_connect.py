"""Through Spark Connect a frame has the same hash, and the same ways to have none."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from tests.javas import java_homes
from tests.spark.frames import ROWS, TABLE
from tests.spark.programs import report_of
from tests.spark.stopping import SECONDS
from ubunye_core import Fingerprint, fingerprint

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


@pytest.fixture(scope="module")
def report(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """What the program in connect.py saw."""
    folder: Path = tmp_path_factory.mktemp("connect")
    return report_of("connect", folder, java_home=next(iter(java_homes().values())))


def _told(got: Fingerprint) -> list[Any]:
    return [got.data_hash, got.schema_hash, got.row_count, got.error, got.column_hashes]


def test_a_frame_has_the_hash_of_the_same_arrow_table(report: Any) -> None:
    assert report["frame"] == "pyspark.sql.connect.dataframe"
    assert report["whole"] == _told(fingerprint(TABLE, per_column=True))
    assert report["chosen"] == _told(fingerprint(TABLE, columns=["id", "small"]))
    assert report["empty"] == _told(fingerprint(TABLE.slice(0, 0)))
    assert report["no_columns"] == _told(fingerprint(TABLE, columns=[]))
    assert report["count"] == ROWS


def test_names_that_differ_by_case_are_two(report: Any) -> None:
    table = pa.table({"a": pa.array([1], pa.int32()), "A": pa.array([2], pa.int32())})
    assert report["by_case"] == _told(fingerprint(table))


def test_what_has_no_hash_says_why(report: Any) -> None:
    errors = {name: report[name][3] for name in ("twice", "variant", "unreadable")}
    assert errors == {
        "twice": "The table has the column name 'a' more than once.",
        "variant": "Column 'a' (variant) has type 'variant', which rows-v1 can't write.",
        "unreadable": "Spark could not read the rows (NumberFormatException, CAST_INVALID_INPUT).",
    }
    assert all(report[name][0] is None for name in errors)


def test_a_stopped_hash_stops_the_server_too(report: Any) -> None:
    assert report["stopped"] == "StoppedError"
    assert report["seconds_of_next"] < SECONDS / 2
    assert report["tags"] == []
