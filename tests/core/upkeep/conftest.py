"""Stores of every kind that can be had here, and a set of receipts that is hard to keep."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.core.questions.builders import CALC, DAY, HOUR, NOW, SEND, a_run, an_attempt
from tests.core.stores.objects.conftest import credentials, moto  # noqa: F401  # fixtures
from tests.core.stores.objects.servers import Moto
from tests.core.stores.sql.server import PostgresServer, running_postgres
from ubunye_core import Pin, Receipt, ReceiptStore
from ubunye_core.codec import as_json
from ubunye_core.runids import new_run_id

ON_DISK = ("delta+file", "file", "jsonl", "sqlite")
KINDS = (*ON_DISK, "postgresql", "s3")


@pytest.fixture(scope="session")
def postgres() -> Iterator[PostgresServer]:
    with running_postgres() as server:
        yield server


def on_disk(kind: str, folder: Path) -> str:
    """The URL of a store of this kind in a folder; nothing is there yet."""
    ends = {"delta+file": "table", "file": "folder", "jsonl": "ledger.jsonl", "sqlite": "new.db"}
    slashes = ":///" if kind == "sqlite" else "://"
    return f"{kind}{slashes}{folder}/{ends[kind]}"


@pytest.fixture
def url(kind: str, request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The URL of a store of this kind, of which nothing is there yet."""
    if kind == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        return server.url(f"test_{uuid.uuid4().hex[:12]}")
    if kind == "s3":
        bucket: Moto = request.getfixturevalue("moto")
        return bucket.url(f"test-{uuid.uuid4().hex[:12]}")
    return on_disk(kind, tmp_path)


@pytest.fixture
def hard() -> list[Receipt]:
    """Receipts with names and fields that a store might trip over."""
    names = ("r-1", "R-1", "r.1", "_", "r-1.json", "a..b", "CON", "x" * 128, "0", new_run_id(NOW))
    return [
        *(a_run(run_id=name, ago=0 * HOUR) for name in names),
        a_run("error", run_id="r-1", task=SEND, error="no\n\0'; DROP TABLE receipts; --"),
        a_run("running", run_id="alive", task="A/a/a", heartbeat_at=NOW, heartbeat_every=HOUR),
        a_run("interrupted", run_id="closed", task="a/a/a", ended_by="close"),
        a_run(
            run_id="rich",
            ago=9000 * DAY,
            variables={"month": "2026-10", "n": 7, "is": True, "x": 0.1, "none": None, "é": "ü"},
            orchestrator=an_attempt(2),
            upstreams=(Pin(task=CALC, run_id="r-1", extra={"later": {"b": 1, "a": [2]}}),),
            extra={"schlüssel": {"z": 1, "a": [None, 1.5, 10**20]}, "\U0001f4be": ""},
        ),
    ]


def all_in(store: ReceiptStore) -> dict[tuple[str, str], object]:
    """Every receipt of a store, by task and run id."""
    return {(each.task, each.run_id): as_json(each) for each in store.search()}
