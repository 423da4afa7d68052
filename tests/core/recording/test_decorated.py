"""Functions whose every call is recorded."""

from __future__ import annotations

import asyncio
import contextlib
import inspect
from collections.abc import AsyncIterator, Callable, Iterator

import pytest

from ubunye_core import ConfigError, Receipt, Run, Status, record_run
from ubunye_core.hashing import code_hash
from ubunye_core.stores import MemoryStore

TASK = "pay/monthly/calc"
Only = Callable[[], Receipt]


def test_a_function_is_recorded_at_each_call(store: MemoryStore) -> None:
    @record_run(TASK, variables={"month": "2026-10"}, store=store)
    def calc(amount: int, *, times: int = 1) -> int:
        """Says what it does."""
        return amount * times

    assert list(store.search()) == []
    assert (calc(2, times=3), calc(5)) == (6, 5)
    assert calc.__name__ == "calc"
    assert calc.__doc__ == "Says what it does."
    found = store.search(TASK, Status.SUCCESS)
    assert len({receipt.run_id for receipt in found}) == 2
    assert found[0].code_hash == code_hash(__file__)


def test_a_decorator_without_parentheses_says_what_to_write() -> None:
    with pytest.raises(ConfigError, match=r"calc is written without .*\('pay/monthly/calc'\)"):

        @record_run  # type: ignore[arg-type]
        def calc() -> None:
            pass


def test_variables_may_come_from_the_call(store: MemoryStore, only: Only) -> None:
    @record_run(
        TASK, variables=lambda month, region="eu": {"month": month, "r": region}, store=store
    )
    def calc(month: str, region: str = "eu") -> str:
        return month + region

    assert calc("2026-10", region="us") == "2026-10us"
    assert only().variables == {"month": "2026-10", "r": "us"}


def test_wrong_variables_of_a_call_are_told_before_the_work_begins(store: MemoryStore) -> None:
    ran = []

    @record_run(TASK, variables=lambda months: {"months": months}, store=store)
    def calc(months: list[str]) -> None:
        ran.append(months)

    with pytest.raises(ConfigError, match="single value"):
        calc(["2026-10"])
    assert (ran, list(store.search())) == ([], [])


def test_variables_from_a_call_need_a_call(store: MemoryStore) -> None:
    recording = record_run(TASK, variables=lambda: {}, store=store)
    with pytest.raises(ConfigError, match="decorated"), recording:
        pass


def test_a_function_that_has_a_place_for_the_run_is_given_it(store: MemoryStore) -> None:
    @record_run(TASK, store=store)
    def last(month: str, run: Run) -> tuple[str, str]:
        return month, run.run_id

    @record_run(TASK, store=store)
    def first(run: Run, month: str) -> tuple[str, str]:
        return month, run.run_id

    @record_run(TASK, store=store)
    def by_name(month: str, *, run: Run | None = None) -> tuple[str, str]:
        assert run is not None
        return month, run.run_id

    for calc in (last, first, by_name):
        for month, run_id in (calc("2026-10"), calc(month="2026-10")):  # type: ignore[call-arg,operator]
            assert month == "2026-10"
            assert store.load(TASK, run_id).status is Status.SUCCESS
        assert list(inspect.signature(calc).parameters) == ["month"]


def test_a_run_that_is_given_is_not_replaced(store: MemoryStore) -> None:
    @record_run(TASK, store=store)
    def calc(run: object) -> object:
        return run

    assert calc(run="mine") == "mine"


def test_a_method_is_recorded_with_its_object(store: MemoryStore, only: Only) -> None:
    class Job:
        month = "2026-10"

        @record_run(TASK, variables=lambda self: {"month": self.month}, store=store)
        def calc(self, run: Run) -> str:
            return self.month + run.task

    assert Job().calc() == "2026-10" + TASK  # type: ignore[call-arg]
    assert only().variables == {"month": "2026-10"}


def test_a_failed_call_is_recorded_and_goes_on(store: MemoryStore, only: Only) -> None:
    @record_run(TASK, store=store)
    def calc() -> None:
        raise ValueError("x")

    with pytest.raises(ValueError, match="x"):
        calc()
    assert (only().status, only().error) == (Status.ERROR, "ValueError: x")


