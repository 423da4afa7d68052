"""A batch is found by the variable of the fewest runs, however deep its success lies."""

from __future__ import annotations

import pytest
import sqlalchemy as sa

from tests.core.stores.sql.server import PostgresServer
from tests.core.stores.sql.stores import made, place
from ubunye_core.codec import encode
from ubunye_core.receipt import Status
from ubunye_core.stores.sql.searching import FEW
from ubunye_core.stores.sql.store import SqlStore
from ubunye_core.testing import A_TASK, a_receipt, at

BATCH = {"hour": "7", "region": "r1"}


def save(store: SqlStore, number: int, status: Status, **variables: str) -> None:
    told = {**BATCH, **variables}
    run = a_receipt(run_id=f"run-{number}", started_at=at(number), status=status, variables=told)
    store.save(run)


@pytest.mark.parametrize("failures", [0, 1, FEW - 1, FEW, 3 * FEW])
@pytest.mark.parametrize("whole", [True, False])
def test_a_success_is_found_below_any_number_of_failures(
    store: SqlStore, failures: int, whole: bool
) -> None:
    save(store, 1, Status.SUCCESS)
    save(store, 2, Status.SUCCESS)
    for number in range(failures):
        save(store, 3 + number, Status.ERROR)
    found = store.success_by_batch(A_TASK, BATCH, whole=whole)
    assert found is not None
    newest = f"run-{2 + failures}"
    assert [run.run_id for run in found] == ([newest, "run-2"] if failures else [newest])


@pytest.mark.parametrize("failures", [0, 1, 3 * FEW])
def test_a_batch_that_has_not_succeeded_has_no_success(store: SqlStore, failures: int) -> None:
    save(store, 1, Status.SUCCESS, hour="8")
    save(store, 2, Status.SUCCESS, region="r2")
    for number in range(failures):
        save(store, 3 + number, Status.ERROR)
    for whole in (True, False):
        assert store.success_by_batch(A_TASK, BATCH, whole=whole) is None


@pytest.mark.parametrize("rare", ["hour", "region"])
def test_a_batch_is_found_whichever_variable_is_rare(store: SqlStore, rare: str) -> None:
    for number in (*range(20), *range(21, 30)):
        save(store, number, Status.SUCCESS, **{rare: f"other-{number}"})
    save(store, 20, Status.SUCCESS)
    found = store.success_by_batch(A_TASK, BATCH, whole=False)
    assert found is not None
    assert [run.run_id for run in found] == ["run-20"]
    assert [run.run_id for run in store.search(A_TASK, batch=BATCH)] == ["run-20"]
    assert [run.run_id for run in store.search(batch=BATCH)] == ["run-20"]


def test_a_row_that_somebody_placed_leaves_a_batch_in_doubt(store: SqlStore) -> None:
    save(store, 1, Status.SUCCESS)
    run = a_receipt(run_id="placed", started_at=at(9), status=Status.ERROR, variables=BATCH)
    place(store, A_TASK, "placed", encode(run))
    assert store.success_by_batch(A_TASK, BATCH, whole=False) is None
    found = store.search(A_TASK, batch=BATCH)
    assert [each.run_id for each in found] == ["placed", "run-1"]


def test_documents_are_compressed_as_fast_as_the_server_can(
    postgres: PostgresServer, new_postgres_url: str
) -> None:
    store = made(new_postgres_url)
    receipts = store._database.tables.receipts
    asked = sa.text(
        "SELECT attcompression, (SELECT 'lz4' = ANY(enumvals) FROM pg_settings "
        "WHERE name = 'default_toast_compression') FROM pg_attribute "
        "WHERE attrelid = CAST(:place AS regclass) AND attname = 'document'"
    ).bindparams(place=f"{receipts.schema}.{receipts.name}")
    compression, has_lz4 = store._database.read(lambda connection: connection.execute(asked).one())
    store.close()
    assert compression == ("l" if has_lz4 else "")


def test_a_server_leaves_room_on_each_page_for_heartbeats(
    postgres: PostgresServer, new_postgres_url: str
) -> None:
    store = made(new_postgres_url)
    receipts = store._database.tables.receipts
    asked = sa.text(
        "SELECT reloptions FROM pg_class WHERE oid = CAST(:place AS regclass)"
    ).bindparams(place=f"{receipts.schema}.{receipts.name}")
    options = store._database.read(lambda connection: connection.execute(asked).scalar_one())
    store.close()
    assert options == ["fillfactor=80"]
