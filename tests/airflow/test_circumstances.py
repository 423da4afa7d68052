"""What is taken from Airflow's context, which leaves out what a run does not have."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from airflow.sdk.api.datamodels._generated import DagRun

from ubunye_airflow.circumstances import period, triggered_by, window
from ubunye_core import Window

MONTH = Window(start=datetime(2026, 8, 1, tzinfo=UTC), end=datetime(2026, 9, 1, tzinfo=UTC))
DAY = datetime(2026, 8, 3, tzinfo=UTC)
NIGHTLY = {"data_interval_start": DAY, "data_interval_end": DAY + timedelta(days=1)}
NAMED = {"start": "2026-08-01T00:00:00Z", "end": "2026-09-01T00:00:00+00:00"}


def context(conf: Any = None, key: str | None = None, **more: Any) -> dict[str, Any]:
    return {"dag_run": DagRun.model_construct(conf=conf, partition_key=key), **more}


def test_what_the_conf_names_comes_first_then_the_partition_then_the_interval() -> None:
    assert window(context({"window": NAMED}, "2025-01", **NIGHTLY)) == MONTH
    assert window(context({}, "2026-08", **NIGHTLY)) == MONTH
    assert window(context({}, **NIGHTLY)) == Window(start=DAY, end=DAY + timedelta(days=1))


def test_a_logical_date_or_an_interval_without_width_is_no_window() -> None:
    same = {"data_interval_start": DAY, "data_interval_end": DAY}
    assert window(context({}, logical_date=DAY)) is None
    assert window(context({}, **same)) is None
    assert window({}) is None


@pytest.mark.parametrize(
    "named",
    [
        "2026-08",
        {},
        [],
        7,
        {"start": "2026-08-01"},
        {**NAMED, "end": "2026-01-01T00:00:00Z"},
        {**NAMED, "start": "2026-08-01T00:00:00"},
    ],
    ids=str,
)
def test_a_window_that_cannot_be_read_is_none_and_not_the_next_place(named: Any) -> None:
    assert window(context({"window": named}, "2026-08", **NIGHTLY)) is None


def test_a_partition_key_that_is_no_period_is_not_replaced_by_the_interval() -> None:
    assert window(context({}, "region-eu", **NIGHTLY)) is None


@pytest.mark.parametrize(
    ("key", "start", "length"),
    [
        ("2026-08", (2026, 8, 1), timedelta(days=31)),
        ("2026-12", (2026, 12, 1), timedelta(days=31)),
        ("2024-02", (2024, 2, 1), timedelta(days=29)),
        ("2026-08-03", (2026, 8, 3), timedelta(days=1)),
        ("2026-08-03T05", (2026, 8, 3, 5), timedelta(hours=1)),
    ],
)
def test_an_iso_key_names_its_month_day_or_hour(
    key: str, start: tuple[int, ...], length: timedelta
) -> None:
    began = datetime(*start, tzinfo=UTC)  # type: ignore[misc]
    assert period(key) == Window(start=began, end=began + length)


@pytest.mark.parametrize(
    "key",
    [
        *("", "2026", "2026-13", "2026-08-03T05:00:00", "eu", "２０２６-08"),
        *("9999-12", "9999-12-31", "9999-12-31T23"),  # these end after the last of all times
    ],
)
def test_any_other_key_names_no_period(key: str) -> None:
    assert window(context({}, key)) is None


@pytest.mark.parametrize(
    ("run_type", "kind"),
    [
        ("scheduled", "schedule"),
        ("backfill", "backfill"),
        ("manual", "manual"),
        ("asset_triggered", "asset"),
        ("asset_materialization", "asset"),
        ("operator_triggered", "api"),
        ("something new", "manual"),
        (None, "manual"),
    ],
)
def test_the_kind_of_a_run_says_what_started_it(run_type: str | None, kind: str) -> None:
    run = DagRun.model_construct(
        run_type=run_type, triggering_user_name="ann", conf={"reason": "late"}
    )
    found = triggered_by({"dag_run": run})
    assert (found.kind, found.actor, found.asserted_by, found.reason) == (
        kind,
        "ann",
        "airflow",
        "late",
    )


def test_what_is_absent_from_the_context_is_absent_from_the_receipt() -> None:
    found = triggered_by({})
    assert (found.kind, found.actor, found.reason) == ("manual", None, None)
    run = DagRun.model_construct(run_type="scheduled", conf=None)
    found = triggered_by({"dag_run": run}, "by hand")
    assert (found.kind, found.actor, found.reason) == ("schedule", None, "by hand")
