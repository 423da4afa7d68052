"""``import-ledger`` and ``export-ledger``: from another program's record of its runs, and back."""

from __future__ import annotations

import json
import random

import pytest

from tests.core.cli.conftest import json_of
from tests.core.upkeep.ledger.builders import LOAD, PIPELINE, a_line, the_morning, write
from ubunye_core import open_store
from ubunye_core.cli import progress

JAKARTA = ("--time-zone", "Asia/Jakarta")
IMPORT = ("--task", LOAD, *JAKARTA)
NIGHTLY = (*JAKARTA, "--cron", "0 2 * * *", "--window", "day", "--variable", "dt")
AT_SIX = ("--now", "2026-10-15T06:00:00+07:00")
RERUN = a_line("r-836", "2026-10-10", "failed", "2026-10-11T09:00:00", galat="disk penuh")


def states(answer) -> dict[str, tuple[str, list[str]]]:
    return {each["name"]: (each["state"], each["runs"]) for each in json_of(answer, 1)["windows"]}


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("more", [(), (RERUN,)])
def test_the_classic_morning_comes_out_of_a_ledger(ask, store, folder, seed, more):
    lines = [*the_morning(), *more]
    random.Random(seed).shuffle(lines)
    write(folder / "ledger_runs.jsonl", *lines)
    assert ask("import-ledger", "ledger_runs.jsonl", *IMPORT, "--variable", "dt").code == 0
    assert ask("import-ledger", "ledger_runs.jsonl", *IMPORT, "--variable", "dt").code == 0
    asked = (LOAD, *NIGHTLY, "--since", "2026-10-09T12:00:00Z", *AT_SIX, "--json")
    found = states(ask("windows", *asked))
    failed_too = ["r-836", "r-835"] if more else ["r-835"]
    assert found == {
        "2026-10-09": ("succeeded", ["r-830"]),
        "2026-10-10": ("succeeded", failed_too),
        "2026-10-11": ("missing", []),
        "2026-10-12": ("missing", []),
        "2026-10-13": ("failed", ["r-841"]),
        "2026-10-14": ("running", ["r-850"]),
    }
    plan = json_of(ask("plan", *asked, "--retention", "30d"), 0)
    assert [(each["name"], each["action"]) for each in plan["windows"]] == [
        ("2026-10-11", "run"), ("2026-10-12", "run"), ("2026-10-13", "run"), ("2026-10-14", "skip"),
    ]  # fmt: skip
    assert "sumber kosong" in plan["windows"][2]["reason"]
    assert "r-850 has been under way for 4h" in plan["windows"][3]["reason"]
    assert plan["windows"][0]["variables"] == {"dt": "2026-10-11"}


def test_without_its_variable_a_window_is_known_all_the_same(ask, store, folder):
    write(folder / "l.jsonl", *the_morning())
    assert ask("import-ledger", "l.jsonl", *IMPORT).code == 0
    found = states(
        ask("windows", LOAD, *NIGHTLY, "--since", "2026-10-09T12:00:00Z", *AT_SIX, "--json")
    )
    assert found["2026-10-13"] == ("failed", ["r-841"])
    assert found["2026-10-11"] == ("missing", [])


def test_what_ran_by_hand_is_found_with_its_reason(ask, store, folder):
    by = "sari@toko.example (manual, alasan: sumber terlambat)"
    write(folder / "l.jsonl", *the_morning(), a_line("m-1", "2026-10-11", triggered_by=by))
    ask("import-ledger", "l.jsonl", *IMPORT)
    lines = ask("search", "--triggered-by", "manual").out.splitlines()
    assert len(lines) == 2
    assert "manual by sari@toko.example (ledger)" in lines[1]
    assert lines[1].endswith("sumber terlambat")


def test_an_import_says_what_it_did(ask, store, folder):
    write(folder / "l.jsonl", *the_morning())
    dry = ask("import-ledger", "l.jsonl", *IMPORT, "--dry-run")
    assert dry.code == 0
    assert "4 lines, 4 runs: 4 receipts of shop/orders/daily would be added" in dry.out
    assert not list(store.search())
    done = ask("import-ledger", "l.jsonl", *IMPORT)
    assert "4 receipts of shop/orders/daily added to" in done.out
    assert "1 says that it is running" in done.out
    again = ask("import-ledger", "l.jsonl", *IMPORT)
    assert "0 receipts of shop/orders/daily added" in again.out
    assert "4 are there already" in again.out
    assert len(store.search()) == 4


