"""What people write first, and what they then read."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from ubunye_core import (
    ConfigError,
    Status,
    UpstreamNotMetError,
    Verdict,
    check_upstream,
    job_health,
    record_run,
    require,
    requirements_of,
    wait_for_upstream,
)
from ubunye_core.stores import FileStore, MemoryStore
from ubunye_core.testing import a_receipt, at

CALC, SEND = "pay/monthly/calc", "pay/monthly/send"
OCTOBER, NOVEMBER = {"month": "2026-10"}, {"month": "2026-11"}


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def test_an_answer_is_true_only_when_it_passes(store: MemoryStore) -> None:
    store.save(a_receipt(task=CALC, variables=OCTOBER))
    passed = check_upstream(CALC, variables=OCTOBER, store=store)
    refused = check_upstream(CALC, variables=NOVEMBER, store=store)
    unknown = check_upstream("pay/*/none", variables=NOVEMBER, store=store)
    assert [bool(each) for each in (passed, refused, unknown)] == [True, False, False]
    assert [bool(each.verdict) for each in (passed, refused, unknown)] == [True, False, False]
    assert passed.requirements[0]
    assert not refused.requirements[0]
    assert job_health(CALC, store=store)
    assert not job_health(SEND, store=store)
    assert not job_health(SEND, store=store).tasks[0]


def test_a_question_takes_the_url_or_the_path_of_a_store(tmp_path: Path) -> None:
    with record_run(CALC, variables=OCTOBER, store=tmp_path.as_uri()):
        pass
    for store in (str(tmp_path), tmp_path, tmp_path.as_uri()):
        assert check_upstream(CALC, variables=OCTOBER, store=store)
        assert wait_for_upstream(CALC, variables=OCTOBER, store=store)
        assert require(CALC, variables=OCTOBER, store=store)
        assert job_health(CALC, store=store)


def test_a_question_without_a_store_asks_the_one_of_the_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(ConfigError, match="UBUNYE_STORE"):
        check_upstream(CALC, variables=OCTOBER)
    monkeypatch.setenv("UBUNYE_STORE", str(tmp_path))
    FileStore(tmp_path).save(a_receipt(task=CALC, variables=OCTOBER))
    assert check_upstream(CALC, variables=OCTOBER)


def test_what_is_no_requirement_is_said_to_be_none(store: MemoryStore) -> None:
    with pytest.raises(ConfigError, match="None is not a requirement"):
        check_upstream(None, variables=OCTOBER, store=store)  # type: ignore[arg-type]
    for given in (check_upstream, [check_upstream]):  # what a gate gets as a decorator that is bare
        with pytest.raises(ConfigError, match="check_upstream is written without its parentheses"):
            requirements_of(given)  # type: ignore[arg-type]


def test_an_unknown_upstream_is_not_taken_for_the_task_that_asks(store: MemoryStore) -> None:
    with (
        pytest.raises(UpstreamNotMetError) as refused,
        record_run("pay/monthly/calc2", variables=OCTOBER, store=store) as run,
    ):
        run.require(CALC)
    assert "is unknown" in str(refused.value)
    assert "Did you mean" not in str(refused.value)


def test_a_gate_says_that_a_silent_run_is_probably_dead(store: MemoryStore) -> None:
    store.save(
        a_receipt(
            run_id="r-1", status=Status.RUNNING, task=CALC, variables=OCTOBER,
            started_at=at(0), heartbeat_every=timedelta(seconds=30),
        )
    )  # fmt: skip
    answer = check_upstream(CALC, variables=OCTOBER, store=store, now=at(29))
    assert "It has been silent for 29m, and is probably dead." in answer.reason
    assert "'ubunye-runs close r-1 --reason ...'" in answer.reason
    early = check_upstream(CALC, variables=OCTOBER, store=store, now=at(2))
    assert "Try: wait for it" in early.reason


def test_a_refused_upstream_is_quoted_by_its_first_sentence(store: MemoryStore) -> None:
    with (
        pytest.raises(UpstreamNotMetError),
        record_run(SEND, variables=OCTOBER, store=store) as run,
    ):
        run.require(CALC)
    reason = check_upstream(SEND, variables=OCTOBER, store=store).reason
    assert f"{CALC} is unknown: the store has no run of it, for any batch. Try: run" in reason


def test_health_says_that_the_newest_runs_were_refused(store: MemoryStore) -> None:
    store.save(a_receipt(task=SEND, started_at=at(0)))
    for minutes in (60, 120):
        store.save(
            a_receipt(
                run_id=f"refused-{minutes}",
                status=Status.SKIPPED,
                task=SEND,
                started_at=at(minutes),
                outcome="refused",
            )
        )
    health = job_health(SEND, store=store, now=at(180))
    assert health.verdict is Verdict.PASS
    assert health.reason.endswith("but its newest 2 runs were refused by a gate or a guard.")


def test_only_one_run_is_called_the_newest_where_it_was_refused(store: MemoryStore) -> None:
    store.save(a_receipt(run_id="held", status=Status.RUNNING, task=SEND, started_at=at(0)))
    refused = a_receipt(
        run_id="refused",
        status=Status.SKIPPED,
        task=SEND,
        started_at=at(1),
        outcome="refused",
    )
    store.save(refused)
    health = job_health(SEND, store=store, now=at(60))
    assert health.verdict is Verdict.PASS
    assert "the newest that ran is held (running" in health.reason
    assert health.reason.endswith("but its newest run was refused by a gate or a guard.")


def test_what_cannot_be_read_comes_with_what_to_do(store: MemoryStore) -> None:
    store.put_document(CALC, "r-1", b"{")
    for reason in (
        check_upstream(CALC, variables=OCTOBER, store=store).reason,
        job_health(CALC, store=store).reason,
    ):
        assert (
            "Try: repair it, or move it out of the store by "
            "'ubunye-runs store repair STORE --set-aside'."
        ) in reason
