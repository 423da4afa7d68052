"""What upkeep holds of many receipts: some words of each, and never all of them."""

from __future__ import annotations

import tracemalloc
from collections.abc import Callable, Iterable, Iterator

import pytest

from tests.core.questions.builders import CALC, DAY, NOW, a_run
from ubunye_core import Receipt
from ubunye_core.stores import MemoryStore
from ubunye_core.upkeep import check_store, copy_store, prune_store

MANY = 10_000
LEAST_WHOLE = MANY * 2_500
"""What as many receipts take at least, by themselves."""


def a_receipt_of_many(number: int) -> Receipt:
    return a_run(
        ago=(number + 1) * DAY / 10,
        run_id=f"0192f0c1-2b3c-4d4e-8f5a-{number:012x}",
        variables={"month": f"{number % 24}"},
        extra={"text": "x" * 2_000 + str(number)},
    )


class Endless(MemoryStore):
    """As many receipts as are wanted, made when they are read; keeps none of what is saved."""

    def __init__(self, held: int) -> None:
        super().__init__("endless")
        self.held = held

    def tasks(self) -> list[str]:
        return [CALC]

    def scan(self, task: str) -> Iterator[Receipt]:
        return map(a_receipt_of_many, range(self.held))

    def save_many(self, receipts: Iterable[Receipt]) -> None:
        self.held += len(list(receipts))


def whole() -> None:
    assert len([a_receipt_of_many(number) for number in range(MANY)]) == MANY


def a_check() -> None:
    assert check_store(Endless(MANY)).receipts == MANY


def a_copy() -> None:
    done = copy_store(Endless(MANY), Endless(0))
    assert (done.copied, done.missing) == (MANY, ())


def a_prune() -> None:
    assert prune_store(Endless(MANY), older_than="10d", now=NOW).goes > MANY * 0.9


def peak(work: Callable[[], None]) -> int:
    tracemalloc.start()
    try:
        work()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


@pytest.mark.slow
@pytest.mark.parametrize(("work", "bytes_each"), [(a_check, 50), (a_copy, 600), (a_prune, 1_200)])
def test_many_receipts_are_never_all_held(work: Callable[[], None], bytes_each: int) -> None:
    work_takes = peak(work)
    print(f"{work.__name__}: {work_takes / MANY:.0f} bytes a receipt")
    assert work_takes < MANY * bytes_each + 4_000_000
    assert MANY * bytes_each + 4_000_000 < LEAST_WHOLE


@pytest.mark.slow
def test_the_control_holds_them_all() -> None:
    assert peak(whole) > LEAST_WHOLE
