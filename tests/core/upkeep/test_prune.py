"""``prune_store``: only what is old and decides nothing goes."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from pathlib import Path

import pytest

from tests.core.questions.builders import (
    CALC,
    DAY,
    HOUR,
    NOW,
    SEND,
    FourMethods,
    a_run,
    a_window,
    put,
)
from ubunye_core import (
    ConfigError,
    Pin,
    ReceiptNotFoundError,
    Requirement,
    StoreUnavailableError,
    check_upstream,
    job_health,
)
from ubunye_core.stores import MemoryStore
from ubunye_core.stores.capabilities import RUNS_READ
from ubunye_core.upkeep import PrunedStore, prune, prune_store

OCTOBER, SEPTEMBER = {"month": "2026-10"}, {"month": "2026-09"}


def ids(store: MemoryStore, task: str | None = None) -> set[str]:
    return {receipt.run_id for receipt in store.search(task)}


def pruned(store: MemoryStore, **more: object) -> PrunedStore:
    given = {"older_than": "100d", "now": NOW, "remove": True, **more}
    return prune_store(store, **given)  # type: ignore[arg-type]


def an_old(days: float, run_id: str, status: str = "success", **fields: object):
    return a_run(status, ago=days * DAY, run_id=run_id, **fields)  # type: ignore[arg-type]


def test_only_what_is_old_goes_and_each_task_is_told_of() -> None:
    store = MemoryStore()
    put(store, *(an_old(days, f"r-{days}") for days in (300, 200, 101, 99, 1)))
    put(store, an_old(300, "s-300", task=SEND))
    done = pruned(store, remove=False)
    assert (done.removed, done.goes, done.receipts) == (None, 3, 6)
    (calc,) = done.tasks
    assert (calc.task, calc.receipts, calc.goes) == (CALC, 5, 3)
    assert (calc.oldest, calc.newest) == (NOW - 300 * DAY, NOW - 101 * DAY)
    assert len(ids(store)) == 6
    assert pruned(store).removed == 3
    assert ids(store) == {"r-99", "r-1", "s-300"}
    assert pruned(store).removed == 0


def test_a_run_is_as_old_as_its_end() -> None:
    store = MemoryStore()
    put(store, an_old(101, "long", took=2 * DAY), an_old(101, "short"), an_old(1, "new"))
    pruned(store)
    assert ids(store) == {"long", "new"}


def test_the_last_success_of_a_task_and_of_each_batch_stays() -> None:
    store = MemoryStore()
    put(
        store,
        an_old(400, "sep-old", variables=SEPTEMBER),
        an_old(390, "sep-last", variables=SEPTEMBER),
        an_old(380, "oct-old"),
        an_old(370, "oct-last"),
        an_old(360, "oct-dev", variables=OCTOBER | {"mode": "DEV"}),
        an_old(1, "failed", status="error"),
    )
    assert pruned(store).kept == {
        "last success": 1,
        "last success of a batch": 2,
    }
    assert ids(store) == {"sep-last", "oct-last", "oct-dev", "failed"}


def test_the_newest_run_of_a_batch_that_has_succeeded_stays() -> None:
    store = MemoryStore()
    put(
        store,
        an_old(400, "sep", variables=SEPTEMBER),
        an_old(390, "sep-rerun", status="error", variables=SEPTEMBER),
        an_old(380, "sep-again", status="error", variables=SEPTEMBER),
        an_old(1, "new"),
    )
    pruned(store)
    assert ids(store) == {"sep", "sep-again", "new"}


def test_a_later_run_of_another_batch_stays_where_a_gate_tells_of_it() -> None:
    store = MemoryStore()
    put(
        store,
        an_old(400, "us", variables={**SEPTEMBER, "region": "us"}),
        an_old(390, "eu", status="error", variables={**SEPTEMBER, "region": "eu"}),
        an_old(410, "asia", status="error", variables={**SEPTEMBER, "region": "asia"}),
        an_old(1, "new"),
    )
    asked = {"requirements": Requirement(CALC, ["month"]), "variables": SEPTEMBER}
    before = check_upstream(**asked, store=store, now=NOW)
    assert "A later run of the batch, eu" in before.reason
    pruned(store)
    assert ids(store) == {"us", "eu", "new"}
    assert check_upstream(**asked, store=store, now=NOW) == before


def test_the_runs_that_health_looks_at_stay_so_that_it_comes_upon_no_older_ones() -> None:
    store = MemoryStore()
    put(store, an_old(900, "by-window", window=a_window(NOW - 900 * DAY)))
    put(store, *(an_old(300 + number, f"r-{number}") for number in range(RUNS_READ)))
    put(store, an_old(1, "new"))
    before = job_health(CALC, store=store, now=NOW, max_age="2d")
    assert before
    pruned(store)
    assert len(store.search()) == RUNS_READ + 1
    assert "by-window" in ids(store)
    assert job_health(CALC, store=store, now=NOW, max_age="2d") == before
    assert pruned(store).goes == 0


def test_a_batch_that_never_succeeded_is_not_kept_for_ever() -> None:
    store = MemoryStore()
    put(store, an_old(400, "sep", status="error", variables=SEPTEMBER), an_old(1, "new"))
    pruned(store)
    assert ids(store) == {"new"}


def test_what_has_failed_since_the_last_success_stays_since_it_makes_a_task_unhealthy() -> None:
    store = MemoryStore()
    put(store, an_old(500, "older"), an_old(400, "success"))
    put(store, *(an_old(300 + n, f"error-{n}", status="error") for n in range(3)))
    assert pruned(store).kept == {
        "last success": 1,
        "newest": 1,
        "since the last success": 2,
    }
    assert ids(store) == {"success", "error-0", "error-1", "error-2"}


def test_what_says_running_stays() -> None:
    store = MemoryStore()
    put(store, an_old(400, "stuck", status="running", variables=SEPTEMBER), an_old(1, "new"))
    assert pruned(store).kept == {"running": 1}
    assert ids(store) == {"stuck", "new"}


def test_an_old_run_that_health_does_not_see_stays_out_of_its_sight() -> None:
    store = MemoryStore()
    put(store, an_old(400, "stuck", status="running", variables=SEPTEMBER))
    put(store, *(an_old(300 - n, f"r-{n}") for n in range(60)))
    done = pruned(store)
    assert done.removed == 10
    assert done.kept == {"running": 1, "newest": 50}


def test_the_success_with_the_newest_window_stays_after_a_backfill() -> None:
    store = MemoryStore()
    put(
        store,
        an_old(400, "newest-window", window=a_window(NOW - 400 * DAY)),
        an_old(390, "backfill", window=a_window(NOW - 900 * DAY)),
        an_old(380, "backfill-2", window=a_window(NOW - 901 * DAY)),
    )
    pruned(store)
    assert ids(store) == {"newest-window", "backfill-2"}


def test_evidence_of_what_stays_stays_and_its_own_evidence() -> None:
    store = MemoryStore()
    raw, clean = "pay/monthly/raw", "pay/monthly/clean"
    put(
        store,
        an_old(300, "raw-1", task=raw),
        an_old(299, "raw-2", task=raw),
        an_old(300, "clean-1", task=clean, upstreams=(Pin(task=raw, run_id="raw-1"),)),
        an_old(299, "clean-2", task=clean, upstreams=(Pin(task=raw, run_id="raw-2"),)),
        an_old(1, "raw-3", task=raw),
        an_old(1, "clean-3", task=clean),
        an_old(2, "report", task=SEND, upstreams=(Pin(task=clean, run_id="clean-1"),)),
    )
    assert pruned(store).kept == {"evidence": 2}
    assert ids(store) == {"raw-1", "raw-3", "clean-1", "clean-3", "report"}


def test_a_chain_of_a_tasks_own_runs_does_not_keep_them_all() -> None:
    store = MemoryStore()
    days = (300, 299, 298, 1)
    put(
        store,
        *(
            an_old(day, f"r-{day}", upstreams=(Pin(task=CALC, run_id=f"r-{before}"),))
            for before, day in zip((301, *days), days, strict=False)
        ),
    )
    pruned(store)
    assert ids(store) == {"r-1"}


def test_pins_that_lead_in_a_circle_or_nowhere_end() -> None:
    store = MemoryStore()
    put(
        store,
        an_old(300, "a", upstreams=(Pin(task=SEND, run_id="b"), Pin(task="x/y/z", run_id="b"))),
        an_old(300, "b", task=SEND, upstreams=(Pin(task=CALC, run_id="a"),)),
        an_old(2, "a-new", upstreams=(Pin(task=SEND, run_id="b"),)),
        an_old(1, "b-new", task=SEND),
    )
    pruned(store)
    assert ids(store) == {"a", "b", "a-new", "b-new"}


def test_a_task_narrows_what_goes_and_not_what_is_evidence() -> None:
    store = MemoryStore()
    put(store, *(an_old(days, f"c-{days}") for days in (300, 200, 1)))
    pin = (Pin(task=CALC, run_id="c-300"),)
    put(store, an_old(250, "s-250", task=SEND, upstreams=pin), an_old(2, "s-2", task=SEND))
    pruned(store, task="pay/*/calc")
    assert ids(store) == {"c-300", "c-1", "s-250", "s-2"}
    with pytest.raises(ReceiptNotFoundError):
        pruned(store, task="pay/*/nobody")


def test_damage_stays_and_is_named() -> None:
    store = MemoryStore()
    put(store, an_old(300, "old"), an_old(1, "new"))
    store.put_document(CALC, "broken", b"{")
    done = pruned(store)
    assert done.removed == 1
    assert [bad.where for bad in done.unreadable] == [f"memory:///{CALC}/broken"]
    with pytest.raises(ValueError, match="not whole JSON"):
        store.load(CALC, "broken")


def test_a_receipt_from_the_future_is_no_last_success() -> None:
    store = MemoryStore()
    put(store, an_old(300, "old"), an_old(200, "last"), an_old(-9000, "future"))
    pruned(store)
    assert ids(store) == {"last", "future"}


def test_a_prune_as_of_the_past_keeps_what_was_the_last_success_then() -> None:
    store = MemoryStore()
    older = an_old(10, "older")
    ended_later = a_run(ago=timedelta(0), took=5 * DAY, run_id="later")
    started_later = a_run(ago=-DAY, run_id="unseen")
    for run in (older, an_old(20, "oldest"), ended_later, started_later):
        store.save(run)
    assert pruned(store, older_than="1d").goes == 1
    assert ids(store) == {"older", "later", "unseen"}


def test_a_store_that_cannot_remove_is_refused_before_it_is_read() -> None:
    store = FourMethods(MemoryStore())
    with pytest.raises(ConfigError, match="no way to remove receipts"):
        prune_store(store, older_than="1d")
    assert store.calls == []


@pytest.mark.parametrize("given", ["", "soon", "-1d", timedelta(days=-1), "999999d"])
def test_a_time_that_is_none_is_refused(given: object) -> None:
    with pytest.raises(ConfigError, match="older_than"):
        pruned(MemoryStore(), older_than=given)


def test_a_store_that_is_not_there_is_not_empty(tmp_path: Path) -> None:
    class Away(MemoryStore):
        def tasks(self) -> list[str]:
            raise StoreUnavailableError("the link is down")

    with pytest.raises(StoreUnavailableError):
        pruned(Away())


def test_the_oldest_go_first_some_hundreds_at_a_time(monkeypatch: pytest.MonkeyPatch) -> None:
    calls: list[list[str]] = []

    class Noting(MemoryStore):
        def remove(self, task: str, run_ids: Sequence[str]) -> int:
            calls.append(list(run_ids))
            return super().remove(task, run_ids)

    monkeypatch.setattr(prune, "CHUNK", 2)
    store, told = Noting(), []
    put(store, *(an_old(200 + n, f"r-{n}") for n in range(5)), an_old(1, "new"))
    pruned(store, told=lambda task, count: told.append(count))
    assert calls == [["r-4", "r-3"], ["r-2", "r-1"], ["r-0"]]
    assert told[-1] == 5


def test_a_run_that_ended_an_hour_after_the_cut_stays() -> None:
    store = MemoryStore()
    put(store, a_run(ago=100 * DAY - HOUR, run_id="edge"), an_old(1, "new"))
    pruned(store)
    assert ids(store) == {"edge", "new"}


def test_a_store_that_vanishes_midway_says_how_far_it_came(monkeypatch: pytest.MonkeyPatch) -> None:
    class Vanishing(MemoryStore):
        calls = 0

        def remove(self, task: str, run_ids: Sequence[str]) -> int:
            self.calls += 1
            if self.calls == 2:
                raise StoreUnavailableError("the link is down")
            return super().remove(task, run_ids)

    monkeypatch.setattr(prune, "CHUNK", 2)
    store = Vanishing()
    put(store, *(an_old(200 + n, f"r-{n}") for n in range(5)), an_old(1, "new"))
    with pytest.raises(StoreUnavailableError, match="after 2 receipts: the link is down"):
        pruned(store)
    assert pruned(store).removed == 3
