"""``store prune`` and ``store repair``: nothing goes unless somebody says so."""

from __future__ import annotations

import os
import pty
import re
import subprocess
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.core.cli.conftest import PROGRAM, json_of
from ubunye_core import open_store
from ubunye_core.stores.jsonl import JsonlStore
from ubunye_core.stores.sql import schema
from ubunye_core.testing import a_receipt

CALC = "pay/monthly/calc"
OLD = datetime(2020, 1, 1, tzinfo=UTC)


@pytest.fixture
def filled(store):
    """Five old successes of one batch, of which four may go, and a young one of another task."""
    for number in range(5):
        start = OLD + timedelta(days=number)
        store.save(a_receipt(run_id=f"r-{number}", started_at=start))
    start = datetime.now(UTC) - timedelta(days=1)
    store.save(a_receipt(run_id="s", task="pay/monthly/send", started_at=start))
    return store


def ids(store) -> set[str]:
    return {each.run_id for each in store.search()}


@pytest.fixture
def old_damage(damage):
    """Damage that nobody can be writing any more."""
    file = damage()
    long_ago = time.time() - 3600
    os.utime(file, (long_ago, long_ago))
    return file


PRUNE = ("store", "prune", "--older-than", "400d")


def test_without_yes_it_says_what_would_go_and_removes_nothing(ask, filled):
    answer = ask(*PRUNE)
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0].split() == ["task", "receipts", "go", "oldest", "newest"]
    assert lines[1].split() == [CALC, "5", "4", "2020-01-01T00:00:00Z", "2020-01-04T00:00:00Z"]
    assert lines[2].startswith("4 of 6 receipts in ")
    assert "nothing is, without --yes. Old, and kept: 1 " in lines[2]
    assert len(ids(filled)) == 6


def test_with_yes_it_removes_them(ask, filled):
    answer = ask(*PRUNE, "--yes")
    assert answer.code == 0
    assert "Removed 4 of 6 receipts" in answer.out
    assert ids(filled) == {"r-4", "s"}
    assert "None of 2 receipts" in ask(*PRUNE).out


def test_its_document(ask, filled):
    document = json_of(ask(*PRUNE, "--json"), 0)
    assert document["verdict"] is None
    assert (document["receipts"], document["goes"], document["removed"]) == (6, 4, None)
    assert sum(document["kept"].values()) == 1
    (task,) = document["tasks"]
    assert task == {
        "task": CALC,
        "receipts": 5,
        "goes": 4,
        "oldest": "2020-01-01T00:00:00Z",
        "newest": "2020-01-04T00:00:00Z",
    }
    assert json_of(ask(*PRUNE, "--json", "--yes"), 0)["removed"] == 4


def test_damage_stays_and_is_named(ask, filled, damage):
    file = damage()
    answer = ask(*PRUNE, "--yes")
    assert answer.code == 0
    assert str(file) in answer.err
    assert "1 cannot be read" in answer.out
    assert file.exists()


def test_a_task_narrows_it(ask, filled):
    assert ask(*PRUNE, "--task", "pay/*/send", "--json").document["goes"] == 0
    assert ask(*PRUNE, "--task", "pay/*/calc", "--json").document["goes"] == 4
    assert ask(*PRUNE, "--task", "pay/*/nobody").code == 1


def test_wrong_usage_removes_nothing(ask, filled):
    for words in (
        ("store", "prune"),
        ("store", "prune", "--older-than", "soon", "--yes"),
        (*PRUNE, "--yes", "--dry-run"),
        (*PRUNE, "--task", "../../x", "--yes"),
    ):
        assert ask(*words).code == 2
    assert len(ids(filled)) == 6


def test_a_store_that_cannot_remove_is_refused(ask, tmp_path):
    url = f"jsonl://{tmp_path}/ledger.jsonl"
    open_store(url).save(a_receipt(started_at=OLD))
    answer = ask(*PRUNE, "--store", url, "--yes")
    assert answer.code == 2
    assert "no way to remove receipts" in answer.err


@pytest.mark.parametrize("words", [PRUNE, ("store", "repair")])
def test_a_store_that_was_only_found_is_not_changed(ask, folder, words):
    (folder / ".ubunye" / "lineage").mkdir(parents=True)
    answer = ask(*words)
    assert answer.code == 2
    assert "needs one that is" in answer.err


@pytest.mark.parametrize("words", [(*PRUNE, "--yes"), ("store", "repair")])
def test_a_store_that_is_not_there_is_exit_3_and_is_not_made(ask, tmp_path, words):
    answer = ask(*words, "--store", tmp_path / "gone")
    assert answer.code == 3
    assert not (tmp_path / "gone").exists()


def on_a_terminal(*words: str, typed: str) -> tuple[int, str]:
    """What the program shows to somebody who types an answer; and how it ends."""
    ours, theirs = pty.openpty()
    process = subprocess.Popen(
        [PROGRAM, *words],
        stdin=theirs,
        stdout=theirs,
        stderr=theirs,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "200"},
    )
    os.close(theirs)
    shown = b""
    while True:
        try:
            part = os.read(ours, 4096)
        except OSError:  # Linux: the other end is closed
            break
        shown += part
        if b"[y/N]" in shown and typed:
            os.write(ours, f"{typed}\n".encode())
            typed = ""
    os.close(ours)
    return process.wait(timeout=30), shown.decode()


