"""How much the sensor that ends receipts looks at, and what it says of a store with a fault."""

# Fixtures are asked for by their names.
# ruff: noqa: F401, F811
from __future__ import annotations

import tempfile
from datetime import timedelta
from pathlib import Path

import pytest

from tests.dagster.reconciling import (
    TASK,
    Deleted,
    Dies,
    Tick,
    dead,
    deleted,
    dies,
    end_of,
    tick,
)
from tests.privileges import without_privileges
from ubunye_core import (
    ConfigError,
    ReceiptStore,
    Status,
    open_store,
)
from ubunye_dagster import (
    ReceiptStoreResource,
    build_reconcile_sensor,
)


@pytest.fixture
def many(deleted: Deleted) -> None:
    """Runs that were deleted, of which the oldest two do not say of which Dagster they are."""
    for number in range(5):
        of = {"instance": None} if number < 2 else {}
        deleted(f"r{number}", timedelta(hours=9, minutes=-number), **of)


def test_a_tick_goes_on_where_the_one_before_it_stopped(
    tick: Tick, many: None, store: ReceiptStore
) -> None:
    def running() -> list[str]:
        return sorted(each.run_id for each in store.search(TASK, Status.RUNNING))

    first = tick(at_most=2)
    assert running() == ["r0", "r1", "r2", "r3", "r4"]  # the oldest two are left alone
    assert "More follow" in first.skip_message
    second = tick(first.cursor, at_most=2)
    assert running() == ["r0", "r1", "r4"]
    third = tick(second.cursor, at_most=2)
    assert running() == ["r0", "r1"]
    assert "More follow" not in third.skip_message
    assert "r0" in tick(third.cursor, at_most=2).skip_message  # and begins anew


def test_a_lost_cursor_loses_nothing(tick: Tick, many: None, store: ReceiptStore) -> None:
    for cursor in (None, "", "not a cursor", "5", "{}"):
        assert tick(cursor).skip_message
    assert len(store.search(TASK, Status.INTERRUPTED)) == 3


def test_only_the_tasks_that_are_named_are_looked_after(
    tick: Tick, dies: Dies, store: ReceiptStore
) -> None:
    dies()
    tick(tasks=["pay/monthly/send"])
    assert end_of(store).status is Status.RUNNING
    tick(tasks="pay/*/send")
    assert end_of(store).status is Status.RUNNING
    tick(tasks=["pay/monthly/send", "*/*/calc"])
    assert end_of(store).status is Status.INTERRUPTED
    assert "No receipt" in tick(tasks=TASK).skip_message


def test_what_started_too_long_ago_is_left_to_people(
    tick: Tick, many: None, store: ReceiptStore
) -> None:
    assert tick(lookback=timedelta(hours=1)).skip_message == "No receipt is to be ended."
    assert len(store.search(TASK, Status.RUNNING)) == 5


def test_a_store_that_is_away_is_said_and_nothing_fails(tick: Tick, tmp_path: Path) -> None:
    away = {"receipts": ReceiptStoreResource(url=str(tmp_path / "not mounted"))}
    said = tick(resources=away)
    assert said.skip_message.startswith("UNKNOWN: ")
    assert "not mounted" in said.skip_message


def test_a_store_that_cannot_be_written_is_said_with_the_receipts_it_concerns(
    tick: Tick, deleted: Deleted
) -> None:
    with tempfile.TemporaryDirectory() as place:
        store = open_store(place)
        store.save(deleted("r1", timedelta(hours=9)))
        store.save(deleted("r2", timedelta(hours=8)))
        for each in (Path(place), *Path(place).rglob("*")):
            each.chmod(0o555 if each.is_dir() else 0o444)

        def ask() -> None:
            said = tick(resources={"receipts": ReceiptStoreResource(url=place)})
            assert f"UNKNOWN: {TASK} r1 cannot be ended: " in said.skip_message
            assert f"{TASK} r2 cannot be ended: " in said.skip_message
            assert "Ended as" not in said.skip_message

        without_privileges(ask)
        assert len(store.search(TASK, Status.RUNNING)) == 2
        for each in (Path(place), *Path(place).rglob("*")):
            each.chmod(0o777)
        tick(resources={"receipts": ReceiptStoreResource(url=place)})
        assert len(store.search(TASK, Status.INTERRUPTED)) == 2


def test_a_receipt_that_cannot_be_read_is_said_and_keeps_no_other_from_its_end(
    tick: Tick, dies: Dies, store: ReceiptStore, url: str
) -> None:
    dies()
    bad = Path(url) / TASK / "damaged.json"
    bad.write_text("{")
    said = tick()
    assert "damaged.json" in said.skip_message
    assert [each.status for each in store.list_runs(TASK)] == [Status.INTERRUPTED]


def test_wrong_arguments_are_errors_of_the_code() -> None:
    with pytest.raises(ConfigError, match="at_most"):
        build_reconcile_sensor("ended", at_most=0)
    with pytest.raises(ConfigError, match="task"):
        build_reconcile_sensor("ended", tasks=["pay"])
