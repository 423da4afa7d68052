"""A task that stands behind a pattern which fits its own name."""

from __future__ import annotations

import pytest

from ubunye_core import UpstreamNotMetError, record_run
from ubunye_core.stores import MemoryStore

MONTH = {"month": "2026-10"}


def test_a_pattern_does_not_make_a_task_wait_for_itself() -> None:
    store = MemoryStore()
    with record_run("pay/monthly/calc", variables=MONTH, store=store):
        pass
    with record_run("pay/monthly/send", variables=MONTH, store=store) as run:
        answer = run.require("pay/monthly/*")
    assert [each.task for each in answer.requirements] == ["pay/monthly/calc"]


def test_a_pattern_that_fits_only_the_asking_task_is_not_met() -> None:
    store = MemoryStore()
    with (
        pytest.raises(UpstreamNotMetError),
        record_run("pay/monthly/send", variables=MONTH, store=store) as run,
    ):
        run.require("pay/monthly/*")
