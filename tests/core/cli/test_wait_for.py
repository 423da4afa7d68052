"""``wait-for``: one look at the gate of a batch."""

from __future__ import annotations

import pytest

NOW = "2026-10-31T12:00:00Z"
CALC = "pay/monthly/calc"


def test_a_success_of_the_batch_is_exit_0(ask, keep):
    met_by = keep("success")
    answer = ask("wait-for", CALC, "--var", "month=2026-10", "--now", NOW)
    assert answer.code == 0
    assert met_by.run_id in answer.out


def test_a_success_of_another_batch_never_opens_the_gate(ask, keep):
    keep("success", variables={"month": "2026-11"})
    answer = ask("wait-for", CALC, "--var", "month=2026-10", "--now", NOW)
    assert answer.code == 1
    assert "month=2026-10" in answer.out


def test_the_document_has_the_agreed_fields(ask, keep, store):
    met_by = keep("success")
    newest = keep("error", hours_ago=0.5)
    answer = ask("wait-for", CALC, "--var", "month=2026-10", "--now", NOW, "--json")
    found = answer.document
    assert set(found) == {
        "verdict",
        "exit_code",
        "reason",
        "now",
        "store",
        "unreadable",
        "requirements",
    }
    assert (found["verdict"], found["exit_code"], found["store"]) == ("PASS", 0, store.url)
    (each,) = found["requirements"]
    assert set(each) == {"task", "batch", "verdict", "reason", "satisfied_by", "newest_run"}
    assert (each["task"], each["batch"]) == (CALC, {"month": "2026-10"})
    assert (each["satisfied_by"], each["newest_run"]) == (met_by.run_id, newest.run_id)


def test_only_the_names_given_must_agree(ask, keep):
    keep("success", variables={"month": "2026-10", "region": "eu", "mode": "PROD"})
    words = ("wait-for", CALC, "--var", "month=2026-10", "--now", NOW)
    assert ask(*words).code == 0
    assert ask(*words, "--var", "region=us").code == 1


def test_a_whole_batch_has_no_other_variables(ask, keep):
    keep("success", variables={"month": "2026-10", "region": "eu"})
    words = ("wait-for", CALC, "--var", "month=2026-10", "--now", NOW, "--whole-batch")
    answer = ask(*words)
    assert answer.code == 1
    assert "region" in answer.out
    assert ask(*words, "--var", "region=eu").code == 0


def test_without_a_batch_no_old_success_opens_the_gate(ask, keep):
    keep("success")
    for more in ((), ("--var", "mode=PROD"), ("--whole-batch",), ("--max-age", "1d")):
        answer = ask("wait-for", CALC, "--now", NOW, *more)
        assert answer.code == 2
        assert "--var month=2026-10" in answer.err
        assert "--any-batch" in answer.err


def test_any_batch_must_be_asked_for_by_name(ask, keep):
    keep("success", hours_ago=30)
    assert ask("wait-for", CALC, "--any-batch", "--now", NOW).code == 0
    assert ask("wait-for", CALC, "--any-batch", "--max-age", "1d", "--now", NOW).code == 1
    assert ask("wait-for", CALC, "--any-batch", "--var", "month=2026-10").code == 2


def test_a_success_may_be_too_old(ask, keep):
    keep("success", hours_ago=30)
    words = ("wait-for", CALC, "--var", "month=2026-10", "--now", NOW)
    assert ask(*words, "--max-age", "2d").code == 0
    assert ask(*words, "--max-age", "1d").code == 1


def test_values_are_compared_as_they_are_written(ask, keep):
    keep("success", variables={"batch": "010", "rate": "1.10", "country": "NO"})
    words = ("wait-for", CALC, "--now", NOW, "--var")
    assert ask(*words, "batch=010").code == 0
    assert ask(*words, "batch=10").code == 1
    assert ask(*words, "rate=1.10").code == 0
    assert ask(*words, "rate=1.1").code == 1
    assert ask(*words, "country=NO").code == 0


def test_a_value_may_hold_an_equals_sign(ask, keep):
    keep("success", variables={"filter": "a=b"})
    assert ask("wait-for", CALC, "--var", "filter=a=b", "--now", NOW).code == 0


def test_several_tasks_must_all_be_met(ask, keep):
    keep("success")
    words = ("wait-for", CALC, "pay/monthly/tax", "--var", "month=2026-10", "--now", NOW)
    answer = ask(*words, "--json")
    assert answer.code == 1
    assert [each["verdict"] for each in answer.document["requirements"]] == ["PASS", "FAIL"]
    assert "PASS" in ask(*words).out
    keep("success", task="pay/monthly/tax")
    assert ask(*words).code == 0


def test_every_task_of_a_pattern_must_be_met(ask, keep):
    keep("success")
    keep("error", task="pay/monthly/tax")
    assert ask("wait-for", "pay/monthly/*", "--var", "month=2026-10", "--now", NOW).code == 1


def test_an_unknown_task_says_which_names_are_near(ask, keep):
    keep("success")
    answer = ask("wait-for", "pay/monthly/clac", "--var", "month=2026-10", "--now", NOW)
    assert answer.code == 1
    assert CALC in answer.out


