"""Many triggers in one triggerer, on a store that counts what it is asked."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import Counter
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any

import pytest
from airflow.executors import workloads
from airflow.jobs.triggerer_job_runner import TriggerRunner, messages
from airflow.models.trigger import Trigger

from tests.airflow.conftest import CALC
from ubunye_airflow.gate import Gate
from ubunye_core import Found, Receipt, ReceiptStore, open_store

ASKS = ("search", "list_runs", "load", "success_by_batch", "tasks")


class Counting:
    """A real store, and how often each of its questions was asked."""

    def __init__(self, store: ReceiptStore) -> None:
        self.store, self.asked = store, Counter[str]()
        self.threads: set[str] = set()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self.store, name)
        return self._counted(name, found) if name in ASKS else found

    @property
    def url(self) -> str:
        return self.store.url

    def save(self, receipt: Receipt) -> None:
        self.store.save(receipt)

    def load(self, task: str, run_id: str) -> Receipt:
        return self._counted("load", self.store.load)(task, run_id)

    def list_runs(self, task: str, n: int = 20) -> Found:
        return self._counted("list_runs", self.store.list_runs)(task, n)

    def search(self, task: str | None = None, *args: Any, **how: Any) -> Found:
        return self._counted("search", self.store.search)(task, *args, **how)

    def _counted(self, name: str, ask: Any) -> Any:
        def asked(*args: Any, **how: Any) -> Any:
            self.asked[name] += 1
            self.threads.add(threading.current_thread().name)
            return ask(*args, **how)

        return asked


def count(monkeypatch: pytest.MonkeyPatch) -> dict[str, list[Counting]]:
    """From now on gates in a triggerer open stores that count; they are noted by their URL."""
    opened: dict[str, list[Counting]] = {}

    def counted(url: str, *, credentials: Mapping[str, str] | None = None) -> Counting:
        opened.setdefault(url, []).append(Counting(open_store(url, credentials=credentials)))
        return opened[url][-1]

    monkeypatch.setattr("ubunye_airflow.shared_looks.open_store", counted)
    return opened


def a_gate(
    batch: Mapping[str, object],
    store: str | None,
    *,
    task: str = CALC,
    poll: float = 1.0,
    wait: str = "1h",
    **fields: Any,
) -> Gate:
    return Gate.of(
        {
            "requires": [{"task": task, "wait": wait}],
            "variables": dict(batch),
            "store": store,
            "store_conn_id": None,
            "since": datetime.now(UTC).isoformat(),
            "poll": poll,
            **fields,
        }
    )


class Triggerer(TriggerRunner):
    """Airflow's own runner of triggers, whose supervisor is this test."""

    def __init__(self, gates: Mapping[int, Gate]) -> None:
        super().__init__()
        self.waiting = set(gates)
        self.seen: dict[int, Mapping[str, Any]] = {}
        self.longest_block, self.most_threads = 0.0, 0
        self._to_create = [
            workloads.RunTrigger(
                id=number,
                ti=None,
                classpath="ubunye_airflow.triggers.UpstreamReceiptTrigger",
                encrypted_kwargs=Trigger.encrypt_kwargs(gate.fields()),
            )
            for number, gate in gates.items()
        ]

    async def init_comms(self) -> None:
        self._told = asyncio.create_task(asyncio.Event().wait())
        self._watched = asyncio.create_task(self._watch())
        self.comms_decoder = self  # type: ignore[assignment]

    @property
    def _reader_task(self) -> Any:
        return self._told

    async def asend(self, msg: messages.TriggerStateChanges) -> messages.TriggerStateSync:
        for entry in msg.events or ():
            self.seen[entry.trigger_id] = entry.event.payload
            self.waiting.discard(entry.trigger_id)
        for number, error in msg.failures or ():
            raise AssertionError(f"Trigger {number} failed: {error}")
        self.stop = not self.waiting
        to_create, self._to_create = self._to_create, []
        return messages.TriggerStateSync(to_create=to_create, to_cancel=set())

    async def _watch(self) -> None:
        while True:
            before = time.monotonic()
            await asyncio.sleep(0.01)
            self.longest_block = max(self.longest_block, time.monotonic() - before - 0.01)
            self.most_threads = max(self.most_threads, threading.active_count())
