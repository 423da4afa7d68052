"""The page about all stores says what the code says."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Protocol

import pytest

from ubunye_core.stores import FileStore, MemoryStore, capabilities
from ubunye_core.stores.delta import DeltaStore
from ubunye_core.stores.jsonl import JsonlStore
from ubunye_core.stores.objects import ObjectStore
from ubunye_core.stores.spark import SparkStore
from ubunye_core.stores.sql.store import SqlStore
from ubunye_core.stores.url import _BUILT_IN, _EXTRAS

PAGE = (Path(__file__).parents[3] / "docs" / "reference" / "stores.md").read_text("utf-8")
CLASSES = {
    "files": FileStore,
    "buckets": ObjectStore,
    "SQL": SqlStore,
    "Delta": DeltaStore,
    "Spark": SparkStore,
    "ledger": JsonlStore,
    "memory": MemoryStore,
}


def table_under(heading: str) -> list[dict[str, str]]:
    """The rows of the first table below a heading, by the heads of their columns."""
    text = PAGE.split(f"## {heading}\n", 1)[1].split("\n## ", 1)[0]
    lines = [
        [cell.strip() for cell in line.strip("|").split(" | ")]
        for line in text.splitlines()
        if line.startswith("|")
    ]
    return [dict(zip(lines[0], line, strict=True)) for line in lines[2:]]


def offers() -> dict[str, set[str]]:
    """Each optional capability, and the names by which a question finds it."""
    return {
        name: {each for each in vars(kind) if not each.startswith("_")}
        for name, kind in vars(capabilities).items()
        if isinstance(kind, type) and Protocol in kind.__bases__
    }


def test_every_scheme_has_its_line_and_its_extra() -> None:
    told = {}
    for row in table_under("URLs"):
        extra = re.findall(r"`([\w-]+)`", row["Extra"])
        for scheme in re.findall(r"`([a-z0-9+]+)://", row["URL"]):
            told[scheme] = extra[0] if extra else None
    assert told == {scheme: _EXTRAS.get(scheme) for scheme in _BUILT_IN}


@pytest.mark.parametrize("name", sorted(offers()))
def test_what_each_store_offers_is_told_as_it_is(name: str) -> None:
    (row,) = (row for row in table_under("What each offers") if f"`{name}`" in row["Offer"])
    told = {kind: row[kind] for kind in CLASSES}
    has = {kind: offers()[name] & set(dir(of)) for kind, of in CLASSES.items()}
    assert all(found in (set(), offers()[name]) for found in has.values())
    assert told == {kind: "yes" if found else "-" for kind, found in has.items()}


def test_no_offer_is_made_up() -> None:
    told = {re.findall(r"`(\w+)`", row["Offer"])[0] for row in table_under("What each offers")}
    assert told == set(offers())
