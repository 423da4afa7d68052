"""A user of the server: what a person or a script may ask of it over REST."""

from __future__ import annotations

import time
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

import httpx

from tests.airflow.standalone.server import PASSWORD, until

ENDS = ("success", "failed")
ENOUGH = 240.0
"""How many seconds anything may take that on a quiet machine takes a few."""


@dataclass(frozen=True)
class Run:
    """A DAG run: its state, and those of its tasks (``task``, or ``task[2]`` of a mapped one)."""

    state: str
    tasks: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    @property
    def states(self) -> dict[str, str]:
        return {name: str(task["state"]) for name, task in self.tasks.items()}


class User:
    """One user of the server."""

    def __init__(self, url: str, name: str = "admin") -> None:
        self.http = httpx.Client(base_url=url, timeout=60, trust_env=False)
        token = self.ask("POST", "/auth/token", {"username": name, "password": PASSWORD})
        self.http.headers["Authorization"] = f"Bearer {token['access_token']}"

    def ask(self, method: str, path: str, body: Any = None, **parameters: Any) -> Any:
        """The answer as JSON; whatever is no success raises, and says what the server said."""
        answer = self.http.request(method, path, json=body, params=parameters)
        if not answer.is_success:
            raise AssertionError(f"{method} {path}: {answer.status_code} {answer.text}")
        return answer.json()

    def unpause_all(self, expected: Collection[str]) -> None:
        """Wait until these DAGs are known, and let all of them run."""

        def known() -> bool:
            return set(expected) <= {each["dag_id"] for each in self._dags()}

        until(known, within=ENOUGH, what=lambda: f"the DAGs {expected}; {self.import_errors()}")
        self.ask("PATCH", "/api/v2/dags", {"is_paused": False}, dag_id_pattern="~")

    def pause(self, dag_id: str, paused: bool = True) -> None:
        self.ask("PATCH", f"/api/v2/dags/{dag_id}", {"is_paused": paused})

    def import_errors(self) -> list[str]:
        """What went wrong with the files of DAGs."""
        found = self.ask("GET", "/api/v2/importErrors")["import_errors"]
        return [f"{each['filename']}: {each['stack_trace']}" for each in found]

    def trigger(self, dag_id: str, **conf: Any) -> str:
        """Start a DAG, and return its run's id."""
        body = {"logical_date": None, "conf": conf}
        return str(self.ask("POST", f"/api/v2/dags/{dag_id}/dagRuns", body)["dag_run_id"])

    def run(self, dag_id: str, run_id: str) -> Run:
        """How a DAG run stands."""
        place = f"/api/v2/dags/{dag_id}/dagRuns/{run_id}"
        state = str(self.ask("GET", place)["state"])  # first: no task changes once it has ended
        tasks = self.ask("GET", f"{place}/taskInstances", limit=100)["task_instances"]
        return Run(
            state,
            {
                f"{each['task_id']}[{each['map_index']}]"
                if each["map_index"] >= 0
                else each["task_id"]: each
                for each in tasks
            },
        )

    def runs(self, dag_id: str) -> list[str]:
        """The ids of all its runs, oldest first."""
        found = self.ask("GET", f"/api/v2/dags/{dag_id}/dagRuns", limit=100, order_by="id")
        return [each["dag_run_id"] for each in found["dag_runs"]]

    def ended(self, dag_id: str, run_id: str, within: float = ENOUGH) -> Run:
        """Wait until a DAG run has ended."""
        return self.when(dag_id, run_id, lambda run: run.state in ENDS, "to end", within)

    def when_tasks(self, dag_id: str, run_id: str, within: float = ENOUGH, **states: str) -> Run:
        """Wait until these tasks are in these states."""

        def reached(run: Run) -> bool:
            found = run.states
            return all(found.get(task) == state for task, state in states.items())

        return self.when(dag_id, run_id, reached, f"to come to {states}", within)

    def when(self, dag_id: str, run_id: str, holds: Any, what: str, within: float = ENOUGH) -> Run:
        """Wait until something holds of a DAG run."""
        end = time.monotonic() + within
        while not holds(run := self.run(dag_id, run_id)):
            if time.monotonic() > end:
                raise TimeoutError(
                    f"Waited {within:.0f} s for {dag_id} {what}; it is {run.state}, {run.states}"
                )
            time.sleep(0.3)
        return run

    def xcom(self, dag_id: str, run_id: str, task_id: str, key: str = "return_value") -> Any:
        """What a task has pushed."""
        place = f"/api/v2/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}"
        return self.ask("GET", f"{place}/xcomEntries/{key}", deserialize=True)["value"]

    def log(self, dag_id: str, run_id: str, task_id: str, attempt: int = 1) -> str:
        """What a try of a task has logged."""
        place = f"/api/v2/dags/{dag_id}/dagRuns/{run_id}/taskInstances/{task_id}/logs/{attempt}"
        told = self.ask("GET", place, full_content=True)["content"]
        return "\n".join(map(str, told))

    def _dags(self) -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = self.ask("GET", "/api/v2/dags", limit=100)["dags"]
        return found
