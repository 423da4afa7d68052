"""``store copy``: from any store into any other, also when it is killed on the way."""

from __future__ import annotations

import signal
import subprocess
import time

import pytest

from tests.core.cli.conftest import PROGRAM, json_of
from ubunye_core import open_store
from ubunye_core.cli import storecopy
from ubunye_core.codec import as_json
from ubunye_core.testing import a_receipt, at

CALC = "pay/monthly/calc"


def all_in(url: object) -> dict[str, object]:
    return {each.run_id: as_json(each) for each in open_store(str(url)).search()}


def test_a_copy_says_what_it_did_and_a_second_one_that_all_is_there(ask, keep, store, tmp_path):
    keep("success", extra={"from_elsewhere": [1, 2]})
    keep("running", task="pay/monthly/send")
    target = tmp_path / "new"
    answer = ask("store", "copy", store.root, target)
    assert answer.code == 0
    assert "2 receipts of 2 tasks copied" in answer.out
    assert "1 of them running" in answer.out
    assert "copy again once it has ended" in answer.out
    assert all_in(target) == all_in(store.root)
    again = json_of(ask("store", "copy", store.root, target, "--json"), 0)
    assert (again["verdict"], again["copied"], again["same"]) == ("PASS", 0, 2)
    assert (again["source"], again["store"]) == (store.url, target.as_uri())


def test_a_dry_run_writes_nothing(ask, keep, store, tmp_path):
    keep("success")
    answer = ask("store", "copy", store.root, tmp_path / "new", "--dry-run")
    assert answer.code == 0
    assert "1 receipt of 1 task would be copied" in answer.out
    assert not (tmp_path / "new").exists()


def test_it_can_be_narrowed(ask, keep, store, tmp_path):
    keep("success", started_at=at(0))
    late = keep("success", started_at=at(60)).run_id
    keep("success", task="pay/monthly/send")
    words = ("--task", "pay/*/calc", "--since", at(1).isoformat())
    assert ask("store", "copy", store.root, tmp_path / "new", *words).code == 0
    assert list(all_in(tmp_path / "new")) == [late]
    assert ask("store", "copy", store.root, tmp_path / "new", "--task", "no/body/here").code == 1
    assert ask("store", "copy", store.root, tmp_path / "new", "--since", "x").code == 2


def test_damage_and_another_end_are_exit_1_and_named(ask, keep, store, damage, tmp_path):
    run = keep("success")
    other = open_store(str(tmp_path / "new"))
    other.save(a_receipt(run_id=run.run_id, status="error", started_at=run.started_at))
    keep("success", run_id="good")
    file = damage()
    answer = ask("store", "copy", store.root, tmp_path / "new")
    assert answer.code == 1
    assert f"Not copied: {CALC} run {run.run_id}: " in answer.err
    assert f"Unreadable: {file}" in answer.err
    assert set(all_in(tmp_path / "new")) == {run.run_id, "good"}
    document = json_of(ask("store", "copy", store.root, tmp_path / "new", "--json"), 1)
    assert document["refused"][0]["run_id"] == run.run_id
    assert document["unreadable"][0]["where"] == str(file)


def test_many_that_are_refused_do_not_fill_the_screen(ask, keep, store, tmp_path):
    other = open_store(str(tmp_path / "new"))
    for number in range(25):
        run = keep("success", run_id=f"r-{number}")
        other.save(a_receipt(run_id=run.run_id, status="error", started_at=run.started_at))
    answer = ask("store", "copy", store.root, tmp_path / "new")
    assert answer.err.count("Not copied") == 20
    assert "... and 5 more" in answer.err


def test_a_store_is_not_copied_onto_itself(ask, keep, store):
    keep("success")
    answer = ask("store", "copy", store.root, f"{store.root}/../{store.root.name}")
    assert answer.code == 2
    assert "onto itself" in answer.err


def test_a_store_that_is_not_there_is_exit_3(ask, store, tmp_path):
    answer = ask("store", "copy", tmp_path / "gone", tmp_path / "new")
    assert answer.code == 3
    assert not (tmp_path / "new").exists()


def test_no_secret_of_either_url_is_shown(ask, keep, store):
    keep("success")
    for words in (
        ("nosuch://ann:s3cret@host/x", store.root),
        (store.root, "nosuch://ann:s3cret@host/x"),
        ("file://ann:s3cret@host/x", store.root),
        (store.root, "file://ann:s3cret@host/x"),
    ):
        for more in ((), ("--json",)):
            answer = ask("store", "copy", *words, *more)
            assert answer.code == 2
            assert "s3cret" not in answer.out + answer.err


@pytest.mark.parametrize("name", ["", "xx:y", "file:///x?a=b", "\x1b[2J://x"])
def test_what_is_no_store_is_exit_2(ask, store, name):
    answer = ask("store", "copy", store.root, name)
    assert answer.code == 2
    assert "\x1b" not in answer.err


RUNS = 1500
KILLED_STORES = {
    "file": lambda folder: str(folder / "new"),
    "sqlite": lambda folder: f"sqlite:///{folder}/new.db",
    "jsonl": lambda folder: f"jsonl://{folder}/new.jsonl",
}


@pytest.mark.slow
@pytest.mark.parametrize("kind", sorted(KILLED_STORES))
def test_a_copy_that_is_killed_goes_on_and_loses_and_doubles_nothing(tmp_path, kind):
    source = f"jsonl://{tmp_path}/old.jsonl"
    filling = open_store(source)
    for number in range(RUNS):
        filling.save(a_receipt(run_id=f"r-{number}", started_at=at(number), ended_at=at(number)))
    for number in range(5):  # a machine may be so busy that a copy is over before it is killed
        (tmp_path / str(number)).mkdir()
        target = KILLED_STORES[kind](tmp_path / str(number))
        if 0 < _held_when_killed(source, target, 1) < RUNS:
            break
    else:
        pytest.fail("no copy was killed on the way")
    _held_when_killed(source, target, 600)
    done = subprocess.run(
        [PROGRAM, "store", "copy", source, target, "--json"],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert all_in(target) == all_in(source)
    assert len(open_store(target).search()) == RUNS


def _held_when_killed(source: str, target: str, least: int) -> int:
    """Begin a copy, and kill it when so many receipts are there; how many are there then."""
    process = subprocess.Popen([PROGRAM, "store", "copy", source, target, "--json"])
    deadline = time.monotonic() + 60
    while process.poll() is None and _held(target) < least and time.monotonic() < deadline:
        pass
    process.send_signal(signal.SIGKILL)
    process.wait(timeout=30)
    return _held(target)


def _held(target: str) -> int:
    """How many receipts are there by now."""
    try:
        return len(open_store(target).search())
    except OSError:  # not made yet
        return 0


def test_progress_goes_to_standard_error(ask, keep, store, tmp_path, monkeypatch, until_said):
    inner = storecopy.copy_store

    def slowly(*words, **more):
        done = inner(*words, **more)
        until_said("1 receipt so far")
        return done

    keep("success")
    monkeypatch.setattr(storecopy, "copy_store", slowly)
    answer = ask("store", "copy", store.root, tmp_path / "new", "--json")
    assert answer.code == 0
    assert f"Copying {CALC}: 1 receipt so far." in answer.err
    assert answer.document["copied"] == 1
