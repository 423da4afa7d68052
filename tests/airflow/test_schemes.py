"""A scheme that is misspelt is told when the DAG is read, and one of a package is taken."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.airflow.conftest import CALC
from ubunye_airflow import RequirementOperator
from ubunye_airflow.schemes import check_scheme
from ubunye_core import ConfigError


def gate(store: str) -> RequirementOperator:
    return RequirementOperator(
        task_id="t", required_task=CALC, variables={"month": "2026-10"}, store=store
    )


@pytest.mark.parametrize(
    ("scheme", "meant"),
    [
        ("fil", "file"),
        ("flie", "file"),
        ("FILES", "file"),
        ("postgres", "postgresql"),
        ("posgresql", "postgresql"),
        ("postgresql+psycopg2", "postgresql+psycopg"),
        ("sqlite3", "sqlite"),
        ("s3a", "s3"),
        ("gcs", "gs"),
        ("jsnol", "jsonl"),
        ("sprak", "spark"),
        ("delta+s33", "delta+s3"),
        ("detla+file", "delta+file"),
    ],
)
def test_a_slip_in_a_scheme_is_refused_with_the_scheme_that_is_meant(
    scheme: str, meant: str
) -> None:
    with pytest.raises(ConfigError, match=rf"Write {meant.replace('+', '.')}:///srv/receipts\."):
        gate(f"{scheme}:///srv/receipts")


@pytest.mark.parametrize(
    "scheme",
    [
        *("redis", "mysql", "mongodb", "duckdb", "abfss", "hdfs", "dbfs", "iceberg", "oracle"),
        *("delta", "delta+gs", "delta+az", "delta+abfss", "snowflake", "bigquery", "https"),
    ],
)
def test_a_scheme_that_is_like_no_other_may_be_of_a_package_of_the_workers(scheme: str) -> None:
    check_scheme(f"{scheme}://somewhere")
    gate(f"{scheme}://somewhere")


def test_a_scheme_that_an_installed_package_gives_is_taken_however_alike(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    metadata = tmp_path / "files_of_pay-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: files-of-pay\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[ubunye_receipts.stores]\nfiles = no.such:opener\n")
    with pytest.raises(ConfigError, match="files://"):
        gate("files:///srv/receipts")
    monkeypatch.syspath_prepend(tmp_path)
    assert gate("files:///srv/receipts").task_id == "t"
    with pytest.raises(ConfigError, match="Write file:///srv"):
        gate("fil:///srv/receipts")
