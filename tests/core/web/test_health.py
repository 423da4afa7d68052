"""The table of health: the worst first, nothing hidden, and no more read than is shown."""

from __future__ import annotations

from collections import Counter
from typing import Any

import pytest
from click.testing import CliRunner

from tests.core.web.conftest import CALC, client, read
from ubunye_core import MissingExtraError, StoreUnavailableError, open_store
from ubunye_core.cli.app import commands
from ubunye_core.web import tasks


def test_every_task_stands_in_the_table_the_worst_first(look, keep, damage):
    keep()
    keep("error", task="pay/monthly/send", error="ValueError: no file")
    keep(task="sales/daily/load")
    damage("sales/daily/load")
    seen = look("/")
    assert seen.status == 200
    order = [
        seen.html.index(f">{task}<") for task in ("pay/monthly/send", "sales/daily/load", CALC)
    ]
    assert order == sorted(order)
    assert "ValueError: no file" in seen.text
    assert "FAIL 1 UNKNOWN 1 PASS 1 3 of 3 tasks" in seen.text


def test_what_is_unreadable_is_named_above_the_table(look, keep, damage, store):
    keep()
    damage()
    seen = look("/")
    assert "1 unreadable" in seen.text
    assert f"{store.root}/{CALC}/broken.json" in seen.text
    assert seen.html.index("1 unreadable") < seen.html.index("<table")


def test_a_task_of_nothing_but_damage_is_shown_as_unknown(look, damage):
    damage()
    seen = look("/")
    assert "UNKNOWN 1" in seen.text
    assert CALC in seen.text


def test_a_pattern_and_limits_are_asked_for(look, keep):
    keep(hours_ago=30)
    keep(task="sales/daily/load")
    seen = look("/?tasks=pay/*/*&max_age=1d")
    assert "1 of 1 task" in seen.text
    assert "sales/daily/load" not in seen.text
    assert "FAIL" in seen.text


@pytest.mark.parametrize(
    "query",
    ["tasks=pay/*", "tasks=..%2F..%2Fetc", "max_age=soon", "stuck_after=-1h", "after=x", "after=~",
     "after=pay/monthly/calc~x", "tasks=" + "a" * 301, "max_age=1d&max_age=2d"],
)  # fmt: skip
def test_what_cannot_be_asked_is_refused_with_a_reason(look, keep, query):
    keep()
    seen = look(f"/?{query}")
    assert seen.status == 400
    assert "This cannot be asked" in seen.text


def test_a_pattern_that_fits_nothing_is_unknown(look, keep):
    keep()
    assert "UNKNOWN No task fits nobody/*/*." in look("/?tasks=nobody/*/*").text


def test_an_empty_store_says_so(look):
    seen = look("/")
    assert seen.status == 200
    assert "holds no receipts yet" in seen.text


def test_a_store_that_is_down_is_a_page_that_says_so(tmp_path):
    asking = client(open_store(str(tmp_path / "gone")))
    for path in ("/", f"/task/{CALC}", f"/task/{CALC}/run/r-1", f"/?tasks={CALC}"):
        answer = asking.get(path)
        assert answer.status_code == 503, path
        assert "gone" in read(answer).text
    assert asking.get("/").headers["retry-after"] == "30"
    down = asking.get("/health.json")
    assert (down.status_code, down.json()["verdict"]) == (503, "UNKNOWN")


class Counted:
    """A store, and how often it was asked about which task."""

    def __init__(self, store: Any) -> None:
        self._store, self.asked = store, Counter[str]()

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)

    def list_runs(self, task: str, n: int = 20) -> Any:
        self.asked[task] += 1
        return self._store.list_runs(task, n)

    def settled(self, tasks: Any) -> Any:
        self.asked.update(tasks)
        return {}


def test_pages_show_each_task_once_and_look_at_no_other(keep, store, monkeypatch):
    monkeypatch.setattr(tasks, "TASKS_A_PAGE", 3)
    names = [f"pay/daily/t{number}" for number in range(7)]
    for name in names:
        keep(task=name)
    counted = Counted(store)
    asking, path, pages = client(counted), "/", []
    while path:
        counted.asked.clear()
        seen = read(asking.get(path))
        shown = [name for name in names if f">{name}<" in seen.html]
        assert set(counted.asked) == set(shown)
        pages.append(shown)
        path = next((link for link in seen.links if "after=" in link), None)
    assert pages == [names[:3], names[3:6], names[6:]]


def test_programs_are_told_what_the_command_line_tells(keep, damage, store):
    keep()
    keep("error", task="pay/monthly/send")
    damage("sales/daily/load")
    told = client(store).get("/health.json").json()
    words = ["health", "*/*/*", "--json", "--store", str(store.root), "--now"]
    printed = CliRunner().invoke(commands, [*words, "2026-10-31T06:00:00Z"])
    import json

    said = json.loads(printed.stdout)
    assert told.pop("after") is None
    assert told == said


def test_a_store_that_cannot_be_opened_is_no_fault_of_whoever_asks():
    def opened():
        raise MissingExtraError("This store needs a library.", "sql")

    seen = read(client(opened).get("/"))
    assert seen.status == 500
    assert "ubunye-receipts[sql]" in seen.text


def test_a_fault_is_told_by_its_kind_alone(caplog):
    def opened():
        raise RuntimeError("password=hunter2")

    seen = read(client(opened).get("/"))
    assert seen.status == 500
    assert "RuntimeError" in seen.text
    assert "hunter2" not in seen.html + caplog.text
    assert "RuntimeError" in caplog.text


def test_a_store_whose_opening_fails_now_is_not_there_now():
    def opened():
        raise StoreUnavailableError("The connection cannot be looked up now.")

    assert client(opened).get("/").status_code == 503
