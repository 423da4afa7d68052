"""What users of other tools ran into with runs by hand and runs twice. Numbers are of the cases."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from ubunye_core import (
    Policy,
    RunRefusedError,
    RunSkippedError,
    Schedule,
    Status,
    TriggeredBy,
    TriggerKind,
    Window,
    claim,
    record_run,
)
from ubunye_core.stores import MemoryStore

TABLE = "sales/daily/table"
DAILY = Schedule(cron="0 2 * * *", window="day", variable="dt", start="2026-10-01T00:00:00Z")


def test_case_26_two_triggers_of_one_window_are_two_receipts_and_the_second_is_refused() -> None:
    store = MemoryStore()
    window = Window(
        start=datetime(2026, 10, 11, tzinfo=UTC), end=datetime(2026, 10, 12, tzinfo=UTC)
    )

    def trigger() -> None:
        with record_run(
            TABLE, variables={"dt": "2026-10-11"}, window=window, store=store, guard=True
        ):
            pass

    trigger()
    with pytest.raises(RunRefusedError, match="has finished"):
        trigger()
    second, first = store.list_runs(TABLE)
    assert first.run_id != second.run_id
    assert (first.status, second.status, second.outcome) == (
        Status.SUCCESS,
        Status.SKIPPED,
        "refused",
    )


def test_case_27_a_run_by_hand_names_who_and_why_or_is_refused() -> None:
    store = MemoryStore()
    policy = Policy(require_reason=True)
    by = TriggeredBy(kind=TriggerKind.MANUAL, actor="ann", asserted_by="airflow")
    refused = record_run(TABLE, store=store, policy=policy, triggered_by=by)
    with pytest.raises(RunRefusedError, match="by hand by ann"), refused:
        raise AssertionError("nobody said why")
    said = TriggeredBy(
        kind=TriggerKind.MANUAL, actor="ann", asserted_by="airflow", reason="the file was late"
    )
    with record_run(TABLE, store=store, policy=policy, triggered_by=said):
        pass
    second, first = store.list_runs(TABLE)
    assert (first.outcome, first.triggered_by) == ("refused", by)
    assert (second.status, second.triggered_by) == (Status.SUCCESS, said)


def test_case_39_a_locked_table_is_skipped_or_refused_and_days_follow_each_other() -> None:
    store = MemoryStore()

    def load(day: str, **terms: str) -> None:
        with record_run(
            TABLE, variables={"dt": day}, store=store, guard=True, ordered=True, schedule=DAILY,
            **terms,  # type: ignore[arg-type]
        ):  # fmt: skip
            pass

    with pytest.raises(RunRefusedError, match="2026-10-01, which comes before 2026-10-02"):
        load("2026-10-02")
    held = claim(TABLE, {"dt": "2026-09-30"}, run_id="other", store=store)
    with pytest.raises(RunSkippedError, match="by run other"):
        load("2026-09-30", if_held="skip")
    with pytest.raises(RunRefusedError, match="by run other"):
        load("2026-09-30", if_held="fail")
    store.release(held)  # type: ignore[arg-type]
    for day in ("2026-09-30", "2026-10-01", "2026-10-02"):
        load(day, if_held="wait")
    with pytest.raises(RunRefusedError, match="has finished"):
        load("2026-10-01")
