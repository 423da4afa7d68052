"""One table of situations; the sensor comes to the same end, in the same words, in every mode."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from airflow.sdk import DAG
from airflow.sdk.exceptions import AirflowFailException, AirflowSensorTimeout

from tests.airflow.conftest import CALC, RunDag, TellingSensor, a_receipt
from ubunye_core import ReceiptStore, Status

MODES = {
    "poke": {"mode": "poke", "deferrable": False},
    "reschedule": {"mode": "reschedule", "deferrable": False},
    "deferrable": {"deferrable": True},
}
OPEN, TIMED_OUT, REFUSED = None, AirflowSensorTimeout, AirflowFailException
FAILED = {"error": "ValueError: no people"}


@dataclass(frozen=True)
class Situation:
    """What is on record, what is asked, and how it must end."""

    prepare: Callable[[ReceiptStore, Path], None]
    end: type[Exception] | None
    says: str
    options: dict[str, Any] = field(default_factory=dict)


def saved(*receipts: Any) -> Callable[[ReceiptStore, Path], None]:
    def prepare(store: ReceiptStore, folder: Path) -> None:
        for receipt in receipts:
            store.save(receipt)

    return prepare


def corrupt(store: ReceiptStore, folder: Path) -> None:
    store.save(a_receipt("run-1", Status.ERROR, **FAILED))
    (folder / CALC / "run-2.json").write_text('{"run_id": "run-2", "stat')


def down(store: ReceiptStore, folder: Path) -> None:
    shutil.rmtree(folder)
    folder.write_text("not a folder")


ERROR, SKIPPED = Status.ERROR, Status.SKIPPED
SITUATIONS = {
    "met": Situation(saved(a_receipt("run-1")), OPEN, "succeeded for month=2026-10: run run-1"),
    "met, and failed again later": Situation(
        saved(a_receipt("run-1"), a_receipt("run-2", ERROR, **FAILED)), OPEN, "does not undo that"
    ),
    "unmet: no run of the batch": Situation(
        saved(a_receipt("run-1", month="2026-09")),
        TIMED_OUT,
        "has not succeeded for month=2026-10: it has no run of this batch",
    ),
    "unmet: still running": Situation(
        saved(a_receipt("run-1", Status.RUNNING)), TIMED_OUT, "run-1 (running since"
    ),
    "failed, and a rerun is awaited": Situation(
        saved(a_receipt("run-1", ERROR, **FAILED)), TIMED_OUT, "run-1 (error at"
    ),
    "failed, and that is final": Situation(
        saved(a_receipt("run-1", ERROR, **FAILED)),
        REFUSED,
        "run-1 (error at",
        {"on_failed": "fail"},
    ),
    "failed, with tries left": Situation(
        saved(a_receipt("run-1", ERROR, attempt=(1, 3), **FAILED)),
        TIMED_OUT,
        "to be retried",
        {"on_failed": "fail"},
    ),
    "skipped by decision": Situation(
        saved(a_receipt("run-1", SKIPPED)), REFUSED, "skipped by decision"
    ),
    "refused by its own gate": Situation(
        saved(a_receipt("run-1", SKIPPED, outcome="refused")), TIMED_OUT, "refused by its gate"
    ),
    "one of several was skipped": Situation(
        saved(a_receipt("run-1"), a_receipt("run-2", SKIPPED, task="pay/monthly/tax")),
        REFUSED,
        "pay/monthly/tax has not succeeded",
        {"required_task": "pay/monthly/*"},
    ),
    "a task that nobody knows": Situation(
        saved(a_receipt("run-1")),
        REFUSED,
        "Did you mean pay/monthly/calc?",
        {"required_task": "pay/monthly/calk"},
    ),
    "a task that nobody knows yet": Situation(
        saved(), TIMED_OUT, "is unknown", {"allow_unknown": True}
    ),
    "a damaged receipt": Situation(corrupt, TIMED_OUT, "run-2.json"),
    "a store that is down": Situation(down, TIMED_OUT, "receipts"),
    "unmet, and optional": Situation(
        saved(a_receipt("run-1", month="2026-09")),
        OPEN,
        "Optional, so this passes",
        {"optional": True},
    ),
    "a variable without a value": Situation(
        saved(a_receipt("run-1", month=None)),
        REFUSED,
        "The variable 'month' is empty",
        {"variables": {"month": "{{ dag_run.conf.get('no such', '') }}"}},
    ),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", SITUATIONS)
def test_every_mode_comes_to_the_same_end_in_the_same_words(
    name: str, store: ReceiptStore, store_url: str, tmp_path: Path, run_dag: RunDag
) -> None:
    situation = SITUATIONS[name]
    situation.prepare(store, tmp_path / "receipts")
    asked = {
        "required_task": CALC,
        "variables": {"month": "{{ dag_run.conf['month'] }}"},
        "wait": "0.3s",
        "poll": "0.1s",
        "retries": 2,
        "store": store_url,
        **situation.options,
    }
    with DAG(f"modes_{list(SITUATIONS).index(name)}", schedule=None) as dag:
        for mode, how in MODES.items():
            TellingSensor(task_id=mode, **asked, **how)
    ended = run_dag(dag, {"month": "2026-10"})
    state = "success" if situation.end is OPEN else "failed"
    assert ended.states == dict.fromkeys(MODES, state)
    if situation.end is OPEN:
        said = {mode: ended.returned[mode]["reason"] for mode in MODES}
    else:
        said = {mode: str(error) for mode, error in ended.errors.items()}
        assert {type(error) for error in ended.errors.values()} == {situation.end}
    assert set(said) == set(MODES)
    assert len(set(said.values())) == 1
    assert situation.says in said["poke"]
