"""What a request may not see is not there for it: on no page, in no count, by no link."""

from __future__ import annotations

import random
import uuid
from datetime import UTC, datetime

import pytest

from tests.core.web.conftest import CALC, NOW, client, read
from ubunye_core import (
    Orchestrator,
    ReceiptNotFoundError,
    StoreUnavailableError,
    job_health,
    open_store,
)
from ubunye_core.web import tasks
from ubunye_core.web.access import SeenStore

SECRET = "pay/secret/bonus"
DAILY = "windows?cron=0+2+*+*+*&window=day&variable=dt&since=3d"


def of(dag: str) -> Orchestrator:
    return Orchestrator(name="airflow", ids={"dag_id": dag}, attempt=1)


def sees(receipt):
    return receipt.orchestrator is not None and receipt.orchestrator.ids["dag_id"] == "mine"


@pytest.fixture
def mixed(keep, damage):
    """A task of mine, one of theirs, and one that has been both."""
    keep(orchestrator=of("mine"))
    keep(task=SECRET, run_id="veiled-1", orchestrator=of("theirs"), variables={"dt": "2026-10-30"})
    keep(task="pay/monthly/both", run_id="seen-1", hours_ago=9, orchestrator=of("mine"))
    keep(
        "error",
        task="pay/monthly/both",
        run_id="veiled-2",
        hours_ago=1,
        orchestrator=of("theirs"),
        error="ValueError: veiled trouble",
    )
    keep(task="pay/local/nobody", run_id="veiled-3")
    damage("pay/local/nobody", "veiled-4")


@pytest.fixture
def asking(store, mixed):
    return client(store, access=lambda request: sees)


def test_nothing_of_a_hidden_receipt_is_on_any_page(asking):
    for path in (
        "/",
        "/?tasks=*/*/*",
        "/health.json",
        "/task/pay/monthly/both",
        "/task/pay/monthly/both?status=error",
        f"/task/pay/monthly/both/{DAILY}",
    ):
        answer = asking.get(path)
        assert answer.status_code == 200, path
        for word in ("veiled", SECRET, "nobody", "theirs", "unreadable\n"):
            assert word not in answer.text, (path, word)


def test_counts_and_health_are_of_what_is_seen_and_the_page_says_so(asking):
    seen = read(asking.get("/"))
    assert "PASS 2 2 tasks" in seen.text
    assert "only the receipts that you may read" in seen.text
    told = {each["task"]: each["verdict"] for each in asking.get("/health.json").json()["tasks"]}
    assert told == {CALC: "PASS", "pay/monthly/both": "PASS"}
    assert "only the receipts" not in read(client(lambda: None).get("/nothing")).text


@pytest.mark.parametrize(
    ("hidden", "absent"),
    [
        (f"/task/{SECRET}", "/task/pay/secret/absent"),
        (f"/task/{SECRET}/{DAILY}", f"/task/pay/secret/absent/{DAILY}"),
        (f"/task/{SECRET}/windows", "/task/pay/secret/absent/windows"),
        (f"/task/{SECRET}/run/veiled-1", "/task/pay/secret/absent/run/veiled-1"),
        ("/task/pay/local/nobody/run/veiled-4", "/task/pay/local/absent/run/veiled-4"),
        ("/task/pay/monthly/both/run/veiled-2", "/task/pay/monthly/both/run/absent-2"),
        (
            "/task/pay/monthly/both/compare?a=veiled-2&b=seen-1",
            "/task/pay/monthly/both/compare?a=absent-2&b=seen-1",
        ),
        (
            "/task/pay/monthly/both/attempt?attempt=1&id.dag_id=theirs",
            "/task/pay/monthly/both/attempt?attempt=1&id.dag_id=absent",
        ),
        (f"/task/{SECRET}/attempt?attempt=1&id.dag_id=theirs", "/task/pay/secret/absent/attempt?"
         "attempt=1&id.dag_id=theirs"),
    ],
)  # fmt: skip
def test_a_hidden_receipt_is_not_found_like_one_that_does_not_exist(asking, hidden, absent):
    one, other = asking.get(hidden), asking.get(absent)
    assert (one.status_code, other.status_code) == (404, 404)

    def without_names(text):
        for name in (SECRET, "pay/secret/absent", "pay/local/nobody", "pay/local/absent"):
            text = text.replace(name, "TASK")
        return text.replace("veiled-2", "RUN").replace("absent-2", "RUN")

    assert without_names(one.text) == without_names(other.text)


