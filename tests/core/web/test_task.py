"""The runs of one task."""

from __future__ import annotations

import pytest

from tests.core.web.conftest import CALC, client, read
from ubunye_core import Step, TriggeredBy, TriggerKind
from ubunye_core.web.masked import masked, masked_line
from ubunye_core.web.shown import rows_of

TASK = f"/task/{CALC}"


def test_the_runs_stand_newest_first_with_what_was_recorded(look, keep):
    by = TriggeredBy(kind=TriggerKind.MANUAL, actor="nina", reason="late file")
    out = (Step(name="adults", direction="output", row_count=1200),)
    keep(hours_ago=2, triggered_by=by, outputs=out)
    keep("error", hours_ago=1, error="ValueError: no file")
    seen = look(TASK)
    assert seen.status == 200
    assert seen.html.index("r-2<") < seen.html.index("r-1<")
    assert "month=2026-10" in seen.text
    assert "1,200" in seen.text
    assert "manual by nina late file" in seen.text
    assert "ValueError: no file" in seen.text
    assert "FAIL" in seen.text


def test_what_is_unreadable_is_named_above_the_runs(look, keep, damage):
    keep()
    damage()
    seen = look(TASK)
    assert "1 unreadable" in seen.text
    assert "UNKNOWN" in seen.text


def test_a_task_of_nothing_but_damage_has_a_page(look, damage):
    damage()
    seen = look(TASK)
    assert seen.status == 200
    assert "1 unreadable" in seen.text


def test_runs_are_narrowed_by_status_and_start(look, keep):
    keep(hours_ago=100)
    keep("error", hours_ago=50)
    keep(hours_ago=1)
    assert "r-2<" in look(f"{TASK}?status=error").html
    assert "r-1<" not in look(f"{TASK}?status=error").html
    since = look(f"{TASK}?since=2026-10-30").html
    assert ("r-3<" in since, "r-2<" in since) == (True, False)
    assert "r-1<" not in look(f"{TASK}?since=3d").html
    assert "No run that can be read fits." in look(f"{TASK}?status=skipped").text


@pytest.mark.parametrize("query", ["status=fine", "n=0", "n=1001", "n=x", "n=²", "since=later"])
def test_a_wrong_narrowing_is_refused(look, keep, query):
    keep()
    assert look(f"{TASK}?{query}").status == 400


def test_more_runs_are_offered_and_no_more_are_read_than_shown(keep, store):
    asked = []

    class Told:
        def __getattr__(self, name):
            return getattr(store, name)

        def search(self, *args, limit=None, **kwargs):
            asked.append(limit)
            return store.search(*args, limit=limit, **kwargs)

    for hours in range(1, 8):
        keep(hours_ago=hours)
    asking = client(Told())
    seen = read(asking.get(f"{TASK}?n=3"))
    assert asked == [4]  # one more tells whether there are more
    assert ("r-3<" in seen.html, "r-4<" in seen.html) == (True, False)
    more = next(link for link in seen.links if "n=6" in link)
    assert "r-6<" in asking.get(more).text
    assert "n=" not in "".join(read(asking.get(f"{TASK}?n=7")).links)


def test_an_unknown_task_is_not_found_and_near_names_are_offered(look, keep):
    keep()
    seen = look("/task/pay/monthly/clac")
    assert seen.status == 404
    assert f"Did you mean {CALC}?" in seen.text


def test_a_long_error_is_cut_in_the_list_and_whole_on_its_own_page(look, keep):
    keep("error", error="ValueError: " + "x" * 5000)
    assert "x" * 5000 not in look(TASK).html.split("<table", 1)[1]
    assert "x" * 250 in look(TASK).html
    assert "x" * 5000 in look(f"{TASK}/run/r-1").html


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/nothing", 404),
        ("/task/pay/monthly", 404),
        ("/task/.pay/monthly/calc", 400),
        ("/task/pay/monthly/ca%20lc", 400),
        ("/task/pay/monthly/..%2f..%2fetc", 404),
        (f"{TASK}/", 404),
    ],
)
def test_what_names_no_task_finds_none(look, keep, path, status):
    keep()
    seen = look(path)
    assert seen.status == status
    assert seen.headings[0] == "h1"


def test_a_line_holds_nothing_of_the_many_inputs_of_its_run_and_costs_nothing_by_them(keep):
    one = Step(name="token=hunter2", direction="output", row_count=3)
    run = keep(
        inputs=(one,) * 3, outputs=(one, one), error="password=hunter2", environment={"a": "1"}
    )
    whole, line = masked(run), masked_line(run)
    assert (line.inputs, line.environment, rows_of(line.outputs)) == ((), None, "6")
    assert "hunter2" not in repr(line)
    shown = ("error", "status", "outcome", "batch", "triggered_by", "run_id", "started_at")
    assert [getattr(line, name) for name in shown] == [getattr(whole, name) for name in shown]
