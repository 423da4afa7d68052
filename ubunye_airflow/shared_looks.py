"""The looks of many gates in one triggerer: gates that ask the same store look together.

A thousand gates that wait for one task would ask a thousand times a poll. Here those of one store
and one connection look at the same instants, and what they ask is read once: one question a task.
Nothing is kept from one look to the next, and a gate that asks while a look is under way waits for
the next one. So no gate is answered from what was seen before it asked, and a look that failed has
failed for those that shared it, and for nobody else.
"""

from __future__ import annotations

import asyncio
import os
import random
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from functools import partial
from typing import TypeVar
from weakref import WeakKeyDictionary
from zlib import crc32

from asgiref.sync import sync_to_async

from ubunye_airflow.connections import NamedStore
from ubunye_airflow.gate import Gate, Look
from ubunye_airflow.shares import apart
from ubunye_core import OneLook, ReceiptStore, open_store

SHORTEST_PAUSE = 1.0
"""Seconds that a gate pauses at least, and that lie between two looks at one store."""
GATHERS = 0.1
"""Seconds that a look waits for other gates to join."""
THREADS = 16
"""So many for all stores of one process."""
THREADS_OF_A_STORE = 4
"""So many of them for one store: one that hangs does not hold up the others."""
AT_ONCE = 25
"""So many gates are answered at once, so that their loop does other things in between."""
IDLE = 300.0
"""Seconds after which a store that nobody asks any more is closed."""

Done = TypeVar("Done")


class Looks:
    """The looks of the gates that wait on one event loop."""

    def __init__(self) -> None:
        self._of_stores: dict[tuple[str | None, str | None], _LooksAtStore] = {}
        # Not the same for every triggerer, so that they do not all ask at the same instant.
        self._offset = random.uniform(0, 86_400)
        self._is_to_close = False

    async def look(self, gate: Gate) -> Look:
        """How a gate stands, by a look that begins after this call."""
        key = (gate.store, gate.store_conn_id)
        if key not in self._of_stores:
            self._of_stores[key] = _LooksAtStore()
        if not self._is_to_close:
            self._is_to_close = True
            asyncio.get_running_loop().call_later(IDLE, self._close_idle)
        return await self._of_stores[key].look(gate)

    def pause(self, gate: Gate, seen: Look) -> float:
        """Seconds until a gate looks again, at the latest after its own pause.

        Gates of one store that look equally often look at the same instants.
        """
        every = max(seen.every.total_seconds(), SHORTEST_PAUSE)
        offset = self._offset + crc32(f"{gate.store} {gate.store_conn_id}".encode()) % 86_400
        to_next = every - (time.time() - offset) % every
        return max(min(seen.pause.total_seconds(), to_next), SHORTEST_PAUSE)

    def _close_idle(self) -> None:
        for key, looks in list(self._of_stores.items()):
            if looks.is_idle:
                del self._of_stores[key]
        self._is_to_close = bool(self._of_stores)
        if self._is_to_close:
            asyncio.get_running_loop().call_later(IDLE, self._close_idle)


# Nothing that is kept here knows its loop, so that stores are closed with it. Threads do know the
# loop that they worked for last, so they are those of the process: a forked one needs its own.
_of_loops: WeakKeyDictionary[asyncio.AbstractEventLoop, Looks] = WeakKeyDictionary()
_of_processes: dict[int, ThreadPoolExecutor] = {}


def _threads() -> ThreadPoolExecutor:
    process = os.getpid()
    if process not in _of_processes:
        _of_processes[process] = ThreadPoolExecutor(THREADS, thread_name_prefix="ubunye-gates")
    return _of_processes[process]


def looks_of_this_loop() -> Looks:
    """What the gates of the running event loop share."""
    loop = asyncio.get_running_loop()
    if loop not in _of_loops:
        _of_loops[loop] = Looks()
    return _of_loops[loop]


@dataclass
class _Asking:
    """A gate that waits for its look."""

    gate: Gate
    seen: asyncio.Future[Look]

    def answer(self, found: Look | Exception) -> None:
        if self.seen.done():  # its trigger was cancelled
            return
        if isinstance(found, Exception):
            self.seen.set_exception(found)
        else:
            self.seen.set_result(found)


