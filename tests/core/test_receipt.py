"""What a receipt is, whatever keeps it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import FrozenInstanceError, replace
from datetime import datetime, timedelta, timezone
from pathlib import Path
from typing import Any
from zoneinfo import ZoneInfo

import pytest

from ubunye_core import (
    ConfigError,
    InvalidNameError,
    Orchestrator,
    Status,
    TriggeredBy,
    TriggerKind,
    Window,
    check_upstream,
    may_run,
    record_run,
)
from ubunye_core.codec import decode, encode
from ubunye_core.testing import a_receipt, at

AIRFLOW = Orchestrator(name="airflow", ids={"dag_id": "pay"}, attempt=1, max_attempts=3)


def test_a_receipt_is_never_changed() -> None:
    receipt = a_receipt()
    with pytest.raises(FrozenInstanceError):
        receipt.status = Status.ERROR  # type: ignore[misc]
    assert replace(receipt, status=Status.ERROR).status is Status.ERROR


@pytest.mark.parametrize(
    "wrong",
    [
        {"task": "pay/calc"},
        {"task": "../../x"},
        {"run_id": "a/b"},
        {"run_id": ""},
        {"run_id": None},
    ],
    ids=str,
)
def test_a_receipt_has_names_that_can_be_kept(wrong: dict[str, object]) -> None:
    with pytest.raises(InvalidNameError):
        a_receipt(**wrong)


@pytest.mark.parametrize("wrong", ["month", ["month"], {5: "2026-10"}, 7])
def test_variables_that_are_no_names_and_values_are_refused_by_whoever_takes_them(
    wrong: Any,
) -> None:
    takers: list[Callable[[], object]] = [
        lambda: record_run("pay/monthly/calc", variables=wrong, store="memory://wrong"),
        lambda: check_upstream("pay/monthly/calc", variables=wrong, store="memory://wrong"),
        lambda: may_run("pay/monthly/calc", wrong, store="memory://wrong"),
    ]
    for take in takers:
        with pytest.raises(ConfigError, match=r"'variables' is of type|not a name for a variable"):
            take()


def test_there_are_five_statuses_and_no_more() -> None:
    assert [status.value for status in Status] == [
        "running", "success", "error", "interrupted", "skipped",
    ]  # fmt: skip
    assert [status for status in Status if not status.is_final] == [Status.RUNNING]
    assert a_receipt(status="error").status is Status.ERROR
    with pytest.raises(ValueError, match="failed"):
        a_receipt(status="failed")


def test_times_are_utc_and_have_a_zone() -> None:
    jakarta = timezone(timedelta(hours=7))
    receipt = a_receipt(started_at=at(0).astimezone(jakarta))
    assert receipt.started_at.utcoffset() == timedelta(0)
    for name in ("started_at", "ended_at", "heartbeat_at"):
        with pytest.raises(ValueError, match="no time zone"):
            a_receipt(**{name: datetime(2026, 10, 15)})  # noqa: DTZ001


def test_a_window_has_a_length() -> None:
    window = Window(start=at(0), end=at(1).astimezone(timezone(timedelta(hours=-3))))
    assert window.end.utcoffset() == timedelta(0)
    for end in (at(0), at(-1)):
        with pytest.raises(ValueError, match="ends"):
            Window(start=at(0), end=end)


def test_newer_means_started_later_and_then_a_greater_id() -> None:
    runs = [
        a_receipt(run_id="a", started_at=at(0)),
        a_receipt(run_id="b", started_at=at(0)),
        a_receipt(run_id="a", started_at=at(1)),
    ]
    assert sorted([runs[2], runs[0], runs[1]], key=lambda run: run.order) == runs


def test_the_last_sign_of_life_is_the_later_of_start_and_heartbeat() -> None:
    assert a_receipt(heartbeat_at=None).last_sign_of_life == at(0)
    assert a_receipt(heartbeat_at=at(3)).last_sign_of_life == at(3)
    assert a_receipt(heartbeat_at=at(-3)).last_sign_of_life == at(0)


def test_an_old_record_without_an_end_ended_when_it_started() -> None:
    assert a_receipt(ended_at=None).finished_at == at(0)
    assert a_receipt(ended_at=at(10)).finished_at == at(10)


@pytest.mark.parametrize(
    ("changes", "left"),
    [
        ({"status": Status.ERROR, "orchestrator": AIRFLOW}, True),
        ({"status": Status.ERROR, "orchestrator": replace(AIRFLOW, attempt=3)}, False),
        ({"status": Status.ERROR, "orchestrator": replace(AIRFLOW, max_attempts=None)}, False),
        ({"status": Status.ERROR, "orchestrator": replace(AIRFLOW, attempt=None)}, False),
        ({"status": Status.ERROR, "orchestrator": None}, False),
        ({"status": Status.INTERRUPTED, "orchestrator": AIRFLOW}, False),
        ({"status": Status.SUCCESS, "orchestrator": AIRFLOW}, False),
    ],
)
def test_only_an_error_has_tries_left(changes: dict[str, object], left: bool) -> None:
    assert a_receipt(**changes).has_tries_left is left


def test_a_refused_run_is_a_skipped_one_with_that_outcome() -> None:
    assert a_receipt(status=Status.SKIPPED, outcome="refused").was_refused
    assert not a_receipt(status=Status.SKIPPED).was_refused
    assert not a_receipt(status=Status.ERROR, outcome="refused").was_refused


def test_an_attempt_is_the_same_by_its_ids_and_its_number() -> None:
    assert AIRFLOW.is_same_attempt(replace(AIRFLOW, url="http://elsewhere", max_attempts=9))
    assert not AIRFLOW.is_same_attempt(replace(AIRFLOW, attempt=2))
    assert not AIRFLOW.is_same_attempt(replace(AIRFLOW, name="dagster"))
    assert not AIRFLOW.is_same_attempt(None)
    assert AIRFLOW.scheduled_run == replace(AIRFLOW, attempt=2).scheduled_run


def test_the_ids_of_a_scheduler_are_text() -> None:
    ids = {"map_index": -1, "none": None}
    assert Orchestrator(name="x", ids=ids).ids == {"map_index": "-1"}  # type: ignore[arg-type]


def test_what_somebody_gives_for_a_text_or_a_number_becomes_one() -> None:
    """A receipt that holds anything else could not be read again."""
    wrong: dict[str, Any] = {"name": 1, "url": Path("/x"), "attempt": "2", "max_attempts": "3"}
    receipt = a_receipt(
        window=Window(start=at(0), end=at(1), time_zone=ZoneInfo("Asia/Jakarta")),  # type: ignore[arg-type]
        triggered_by=TriggeredBy(kind=TriggerKind.API, actor=7, reason=8),  # type: ignore[arg-type]
        orchestrator=Orchestrator(**wrong),
    )
    assert decode(encode(receipt), where="here") == receipt
    assert receipt.window is not None
    assert receipt.window.time_zone == "Asia/Jakarta"


def test_a_link_to_a_scheduler_holds_no_password() -> None:
    link = "https://ada:wachtwoord@airflow/dags/pay?token=abc"
    assert Orchestrator(name="x", url=link).url == "https://ada:***@airflow/dags/pay?token=***"


def test_a_trigger_is_of_a_known_kind() -> None:
    assert TriggeredBy(kind="manual").kind is TriggerKind.MANUAL  # type: ignore[arg-type]
    with pytest.raises(ValueError, match="cron"):
        TriggeredBy(kind="cron")  # type: ignore[arg-type]


def test_the_ids_of_a_run_are_told_for_the_scheduler_that_ran_it_alone() -> None:
    ran = a_receipt(orchestrator=AIRFLOW)
    assert (ran.ids_in("airflow"), ran.ids_in("dagster")) == ({"dag_id": "pay"}, {})
    assert a_receipt(orchestrator=None).ids_in("airflow") == {}
