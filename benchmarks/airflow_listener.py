"""What the listener costs a task of Airflow: both of its hooks, in a forked process, on a folder.

    python benchmarks/airflow_listener.py [--runs 25] [--receipts 1000] [--json]

Airflow forks a process for each task, and its listeners are called in it: when the task starts, and
when it has ended. Here each round forks a process of each kind, in turn, from one that has loaded
Airflow's task runner and its plugins, and a real task instance of a DAG is handed to the hooks. The
store holds a thousand receipts of the task. Not in it: the task, and what Airflow does itself.

*a process that has core* was forked from one that has heard that a scheduler starts, as those of
the LocalExecutor are; *a fresh process* imports core first. *record_run* records an empty block,
without Airflow, in a process that has core. The bar is for the least time of the clock of a process
that has core, for other work on the machine only adds to it.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import sys
import tempfile
import time
import uuid
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
sys.path.insert(0, str(ROOT))

BAR_MS = 50
TASK, ANY = "bench/monthly/calc", "bench/monthly/any"
MONTH = {"month": "{{ dag_run.conf['month'] }}"}
Cost = tuple[float, float]


def in_a_fork(work: Callable[[], None]) -> Cost:
    """Milliseconds of the clock, and of CPU in all threads, that something takes in a child."""
    read, write = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            clock, spent = time.perf_counter(), time.process_time()
            work()
            took = (time.perf_counter() - clock, time.process_time() - spent)
            os.write(write, json.dumps([1000 * each for each in took]).encode())
        finally:
            os._exit(0)
    os.close(write)
    with os.fdopen(read) as told:
        text = told.read()
    os.waitpid(child, 0)
    wall, cpu = json.loads(text)
    return wall, cpu


def task_instance(operator: Any, number: int) -> Any:
    """A task instance as the task runner has it when the listeners are called."""
    from airflow.sdk.api.datamodels._generated import DagRun, DagRunState, DagRunType, TIRunContext
    from airflow.sdk.execution_time.task_runner import RuntimeTaskInstance

    now = datetime.now(UTC)
    run = DagRun(
        dag_id="bench",
        run_id=f"run-{number}",
        logical_date=now,
        data_interval_start=now - timedelta(days=1),
        data_interval_end=now,
        run_after=now,
        start_date=now,
        end_date=None,
        run_type=DagRunType.SCHEDULED,
        state=DagRunState.RUNNING,
        conf={"month": "2026-10"},
        consumed_asset_events=[],
        partition_key=None,
    )
    return RuntimeTaskInstance.model_construct(
        id=uuid.uuid4(),
        task_id=operator.task_id,
        dag_id="bench",
        run_id=run.run_id,
        try_number=1,
        map_index=-1,
        max_tries=2,
        task=operator,
        start_date=now,
        state="running",
        _ti_context_from_server=TIRunContext(dag_run=run, max_tries=2),
    )


def both_hooks(ti: Any) -> None:
    """What Airflow calls around a task that succeeds."""
    from airflow.sdk.listener import get_listener_manager

    hook = get_listener_manager().hook
    hook.on_task_instance_running(previous_state="queued", task_instance=ti)
    hook.on_task_instance_success(previous_state="running", task_instance=ti)


def recorded(url: str) -> None:
    """The least that a receipt costs: core alone, around nothing."""
    from ubunye_core import record_run

    with record_run(ANY, variables={"month": "2026-10"}, store=url):
        pass


def fill(url: str, receipts: int) -> None:
    """The past of the task."""
    from benchmarks.stores.data import a_pattern, a_receipt
    from ubunye_core import Status, open_store

    for name in (TASK, ANY):
        pattern = a_pattern(name)
        for number in range(receipts):
            start = datetime.now(UTC) - timedelta(hours=number + 1)
            run = a_receipt(pattern, start, Status.SUCCESS, {"month": f"m-{number}"})
            open_store(url).save(replace(run, task=name))


def operators() -> tuple[Any, Any]:
    """A task that names its receipt task, and one that does not."""
    from airflow.providers.standard.operators.bash import BashOperator
    from airflow.sdk import DAG, Param

    from ubunye_airflow.listener.rules import PARAM

    # As receipts() makes it, which would bring core into this process.
    said = {"task": TASK, "variables": MONTH}
    with DAG("bench", schedule=None):
        named = BashOperator(
            task_id="calc", bash_command="true", params={PARAM: Param(said, const=said)}
        )
        return named, BashOperator(task_id="other", bash_command="true")


def measure(url: str, runs: int) -> dict[str, list[Cost]]:
    """What each kind of process spends, round by round."""
    from airflow.sdk.listener import get_listener_manager

    named, other = operators()
    number = 0

    def hooks(operator: Any) -> Callable[[], None]:
        nonlocal number
        number += 1
        ti = task_instance(operator, number)
        # Airflow has filled in the task's own templates before it calls a listener.
        ti.render_templates(context=ti.get_template_context())
        return lambda: both_hooks(ti)

    def without_core() -> None:
        assert "ubunye_core" not in sys.modules

    costs: dict[str, list[Cost]] = {
        name: []
        for name in (
            "a task without a receipt",
            "a fresh process",
            "a process that has core",
            "record_run",
        )
    }
    without_core()
    fresh = []
    for _ in range(runs + 1):
        costs["a task without a receipt"].append(in_a_fork(hooks(other)))
        fresh.append(in_a_fork(hooks(named)))
        without_core()
    costs["a fresh process"] = fresh
    get_listener_manager().hook.on_starting(component="the scheduler")

    for _ in range(runs + 1):
        costs["a process that has core"].append(in_a_fork(hooks(named)))
        costs["record_run"].append(in_a_fork(lambda: recorded(url)))
    return {name: each[1:] for name, each in costs.items()}  # the first finds cold files


def main() -> int:
    """Measure, print, and fail where the bar is not reached."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=25)
    parser.add_argument("--receipts", type=int, default=1000)
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        url = (Path(scratch) / "receipts").as_uri()
        os.environ |= {
            "AIRFLOW_HOME": scratch,
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__UBUNYE_RECEIPTS__LISTENER": "True",
            "AIRFLOW__UBUNYE_RECEIPTS__STORE": url,
        }
        child = os.fork()
        if child == 0:
            fill(url, options.receipts)
            os._exit(0)
        os.waitpid(child, 0)
        import airflow.sdk.execution_time.task_runner  # noqa: F401
        from airflow.sdk.listener import get_listener_manager

        assert get_listener_manager().has_listeners
        costs = measure(url, options.runs)
        saved = len(list((Path(scratch) / "receipts" / TASK).glob("*.json")))
        assert saved == options.receipts + 2 * (options.runs + 1), saved
    table = {
        name: {
            kind: [round(of(each), 1) for each in zip(*found, strict=True)]
            for kind, of in (("least", min), ("median", statistics.median))
        }
        for name, found in costs.items()
    }
    rounds = zip(costs["a process that has core"], costs["record_run"], strict=True)
    ratio = round(statistics.median(ours[1] / core[1] for ours, core in rounds), 2)
    within = table["a process that has core"]["least"][0] <= BAR_MS
    if options.json:
        print(json.dumps({"table": table, "ratio": ratio, "within": within}))
    else:
        print(f"{'':28} {'clock, ms':>19}  {'CPU, ms':>19}")
        for name, row in table.items():
            ranges = (f"{row['least'][kind]:7.1f} to {row['median'][kind]:8.1f}" for kind in (0, 1))
            print(f"{name:28}", *ranges)
        print("From the least to the median. CPU, of that of record_run:", f"{ratio}x")
    return 0 if within else 1


if __name__ == "__main__":
    sys.exit(main())
