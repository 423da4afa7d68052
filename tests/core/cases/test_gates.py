"""What users of other tools ran into with gates, and what ours does. Numbers are of the cases."""

from __future__ import annotations

import os
import stat
import tempfile
from collections.abc import Callable, Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from tests.core.questions.builders import (
    CALC,
    DAY,
    HOUR,
    MINUTE,
    NOW,
    SEND,
    Clock,
    a_run,
    put,
)
from ubunye_core import (
    ReceiptStore,
    Requirement,
    StoreUnavailableError,
    TriggeredBy,
    TriggerKind,
    Verdict,
    check_upstream,
    job_health,
    open_store,
    wait_for_upstream,
)
from ubunye_core.stores import FileStore, MemoryStore

OCTOBER = {"month": "2026-10"}


@pytest.fixture
def store(tmp_path: Path) -> ReceiptStore:
    (tmp_path / "receipts").mkdir()
    return open_store((tmp_path / "receipts").as_uri())


@pytest.mark.parametrize("ago", [MINUTE, 9 * DAY, 13 * HOUR + 7 * MINUTE])
def test_case_1_a_gate_asks_for_the_batch_and_not_for_a_clock_time(
    store: ReceiptStore, ago: timedelta
) -> None:
    put(store, a_run(ago=ago, variables={"month": "2026-11"}))
    ask = Requirement(CALC, variables=["month"])
    assert check_upstream(ask, variables=OCTOBER, store=store, now=NOW).verdict is Verdict.FAIL
    put(store, a_run(ago=ago))
    assert check_upstream(ask, variables=OCTOBER, store=store, now=NOW).verdict is Verdict.PASS


def test_case_2_two_manual_runs_meet_by_their_batch_alone(store: ReceiptStore) -> None:
    by_hand = TriggeredBy(kind=TriggerKind.MANUAL, actor="thandi", asserted_by="airflow")
    put(store, a_run(ago=3 * HOUR + 17 * MINUTE, triggered_by=by_hand, window=None))
    assert check_upstream(CALC, variables=OCTOBER, store=store, now=NOW).verdict is Verdict.PASS


def test_case_3_a_failed_upstream_fails_every_way_of_asking_within_one_poll(
    store: ReceiptStore,
) -> None:
    put(store, a_run("error", ago=HOUR, error="ValueError: no rows"))
    asked = Requirement(CALC, on_failed="fail", wait="2h")
    clock = Clock()
    once = check_upstream(asked, variables=OCTOBER, store=store, now=NOW)
    waited = wait_for_upstream(
        asked, variables=OCTOBER, store=store, clock=clock, sleep=clock.sleep
    )
    assert (once.verdict, once.decided) == (Verdict.FAIL, True)
    assert waited == once
    assert clock.slept == []


def test_case_4_a_living_upstream_is_still_waited_for_after_61_seconds(
    store: ReceiptStore,
) -> None:
    clock, looks = Clock(), []
    beats = timedelta(seconds=30)
    put(store, a_run("running", heartbeat_every=beats, heartbeat_at=NOW))
    wait_for_upstream(
        Requirement(CALC, wait="2h"),
        variables=OCTOBER,
        store=store,
        clock=clock,
        sleep=clock.sleep,
        on_look=lambda answer, pause: looks.append((answer.now - NOW, pause)),
    )
    assert (timedelta(seconds=120), MINUTE) in looks
    assert looks[-1] == (2 * HOUR, None)


def test_case_5_a_task_that_does_not_exist_is_said_at_once_with_close_names(
    store: ReceiptStore,
) -> None:
    put(store, a_run())
    clock = Clock()

    def ask(**fields: object) -> tuple[Verdict, str]:
        asked = Requirement("pay/monthly/calculate", wait="10m", **fields)  # type: ignore[arg-type]
        answer = wait_for_upstream(
            asked, variables=OCTOBER, store=store, clock=clock, sleep=clock.sleep
        )
        return answer.verdict, answer.reason

    verdict, reason = ask()
    assert (verdict, clock.slept) == (Verdict.FAIL, [])
    assert "pay/monthly/calculate is unknown" in reason
    assert "Did you mean pay/monthly/calc?" in reason
    assert ask(allow_unknown=True)[0] is Verdict.FAIL
    assert clock.now == NOW + 10 * MINUTE


