"""``exec`` says that it makes a store that was not there, for its name may be misspelt."""

from __future__ import annotations

import pytest

from ubunye_core import open_store

CALC = "pay/monthly/calc"
WORDS = ("exec", CALC, "--var", "month=2026-10")


@pytest.mark.parametrize(
    "url",
    [
        "file://{}/reciepts",
        "jsonl://{}/reciepts.jsonl",
        "sqlite:///{}/reciepts.db",
        "delta+file://{}/reciepts",
    ],
)
def test_a_run_that_makes_its_store_says_so_once(shell, folder, url):
    named = url.format(folder)
    words = (*WORDS, "--store", named, "--", "echo", "sent")
    answer = shell(*words)
    assert (answer.code, answer.out) == (0, "sent\n")
    assert answer.err == f"Note: there was no store at {named}; this run makes it.\n"
    assert len(open_store(named).list_runs(CALC)) == 1
    again = shell(*words)
    assert (again.code, again.out, again.err) == (0, "sent\n", "")


def test_a_store_that_is_there_and_empty_is_no_news(shell, store):
    assert shell(*WORDS, "--", "true").err == ""


@pytest.mark.parametrize("url", ["file://{}", "sqlite:///{}", "jsonl://{}"])
def test_a_store_that_cannot_be_looked_at_is_not_said_to_be_new(shell, folder, url):
    place = folder / "notes"
    place.write_text("no store\n")
    answer = shell(*WORDS, "--store", url.format(place), "--", "echo", "sent")
    assert (answer.code, answer.out) == (0, "sent\n")
    assert "could not be saved" in answer.err
    assert "there was no store" not in answer.err


def test_nothing_is_said_of_a_store_where_nothing_is_run(ask, folder):
    answer = ask(*WORDS, "--config", "nowhere", "--store", "reciepts", "--", "true")
    assert answer.code == 2
    assert "there was no store" not in answer.err
    assert not (folder / "reciepts").exists()
