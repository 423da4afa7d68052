"""What the page about guarantees says of stores is what the stores offer."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from ubunye_core import open_store

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "which-guarantee.md"
ROWS = re.findall(
    r"^\| (`[^|]+://[^|]*`) \| (yes|no)[^|]* \|", PAGE.read_text(encoding="utf-8"), re.M
)
SAID = {scheme: said for cell, said in ROWS for scheme in re.findall(r"`([^`]+)`", cell)}
PLACES = {
    "file://": "file://{}/receipts",
    "jsonl://": "jsonl://{}/ledger.jsonl",
    "sqlite:///": "sqlite:///{}/receipts.db",
    "postgresql://": "postgresql://user@localhost/receipts",
    "s3://": "s3://bucket/receipts?endpoint=http://localhost:9&region=x",
    "gs://": "gs://bucket/receipts",
    "az://": "az://container/receipts?account_name=x",
    "delta+file://": "delta+file://{}/table",
    "delta+s3://": "delta+s3://bucket/table?endpoint=http://localhost:9&region=x",
    "memory://": "memory://guarantees",
}


def test_the_table_has_every_kind_of_store_once() -> None:
    assert list(SAID) == [*list(PLACES)[:-1], "spark:///", "memory://"]


@pytest.mark.parametrize("scheme", PLACES)
def test_a_store_gives_claims_where_the_page_says_so(scheme: str, tmp_path: Path) -> None:
    store = open_store(PLACES[scheme].format(tmp_path))
    assert hasattr(store, "claim") is (SAID[scheme] == "yes")


def test_the_store_of_spark_gives_none() -> None:
    from ubunye_core.stores.spark import SparkStore

    assert SAID["spark:///"] == "no"
    assert not hasattr(SparkStore, "claim")
