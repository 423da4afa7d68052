"""What a thousand gates that wait in one triggerer cost: questions, threads, CPU, blocked loop.

    python benchmarks/airflow_gates.py [--gates 1000] [--polls 5] [--poll 10]
        [--stores files SQLite] [--tasks 1 100] [--json]

Airflow's own ``TriggerRunner`` runs the triggers in this process; only its supervisor is missing.
Every gate waits for a batch of its own, of one task, and then of one among a hundred. No success
comes while it is measured; in the end all come at once, and every gate must open. Beside it stands
what one gate costs that looks by itself, times the number of gates.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import sys
import tempfile
import threading
import time
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))
HOME = tempfile.TemporaryDirectory()
os.environ |= {"AIRFLOW_HOME": HOME.name, "AIRFLOW__LOGGING__LOGGING_LEVEL": "WARNING"}

import ubunye_airflow.shared_looks  # noqa: E402
from tests.airflow.conftest import a_receipt  # noqa: E402
from tests.airflow.sharing import Counting, Triggerer, a_gate  # noqa: E402
from ubunye_core import check_upstream, open_store  # noqa: E402

LOOKS_APART = 50


def measure(url: str, gates: int, tasks: int, poll: float, polls: int) -> dict[str, Any]:
    """One run: all wait for so many polls, and then all open."""
    store, opened = open_store(url), list[Counting]()

    def counted(url: str, *, credentials: Mapping[str, str] | None = None) -> Counting:
        opened.append(Counting(open_store(url, credentials=credentials)))
        return opened[-1]

    ubunye_airflow.shared_looks.open_store = counted  # type: ignore[assignment]
    names = [f"bench/gates/t{number % tasks:04}" for number in range(gates)]
    for number in range(tasks):
        store.save(a_receipt("first", task=names[number], month="2026-09"))
    asked = {
        number: a_gate({"customer": number}, url, task=name, poll=poll)
        for number, name in enumerate(names)
    }
    one = apart(url, asked[0])
    triggerer, found = Triggerer(asked), dict[str, Any]()

    def watch() -> None:
        time.sleep(poll * 1.5)  # all have begun
        before, cpu = total(opened), time.process_time()
        triggerer.longest_block = 0.0
        time.sleep(poll * polls)
        found["questions a poll"] = (total(opened) - before) / polls
        found["CPU ms a poll"] = (time.process_time() - cpu) / polls * 1000
        found["longest block ms"] = triggerer.longest_block * 1000
        running = [each.name for each in threading.enumerate()]
        found["threads"] = sum(name.startswith("ubunye-gates") for name in running)
        for number, name in enumerate(names):
            store.save(a_receipt(f"run-{number}", task=name, variables={"customer": str(number)}))

    watching = threading.Thread(target=watch)
    watching.start()
    asyncio.run(triggerer.arun())
    watching.join()
    assert {each["outcome"] for each in triggerer.seen.values()} == {"open"}
    assert len(triggerer.seen) == gates
    return {
        **found,
        "apart: questions a poll": one["questions"] * gates,
        "apart: CPU ms a poll": one["CPU ms"] * gates,
    }


def apart(url: str, gate: Any) -> dict[str, float]:
    """What a gate costs that looks by itself, and opens its store each time."""
    asked, began = Counter[str](), time.process_time()
    for _ in range(LOOKS_APART):
        store = Counting(open_store(url))
        check_upstream(gate.requires, variables=gate.variables, store=store)
        asked += store.asked
    took = time.process_time() - began
    return {"questions": asked.total() / LOOKS_APART, "CPU ms": took / LOOKS_APART * 1000}


def total(opened: list[Counting]) -> int:
    return sum(each.asked.total() for each in opened)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gates", type=int, default=1000)
    parser.add_argument("--polls", type=int, default=5)
    parser.add_argument("--poll", type=float, default=10.0)
    parser.add_argument("--stores", nargs="+", default=["files", "SQLite"])
    parser.add_argument("--tasks", nargs="+", type=int, default=[1, 100])
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for kind in given.stores:
            for tasks in given.tasks:
                place = Path(folder, f"{kind}-{tasks}")
                place.mkdir()
                url = place.as_uri() if kind == "files" else f"sqlite:///{place}/receipts.db"
                found = measure(url, given.gates, tasks, given.poll, given.polls)
                rows.append({"store": kind, "tasks": tasks, **found})
                line = ", ".join(f"{name} {value:,.0f}" for name, value in found.items())
                print(f"{kind}, {tasks} tasks: {line}", file=sys.stderr)
    if given.json:
        print(json.dumps({"gates": given.gates, "rows": rows}, indent=2))


if __name__ == "__main__":
    main()
