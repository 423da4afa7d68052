"""Run ids that sort by time."""

from __future__ import annotations

import uuid
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubunye_core.names import is_segment
from ubunye_core.runids import new_run_id, run_id_of_attempt, time_in

SIX = datetime(2026, 10, 15, 6, tzinfo=UTC)
MOMENTS = st.datetimes(datetime(1970, 1, 1), datetime(9999, 12, 30), timezones=st.just(UTC))  # noqa: DTZ001


@given(MOMENTS)
def test_an_id_is_a_uuid_of_version_7_that_shows_its_time(moment: datetime) -> None:
    run_id = new_run_id(moment)
    parsed = uuid.UUID(run_id)
    assert (parsed.version, parsed.variant, str(parsed)) == (7, uuid.RFC_4122, run_id)
    assert is_segment(run_id)
    shown = time_in(run_id)
    assert shown is not None
    assert timedelta(0) <= moment - shown < timedelta(milliseconds=1)


@given(MOMENTS, st.timedeltas(timedelta(milliseconds=1), timedelta(days=1)))
def test_a_later_id_sorts_later(moment: datetime, later: timedelta) -> None:
    assert new_run_id(moment) < new_run_id(moment + later)


def test_no_two_ids_are_the_same() -> None:
    assert len({new_run_id(SIX) for _ in range(1000)}) == 1000


def test_an_attempt_has_the_same_id_for_the_same_start_and_ids() -> None:
    ids = {"dag_id": "pay", "try": "1"}
    run_id = run_id_of_attempt(SIX, "airflow", ids)
    assert run_id == run_id_of_attempt(SIX, "airflow", dict(reversed(ids.items())))
    assert time_in(run_id) == SIX
    others = {
        run_id_of_attempt(SIX + timedelta(milliseconds=1), "airflow", ids),
        run_id_of_attempt(SIX, "dagster", ids),
        run_id_of_attempt(SIX, "airflow", {**ids, "try": "2"}),
        run_id_of_attempt(SIX, "airflow", {"dag_id": "pay"}),
        run_id_of_attempt(SIX, "airflow", {"dag_id": "paytry", "try": "1"}),
        run_id_of_attempt(SIX, "airflow", {"dag_idtry": "pay1"}),
    }
    assert len(others | {run_id}) == 7


def test_an_id_of_an_attempt_can_be_made_of_any_text() -> None:
    assert time_in(run_id_of_attempt(SIX, "\ud800", {"\udfff": "\0"})) == SIX


@pytest.mark.parametrize(
    "run_id",
    ["run-1", "", "a50f2f7c-7551-4e68-9ef9-fd866fe0fb08", "0199E000-0000-7000-8000-000000000000",
     "0199e000-0000-7000-c000-000000000000", "0199e0000000-7000-8000-000000000000",
     "x0199e000-0000-7000-8000-000000000000", "ffffffff-ffff-7fff-bfff-ffffffffffff"],
)  # fmt: skip
def test_another_id_shows_no_time(run_id: str) -> None:
    assert time_in(run_id) is None
