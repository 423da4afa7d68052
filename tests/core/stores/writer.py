"""Programs that the tests of several processes start: `python writer.py WHAT FOLDER ...`."""

from __future__ import annotations

import itertools
import os
import sys
from dataclasses import replace
from pathlib import Path

from ubunye_core import Receipt, ReceiptConflictError, Status
from ubunye_core.codec import encode
from ubunye_core.stores import FileStore
from ubunye_core.testing import A_TASK, a_receipt, a_step, at

BIG_STEPS = 1300
"""A receipt with so many inputs takes more than 500 KiB."""


def big(version: int) -> Receipt:
    """A running receipt that says its version in every part, so that half of one shows."""
    steps = tuple(a_step(name=f"part-{n}", row_count=version) for n in range(BIG_STEPS))
    return a_receipt(
        run_id="big", status=Status.RUNNING, pid=version, inputs=steps, heartbeat_at=at(version)
    )


def is_whole(receipt: Receipt) -> bool:
    """Whether every part is of the same version."""
    return len(receipt.inputs) == BIG_STEPS and {step.row_count for step in receipt.inputs} == {
        receipt.pid
    }


def ready() -> None:
    """Tell the test that the work begins now."""
    print("ready", flush=True)


def rewrite(root: str) -> None:
    """Save the big receipt again and again."""
    store, version = FileStore(Path(root)), 1
    store.save(big(0))
    ready()
    while True:
        store.save(big(version))
        version += 1


def rewrite_in_place(root: str) -> None:
    """The same without care, and with hardly a moment between two writes."""
    path = Path(root) / A_TASK / "big.json"
    path.parent.mkdir(parents=True)
    documents = [encode(big(version)) for version in range(2)]
    path.write_bytes(documents[0])
    ready()
    for document in itertools.cycle(documents):
        path.write_bytes(document)


def save_several(root: str, number: str) -> None:
    """Save ten runs of one task, each running first."""
    store = FileStore(Path(root))
    ready()
    sys.stdin.readline()
    for run in range(10):
        receipt = a_receipt(run_id=f"w{number}-{run}", status=Status.RUNNING)
        store.save(receipt)
        store.save(replace(receipt, status=Status.SUCCESS, ended_at=at(9)))


def end(root: str, status: str) -> None:
    """End one run, and say whether this end was taken."""
    store = FileStore(Path(root))
    ready()
    sys.stdin.readline()
    try:
        store.save(a_receipt(status=Status(status), pid=os.getpid()))
    except ReceiptConflictError:
        print("refused", flush=True)
    else:
        print("taken", flush=True)


if __name__ == "__main__":
    {each.__name__: each for each in (rewrite, rewrite_in_place, save_several, end)}[sys.argv[1]](
        *sys.argv[2:]
    )