def test_a_damaged_receipt_that_could_be_the_success_is_exit_3(ask, keep, damage):
    keep("error")
    file = damage()
    answer = ask("wait-for", CALC, "--var", "month=2026-10", "--now", NOW, "--json")
    assert answer.code == 3
    assert answer.document["unreadable"][0]["where"] == str(file)
    keep("success", hours_ago=0.5)
    assert ask("wait-for", CALC, "--var", "month=2026-10", "--now", NOW).code == 0


def test_what_is_unreadable_is_told_once(ask, keep, damage):
    keep("error")
    file = damage()
    answer = ask("wait-for", CALC, "--var", "month=2026-10", "--now", NOW)
    assert (answer.code, answer.err) == (3, "")
    assert answer.out.count(str(file)) == 1
    damage(run_id="broken-too")
    answer = ask("wait-for", CALC, "--var", "month=2026-10", "--now", NOW)
    assert answer.err.count("Unreadable:") == 1


def test_a_store_that_cannot_be_read_never_opens_the_gate(ask, tmp_path):
    answer = ask("wait-for", CALC, "--var", "month=2026-10", "--store", tmp_path / "gone")
    assert answer.code == 3


def test_requirements_come_from_a_task_s_own_file(ask, keep, folder):
    file = folder / "config.yaml"
    file.write_text(
        "CONFIG:\n  requires:\n    - task: pay/monthly/calc\n      variables: [month]\n"
    )
    words = ("wait-for", "--config", file, "--now", NOW, "--var")
    keep("success")
    assert ask(*words, "month=2026-10").code == 0
    assert ask(*words, "month=2026-11").code == 1
    missing = ask(*words, "region=eu")
    assert missing.code == 2
    assert "'month'" in missing.err


@pytest.mark.parametrize(
    "more",
    [("pay/monthly/tax",), ("--any-batch",), ("--max-age", "1d"), ("--on-failed", "fail")],
)
def test_a_file_of_requirements_is_not_mixed_with_options(ask, store, folder, more):
    file = folder / "receipts.yaml"
    file.write_text("requires: [pay/monthly/calc]\n")
    answer = ask("wait-for", "--config", file, "--var", "month=2026-10", *more)
    assert answer.code == 2
    assert more[0] in answer.err


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("requires:\n  - task: pay/monthly/calc\n    windows: all\n", "line 3"),
        ("requires:\n  - task: pay/monthly/calc\n    evidence: outputs\n", "'evidence'"),
        ("requires: []\n", "empty"),
        ("owner: pay-team\n", "requires nothing"),
        ("requires: [\n", "receipts.yaml"),
    ],
)
def test_a_file_that_is_wrong_is_exit_2_and_named(ask, store, folder, text, said):
    file = folder / "receipts.yaml"
    file.write_text(text)
    answer = ask("wait-for", "--config", file, "--var", "month=2026-10")
    assert answer.code == 2
    assert said in answer.err


@pytest.mark.parametrize(
    "words",
    [
        (),
        (CALC, "--var", "month"),
        (CALC, "--var", "=2026-10"),
        (CALC, "--var", "month="),
        (CALC, "--var", "month=1", "--var", "month=2"),
        (CALC, "--var", "api_token=abc"),
        ("calc", "--var", "month=2026-10"),
        (CALC, "--var", "month=2026-10", "--wait", "soon"),
        (CALC, "--var", "month=2026-10", "--deadline", "06:00"),
        (CALC, "--var", "month=2026-10", "--wait", "1h", "--deadline", "2026-12-01T00:00:00Z"),
        (CALC, "--var", "month=2026-10", "--wait", "1h", "--now", NOW),
        (CALC, "--var", "month=2026-10", "--deadline", NOW, "--now", NOW),
        (CALC, "--var", "month=2026-10", "--on-failed", "shrug"),
        (CALC, "--var", "month=2026-10", "--poll", "x"),
        ("--config", "nowhere.yaml", "--var", "month=2026-10"),
    ],
)
def test_wrong_usage_is_exit_2_and_never_an_answer(ask, keep, words):
    keep("success")
    answer = ask("wait-for", *words)
    assert answer.code == 2
    assert answer.out == ""
    assert "Traceback" not in answer.err


def test_a_secret_given_as_a_variable_is_not_shown(ask, store):
    answer = ask("wait-for", CALC, "--var", "password=hunter2", "--var", "month=2026-10")
    assert answer.code == 2
    assert "hunter2" not in answer.out + answer.err


def test_the_history_of_a_scheduler_is_not_asked(ask, keep, monkeypatch):
    """Whatever a scheduler forgets, the answer comes from the receipts alone."""
    keep("success")
    monkeypatch.setenv("AIRFLOW__DATABASE__SQL_ALCHEMY_CONN", "sqlite:////nowhere/airflow.db")
    monkeypatch.setenv("DAGSTER_HOME", "/nowhere")
    assert ask("wait-for", CALC, "--var", "month=2026-10", "--now", NOW).code == 0