def test_case_6_a_skipped_member_of_a_pattern_decides_it(store: ReceiptStore) -> None:
    put(store, a_run(), a_run("skipped", task=SEND))
    clock = Clock()
    answer = wait_for_upstream(
        Requirement("pay/*/*", wait="2h"),
        variables=OCTOBER,
        store=store,
        clock=clock,
        sleep=clock.sleep,
    )
    assert (answer.verdict, answer.decided, clock.slept) == (Verdict.FAIL, True, [])


@pytest.fixture
def shared() -> Iterator[FileStore]:
    """A store that another user of this machine can reach."""
    with tempfile.TemporaryDirectory() as folder:
        os.chmod(folder, 0o755)
        yield FileStore(Path(folder) / "receipts")


def as_a_reader(store: FileStore, ask: Callable[[], None]) -> int:
    """Call ``ask`` in a process that may read the store and not write it; its exit code."""
    read_only = stat.S_IRUSR | stat.S_IRGRP | stat.S_IROTH
    for path in (store.root, *store.root.rglob("*")):
        path.chmod(read_only | (0o111 if path.is_dir() else 0))
    child = os.fork()
    if child == 0:
        code = 70
        try:
            if os.getuid() == 0:  # root may write whatever the permissions say
                os.setgid(65534)
                os.setuid(65534)
            ask()
            code = 0
        finally:
            os._exit(code)
    _, status = os.waitpid(child, 0)
    for path in (store.root, *store.root.rglob("*")):
        path.chmod(0o755 if path.is_dir() else 0o644)
    return os.waitstatus_to_exitcode(status)


def test_case_9_a_gate_needs_the_store_and_only_permission_to_read(shared: FileStore) -> None:
    """One Airflow writes, another asks: they share a folder, and nothing else."""
    put(shared, a_run(), a_run("error", task=SEND))
    there = open_store(shared.url)

    def ask() -> None:
        assert check_upstream(CALC, variables=OCTOBER, store=there, now=NOW).verdict == "PASS"
        assert check_upstream(SEND, variables=OCTOBER, store=there, now=NOW).verdict == "FAIL"
        assert job_health("pay/*/*", store=there, now=NOW).verdict == "FAIL"
        with pytest.raises(StoreUnavailableError):
            there.save(a_run(ago=MINUTE))

    assert as_a_reader(shared, ask) == 0
    before = sorted(path.stat().st_mtime_ns for path in shared.root.rglob("*"))
    check_upstream(CALC, variables=OCTOBER, store=there, now=NOW)
    assert sorted(path.stat().st_mtime_ns for path in shared.root.rglob("*")) == before


def test_case_11_a_deadline_is_absolute_however_often_the_wait_is_restarted() -> None:
    store, deadline = MemoryStore(), NOW + 30 * MINUTE
    put(store, a_run("running"))
    clock = Clock()

    class RestartError(Exception):
        pass

    def killed_after_ten_minutes(seconds: float) -> None:
        clock.sleep(seconds)
        if clock.now - began >= 10 * MINUTE:
            raise RestartError

    starts = 0
    while True:
        began, starts = clock.now, starts + 1
        try:
            answer = wait_for_upstream(
                CALC,
                variables=OCTOBER,
                store=store,
                deadline=deadline,
                clock=clock,
                sleep=killed_after_ten_minutes,
            )
            break
        except RestartError:
            continue
    assert (answer.verdict, clock.now, starts) == (Verdict.FAIL, deadline, 4)
