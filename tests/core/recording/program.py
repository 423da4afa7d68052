"""Programs that the tests of signals start: `python -m ... WHAT FOLDER`."""

from __future__ import annotations

import asyncio
import contextlib
import multiprocessing
import os
import signal
import sys
import time
from pathlib import Path

from ubunye_core import Receipt, record_run
from ubunye_core.stores import FileStore

TASK = "pay/monthly/calc"


def ready() -> None:
    print("ready", flush=True)


def work(store: FileStore) -> None:
    with record_run(TASK, store=store):
        ready()
        time.sleep(60)


def cleanup(store: FileStore) -> None:
    """A second signal comes while the work cleans up after the first."""
    with record_run(TASK, store=store):
        try:
            ready()
            time.sleep(60)
        finally:
            os.kill(os.getpid(), signal.SIGTERM)
            time.sleep(60)


def nested(store: FileStore) -> None:
    with record_run("pay/monthly/outer", store=store), record_run(TASK, store=store):
        ready()
        time.sleep(60)


def coroutine(store: FileStore) -> None:
    @record_run(TASK, store=store)
    async def wait() -> None:
        ready()
        await asyncio.sleep(60)

    asyncio.run(wait())


def overlapping(store: FileStore) -> None:
    """The run that began first has ended when the signal comes."""

    async def first(begun: asyncio.Event) -> None:
        with record_run("pay/monthly/first", store=store):
            await begun.wait()

    async def second(begun: asyncio.Event) -> None:
        with record_run(TASK, store=store):
            begun.set()
            await asyncio.sleep(0.2)
            ready()
            await asyncio.sleep(60)

    async def both() -> None:
        begun = asyncio.Event()
        await asyncio.gather(first(begun), second(begun))

    asyncio.run(both())


class SlowStore(FileStore):
    """Says when it begins to write the end of a run, and writes it when it is told to."""

    def save(self, receipt: Receipt) -> None:
        if receipt.status.is_final:
            ready()
            sys.stdin.readline()
        super().save(receipt)


def while_ending(store: FileStore) -> None:
    """The signal comes while the success is being written."""
    with record_run(TASK, store=SlowStore(store.root)):
        pass
    print("went on", flush=True)


def own_handler(store: FileStore) -> None:
    """A program with a handler of its own keeps it, during the run and after."""

    def handler(number: int, frame: object) -> None:
        raise InterruptedError("by the program's own handler")

    signal.signal(signal.SIGTERM, handler)
    with contextlib.suppress(InterruptedError), record_run(TASK, store=store):
        assert signal.getsignal(signal.SIGTERM) is handler
        ready()
        time.sleep(60)
    assert signal.getsignal(signal.SIGTERM) is handler


def children(store: FileStore) -> None:
    """A forked child is stopped; the run is its parent's and goes on."""
    with record_run(TASK, store=store, heartbeat_every="1h"):
        for _ in range(30):
            child = multiprocessing.get_context("fork").Process(target=time.sleep, args=(60,))
            child.start()
            child.terminate()
            child.join(10)
            assert child.exitcode == -signal.SIGTERM, child.exitcode
        ready()


def after(store: FileStore) -> None:
    """After the run SIGTERM is what it was."""
    with record_run(TASK, store=store):
        pass
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL
    ready()
    time.sleep(60)


if __name__ == "__main__":
    globals()[sys.argv[1]](FileStore(Path(sys.argv[2])))
