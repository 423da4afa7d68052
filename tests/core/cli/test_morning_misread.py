"""``morning`` where the file of one task is wrong."""

from __future__ import annotations

from tests.core.cli.conftest import json_of

CALC, BAD = "pay/monthly/calc", "pay/monthly/bad"


def test_one_wrong_file_hides_no_other_task_and_is_exit_3(ask, keep, folder):
    for task, text in ((CALC, "owner: payments\n"), (BAD, "schedule: {evry: 6h}\n")):
        keep("success", task=task)
        (folder / "tasks" / task).mkdir(parents=True)
        (folder / "tasks" / task / "receipts.yaml").write_text(text)
    asked = ("morning", "--config", folder / "tasks")
    answer = ask(*asked)
    assert answer.code == 3
    assert answer.out.startswith(f"UNKNOWN  1 of 2 tasks cannot be told: {BAD}.\n")
    told = " ".join(answer.out.split())
    assert "receipts.yaml, line 1: 'evry' is not a known key of a schedule." in told
    assert "Did you mean 'every'?" in told
    assert f"Well (1): {CALC}" in told
    assert "Unreadable" not in answer.err
    found = json_of(ask(*asked, "--json"), 3)
    assert {each["task"]: each["verdict"] for each in found["tasks"]} == {
        BAD: "UNKNOWN",
        CALC: "PASS",
    }
    assert [each["where"] for each in found["unreadable"]] == [str(folder / "tasks" / BAD)]