def test_a_coroutine_is_recorded_until_it_returns(store: MemoryStore, only: Only) -> None:
    @record_run(TASK, store=store)
    async def calc(run: Run) -> str:
        await asyncio.sleep(0)
        assert only().status is Status.RUNNING
        return run.run_id

    assert inspect.iscoroutinefunction(calc)
    assert asyncio.run(calc()) == only().run_id  # type: ignore[call-arg]
    assert only().status is Status.SUCCESS


def test_a_coroutine_that_is_cancelled_is_interrupted(store: MemoryStore, only: Only) -> None:
    @record_run(TASK, store=store)
    async def calc() -> None:
        await asyncio.sleep(60)

    async def cancel() -> None:
        task = asyncio.create_task(calc())
        await asyncio.sleep(0.05)
        task.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await task

    asyncio.run(cancel())
    assert only().status is Status.INTERRUPTED


def test_coroutines_at_the_same_time_are_apart(store: MemoryStore) -> None:
    @record_run(TASK, variables=lambda n: {"n": n}, store=store)
    async def calc(n: int, run: Run) -> None:
        await asyncio.sleep(0.01)
        run.count(loaded=n)

    async def both() -> None:
        await asyncio.gather(*(calc(n) for n in range(5)))  # type: ignore[call-arg]

    asyncio.run(both())
    found = store.search(TASK, Status.SUCCESS)
    assert {(r.variables["n"], r.counts.loaded) for r in found if r.counts} == {
        (str(n), n) for n in range(5)
    }


def test_a_generator_is_recorded_until_it_is_used_up(store: MemoryStore, only: Only) -> None:
    @record_run(TASK, store=store)
    def parts(run: Run) -> Iterator[int]:
        yield 1
        assert only().status is Status.RUNNING
        yield 2

    made = parts()  # type: ignore[call-arg]
    assert list(store.search()) == []
    assert list(made) == [1, 2]
    assert only().status is Status.SUCCESS


def test_a_generator_that_is_left_early_is_interrupted(store: MemoryStore, only: Only) -> None:
    @record_run(TASK, store=store)
    def parts() -> Iterator[int]:
        yield 1
        yield 2

    made = parts()
    assert next(made) == 1
    made.close()  # type: ignore[attr-defined]
    assert only().status is Status.INTERRUPTED


@pytest.mark.parametrize(
    ("takes", "status"), [(3, Status.SUCCESS), (1, Status.INTERRUPTED), (2, Status.ERROR)]
)
def test_an_async_generator_is_recorded_while_it_runs(
    store: MemoryStore, only: Only, takes: int, status: Status
) -> None:
    @record_run(TASK, store=store)
    async def parts(run: Run) -> AsyncIterator[int]:
        yield 1
        assert only().status is Status.RUNNING
        if takes == 2:
            raise ValueError("x")
        yield 2

    async def use() -> list[int]:
        made = parts()  # type: ignore[call-arg]
        async with contextlib.aclosing(made) as items:  # type: ignore[type-var]
            taken = []
            async for item in items:
                taken.append(item)
                if len(taken) == takes:
                    break
            return taken

    assert inspect.isasyncgenfunction(parts)
    with contextlib.suppress(ValueError):
        asyncio.run(use())
    assert only().status is status


def test_work_that_a_call_only_prepares_is_recorded_until_it_is_done(store: MemoryStore) -> None:
    async def coroutine() -> int:
        return 1

    def generator() -> Iterator[int]:
        yield 1

    async def async_generator() -> AsyncIterator[int]:
        yield 1

    async def all_of(items: AsyncIterator[int]) -> list[int]:
        return [item async for item in items]

    for function, finish, result in (
        (coroutine, asyncio.run, 1),
        (generator, list, [1]),
        (async_generator, lambda items: asyncio.run(all_of(items)), [1]),
    ):
        task = f"pay/monthly/{function.__name__}"
        # Another decorator in between, so that it no longer shows what the function is.
        recorded = record_run(task, store=store)(lambda function=function: function())
        prepared = recorded()
        assert store.list_runs(task)[0].status is Status.RUNNING
        assert finish(prepared) == result  # type: ignore[operator]
        assert store.list_runs(task)[0].status is Status.SUCCESS


def test_prepared_work_that_fails_is_recorded_as_failed(store: MemoryStore, only: Only) -> None:
    class Calc:
        async def __call__(self) -> None:
            raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        asyncio.run(record_run(TASK, store=store)(Calc())())
    assert only().status is Status.ERROR