def test_on_a_terminal_it_asks_before_it_removes(filled):
    code, shown = on_a_terminal(*PRUNE, typed="n")
    assert (code, len(ids(filled))) == (0, 6)
    assert "Remove 4 receipts? [y/N]" in shown
    code, shown = on_a_terminal(*PRUNE, typed="y")
    assert (code, len(ids(filled))) == (0, 2)
    assert "Removed 4 of 6 receipts" in shown


def test_on_a_terminal_a_dry_run_asks_nothing(filled):
    code, shown = on_a_terminal(*PRUNE, "--dry-run", typed="y")
    assert (code, len(ids(filled))) == (0, 6)
    assert "[y/N]" not in shown


def test_hints_that_are_gone_are_written_anew(ask, filled):
    answer = ask("store", "repair")
    assert answer.code == 0
    assert answer.out.startswith("PASS")
    assert "hints of 6 runs" in answer.out
    document = json_of(ask("store", "repair", "--json"), 0)
    assert (document["hints"], document["set_aside"], document["unreadable"]) == (6, [], [])
    assert len(ids(filled)) == 6


def test_damage_is_exit_1_until_it_is_set_aside(ask, filled, old_damage):
    file = old_damage
    answer = ask("store", "repair")
    assert answer.code == 1
    assert str(file) in answer.err
    assert file.exists()
    done = json_of(ask("store", "repair", "--set-aside", "--yes", "--json"), 0)
    (aside,) = done["set_aside"]
    assert not file.exists()
    assert Path(aside).read_text() == "{"
    assert ask("store", "repair").code == 0
    assert len(ids(filled)) == 6


def test_setting_aside_needs_a_yes(ask, filled, old_damage):
    file = old_damage
    for more in ((), ("--json",)):
        answer = ask("store", "repair", "--set-aside", *more)
        assert answer.code == 2
    assert file.exists()
    code, shown = on_a_terminal("store", "repair", "--set-aside", typed="n")
    assert code == 1
    assert "Move 1 damaged receipt away? [y/N]" in shown
    assert file.exists()
    code, _ = on_a_terminal("store", "repair", "--set-aside", typed="y")
    assert (code, file.exists()) == (0, False)


def test_what_somebody_may_still_write_stays_and_the_answer_says_so(ask, filled, damage):
    file = damage()
    answer = ask("store", "repair", "--set-aside", "--yes")
    assert answer.code == 1
    assert "(changed in the last 60 seconds, so somebody may still write them" in answer.out
    assert file.exists()


def test_how_long_to_wait_is_said_by_the_file_that_changed_last(ask, filled, damage):
    for seconds in (20, 50):
        changed = time.time() - seconds
        os.utime(damage(run_id=f"r-{seconds}"), (changed, changed))
    answer = ask("store", "repair", "--set-aside", "--yes")
    wait = int(re.search(r"write them: try again in (\d+)s\)", answer.out)[1])
    assert 20 <= wait <= 40


def test_damage_that_is_left_and_has_not_just_changed_is_not_said_to_have(
    ask, filled, damage, old_damage
):
    damage(run_id="young")
    old_damage.unlink()
    old_damage.mkdir()
    long_ago = time.time() - 3600
    os.utime(old_damage, (long_ago, long_ago))
    answer = ask("store", "repair", "--set-aside", "--yes")
    assert "2 receipts left that cannot be read" in answer.out
    assert "changed in the last" not in answer.out


def test_a_repair_says_that_it_brought_the_tables_of_an_older_file_up_to_date(
    ask, keep, tmp_path, monkeypatch
):
    place = f"sqlite:///{tmp_path}/r.db"
    with monkeypatch.context() as older:
        older.setattr(schema, "STEPS", schema.STEPS[:1])
        open_store(place).save(keep("success"))
    checked = ask("store", "check", place)
    assert (checked.code, checked.out.count("have version 1,")) == (1, 2)  # the verdict, a row
    assert f"The tables of the store sqlite:///{tmp_path}/r.db have version 1" in checked.out
    repaired = ask("store", "repair", place)
    said = "the hints of 0 runs were written anew. Its tables were brought from version 1 to 2."
    assert (repaired.code, repaired.out) == (0, f"PASS  {place}: {said}\n")
    assert ask("store", "check", place).code == 0


def test_a_store_without_hints_has_nothing_to_repair(ask, keep):
    answer = ask("store", "repair", "memory://of-this-test")
    assert answer.code == 0
    assert "Nothing to repair" in answer.out
    assert "memory://of-this-test is in this process only" in answer.err


def test_damage_that_a_store_cannot_set_aside_is_no_good_repair(ask, tmp_path):
    ledger = JsonlStore(tmp_path / "ledger.jsonl")
    ledger.save(a_receipt())
    ledger.path.write_text(ledger.path.read_text().replace("monthly", "xonthly"))
    for more in ((), ("--set-aside", "--yes")):
        answer = ask("store", "repair", ledger.url, *more)
        assert answer.code == 1
        assert f"1 receipt cannot be read, and {ledger.url} offers no way" in answer.out
        assert f"{ledger.path}:1" in answer.out + answer.err
    checked = ask("store", "check", ledger.url)
    assert checked.code == 1
    assert "store repair" not in checked.out
