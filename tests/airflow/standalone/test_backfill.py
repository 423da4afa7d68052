"""The example DAG that catches up months, with the scheduler that runs what it triggers."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from tests.airflow.standalone.rest import Run, User
from ubunye_core import Receipt, ReceiptStore, Status

BACKFILL, CALC = "backfill_missed_windows", "pay_calc"
MISSED = ("2024-06", "2024-08", "2024-10")


@pytest.fixture
def months(store: ReceiptStore) -> None:
    """Each month since June 2024 is calculated, but for three."""
    month, now = datetime(2024, 6, 1, tzinfo=UTC), datetime.now(UTC)
    while month < now:
        following = (month + timedelta(days=32)).replace(day=1)
        name = f"{month:%Y-%m}"
        if name not in MISSED:
            receipt = Receipt(
                task="pay/monthly/calc",
                run_id=f"r-{name}",
                status=Status.SUCCESS,
                started_at=min(following, now),
                ended_at=min(following, now),
                variables={"month": name},
            )
            store.save(receipt)
        month = following


def catch_up(admin: User) -> tuple[list[str], Run]:
    """Run the example: the months that it handed on, and how it ended."""
    run_id = admin.trigger(BACKFILL, since="2024-06-15T00:00:00Z")
    ended = admin.ended(BACKFILL, run_id)
    return [each["conf"]["month"] for each in admin.xcom(BACKFILL, run_id, "missed")], ended


def caught_up(admin: User) -> list[str]:
    """The months of the runs that were triggered, in that order."""
    return [run_id.split("__")[2] for run_id in admin.runs(CALC)]


@pytest.mark.usefixtures("months")
def test_a_mapped_backfill_triggers_each_missed_window_once_oldest_first_and_no_more_than_the_cap(
    admin: User, store: ReceiptStore
) -> None:
    admin.pause(CALC)
    handed_on, first = catch_up(admin)
    assert handed_on == ["2024-06", "2024-08"]
    assert first.states == {
        "missed": "success",
        "catch_up[0]": "success",
        "catch_up[1]": "success",
    }
    assert sorted(caught_up(admin)) == ["2024-06", "2024-08"]

    while_they_are_queued, second = catch_up(admin)
    assert while_they_are_queued == []
    assert second.states == {"missed": "success", "catch_up": "skipped"}

    admin.pause(CALC, False)
    for run_id in admin.runs(CALC):
        assert admin.ended(CALC, run_id).state == "success"
    rest, _ = catch_up(admin)
    assert rest == ["2024-10"]
    assert sorted(caught_up(admin)) == list(MISSED)
    (last,) = (run_id for run_id in admin.runs(CALC) if "2024-10" in run_id)
    assert admin.ended(CALC, last).state == "success"

    for month in MISSED:
        (receipt,) = store.search("pay/monthly/calc", batch={"month": month})
        assert receipt.status is Status.SUCCESS
        assert receipt.triggered_by is not None
        assert receipt.triggered_by.reason == f"catch-up of {month}, which was missing"
