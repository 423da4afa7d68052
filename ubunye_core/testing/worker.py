"""The program of the tests with several processes: it opens a store, and does what it is told.

``python -m ubunye_core.testing.worker URL`` says ``ready``. Then each line it reads is a JSON
object that names an action and its arguments, and each is answered by a line of JSON. It ends
with its input, also while it writes without end.
"""

from __future__ import annotations

import json
import os
import sys
import threading
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

from ubunye_core.codec import decode
from ubunye_core.errors import (
    BadReceiptError,
    ClaimLostError,
    ReceiptConflictError,
    ReceiptNotFoundError,
)
from ubunye_core.receipt import Receipt, Status, Step
from ubunye_core.stores import Claim, ClaimKey, open_store

# Run by its path, so that it starts fast: importing ubunye_core.testing would import pytest.

BIG_RUN = "big"
_BEGAN = datetime(2026, 10, 15, 6, tzinfo=UTC)


def a_big_receipt(task: str, version: int, parts: int) -> Receipt:
    """A running receipt that says its version in every part, so that half of one shows."""
    step = Step(
        name="part",
        direction="input",
        location="/srv/data/people.csv",
        row_count=version,
        schema_hash="sha256:" + "1" * 64,
        data_hash="sha256:" + "2" * 64,
        hash_method="rows-v1",
    )
    steps = tuple(replace(step, name=f"part-{number}") for number in range(parts))
    return Receipt(
        task=task,
        run_id=BIG_RUN,
        status=Status.RUNNING,
        started_at=_BEGAN,
        variables={"month": "2026-10"},
        heartbeat_at=_BEGAN + timedelta(seconds=version),
        inputs=steps,
        pid=version,
    )


def is_whole(receipt: Receipt, parts: int) -> bool:
    """Whether every part of a big receipt is there, and of the same version."""
    rows = {step.row_count for step in receipt.inputs}
    return len(receipt.inputs) == parts and rows == {receipt.pid}


def save(store: Any, documents: list[str]) -> dict[str, int]:
    """Save receipts one after the other; how many were taken and how many refused."""
    taken = 0
    for receipt in [decode(document.encode(), where="the test") for document in documents]:
        try:
            store.save(receipt)
        except ReceiptConflictError:
            continue
        taken += 1
    return {"taken": taken, "refused": len(documents) - taken}


def look(store: Any, task: str, run_id: str) -> dict[str, Any]:
    """How a run stands, as each of the methods says it."""
    try:
        loaded = store.load(task, run_id).status
    except ReceiptNotFoundError:
        loaded = None
    except BadReceiptError:
        loaded = "unreadable"
    found = store.search(task)
    return {
        "load": loaded,
        "list_runs": [run.status for run in store.list_runs(task) if run.run_id == run_id],
        "search": [run.status for run in found if run.run_id == run_id],
        "unreadable": len(found.unreadable),
    }


def claim(
    store: Any, task: str, variables: Mapping[str, str], run_id: str, lease: float
) -> dict[str, Any]:
    """Claim a batch: whether it was taken, who has it, and the token."""
    key = ClaimKey.of(task, variables)
    answer = store.claim(key, run_id=run_id, lease=timedelta(seconds=lease))
    return {"won": bool(answer), "run_id": answer.run_id, "token": answer.token}


def renew(
    store: Any, task: str, variables: Mapping[str, str], run_id: str, lease: float, token: int
) -> dict[str, bool]:
    """Renew a claim; whether it was lost."""
    key = ClaimKey.of(task, variables)
    held = Claim(key=key, run_id=run_id, token=token, lease=timedelta(seconds=lease))
    try:
        store.renew(held)
    except ClaimLostError:
        return {"lost": True}
    return {"lost": False}


def look_then_save(
    store: Any, task: str, variables: Mapping[str, str], run_id: str
) -> dict[str, bool]:
    """What no claim is: save a running receipt of a batch if there is none."""
    if store.search(task, Status.RUNNING, batch=variables, limit=1):
        return {"won": False}
    now = datetime.now(UTC)
    running = Receipt(
        task=task, run_id=run_id, status=Status.RUNNING, started_at=now, variables=variables
    )
    store.save(running)
    return {"won": True}


def save_runs(store: Any, task: str, name: str, count: int) -> dict[str, int]:
    """Save runs of one task: each running first, then a success."""
    for number in range(count):
        running = Receipt(
            task=task,
            run_id=f"{name}-{number}",
            status=Status.RUNNING,
            started_at=_BEGAN + timedelta(seconds=number),
            pid=os.getpid(),
        )
        store.save(running)
        ended = running.started_at + timedelta(minutes=9)
        store.save(replace(running, status=Status.SUCCESS, ended_at=ended))
    return {"saved": count}


def rewrite(store: Any, task: str, version: int, parts: int) -> None:
    """Save a big receipt again and again; say once, after the second, how long a save takes.

    The first one also opens the store and reads what is there.
    """
    threading.Thread(target=_end_with_input, daemon=True).start()
    store.save(a_big_receipt(task, version, parts))
    version, began = version + 1, time.monotonic()
    store.save(a_big_receipt(task, version, parts))
    _say({"seconds": time.monotonic() - began, "version": version})
    while True:
        version += 1
        store.save(a_big_receipt(task, version, parts))


ACTIONS: dict[str, Callable[..., Any]] = {
    each.__name__: each for each in (save, look, claim, renew, look_then_save, save_runs, rewrite)
}


def main(url: str) -> None:
    """Open the store, and do what each line of input says."""
    store = open_store(url)
    _say("ready")
    for line in sys.stdin:
        request = json.loads(line)
        action, at = ACTIONS[request.pop("do")], request.pop("at", None)
        _wait_until(at)
        try:
            answer = action(store, **request)
        except Exception as error:  # the test says that this must not be
            answer = {"error": f"{type(error).__name__}: {error}"}
        _say(answer)


def _wait_until(at: float | None) -> None:
    """Wait for an instant that many processes share, and meet it closely."""
    if at is not None:
        time.sleep(max(0.0, at - time.time() - 0.003))
        while time.time() < at:
            pass


def _say(answer: object) -> None:
    sys.stdout.write(json.dumps(answer) + "\n")
    sys.stdout.flush()


def _end_with_input() -> None:
    """End the process when the test that started it is gone."""
    for _ in sys.stdin:
        pass
    os._exit(0)


if __name__ == "__main__":
    main(sys.argv[1])
