"""``--json``: standard output is one document, whatever happens; all else goes to stderr."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest

from ubunye_core.cli import health

PROGRAM = str(Path(sys.executable).with_name("ubunye-runs"))
HEALTH = ("health", "pay/monthly/calc", "--now", "2026-10-31T12:00:00Z")
ENVELOPE = {"verdict", "exit_code", "reason", "now", "store", "unreadable"}


@pytest.mark.parametrize(
    ("words", "code"),
    [
        (("health", "pay/monthly/calc", "--json", "--max-age", "x"), 2),
        (("health", "--json"), 2),
        (("health", "--json", "--nonsense"), 2),
        (("nonsense", "--json"), 2),
        (("wait-for", "pay/monthly/calc", "--json"), 2),
        (("list", "pay/monthly/calc", "--status", "fine", "--json"), 2),
        (("list", "pay/monthly/calc", "-n", "0", "--json"), 2),
        (("show", "zzz", "--json"), 1),
        (("close", "zzz", "--reason", "x", "--json"), 1),
        (("close", "zzz", "--json"), 2),
    ],
)
def test_an_error_is_one_document_too(ask, store, words, code):
    answer = ask(*words)
    assert answer.code == code
    assert set(answer.document) == ENVELOPE
    assert answer.document["exit_code"] == code
    assert answer.document["verdict"] is None
    assert answer.document["reason"]


def test_an_unreadable_store_is_unknown_in_the_document(ask, tmp_path):
    answer = ask("list", "pay/monthly/calc", "--store", tmp_path / "gone", "--json")
    assert (answer.code, answer.document["verdict"]) == (3, "UNKNOWN")


def test_a_fault_of_the_program_itself_is_unknown_and_never_an_answer(ask, keep, monkeypatch):
    keep("success")

    def broken(*_, **__):
        raise RuntimeError("unforeseen, password=hunter2")

    monkeypatch.setattr(health, "job_health", broken)
    answer = ask("health", "pay/monthly/calc", "--json")
    assert answer.code == 3
    assert answer.document["exit_code"] == 3
    assert "RuntimeError" in answer.err
    assert "hunter2" not in answer.out + answer.err


def test_a_real_process_prints_the_document_and_nothing_else(shell, keep, damage):
    keep("success")
    damage(run_id="00000000-0000-7000-8000-000000000000")
    answer = shell("health", "pay/monthly/calc", "--json")
    assert answer.code == 0
    assert json.loads(answer.out)["verdict"] == "PASS"
    assert answer.out.startswith("{\n")
    assert answer.out.endswith("}\n")
    assert answer.err == ""


def test_help_has_examples_for_every_command(ask):
    listed = ask("--help")
    assert listed.code == 0
    for name in ("health", "wait-for", "list", "show", "close", "exec", "hash"):
        assert name in listed.out
        helped = ask(name, "--help")
        assert helped.code == 0
        assert f"ubunye-runs {name}" in helped.out.split("Example", 1)[1]


def test_the_version_is_told(shell):
    answer = shell("--version")
    assert answer.code == 0
    assert answer.out.startswith("ubunye-runs, version ")


def test_no_words_at_all_is_wrong_usage_with_help(shell):
    answer = shell()
    assert answer.code == 2
    assert "Commands:" in answer.out + answer.err


def test_a_misspelt_option_is_told_shortly(shell):
    answer = shell("health", "pay/monthly/calc", "--jsn")
    assert answer.code == 2
    assert "--json" in answer.err
    assert len(answer.err.splitlines()) < 6


def test_an_answer_that_cannot_be_printed_is_no_yes(keep, shell):
    keep("success")
    with open("/dev/full", "w") as full:
        done = subprocess.run([PROGRAM, *HEALTH], stdout=full, stderr=PIPE, check=False, timeout=30)
    assert done.returncode == 3


def through_the_shell(words: str, store: object) -> int:
    words = words.replace("ubunye-runs", str(PROGRAM)).replace("STORE", f"--store '{store}'")
    return subprocess.run(words, shell=True, check=False, timeout=30).returncode


def test_a_document_that_cannot_be_printed_is_no_answer_either(keep, tmp_path, store):
    keep("success")
    words = "ubunye-runs wait-for pay/monthly/calc --any-batch STORE --json >/dev/full 2>/dev/full"
    assert through_the_shell(words, store.root) == 3


@pytest.mark.parametrize("streams", [">&-", "2>&-", "2>/dev/full", ">&- 2>&- <&-"])
@pytest.mark.parametrize(
    ("words", "code"),
    [
        ("wait-for pay/monthly/calc --any-batch STORE", 0),
        ("wait-for pay/monthly/send --any-batch STORE --wait 1s --poll 1s --allow-unknown", 1),
        ("health pay/monthly/calc STORE", 0),
        ("health pay/monthly/calc --now never STORE", 2),
        ("exec pay/monthly/next STORE -- sh -c 'exit 7'", 7),
        ("exec pay/monthly/next --store /proc/nowhere -- sh -c 'exit 7'", 7),
        ("exec pay/monthly/next --var x=1 --require pay/monthly/send STORE -- true", 1),
    ],
)
def test_the_exit_code_is_the_same_where_nobody_reads(keep, store, words, code, streams):
    keep("success")
    assert through_the_shell(f"ubunye-runs {words} {streams}", store.root) == code


def test_a_reader_that_leaves_early_gets_no_traceback(keep, store):
    for _ in range(50):
        keep("success")
    words = f"{PROGRAM} list pay/monthly/calc -n 50 --json | head -n 1"
    done = subprocess.run(words, shell=True, capture_output=True, text=True, timeout=30)
    assert (done.stdout, done.stderr) == ("{\n", "")


def test_text_that_the_terminal_cannot_show_is_spelt_out(keep, shell):
    keep("error", error="ValueError: 8 → 5 rows")
    answer = shell(*HEALTH, env={**os.environ, "PYTHONIOENCODING": "latin-1"})
    assert answer.code == 1
    assert "8 \\u2192 5 rows" in answer.out
    assert "8 → 5 rows" in shell(*HEALTH, "--json").document["reason"]