def test_bad_lines_are_exit_1_and_named_with_their_numbers(ask, store, folder):
    lines = [
        a_line("r-1"),
        '{"run_id": "r-2"',
        a_line("r-3", status="done"),
        a_line("r-4", "2026-10-10"),
    ]
    write(folder / "l.jsonl", *lines)
    answer = ask("import-ledger", "l.jsonl", *IMPORT)
    assert answer.code == 1
    assert "2 bad lines not imported" in answer.out
    assert "Bad: line 2: it is not whole JSON" in answer.err
    assert "Bad: line 3: 'status' is none of success, failed" in answer.err
    assert {run.run_id for run in store.search()} == {"r-1", "r-4"}
    found = json_of(ask("import-ledger", "l.jsonl", *IMPORT, "--json"), 1)
    assert [bad["line"] for bad in found["bad"]] == [2, 3]
    assert [bad["where"] for bad in found["unreadable"]] == ["l.jsonl, line 2", "l.jsonl, line 3"]
    assert (found["same"], found["added"], found["verdict"]) == (2, 0, "FAIL")


def test_another_end_on_record_is_exit_1_and_stands(ask, store, folder):
    ask("import-ledger", write(folder / "a.jsonl", a_line("r-1", status="failed")), *IMPORT)
    answer = ask("import-ledger", write(folder / "b.jsonl", a_line("r-1")), *IMPORT)
    assert answer.code == 1
    assert "Not imported: line 1, run r-1: Run r-1 of shop/orders/daily has ended" in answer.err
    assert store.load(LOAD, "r-1").status == "error"


def test_what_was_decided_for_the_reader_is_told(ask, store, folder):
    lines = [
        a_line("r-1", start="2026-11-01T01:30:00"),
        a_line("r-2", "2026-10-10"), a_line("r-2", "2026-10-10", "failed"),
        a_line("r-3", pipeline="other"),
    ]  # fmt: skip
    write(folder / "l.jsonl", *lines)
    words = ("--task", LOAD, "--time-zone", "America/Chicago", "--pipeline", PIPELINE)
    answer = ask("import-ledger", "l.jsonl", *words)
    assert answer.code == 0
    for text in (
        "starts that the clocks showed twice are the first: line 1",
        "another end of a run that has a better one: line 3",
        "1 line of other pipelines left out",
    ):
        assert text in answer.out
    found = json_of(ask("import-ledger", "l.jsonl", *words, "--json"), 0)
    assert (found["shown_twice"], found["contradictions"], found["of_others"]) == ([1], [3], 1)


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (("--task", LOAD), "--time-zone"),
        (JAKARTA, "--task"),
        (("--task", LOAD, "--time-zone", "Jakarta"), "no time zone"),
        ((*IMPORT, "--window", "tick"), "'--window'"),
        ((*IMPORT, "--format", "%Y"), "--variable"),
    ],
)
def test_what_is_wrong_is_exit_2(ask, store, folder, words, told):
    write(folder / "l.jsonl", *the_morning())
    answer = ask("import-ledger", "l.jsonl", *words)
    assert answer.code == 2
    assert told in answer.err
    assert not list(store.search())


def test_an_import_needs_a_store_that_somebody_named(ask, folder, monkeypatch):
    monkeypatch.delenv("UBUNYE_STORE", raising=False)
    (folder / ".ubunye" / "lineage").mkdir(parents=True)
    write(folder / "l.jsonl", *the_morning())
    answer = ask("import-ledger", "l.jsonl", *IMPORT)
    assert answer.code == 2
    assert "import-ledger needs one that is" in answer.err


def test_a_store_that_cannot_be_written_is_exit_3(ask, folder):
    write(folder / "l.jsonl", *the_morning())
    assert ask("import-ledger", "l.jsonl", *IMPORT, "--store", "/proc/nowhere").code == 3


@pytest.mark.slow
def test_long_work_says_how_far_it_has_come(ask, store, folder, monkeypatch):
    monkeypatch.setattr(progress, "_QUIET_SECONDS", 0.0)
    lines = [a_line(f"r-{n}", start=f"2026-10-10T02:{n % 60:02}:00") for n in range(3000)]
    write(folder / "l.jsonl", *lines)
    err = ask("import-ledger", "l.jsonl", *IMPORT, "--store", "memory://long").err
    assert "Reading lines: " in err or "Saving receipts: " in err


def test_a_ledger_comes_back_as_it_went_in(ask, store, folder):
    write(folder / "in.jsonl", *the_morning())
    ask("import-ledger", "in.jsonl", *IMPORT, "--variable", "dt")
    answer = ask("export-ledger", "out.jsonl", *IMPORT)
    assert answer.code == 0
    assert "4 lines of shop/orders/daily written to out.jsonl" in answer.out
    assert (folder / "out.jsonl").read_text() == (folder / "in.jsonl").read_text()
    shown = ask("export-ledger", "-", *IMPORT)
    assert shown.out == (folder / "in.jsonl").read_text()
    assert "PASS  4 lines" in shown.err
    assert ask("export-ledger", "out.jsonl", *IMPORT).code == 2
    assert ask("export-ledger", "-", *IMPORT, "--json").code == 2


