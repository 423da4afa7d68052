"""Which receipt task a task of a DAG has: what its operator says, else what the configuration says.

Asked for every task that runs, so it imports nothing of core.
"""

from __future__ import annotations

import hashlib
import json
import logging
import re
import string
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from airflow.sdk.configuration import conf

from ubunye_airflow.options import SECTION

log = logging.getLogger(__name__)
PARAM = "ubunye_receipt"
"""The parameter of an operator that ``receipts`` makes."""
MAX_BYTES = 128
_NO_SEGMENT = re.compile(r"[^A-Za-z0-9._-]", re.ASCII)
_DIGEST = 8


@dataclass(frozen=True, kw_only=True)
class Named:
    """The receipt task of a task."""

    task: str
    variables: Mapping[str, Any]
    """Templates of the run's variables."""
    records_itself: bool = False
    """Whether the operator records its runs from inside."""
    store: str | None = None
    """The URL of the store of such an operator, where it names one; it may be a template."""


class RefusedError(ValueError):
    """What names a receipt task cannot be understood; says why."""


def named(dag_id: str, task_id: str, operator: Any) -> Named | None:
    """The receipt task of a task; None where nothing names one.

    The first that fits: an operator that records itself; the params that ``receipts`` makes; the
    option ``receipt_tasks``; the option ``receipt_task_rule``.

    Args:
        dag_id: Its DAG.
        task_id: Its id, groups included.
        operator: Its operator, as written or as Airflow keeps it; None where it is not at hand.

    Raises:
        RefusedError: what names it cannot be understood.
    """
    own = _recording(operator)
    if own is not None:
        return own
    declared = _declared(getattr(operator, "params", None))
    if declared is not None:
        return _named(declared.get("task"), declared.get("variables"))
    mapped = _mapping(conf.get(SECTION, "receipt_tasks", fallback=None) or "")
    key = f"{dag_id}/{task_id}"
    if key in mapped:
        found = mapped[key]
        if found is None:
            return None
        if isinstance(found, Mapping):
            return _named(found.get("task"), found.get("variables", _usual_variables()))
        return _named(found, _usual_variables())
    rule = conf.get(SECTION, "receipt_task_rule", fallback=None)
    if not rule:
        return None
    return _named(by_rule(rule, dag_id, task_id), _usual_variables())


def by_rule(rule: str, dag_id: str, task_id: str) -> str:
    """The receipt task that a rule makes of the ids of a task.

    Airflow allows ids that no task of ours can have: longer ones, and those with other letters.
    They are mended, and end with a part of their hash, so that no two become one.

    Raises:
        RefusedError: the rule would give several tasks one name, or makes no task's name.
    """
    try:
        parts = list(string.Formatter().parse(rule))
    except ValueError as error:
        raise RefusedError(f"receipt_task_rule is {rule!r}: {error}.") from error
    fields = [name for _, name, *_ in parts if name is not None]
    if sorted(fields) != ["dag_id", "task_id"]:
        raise RefusedError(
            f"receipt_task_rule is {rule!r}. Use {{dag_id}} and {{task_id}}, each once: without "
            f"one of them several tasks would have one name."
        )
    if any(spec or conversion for *_, spec, conversion in parts):
        raise RefusedError(
            f"receipt_task_rule is {rule!r}. Give {{dag_id}} and {{task_id}} whole: of ids that "
            f"are cut several tasks would have one name."
        )
    first, second = (number for number, (_, name, *_) in enumerate(parts) if name is not None)
    if not any("/" in text for text, *_ in parts[first + 1 : second + 1]):
        raise RefusedError(
            f"receipt_task_rule is {rule!r}. Put '/' between {{dag_id}} and {{task_id}}: both may "
            f"hold any other sign, so 'a' and 'b.c' would have the name of 'a.b' and 'c'."
        )
    fixed = sum(len(text.encode()) for text, *_ in parts)
    most = (MAX_BYTES - fixed) // 2
    if most <= _DIGEST + 1:
        raise RefusedError(f"receipt_task_rule is {rule!r}, which is too long.")
    whole = rule.format(dag_id=_mended(dag_id), task_id=_mended(task_id))
    if len(whole) <= MAX_BYTES:
        return whole
    return rule.format(dag_id=_mended(dag_id, most), task_id=_mended(task_id, most))


def _mended(name: str, most: int = MAX_BYTES) -> str:
    """A name as a part of a task's; its hash is added where it had to be changed."""
    fit = _NO_SEGMENT.sub("_", name)
    fit = f"_{fit[1:]}" if fit.startswith((".", "-")) else fit
    if fit == name and len(name) <= most:
        return name
    digest = hashlib.sha256(name.encode(errors="surrogatepass")).hexdigest()[:_DIGEST]
    return f"{fit[: most - _DIGEST - 1]}-{digest}"


def _named(task: Any, variables: Any) -> Named:
    if not isinstance(task, str) or not task:
        raise RefusedError(f"{task!r} names no receipt task.")
    if variables is not None and not isinstance(variables, Mapping):
        raise RefusedError(f"The variables of {task} are {variables!r}, and no map.")
    return Named(task=task, variables=dict(variables or {}))


def _recording(operator: Any) -> Named | None:
    """What an operator says that records itself; as written, as mapped, or as Airflow keeps it."""

    def said(name: str) -> Any:
        partly = getattr(operator, "partial_kwargs", None) or {}
        return getattr(operator, name, None) or partly.get(name)

    if getattr(operator, "task_type", None) == "ReceiptDecoratedOperator":  # @task.receipt
        variables, store = said("variables"), said("store")
    elif "receipt_store_conn_id" in (getattr(operator, "template_fields", None) or ()):  # a mixin's
        variables, store = said("receipt_variables"), said("receipt_store")
    else:
        return None
    if not said("receipt_task"):  # mapped over
        return None
    found = _named(said("receipt_task"), variables)
    return replace(found, records_itself=True, store=store if isinstance(store, str) else None)


def _declared(params: Any) -> Mapping[str, Any] | None:
    """What ``receipts`` has put among an operator's params."""
    if not params or PARAM not in params:
        return None
    get = getattr(params, "get_param", None)
    param = params[PARAM] if get is None else get(PARAM)
    said = getattr(param, "value", param)
    schema = getattr(param, "schema", None) or {}
    if getattr(param, "source", None) == "dag":
        raise RefusedError(
            "The DAG's params name a receipt task, which all its tasks would share. "
            "Give params=receipts(...) to the tasks."
        )
    if not isinstance(said, Mapping) or schema.get("const") != said:
        raise RefusedError(f"The param '{PARAM}' is not what receipts() makes.")
    return said


def _usual_variables() -> Mapping[str, Any]:
    text = conf.get(SECTION, "receipt_variables", fallback=None) or ""
    return _json_map(text, "receipt_variables")


def _mapping(text: str) -> Mapping[str, Any]:
    found = _json_map(text, "receipt_tasks")
    for key in found:
        if key.count("/") != 1:
            raise RefusedError(f"receipt_tasks has {key!r}. Its keys are 'dag_id/task_id'.")
    return found


@lru_cache(maxsize=8)
def _json_map(text: str, option: str) -> Mapping[str, Any]:
    if not text.strip():
        return {}
    try:
        found = json.loads(text)
    except ValueError as error:
        raise RefusedError(f"The option {option} is no JSON: {error}.") from error
    if not isinstance(found, dict):
        raise RefusedError(f"The option {option} is no JSON object.")
    return found
