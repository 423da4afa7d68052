"""From a task in Airflow's UI to its receipt, or to the receipts that its gate waits for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any
from urllib.parse import quote, urlencode

from airflow.sdk import BaseOperatorLink

from ubunye_airflow.compat import conf
from ubunye_airflow.page import PREFIX


class ReceiptLink(BaseOperatorLink):
    """A button on each task: of a recorded task, to its receipt; of a gate, to what opened it.

    The link is made in the worker from what the task knows: no store is asked for it. The page
    that it leads to finds the receipt, and shows it to whoever may read the DAG that wrote it.
    """

    name = "Receipt"

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """The address of the page; where the task names no receipt, that of all tasks."""
        recorded = getattr(operator, "receipt_task", None)
        if isinstance(recorded, str) and recorded:
            return attempt_page(recorded, ti_key)
        answer = getattr(getattr(operator, "_look", None), "answer", None)
        met = list(_met(answer)) if isinstance(answer, Mapping) else []
        if len(met) == 1:
            task, run_id = met[0]
            return _page(f"/task/{task}/run/{run_id}", {})
        return _page("/", {"tasks": _wanted(operator, answer)})


def attempt_page(task: str, ti_key: Any) -> str:
    """The address of the page with the receipt that an attempt left for a receipt task."""
    return _page(f"/task/{task}/attempt", _attempt(ti_key))


def _attempt(ti_key: Any) -> dict[str, str]:
    """What a recorded run says of its attempt (``circumstances.orchestrator``)."""
    map_index = getattr(ti_key, "map_index", None)
    return {
        "orchestrator": "airflow",
        "attempt": str(ti_key.try_number),
        "id.dag_id": str(ti_key.dag_id),
        "id.run_id": str(ti_key.run_id),
        "id.task_id": str(ti_key.task_id),
        "id.map_index": str(-1 if map_index is None else map_index),
    }


def _met(answer: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """The runs that satisfied a gate."""
    for each in answer.get("requirements") or ():
        if each.get("satisfied_by"):
            yield str(each["task"]), str(each["satisfied_by"])


def _wanted(operator: Any, answer: object) -> list[str]:
    """The tasks that a gate or a check asks about."""
    if isinstance(answer, Mapping):
        named: Any = [each.get("task") for each in answer.get("requirements") or ()]
    else:
        named = getattr(operator, "required_task", None) or getattr(operator, "tasks", None)
        named = named or getattr(operator, "requires", None) or ()
    several = [named] if isinstance(named, str | Mapping) else list(named)
    found = [each.get("task") if isinstance(each, Mapping) else each for each in several]
    return [each for each in dict.fromkeys(found) if isinstance(each, str) and each]


def _page(path: str, query: Mapping[str, object]) -> str:
    """An address of the page, under that of Airflow where the worker knows it."""
    base = (conf.get("api", "base_url", fallback="") or "").rstrip("/")
    said = urlencode(query, doseq=True)
    return f"{base}{PREFIX}{quote(path)}{'?' if said else ''}{said}"
