"""What Airflow's context says about a run: which attempt it is, who started it, for what period."""

from __future__ import annotations

import logging
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any

from ubunye_airflow.compat import without_known_secrets
from ubunye_core import Orchestrator, TriggeredBy, TriggerKind, Window

log = logging.getLogger(__name__)

_KINDS = {
    "scheduled": TriggerKind.SCHEDULE,
    "backfill": TriggerKind.BACKFILL,
    "manual": TriggerKind.MANUAL,
    "asset_triggered": TriggerKind.ASSET,
    "asset_materialization": TriggerKind.ASSET,
    "operator_triggered": TriggerKind.API,
}
_PERIOD = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2})(?:T(\d{2}))?)?", re.ASCII)


def orchestrator(context: Mapping[str, Any]) -> Orchestrator:
    """Airflow's names for this attempt."""
    ti = context["ti"]
    return Orchestrator(
        name="airflow",
        ids={
            "dag_id": str(ti.dag_id),
            "run_id": str(ti.run_id),
            "task_id": str(ti.task_id),
            "map_index": str(-1 if ti.map_index is None else ti.map_index),
        },
        url=getattr(ti, "log_url", None),
        attempt=ti.try_number,
        max_attempts=None if ti.max_tries is None else ti.max_tries + 1,
    )


def triggered_by(context: Mapping[str, Any], reason: str | None = None) -> TriggeredBy:
    """What started this run, who, and why: ``reason`` in the run's conf says so."""
    run = context.get("dag_run")
    kind = getattr(run, "run_type", None)
    said = reason or _conf(context).get("reason")
    return TriggeredBy(
        kind=_KINDS.get(str(getattr(kind, "value", kind)), TriggerKind.MANUAL),
        actor=getattr(run, "triggering_user_name", None),
        asserted_by="airflow",
        reason=without_known_secrets(str(said)) if said else None,
    )


def window(context: Mapping[str, Any]) -> Window | None:
    """The period of data this run is for: of its conf, its partition key, or its data interval.

    A logical date alone is no period, nor is an interval without a width. What is named and
    cannot be read is no period either: the next place would tell of other data.
    """
    named = _conf(context).get("window")
    try:
        if named is not None:
            return Window(
                start=_instant(named["start"]),
                end=_instant(named["end"]),
                time_zone=named.get("time_zone"),
            )
        key = context.get("partition_key") or getattr(context.get("dag_run"), "partition_key", None)
        if key is not None:
            return period(str(key))
        start, end = context.get("data_interval_start"), context.get("data_interval_end")
        if start is None or end is None or start == end:
            return None
        return Window(start=start, end=end)
    except (ValueError, TypeError, KeyError, AttributeError, OverflowError) as error:
        log.warning("The window of this run cannot be read, so none is recorded: %s", error)
        return None


def period(key: str) -> Window | None:
    """The month, day or hour, in UTC, that a partition key names in ISO form; None for any other.

    ``2026-08``, ``2026-08-01``, ``2026-08-01T05``.
    """
    match = _PERIOD.fullmatch(key)
    if match is None:
        return None
    year, month, day, hour = (None if each is None else int(each) for each in match.groups())
    if year is None or month is None:
        return None
    start = datetime(year, month, day or 1, hour or 0, tzinfo=UTC)
    if hour is not None:
        return Window(start=start, end=start + timedelta(hours=1))
    if day is not None:
        return Window(start=start, end=start + timedelta(days=1))
    return Window(start=start, end=(start + timedelta(days=32)).replace(day=1))


def _conf(context: Mapping[str, Any]) -> Mapping[str, Any]:
    conf = getattr(context.get("dag_run"), "conf", None)
    return conf if isinstance(conf, Mapping) else {}


def _instant(value: object) -> datetime:
    return value if isinstance(value, datetime) else datetime.fromisoformat(str(value))
