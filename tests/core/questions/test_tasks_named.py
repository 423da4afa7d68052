"""The tasks that names and patterns stand for."""

from __future__ import annotations

import pytest

from tests.core.questions.builders import FourMethods, a_run, put
from ubunye_core import ConfigError, InvalidNameError, tasks_named
from ubunye_core.stores import MemoryStore


@pytest.fixture
def store() -> MemoryStore:
    made = MemoryStore()
    for task in ("pay/monthly/calc", "pay/monthly/send", "news/daily/load"):
        put(made, a_run(task=task))
    return made


def test_a_pattern_stands_for_the_tasks_that_fit_and_a_name_for_itself(store: MemoryStore) -> None:
    assert tasks_named("pay/*/*", store=store) == ("pay/monthly/calc", "pay/monthly/send")
    assert tasks_named("pay/monthly/never", store=store) == ("pay/monthly/never",)
    assert tasks_named("old/*/*", store=store) == ()


def test_each_task_is_named_once_in_the_order_given(store: MemoryStore) -> None:
    names = ["pay/monthly/send", "pay/*/*", "*/*/*"]
    assert tasks_named(names, store=store) == (
        "pay/monthly/send",
        "pay/monthly/calc",
        "news/daily/load",
    )


def test_a_store_that_cannot_list_its_tasks_takes_names_alone(store: MemoryStore) -> None:
    four = FourMethods(store)
    assert tasks_named("pay/monthly/calc", store=four) == ("pay/monthly/calc",)
    with pytest.raises(ConfigError, match="cannot list its tasks"):
        tasks_named("pay/*/*", store=four)


def test_what_is_no_name_is_refused(store: MemoryStore) -> None:
    with pytest.raises(InvalidNameError):
        tasks_named(["pay/monthly/calc", "pay/monthly"], store=store)


def test_other_tasks_than_those_of_a_store_may_be_chosen_from() -> None:
    among = ["old/daily/load", "pay/monthly/calc", "old/daily/sums"]
    assert tasks_named("old/*/*", among=among) == ("old/daily/load", "old/daily/sums")
    assert tasks_named(["*/*/calc", "new/a/b"], among=among) == ("pay/monthly/calc", "new/a/b")
