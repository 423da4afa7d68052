"""All that this package knows about the versions of Airflow: 3.2 and later."""

from __future__ import annotations

import logging
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from airflow.sdk import TriggerRule, exceptions
from airflow.sdk.bases.hook import BaseHook
from airflow.sdk.bases.sensor import BaseSensorOperator, PokeReturnValue
from airflow.sdk.configuration import conf
from airflow.sdk.definitions._internal.mixins import ResolveMixin
from airflow.sdk.exceptions import (
    AirflowException,
    AirflowFailException,
    AirflowNotFoundException,
    AirflowRescheduleException,
    AirflowSensorTimeout,
    AirflowSkipException,
    AirflowTaskTerminated,
    AirflowTaskTimeout,
    DownstreamTasksSkipped,
    TaskDeferred,
)
from airflow.sdk.log import mask_secret

__all__ = [
    "PAUSES",
    "AirflowException",
    "AirflowFailException",
    "AirflowNotFoundException",
    "AirflowSensorTimeout",
    "AirflowSkipException",
    "AirflowTaskTerminated",
    "AirflowTaskTimeout",
    "BaseHook",
    "BaseSensorOperator",
    "DownstreamTasksSkipped",
    "PokeReturnValue",
    "ResolveMixin",
    "Timetable",
    "TriggerRule",
    "conf",
    "first_reschedule",
    "hide",
    "recall",
    "remember",
    "timetable_of",
]

log = logging.getLogger(__name__)

PAUSES: tuple[type[BaseException], ...] = tuple(
    found
    for found in (
        TaskDeferred,
        AirflowRescheduleException,
        getattr(exceptions, "TaskAwaitingInput", None),  # from 3.3
    )
    if found is not None
)
"""What a task raises that is not over, but pauses."""


def remember(context: Mapping[str, Any], key: str, text: str, *, for_at_least: timedelta) -> None:
    """Keep a text across the tries of this task, where Airflow can: from 3.3, in its state store.

    Best effort: what cannot be kept is logged, for a wait is then counted from each try.
    """
    state = context.get("task_state_store")
    if state is None:
        return
    try:
        state.set(key, text, retention=for_at_least + timedelta(days=30))
    except Exception as error:
        log.warning("Airflow could not keep '%s' of this task: %s", key, error)


def recall(context: Mapping[str, Any], key: str) -> str | None:
    """What an earlier try of this task has asked to remember."""
    state = context.get("task_state_store")
    if state is None:
        return None
    try:
        text = state.get(key)
    except Exception as error:
        log.warning("Airflow could not tell '%s' of this task: %s", key, error)
        return None
    return text if isinstance(text, str) else None


def first_reschedule(context: Mapping[str, Any]) -> datetime | None:
    """When this task, in mode reschedule, first looked; counted over its tries by Airflow."""
    ti = context.get("ti")
    if ti is None or not context.get("task_reschedule_count"):
        return None
    found = ti.get_first_reschedule_date(context)
    return found if isinstance(found, datetime) else None


def hide(secrets: Iterable[str]) -> None:
    """Have Airflow show ``***`` for these in logs, rendered templates and pages."""
    for secret in secrets:
        mask_secret(secret)


@dataclass(frozen=True)
class Timetable:
    """What a timetable of one clock says."""

    kind: str
    cron: str | None
    time_zone: str
    every: object
    """A ``timedelta``, or something of no fixed length."""
    interval: timedelta | None
    """The length of the data interval that ends with each firing. None: from one to the next."""


_BY_INTERVAL = ("CronDataIntervalTimetable", "DeltaDataIntervalTimetable")
_BY_TRIGGER = ("CronTriggerTimetable", "DeltaTriggerTimetable")
_PRESETS = {
    "@hourly": "0 * * * *",
    "@daily": "0 0 * * *",
    "@weekly": "0 0 * * 0",
    "@monthly": "0 0 1 * *",
    "@quarterly": "0 0 1 */3 *",
    "@yearly": "0 0 1 1 *",
}
"""Before 3.3 a DAG that is written holds these as they are; the server alone spells them out."""


def timetable_of(found: object) -> Timetable | None:
    """A timetable of cron or of an interval; None for any other, also for one derived from these.

    A DAG that is written holds those of the task SDK, unless its author took those of
    ``airflow.timetables``, which have the same names and hold the same under others.
    """
    kind, place = type(found).__name__, type(found).__module__
    if kind not in _BY_INTERVAL + _BY_TRIGGER or not place.startswith("airflow."):
        return None

    def told(name: str) -> Any:
        return getattr(found, name, None) or getattr(found, f"_{name}", None)

    interval = None
    if kind in _BY_TRIGGER:
        interval = told("interval") or timedelta(0)
        if not isinstance(interval, timedelta):
            return None
    zone, cron = told("timezone"), told("expression")
    return Timetable(
        kind=kind,
        cron=_PRESETS.get(cron, cron),
        time_zone=str(getattr(zone, "name", None) or zone or "UTC"),
        every=told("delta"),
        interval=interval,
    )


def without_known_secrets(value: Any) -> Any:
    """A value without the secrets that Airflow has seen in connections and variables."""
    try:
        from airflow.sdk._shared.secrets_masker import redact
    except ImportError:  # elsewhere in another version; what looks secret is masked in any case
        return value
    return redact(value)


def known_secrets_in(text: str) -> tuple[str, ...]:
    """The secrets in a text that Airflow has seen in connections and variables."""
    shown = without_known_secrets(text)
    if shown == text:
        return ()
    found = re.fullmatch("(.*?)".join(map(re.escape, shown.split("***"))), text, re.DOTALL)
    secrets = tuple(filter(None, found.groups())) if found else ()
    rest = text
    for secret in secrets:
        rest = rest.replace(secret, "")
    return secrets if secrets and without_known_secrets(rest) == rest else (text,)