class _LooksAtStore:
    """The looks at one store by one connection, one after the other."""

    def __init__(self) -> None:
        self._asking: list[_Asking] = []
        self._looking: asyncio.Task[None] | None = None
        self._handles = [_Handle() for _ in range(THREADS_OF_A_STORE)]
        self._began = self._asked = float("-inf")

    @property
    def is_idle(self) -> bool:
        """Whether no gate has asked for a while."""
        return self._looking is None and time.monotonic() - self._asked >= IDLE / 2

    def look(self, gate: Gate) -> asyncio.Future[Look]:
        asking = _Asking(gate, asyncio.get_running_loop().create_future())
        self._asking.append(asking)
        self._asked = time.monotonic()
        if self._looking is None:
            self._looking = asyncio.create_task(self._look_until_all_have())
        return asking.seen

    async def _look_until_all_have(self) -> None:
        try:
            while self._asking:
                since = time.monotonic() - self._began
                await asyncio.sleep(max(GATHERS, SHORTEST_PAUSE - since))
                asking, self._asking = self._asking, []
                self._began = time.monotonic()
                await self._look_for(asking)
        finally:
            self._looking = None

    async def _look_for(self, asking: Sequence[_Asking]) -> None:
        try:
            await self._look_together([each for each in asking if not each.seen.done()])
        except Exception as error:
            for each in asking:
                each.answer(error)
        finally:
            for each in asking:
                each.seen.cancel()  # the loop ends: who has no answer gets none

    async def _look_together(self, asking: list[_Asking]) -> None:
        if not asking:
            return
        named = await self._in_thread(_tried(asking[0].gate.hook.named))
        shares = apart(asking, lambda each: [need.task for need in each.gate.requires])
        turns: list[list[_Asking]] = [[] for _ in self._handles]
        for share in shares:  # the longest first: each goes where the least is to do
            min(turns, key=len).extend(share)
        pairs = zip(self._handles, turns, strict=True)
        await asyncio.gather(*(self._take_turn(handle, named, turn) for handle, turn in pairs))

    async def _take_turn(
        self, handle: _Handle, named: NamedStore | Exception, turn: Sequence[_Asking]
    ) -> None:
        look = handle.look(named, [each.gate for each in turn])
        for start in range(0, len(turn), AT_ONCE):
            some = turn[start : start + AT_ONCE]
            try:
                found = await self._in_thread(partial(_each, look, [each.gate for each in some]))
            except Exception as error:
                found = [error] * len(some)
            for each, seen in zip(some, found, strict=True):
                each.answer(seen)

    async def _in_thread(self, call: Callable[[], Done]) -> Done:
        # The calls of a thread to Airflow find their way back to this loop only so.
        return await sync_to_async(call, thread_sensitive=False, executor=_threads())()


@dataclass
class _Handle:
    """A store as one thread at a time has it open, as long as it is named in the same way."""

    _named: NamedStore | None = None
    _store: ReceiptStore | None = None
    _too_many: dict[str, int] = field(default_factory=dict)

    def look(
        self, named: NamedStore | Exception, gates: Sequence[Gate]
    ) -> Callable[[Gate], Look | Exception]:
        """One look for these gates; it begins when the first of them is answered."""
        begun: list[ReceiptStore | Exception] = []

        def opened() -> ReceiptStore:
            if not begun:
                begun.append(_tried(lambda: self._begin(named, gates))())
            if isinstance(begun[0], Exception):
                raise begun[0].with_traceback(None)
            return begun[0]

        return lambda gate: _tried(lambda: gate.look(opened))()

    def _begin(self, named: NamedStore | Exception, gates: Sequence[Gate]) -> ReceiptStore:
        if isinstance(named, Exception):
            raise named
        if self._store is None or named != self._named:
            self._store = open_store(named.url, credentials=named.credentials)
            self._named = named
            self._too_many.clear()
        return OneLook(self._store, _batches(gates), too_many=self._too_many)


def _each(
    look: Callable[[Gate], Look | Exception], gates: Sequence[Gate]
) -> list[Look | Exception]:
    return [look(gate) for gate in gates]


def _batches(gates: Iterable[Gate]) -> dict[str, int]:
    """How many different batches are asked for, by task."""
    asked = {
        (need.task, repr(need.variables), repr(sorted(gate.variables.items())))
        for gate in gates
        for need in gate.requires
    }
    return dict(Counter(task for task, *_ in asked))


def _tried(call: Callable[[], Done]) -> Callable[[], Done | Exception]:
    """The call, which gives back what it would raise."""

    def tried() -> Done | Exception:
        try:
            return call()
        except Exception as error:
            return error

    return tried
