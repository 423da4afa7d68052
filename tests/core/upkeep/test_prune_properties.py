"""After a prune every question is answered as before."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.core.questions.builders import CALC, DAY, NOW, SEND, a_run, a_window, an_attempt
from ubunye_core import Pin, Receipt, Requirement, Status, check_upstream, job_health
from ubunye_core.questions import task_health
from ubunye_core.stores import MemoryStore
from ubunye_core.upkeep import keeping, prune_store

TASKS = (CALC, SEND, "pay/monthly/raw")
FEW = 4
"""So many runs does health read here, so that the border is met often."""


@st.composite
def runs(draw: st.DrawFn) -> list[Receipt]:
    found = []
    for number in range(draw(st.integers(1, 14))):
        status = draw(st.sampled_from(["success", "success", "error", "skipped", "running"]))
        variables: dict[str, Any] = {"month": draw(st.sampled_from(["2026-08", "2026-09"]))}
        if draw(st.booleans()):
            variables["region"] = draw(st.sampled_from(["eu", 1]))
        if draw(st.booleans()):
            variables["mode"] = draw(st.sampled_from(["DEV", "PROD"]))
        ago = timedelta(days=draw(st.integers(0, 30)) * 10, hours=draw(st.integers(0, 3)))
        refused = status == "skipped" and draw(st.booleans())
        found.append(
            a_run(
                status,
                ago=ago,
                took=timedelta(days=draw(st.sampled_from([0, 0, 5]))),
                task=draw(st.sampled_from(TASKS)),
                variables=variables,
                run_id=f"r-{number}",
                window=draw(
                    st.none() | st.integers(0, 300).map(lambda days: a_window(NOW - days * DAY))
                ),
                orchestrator=draw(st.none() | st.integers(1, 3).map(an_attempt)),
                outcome="refused" if refused else None,
                upstreams=tuple(
                    Pin(task=draw(st.sampled_from(TASKS)), run_id=f"r-{draw(st.integers(0, 14))}")
                    for _ in range(draw(st.integers(0, 2)))
                ),
            )
        )
    return found


def answers(store: MemoryStore, asked: list[Mapping[str, Any]]) -> list[object]:
    """What every question says."""
    found: list[object] = []
    for max_age, threshold in ((None, 1), (None, 3), ("20d", 2), ("150d", 1)):
        found += job_health(
            TASKS, store=store, now=NOW, max_age=max_age, failure_threshold=threshold
        ).tasks
    for variables in asked:
        for task in TASKS:
            for names in (None, ["month", "mode"], ["region"], []):
                if not set(names or ()) <= set(variables):
                    continue
                answer = check_upstream(
                    Requirement(task, names), variables=variables, store=store, now=NOW
                )
                # What is told of a task without a success is about its newest runs.
                if answer.requirements[0].met:
                    found.append(answer)
                else:
                    found.append((task, names, answer.verdict))
    return found


@pytest.mark.slow
@settings(
    max_examples=100,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
@given(receipts=runs(), older_than=st.sampled_from(["1d", "50d", "100d", "200d"]))
def test_every_question_is_answered_as_before(
    receipts: list[Receipt], older_than: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for module in (keeping, task_health):
        monkeypatch.setattr(module, "RUNS_READ", FEW)
    store = MemoryStore()
    for receipt in receipts:
        store.save(receipt)
    asked = [dict(each) for each in {tuple(receipt.variables.items()) for receipt in receipts}]
    before = answers(store, asked)
    plan = prune_store(store, older_than=older_than, now=NOW)
    done = prune_store(store, older_than=older_than, now=NOW, remove=True)
    assert done.removed == plan.goes == done.goes
    assert len(store.search()) == len(receipts) - plan.goes
    assert answers(store, asked) == before
    assert prune_store(store, older_than=older_than, now=NOW).goes == 0
    left = {(receipt.task, receipt.run_id): receipt for receipt in store.search()}
    held = {(receipt.task, receipt.run_id) for receipt in receipts}
    for receipt in left.values():
        for pin in receipt.upstreams:
            if pin.task != receipt.task and (pin.task, pin.run_id) in held:
                assert (pin.task, pin.run_id) in left


def test_the_property_would_see_a_lost_success() -> None:
    store = MemoryStore()
    run = replace(a_run(ago=300 * DAY), status=Status.SUCCESS)
    store.save(run)
    before = answers(store, [run.variables])
    store.remove(run.task, [run.run_id])
    assert answers(store, [run.variables]) != before