def test_a_run_that_no_line_can_hold_is_exit_1_and_named(ask, keep, folder, damage):
    keep(run_id="r-1", task=LOAD)
    file = damage(task=LOAD)
    answer = ask("export-ledger", "out.jsonl", *IMPORT)
    assert answer.code == 1
    assert "Not exported: run r-1: it has no window" in answer.err
    assert str(file) in answer.err
    (folder / "out.jsonl").unlink()
    found = json_of(ask("export-ledger", "out.jsonl", *IMPORT, "--json"), 1)
    assert [each["run_id"] for each in found["refused"]] == ["r-1"]
    assert (found["lines"], len(found["unreadable"])) == (0, 1)


def test_an_export_can_begin_later_and_name_the_window_by_a_variable(ask, keep, folder):
    keep(run_id="r-1", task=LOAD, hours_ago=50, variables={"dt": "2026-10-28"})
    keep(run_id="r-2", task=LOAD, variables={"dt": "2026-10-30"})
    words = ("--variable", "dt", "--since", "2026-10-31", "--pipeline", "etl")
    assert ask("export-ledger", "out.jsonl", *IMPORT, *words).code == 0
    (line,) = map(json.loads, (folder / "out.jsonl").read_text().splitlines())
    assert (line["run_id"], line["window"], line["pipeline"]) == ("r-2", "2026-10-30", "etl")


def test_ledgers_go_into_a_store_of_any_kind(ask, folder, tmp_path):
    write(folder / "l.jsonl", *the_morning())
    for url in (f"sqlite:///{tmp_path}/r.db", f"jsonl://{tmp_path}/r.jsonl"):
        assert ask("import-ledger", "l.jsonl", *IMPORT, "--store", url).code == 0
        assert "4 are there already" in ask("import-ledger", "l.jsonl", *IMPORT, "--store", url).out
        assert len(open_store(url).search(LOAD)) == 4


def test_what_the_ledger_finished_is_refused_and_a_manual_run_for_the_rest_leaves_its_trace(
    ask, shell, store, folder
):
    write(folder / "l.jsonl", *the_morning())
    ask("import-ledger", "l.jsonl", *IMPORT, "--variable", "dt")
    finished = ask("may-run", LOAD, "--var", "dt=2026-10-10")
    assert finished.code == 1
    assert "r-835" in finished.out
    assert ask("may-run", LOAD, "--var", "dt=2026-10-11").code == 0
    words = ("--var", "dt=2026-10-11", "--guard", "--reason", "outage of the weekend", "--", "true")
    assert shell("exec", LOAD, *words).code == 0
    (run,) = json_of(ask("search", "--triggered-by", "manual", "--json"), 0)["runs"]
    assert run["variables"] == {"dt": "2026-10-11"}
    assert run["triggered_by"]["reason"] == "outage of the weekend"
    assert run["triggered_by"]["actor"]
    assert ask("search", "--actor", run["triggered_by"]["actor"], "-n", "1").code == 0
    assert ask("may-run", LOAD, "--var", "dt=2026-10-11").code == 1


def test_of_many_bad_lines_the_first_are_named_and_the_others_counted(ask, store, folder):
    write(folder / "ledger_runs.jsonl", *the_morning())
    with (folder / "ledger_runs.jsonl").open("a") as file:
        file.write("[]\n" * 23)
    answer = ask("import-ledger", "ledger_runs.jsonl", *IMPORT)
    assert answer.code == 1
    assert answer.err.count("Bad: line") == 20
    assert "... and 3 more; --json names all." in answer.err


def test_an_export_of_a_misspelt_task_says_that_it_never_ran(ask, keep):
    keep("success")
    answer = ask("export-ledger", "-", "--task", "pay/monthly/clac", "--time-zone", "UTC")
    assert "Did you mean pay/monthly/calc?" in answer.err


def test_an_import_in_other_words_than_before_asks_for_those(ask, store, folder):
    write(folder / "l.jsonl", *the_morning())
    assert ask("import-ledger", "l.jsonl", *IMPORT).code == 0
    answer = ask("import-ledger", "l.jsonl", *IMPORT, "--variable", "dt")
    assert answer.code == 1
    assert "another --variable, --time-zone or --window before?" in answer.out


def test_one_run_that_is_not_exported_is_told_of_as_one(ask, store, keep, damage):
    keep(task=LOAD, variables={})
    damage(task=LOAD)
    answer = ask("export-ledger", "new.jsonl", *IMPORT[:4])
    assert answer.code == 1
    assert "1 run not exported: no line can hold it; 1 receipt not exported: it cannot be" in (
        answer.out
    )
