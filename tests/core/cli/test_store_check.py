"""``store check``: can this store be read and written, and what does it promise?"""

from __future__ import annotations

import pytest

from tests.core.cli.conftest import json_of
from ubunye_core.stores import Finding, MemoryStore, url

CALC = "pay/monthly/calc"


@pytest.fixture
def mine(monkeypatch):
    """A store of a scheme of its own; a test says what it finds of itself."""

    class Mine(MemoryStore):
        findings = (Finding(what="write", good=True, why="it may"),)

        def examine(self):
            yield from self.findings

    store = Mine("x")
    store.url = "mine://***@x"
    monkeypatch.setattr(url, "_from_plugin", lambda scheme: lambda named: store)
    return store


URL = "mine://ann:s3cret@x"


def test_a_good_store_is_exit_0_with_what_was_found(ask, keep, mine):
    mine.save(keep("success"))
    answer = ask("store", "check", URL)
    assert answer.code == 0
    lines = answer.out.splitlines()
    assert lines[0] == f"PASS  {mine.url}: All is good: 1 receipt of 1 task (1 success)."
    assert lines[1].split() == ["what", "good", "why"]
    assert [line.split()[:2] for line in lines[2:]] == [
        ["list", "yes"],
        ["read", "yes"],
        ["write", "yes"],
        ["claim", "yes"],
    ]


def test_its_document_has_every_finding(ask, keep, mine):
    mine.save(keep("success"))
    document = json_of(ask("store", "check", URL, "--json"), 0)
    assert document["verdict"] == "PASS"
    assert document["store"] == "mine://***@x"
    assert (document["tasks"], document["receipts"]) == (1, 1)
    assert document["by_status"] == {"success": 1}
    assert document["findings"][2] == {"what": "write", "good": True, "why": "it may"}
    assert document["unreadable"] == []


def test_something_bad_is_exit_1_and_named(ask, mine):
    mine.findings = (Finding(what="write", good=False, why="the disk is read-only"),)
    answer = ask("store", "check", URL)
    assert answer.code == 1
    assert answer.out.startswith("FAIL")
    assert "the disk is read-only" in answer.out.splitlines()[0]


def test_a_store_that_does_not_tell_is_exit_3(ask, mine):
    mine.findings = ()
    answer = ask("store", "check", URL)
    assert answer.code == 3
    assert answer.out.startswith("UNKNOWN")


def test_damage_is_exit_1_and_named_with_its_place(ask, keep, damage):
    keep("success")
    file = damage()
    answer = ask("store", "check")
    assert answer.code == 1
    assert f"Unreadable: {file}: " in answer.err
    document = json_of(ask("store", "check", "--json"), 1)
    assert [bad["where"] for bad in document["unreadable"]] == [str(file)]
    assert "damage" in [each["what"] for each in document["findings"]]


def test_a_store_that_is_not_there_is_exit_1_and_is_not_made(ask, tmp_path):
    answer = ask("store", "check", tmp_path / "gone")
    assert answer.code == 1
    assert "does not exist" in answer.out
    assert not (tmp_path / "gone").exists()


def test_a_place_that_is_no_folder_is_exit_1(ask, tmp_path):
    (tmp_path / "file").write_text("")
    answer = ask("store", "check", tmp_path / "file")
    assert answer.code == 1
    assert "is not a folder" in answer.out


def test_the_store_is_named_once_in_any_of_three_ways(ask, keep, store, monkeypatch):
    keep("success")
    named = str(store.root)
    answers = [ask("store", "check", "--json"), ask("store", "check", named, "--json")]
    monkeypatch.delenv("UBUNYE_STORE")
    answers.append(ask("store", "check", "--store", named, "--json"))
    assert {answer.document["receipts"] for answer in answers} == {1}
    assert ask("store", "check", named, "--store", named).code == 2
    assert ask("store", "check").code == 2


def test_a_task_narrows_it(ask, keep):
    keep("success")
    keep("success", task="pay/monthly/send")
    assert ask("store", "check", "--task", "pay/*/send", "--json").document["receipts"] == 1
    answer = ask("store", "check", "--task", "pay/monthly/sent")
    assert answer.code == 1
    assert "Did you mean pay/monthly/send?" in answer.err
    assert ask("store", "check", "--task", "../../x").code == 2


def test_a_store_that_was_only_found_may_be_checked_and_the_answer_says_so(ask, folder):
    (folder / ".ubunye" / "lineage").mkdir(parents=True)
    assert "found in the current folder" in ask("store", "check").out


def test_no_command_of_the_group_is_wrong_usage(ask):
    answer = ask("store")
    assert answer.code == 2
    for command in ("check", "copy", "prune", "repair"):
        assert command in answer.err + answer.out
    assert ask("store", "chekc").code == 2
