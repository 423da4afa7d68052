"""``list``, ``show`` and ``close``: the runs themselves."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from ubunye_core import (
    Counts,
    Expectation,
    Orchestrator,
    Pin,
    Status,
    Step,
    Timing,
    TriggeredBy,
    TriggerKind,
    Window,
)
from ubunye_core.codec import as_json

NOW = datetime(2026, 10, 31, 12, tzinfo=UTC)
CALC = "pay/monthly/calc"


def test_a_list_has_the_newest_runs_first_with_whole_ids(ask, keep):
    ids = ["01a229a0-6467-4f90-b2b7-9f8fe24487aa", "01a229a0-6467-4f90-b2b7-9f8fe24487ab"]
    for hours, run_id in zip((2, 1), ids, strict=True):
        keep("error", hours_ago=hours, run_id=run_id)
    lines = ask("list", CALC).out.splitlines()
    assert lines[0].split() == ["run", "task", "status", "batch", "started", "took", "by"]
    assert [line.split()[0] for line in lines[1:]] == ids[::-1]


def test_a_list_tells_a_run_that_was_refused_from_one_that_decided_to_skip(ask, keep):
    keep("skipped", hours_ago=2)
    keep("skipped", hours_ago=1, outcome="refused")
    refused, decided = ask("list", CALC).out.splitlines()[1:]
    assert "skipped (refused)" in refused
    assert "skipped" in decided
    assert "(" not in decided


def test_a_list_can_be_narrowed(ask, keep):
    keep("success", hours_ago=30)
    failed = [keep("error", hours_ago=hours).run_id for hours in (3, 2, 1)]
    keep("error", task="retail/daily/orders")

    def ids(*more):
        runs = ask("list", "pay/*/*", "--json", *more).document["runs"]
        return [run["run_id"] for run in runs]

    assert len(ids()) == 4
    assert ids("--status", "error") == failed[::-1]
    assert ids("-n", 2) == failed[:0:-1]
    assert ids("--since", (NOW - timedelta(hours=2)).isoformat()) == failed[:0:-1]


def ids(answer) -> list[str]:
    return [run["run_id"] for run in answer.document["runs"]]


def test_a_list_can_be_narrowed_to_a_batch(ask, keep):
    eu = keep(hours_ago=2, variables={"month": "2026-10", "region": "eu"}).run_id
    us = keep(hours_ago=1, variables={"month": "2026-10", "region": "us"}).run_id
    keep(variables={"month": "2026-09", "region": "eu"})
    month, region = ("--var", "month=2026-10"), ("--var", "region=eu")
    assert ids(ask("list", CALC, *month, "--json")) == [us, eu]
    assert ids(ask("list", "pay/*/*", *month, *region, "--json")) == [eu]
    assert ids(ask("list", CALC, "--var", "month=2026-11", "--json")) == []


@pytest.mark.parametrize("pair", ["month", "month=", "=x", "db_password=hunter2"])
def test_a_list_for_a_batch_that_cannot_be_is_exit_2(ask, keep, pair):
    keep()
    answer = ask("list", CALC, "--var", pair)
    assert (answer.code, answer.out) == (2, "")
    assert "hunter2" not in answer.err


def test_a_date_without_a_time_is_its_first_instant_in_utc(ask, keep):
    keep(started_at=datetime(2026, 10, 30, 23, 59, 59, tzinfo=UTC))
    first = keep(started_at=datetime(2026, 10, 31, tzinfo=UTC)).run_id
    assert ids(ask("list", CALC, "--since", "2026-10-31", "--json")) == [first]


@pytest.mark.parametrize("since", ["2026-13-01", "2026-10", "20261031", "2026-10-31T06:00", "x"])
def test_what_is_neither_an_instant_nor_a_date_is_exit_2(ask, store, since):
    answer = ask("list", CALC, "--since", since)
    assert answer.code == 2
    assert "--since" in answer.err


def test_a_listed_run_is_its_receipt_as_stored(ask, keep, store):
    receipt = keep("success", extra={"from_elsewhere": [1, 2]})
    answer = ask("list", CALC, "--json")
    assert answer.code == 0
    assert answer.document["runs"] == [as_json(store.load(CALC, receipt.run_id))]
    assert answer.document["runs"][0]["from_elsewhere"] == [1, 2]


def test_a_list_without_runs_is_exit_0_and_says_so(ask, store):
    answer = ask("list", CALC)
    assert (answer.code, answer.out) == (0, "")
    assert "No runs" in answer.err
    assert ask("list", "nobody/*/*").code == 0


def test_a_list_names_what_is_unreadable(ask, keep, damage):
    keep("success")
    file = damage()
    answer = ask("list", CALC)
    assert answer.code == 0
    assert str(file) in answer.err
    assert ask("list", CALC, "--json").document["unreadable"][0]["where"] == str(file)


@pytest.mark.parametrize(
    "words", [("list", CALC), ("show", "r-1"), ("close", "r-1", "--reason", "x")]
)
def test_a_store_that_cannot_be_read_is_exit_3(ask, tmp_path, words):
    answer = ask(*words, "--store", tmp_path / "gone")
    assert answer.code == 3
    assert "does not exist" in answer.err


def everything(run_id: str = "r-1") -> dict[str, object]:
    return {
        "run_id": run_id,
        "variables": {"month": "2026-10", "mode": "PROD"},
        "window": Window(start=NOW - timedelta(days=30), end=NOW, time_zone="Asia/Jakarta"),
        "triggered_by": TriggeredBy(
            kind=TriggerKind.MANUAL, actor="nina", asserted_by="airflow", reason="late file"
        ),
        "orchestrator": Orchestrator(
            name="airflow",
            ids={"dag_id": "pay", "run_id": "manual__1"},
            url="https://airflow.example/pay",
            attempt=2,
            max_attempts=3,
        ),
        "inputs": (Step(name="people", direction="input", row_count=8, data_hash="sha256:aa"),),
        "outputs": (Step(name="adults", direction="output", hash_error="no such type"),),
        "upstreams": (Pin(task="pay/monthly/tax", run_id="t-9", data_hashes={"tax": "sha256:bb"}),),
        "timings": (Timing(step="Transform", seconds=1.5),),
        "expectations": (Expectation(rule="amount > 0", passed=False, failed=3),),
        "counts": Counts(extracted=8, loaded=5),
        "error": "ValueError: \x1b[2Jno IBAN",
        "host": "worker-7",
        "code_hash": "sha256:cc",
        "environment_hash": "sha256:dd",
    }


def test_a_run_is_shown_with_all_that_its_receipt_says(ask, keep):
    keep("error", **everything())
    out = ask("show", "r-1").out
    for text in (
        "month=2026-10",
        "mode=PROD",
        "Asia/Jakarta",
        "manual by nina (airflow)",
        "late file",
        "airflow, attempt 2 of 3: dag_id=pay, run_id=manual__1",
        "https://airflow.example/pay",
        "sha256:aa",
        "none: no such type",
        "pay/monthly/tax",
        "t-9",
        "sha256:bb",
        "Transform",
        "1.5s",
        "amount > 0",
        "failed=3",
        "8 extracted, 5 loaded",
        "no IBAN",
        "worker-7",
        "sha256:cc",
        "sha256:dd",
    ):
        assert text in out


def test_what_a_receipt_holds_cannot_move_the_cursor(ask, keep):
    keep("error", **everything())
    for words in (("show", "r-1"), ("health", CALC), ("list", CALC)):
        answer = ask(*words)
        assert "\x1b" not in answer.out + answer.err


def test_what_a_receipt_holds_cannot_look_like_another_fact(ask, keep):
    keep("error", run_id="r-1", error="no\nstatus  success")
    lines = ask("show", "r-1").out.splitlines()
    assert [line for line in lines if line.startswith("status")] == ["status   error"]


@pytest.mark.parametrize("seconds", [1e300, -1e300, 4e9])
def test_a_run_that_took_an_impossible_time_is_shown_all_the_same(ask, keep, seconds):
    keep("success", run_id="r-1", duration_sec=seconds)
    for words in (("show", "r-1"), ("list", CALC)):
        assert f"{seconds:.2g}s" in ask(*words).out


def test_the_document_of_a_run_is_its_receipt(ask, keep, store):
    keep("error", **everything())
    assert ask("show", "r-1", "--json").document == as_json(store.load(CALC, "r-1"))


def test_a_beginning_of_an_id_will_do_where_it_fits_one_run(ask, keep):
    keep("success", run_id="abc-1")
    keep("success", run_id="abd-1", task="pay/monthly/send")
    assert "abd-1" in ask("show", "abd").out
    assert "abc-1" in ask("show", "ab", "--task", CALC).out
    answer = ask("show", "ab")
    assert answer.code == 2
    assert "abc-1 of pay/monthly/calc" in answer.err
    assert "abd-1 of pay/monthly/send" in answer.err


def test_a_run_that_is_not_there_is_exit_1(ask, keep):
    keep("success")
    for words in (
        ("show", "zzz"),
        ("show", "zzz", "--task", CALC),
        ("close", "z", "--reason", "x"),
    ):
        answer = ask(*words)
        assert (answer.code, answer.out) == (1, "")
        assert "holds no run" in answer.err


@pytest.mark.parametrize("name", ["../r-1", "a/b", "-x\0", "", "r" * 10_000])
def test_a_hostile_id_is_exit_2(ask, keep, name):
    keep("success")
    assert ask("show", "--", name).code == 2


def test_a_receipt_that_cannot_be_read_is_exit_3_and_named(ask, damage):
    file = damage(run_id="broken")
    answer = ask("show", "broken", "--json")
    assert answer.code == 3
    assert str(file) in answer.document["reason"]


def test_a_dead_run_is_closed_with_a_reason(ask, keep, store):
    stuck = keep("running", hours_ago=9)
    assert ask("health", CALC, "--now", NOW.isoformat()).code == 1
    answer = ask("close", stuck.run_id, "--reason", "the machine was lost, password=hunter2")
    assert answer.code == 0
    assert stuck.run_id in answer.out
    closed = store.load(CALC, stuck.run_id)
    assert (closed.status, closed.ended_by) == (Status.INTERRUPTED, "close")
    assert "the machine was lost" in closed.error
    assert "hunter2" not in closed.error


def test_closing_is_a_document_too(ask, keep):
    stuck = keep("running")
    answer = ask("close", stuck.run_id[:2], "--task", CALC, "--reason", "lost", "--json")
    assert answer.code == 0
    assert answer.document["status"] == "interrupted"


@pytest.mark.parametrize("every", [None, timedelta(seconds=30)])
def test_a_run_that_seems_alive_is_closed_with_a_warning(ask, keep, store, every):
    begun = datetime.now(UTC) - timedelta(seconds=90)
    keep("running", started_at=begun, run_id="r-1", heartbeat_every=every)
    answer = ask("close", "r-1", "--reason", "hangs", "--json")
    assert answer.code == 0
    assert answer.document["status"] == "interrupted"
    assert "Its last sign of life was 1m 3" in answer.err
    assert "if it lives, its own end will stand" in answer.err
    assert store.load(CALC, "r-1").ended_by == "close"


@pytest.mark.parametrize("every", [None, timedelta(seconds=30)])
def test_a_run_that_is_silent_for_long_is_closed_without_a_warning(ask, keep, every):
    begun = datetime.now(UTC) - timedelta(hours=7)
    keep("running", started_at=begun, run_id="r-1", heartbeat_every=every)
    answer = ask("close", "r-1", "--reason", "lost")
    assert (answer.code, answer.err) == (0, "")


def test_a_run_that_has_ended_is_not_closed(ask, keep, store):
    run = keep("success")
    answer = ask("close", run.run_id, "--reason", "mistake")
    assert answer.code == 2
    assert "ended already" in answer.err
    assert store.load(CALC, run.run_id) == run


def test_closing_needs_a_reason(ask, keep, store):
    run = keep("running")
    assert ask("close", run.run_id).code == 2
    assert ask("close", run.run_id, "--reason", " ").code == 2
    assert store.load(CALC, run.run_id) == replace(run)


def test_a_misspelt_task_is_told_of_with_names_that_are_near(ask, keep):
    run = keep("success")
    answer = ask("list", "pay/monthly/clac")
    assert (answer.code, answer.out) == (0, "")
    never = (
        "pay/monthly/clac has never run, as far as the store knows. Did you mean pay/monthly/calc?"
    )
    assert answer.err == f"No runs. {never}\n"
    beside = ask("list", CALC, "pay/monthly/clac")
    assert run.run_id in beside.out
    assert beside.err == f"{never}\n"
    told = ask("list", CALC, "pay/monthly/clac", "--json")
    assert told.document["reason"] == f"1 run. {never}"
    assert told.err == ""


def test_a_task_without_a_run_that_fits_is_not_called_unknown(ask, keep):
    keep("success")
    assert ask("list", CALC, "--status", "error").err == "No runs.\n"
    assert "No task in" in ask("list", "salez/*/*").err


@pytest.mark.parametrize("words", [("show",), ("close", "--reason", "gone")])
def test_a_task_where_a_run_is_wanted_leads_to_its_runs(ask, keep, words):
    keep("success")
    answer = ask(*words, CALC)
    assert answer.code == 2
    assert f"ubunye-runs list {CALC}" in answer.err


def test_a_list_can_begin_so_long_ago(ask, keep):
    lately = datetime.now(UTC) - timedelta(hours=1)
    new = keep(started_at=lately, ended_at=lately).run_id
    keep(started_at=lately - timedelta(days=3), ended_at=lately - timedelta(days=3))
    assert ids(ask("list", CALC, "--since", "2d", "--json")) == [new]
    assert ids(ask("search", "--since", "2d", "--json")) == [new]


def test_a_list_that_stops_at_its_usual_length_says_so(ask, keep):
    for hours in range(20):
        keep("success", hours_ago=hours)
    more = "There may be more: -n shows more than 20."
    assert ask("list", CALC).err == f"{more}\n"
    assert ask("search", "--json").document["reason"] == f"20 runs. {more}"
    assert ask("list", CALC, "-n", 20).err == ""
    assert ask("list", CALC, "--since", (NOW - timedelta(hours=9)).isoformat()).err == ""