def test_a_task_that_is_named_and_hidden_looks_as_if_it_had_never_run(asking):
    def told(task):
        return asking.get(f"/?tasks={task}").text.replace(task, "TASK")

    assert told(SECRET) == told("pay/secret/absent")


def test_an_attempt_that_may_be_seen_is_found(asking):
    answer = asking.get("/task/pay/monthly/both/attempt?attempt=1&id.dag_id=mine")
    assert answer.headers["location"] == "/task/pay/monthly/both/run/seen-1"


def test_what_is_unreadable_is_told_to_whoever_sees_the_task(asking, damage):
    damage(CALC)
    assert "1 unreadable" in read(asking.get(f"/task/{CALC}")).text
    assert "UNKNOWN 1" in read(asking.get("/")).text


def test_who_may_see_nothing_sees_no_count_and_no_name(store, mixed):
    nobody = client(store, access=lambda request: lambda receipt: False)
    seen = read(nobody.get("/"))
    assert "There are no receipts that you may read." in seen.text
    assert "pay/" not in seen.text


def test_the_request_says_what_it_may_see(store, mixed):
    asking = client(store, access=lambda request: lambda receipt: "all" in request.query_params)
    assert SECRET in asking.get("/?all=1").text
    assert SECRET not in asking.get("/").text


def test_many_hidden_tasks_are_passed_over_in_steps(keep, store, monkeypatch):
    monkeypatch.setattr(tasks, "PASSED_OVER", 4)
    for number in range(9):
        keep(task=f"pay/hidden/t{number}", orchestrator=of("theirs"))
    keep(task="pay/zeta/mine", orchestrator=of("mine"))
    asking, path, steps = client(store, access=lambda request: sees), "/", 0
    while path:
        seen = read(asking.get(path))
        path, steps = next((link for link in seen.links if "after=" in link), None), steps + 1
        assert "pay/hidden" not in seen.html  # nor in the address of the next page
    assert steps == 3
    assert "pay/zeta/mine" in seen.text


def test_older_runs_of_mine_are_found_among_many_of_theirs(keep, store):
    for hour in range(24):
        keep(orchestrator=of("mine" if hour % 6 == 5 else "theirs"), hours_ago=hour + 1)
    seen = SeenStore(store, sees)
    assert [run.run_id for run in seen.list_runs(CALC, 2)] == ["r-6", "r-12"]
    assert len(seen.search(CALC)) == 4
    assert len(seen.list_runs(CALC, 50)) == 4


@pytest.mark.parametrize("seed", range(16))
def test_health_is_that_of_a_store_with_nothing_but_what_is_seen(keep, store, seed):
    chosen = random.Random(seed)
    only = open_store(f"memory://{uuid.uuid4()}")
    for hour in range(chosen.randint(1, 9)):
        dag = chosen.choice(("mine", "mine", "theirs"))
        status = chosen.choice(("success", "success", "error", "running", "skipped"))
        receipt = keep(status, hours_ago=20 - hour, orchestrator=of(dag))
        if sees(receipt):
            only.save(receipt)
    # What a store tells at once is asked for only at the clock's own time.
    at = chosen.choice((NOW, datetime.now(UTC)))
    asked = {"now": at, "stuck_after": "3h", "max_age": chosen.choice((None, "12h"))}
    seen, whole = (job_health(CALC, store=each, **asked) for each in (SeenStore(store, sees), only))
    assert seen.tasks == whole.tasks


def test_a_task_that_is_well_costs_a_look_at_one_run(keep, store):
    for hour in range(30):
        keep(orchestrator=of("mine"), hours_ago=hour + 1)
    looked = []

    class Told:
        def __getattr__(self, name):
            return getattr(store, name)

        def list_runs(self, task, n=20):
            looked.append(n)
            return store.list_runs(task, n)

        def search(self, *args, **kwargs):
            raise AssertionError("it was searched")

    seen = SeenStore(Told(), sees)
    assert seen.knows(CALC)
    assert job_health(CALC, store=seen)
    assert looked == [1]


def test_a_view_refuses_what_it_cannot_keep_to(keep, store):
    receipt = keep(orchestrator=of("theirs"))
    view = SeenStore(store, sees)
    with pytest.raises(StoreUnavailableError):
        view.save(receipt)
    with pytest.raises(StoreUnavailableError):
        view.search()
    with pytest.raises(ReceiptNotFoundError):
        view.load(CALC, receipt.run_id)
