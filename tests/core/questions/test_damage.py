"""Fail closed: damage never opens a gate, never crashes a question, and never spreads."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path

import pytest

from tests.core.questions.builders import CALC, DAY, HOUR, NOW, SEND, a_run, put
from tests.core.questions.damage import DAMAGES, path_of
from ubunye_core import (
    Requirement,
    UpstreamNotMetError,
    Verdict,
    check_upstream,
    job_health,
    require,
    wait_for_upstream,
)
from ubunye_core.stores import FileStore

OCTOBER = {"month": "2026-10"}

every_damage = pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES.keys())
Damage = Callable[[Path], object]


def gate(store: FileStore, **fields: object) -> Verdict:
    asked = Requirement(CALC, **fields)  # type: ignore[arg-type]
    return check_upstream(asked, variables=OCTOBER, store=store, now=NOW).verdict


@every_damage
def test_a_damaged_success_never_opens_a_gate_and_is_named(
    files: FileStore, damage: Damage
) -> None:
    run = put(files, a_run("error", ago=2 * HOUR), a_run())
    assert gate(files) is Verdict.PASS
    damage(path_of(files, CALC, run.run_id))
    answer = check_upstream(CALC, variables=OCTOBER, store=files, now=NOW)
    assert (answer.verdict, answer.decided, answer.retryable) == (Verdict.UNKNOWN, False, True)
    assert run.run_id in answer.reason
    assert run.run_id in answer.unreadable[0].where
    assert answer.unreadable[0].why
    assert gate(files, optional=True) is Verdict.UNKNOWN
    assert gate(files, on_failed="fail") is Verdict.UNKNOWN
    with pytest.raises(UpstreamNotMetError, match=run.run_id):
        require(CALC, variables=OCTOBER, store=files, now=NOW)


@every_damage
def test_a_readable_success_passes_whatever_is_damaged_beside_it(
    files: FileStore, damage: Damage
) -> None:
    put(files, a_run(ago=2 * HOUR))
    for ago in (3 * HOUR, HOUR):
        damage(path_of(files, CALC, put(files, a_run("error", ago=ago)).run_id))
    assert gate(files) is Verdict.PASS


@every_damage
def test_damage_in_another_task_changes_nothing(files: FileStore, damage: Damage) -> None:
    put(files, a_run("error"))
    before = (gate(files), job_health(CALC, store=files, now=NOW))
    damage(path_of(files, SEND, put(files, a_run(task=SEND)).run_id))
    assert (gate(files), job_health(CALC, store=files, now=NOW)) == before


@every_damage
def test_health_is_unknown_when_the_damaged_run_may_be_the_latest(
    files: FileStore, damage: Damage
) -> None:
    run = put(files, a_run(ago=2 * HOUR), a_run(ago=HOUR))
    damage(path_of(files, CALC, run.run_id))
    found = job_health(CALC, store=files, now=NOW).tasks[0]
    assert found.verdict is Verdict.UNKNOWN
    assert run.run_id in found.reason
    assert "The others say: pay/monthly/calc is healthy" in found.reason
    assert run.run_id in found.unreadable[0].where


@every_damage
@pytest.mark.parametrize(("status", "verdict"), [("success", "PASS"), ("error", "FAIL")])
def test_damage_that_is_older_by_its_name_than_the_deciding_run_changes_nothing(
    files: FileStore, damage: Damage, status: str, verdict: str
) -> None:
    run = put(files, a_run(ago=3 * HOUR))
    put(files, a_run(status, ago=HOUR))
    damage(path_of(files, CALC, run.run_id))
    assert job_health(CALC, store=files, now=NOW).verdict == verdict


def test_damage_whose_name_shows_no_time_may_be_of_any_time(files: FileStore) -> None:
    put(files, a_run(ago=3 * HOUR, run_id="r-1"), a_run(ago=HOUR))
    path_of(files, CALC, "r-1").write_bytes(b"")
    assert job_health(CALC, store=files, now=NOW).verdict is Verdict.UNKNOWN
    assert gate(files) is Verdict.PASS


def test_damage_whose_name_shows_the_end_of_the_calendar_breaks_no_question(
    files: FileStore,
) -> None:
    run = put(files, a_run())
    path = path_of(files, CALC, run.run_id)
    path.with_name("e677d21f-dbff-7000-8000-000000000000.json").write_text("{")
    assert job_health(CALC, store=files, now=NOW).verdict is Verdict.UNKNOWN
    assert len(files.list_runs(CALC, 1).unreadable) == 1


def test_damage_older_than_the_success_that_is_asked_for_may_be_that_success(
    files: FileStore,
) -> None:
    run = put(files, a_run(ago=3 * HOUR))
    put(files, a_run("error", ago=HOUR))
    path_of(files, CALC, run.run_id).write_bytes(b"")
    assert gate(files) is Verdict.UNKNOWN


def test_a_failure_that_no_unreadable_run_could_undo_stays_a_failure(files: FileStore) -> None:
    old = put(files, a_run(ago=4 * HOUR))
    put(files, a_run("error", ago=3 * HOUR), a_run("error", ago=HOUR))
    path_of(files, CALC, old.run_id).write_bytes(b"")
    between = put(files, a_run("error", ago=2 * HOUR))
    path_of(files, CALC, between.run_id).write_bytes(b"")
    assert job_health(CALC, store=files, now=NOW).verdict is Verdict.FAIL
    found = job_health(CALC, store=files, now=NOW, failure_threshold=2)
    assert found.verdict is Verdict.UNKNOWN  # the one between may have succeeded


def test_a_never_run_task_with_damage_is_unknown_also_where_an_age_is_asked(
    files: FileStore,
) -> None:
    run = put(files, a_run())
    path_of(files, CALC, run.run_id).write_bytes(b"")
    for max_age in (None, "1d"):
        found = job_health(CALC, store=files, now=NOW, max_age=max_age)
        assert found.verdict is Verdict.UNKNOWN
        assert run.run_id in found.reason


def test_a_copy_under_another_name_is_no_second_receipt(files: FileStore) -> None:
    run = put(files, a_run("error", ago=2 * HOUR))
    copy = path_of(files, CALC, "copy-of-it")
    shutil.copy(path_of(files, CALC, run.run_id), copy)
    answer = check_upstream(CALC, variables=OCTOBER, store=files, now=NOW)
    assert answer.verdict is Verdict.UNKNOWN
    assert str(copy) in answer.reason
    found = job_health(CALC, store=files, now=NOW)
    assert (found.verdict, str(copy) in found.reason) == (Verdict.UNKNOWN, True)
    put(files, a_run())
    assert gate(files) is Verdict.PASS


def test_a_copied_success_opens_no_gate_by_itself(files: FileStore) -> None:
    run = put(files, a_run())
    os.rename(path_of(files, CALC, run.run_id), path_of(files, CALC, "copy-of-it"))
    assert gate(files) is Verdict.UNKNOWN
    assert gate(files, variables=[]) is Verdict.UNKNOWN


def test_a_copy_in_another_tasks_folder_opens_no_gate(files: FileStore) -> None:
    run = put(files, a_run(task=SEND))
    folder = files.root / CALC
    folder.mkdir()
    shutil.copy(path_of(files, SEND, run.run_id), folder)
    assert gate(files) is Verdict.UNKNOWN


def test_unfinished_files_and_other_things_are_no_receipts(files: FileStore) -> None:
    put(files, a_run("error"))
    folder = files.root / CALC
    for name in (".x.json", "x.json.tmp", "x.json.damaged", "README.md", "leases"):
        (folder / name).write_bytes(b"{")
    (files.root / "README.md").write_text("what this is")
    (files.root / "pay" / "notes.txt").write_text("x")
    assert gate(files) is Verdict.FAIL
    assert job_health("*/*/*", store=files, now=NOW).verdict is Verdict.FAIL


def missing(root: Path) -> None:
    shutil.rmtree(root)


def a_file_for_the_store(root: Path) -> None:
    shutil.rmtree(root)
    root.write_text("not a folder")


def a_file_for_the_task(root: Path) -> None:
    shutil.rmtree(root / CALC)
    (root / CALC).write_text("not a folder")


def a_file_for_the_use_case(root: Path) -> None:
    shutil.rmtree(root / "pay")
    (root / "pay").write_text("not a folder")


def a_link_to_nothing_for_the_task(root: Path) -> None:
    shutil.rmtree(root / CALC)
    (root / CALC).symlink_to(root / "not-mounted")


@pytest.mark.parametrize(
    "spoil",
    [
        missing,
        a_file_for_the_store,
        a_file_for_the_task,
        a_file_for_the_use_case,
        a_link_to_nothing_for_the_task,
    ],
)
def test_a_store_that_cannot_be_listed_is_unknown_and_named(
    files: FileStore, spoil: Callable[[Path], None]
) -> None:
    put(files, a_run())
    spoil(files.root)
    answer = check_upstream(CALC, variables=OCTOBER, store=files, now=NOW)
    assert (answer.verdict, answer.retryable) == (Verdict.UNKNOWN, True)
    assert str(files.root) in answer.reason
    assert answer.unreadable[0].where == files.url
    found = job_health(CALC, store=files, now=NOW)
    assert (found.verdict, found.retryable) == (Verdict.UNKNOWN, True)
    assert str(files.root) in found.reason
    waited = wait_for_upstream(CALC, variables=OCTOBER, store=files, wait=timedelta(0))
    assert waited.verdict is Verdict.UNKNOWN


def test_one_task_that_cannot_be_listed_hides_no_failure_of_another(files: FileStore) -> None:
    put(files, a_run(), a_run("error", task=SEND))
    a_link_to_nothing_for_the_task(files.root)
    assert check_upstream([CALC, SEND], variables=OCTOBER, store=files, now=NOW).verdict is (
        Verdict.FAIL
    )
    assert job_health([CALC, SEND], store=files, now=NOW).verdict is Verdict.FAIL


def test_a_place_beside_that_cannot_be_listed_does_not_change_what_is_known(
    files: FileStore,
) -> None:
    put(files, a_run(ago=DAY))
    (files.root / "hr" / "people").mkdir(parents=True)
    (files.root / "hr" / "people" / "sync").symlink_to(files.root / "not-mounted")
    assert gate(files) is Verdict.PASS
    answer = check_upstream("pay/montly/calc", variables=OCTOBER, store=files, now=NOW)
    assert (answer.verdict, answer.decided) == (Verdict.FAIL, True)
