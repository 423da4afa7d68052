"""Tables whose version several change at once, or somebody has changed by hand."""

from __future__ import annotations

import sqlite3
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.core.stores.sql.stores import made, opened
from ubunye_core import ConfigError, StoreUnavailableError, repair_store
from ubunye_core.stores.sql import schema
from ubunye_core.testing import A_TASK, a_receipt

BROUGHT = "Its tables were brought from version 1 to 2."


def test_of_repairs_that_meet_one_says_that_it_brought_the_tables_up_to_date(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(schema, "STEPS", schema.STEPS[:1])
    old = made(url)
    old.save(a_receipt())
    monkeypatch.undo()
    stores = [opened(url) for _ in range(6)]
    with ThreadPoolExecutor(len(stores)) as pool:
        remarks = [each.repaired.remark for each in pool.map(repair_store, stores)]
    assert sorted(remarks) == ["", "", "", "", "", BROUGHT]
    for each in (old, *stores):
        each.close()


@pytest.mark.parametrize("version", ["-1", "1.5", "'newest'"])
def test_a_version_that_is_none_is_told_and_nothing_is_changed(
    version: str, tmp_path: Path
) -> None:
    store = opened(f"sqlite:///{tmp_path}/receipts.db")
    store.save(a_receipt())
    with sqlite3.connect(tmp_path / "receipts.db") as connection:
        connection.execute(f"UPDATE ubunye_schema SET version = {version}")
    other = opened(store.url)
    for do in (
        lambda: other.search(A_TASK),
        lambda: other.save(a_receipt(run_id="run-2")),
        lambda: repair_store(other),
    ):
        with pytest.raises(ConfigError, match=r"which is none\. Write the number back into the ta"):
            do()


def test_a_repair_of_a_database_without_tables_makes_none(url: str) -> None:
    store = opened(url)
    for do in (lambda: repair_store(store), lambda: store.search(A_TASK)):
        with pytest.raises(StoreUnavailableError, match="no tables of receipts yet"):
            do()
    store.close()
