"""What all sensors here share: how one is made, how long a tick may take, instants in cursors."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from typing import Any

import dagster as dg

from ubunye_core import ConfigError, ReceiptStore
from ubunye_dagster.calls import with_store

TICK_SECONDS = 30.0
"""How long a tick goes on; Dagster ends one that takes a minute."""
RUNS_A_TICK = 20
"""How many runs a sensor that launches requests in a tick, unless it is given."""
Look = Callable[[ReceiptStore, dg.SensorEvaluationContext], dg.SensorResult]


def sensor_that_looks(
    look: Look, /, *, name: str, resource_key: str, store: str | None, **sensor_arguments: Any
) -> dg.SensorDefinition:
    """A sensor that looks at the receipts of its store in each tick."""

    def evaluate(context: dg.SensorEvaluationContext, opened: ReceiptStore) -> dg.SensorResult:
        return look(opened, context)

    given = with_store(evaluate, by="sensor", resource_key=resource_key, store=store)
    return dg.sensor(name=name, **sensor_arguments)(given)


def check_at_most(at_most: int) -> None:
    """Complain of a tick that would do nothing.

    Raises:
        ConfigError: it is to do fewer than one thing.
    """
    if at_most < 1:
        raise ConfigError(f"at_most is {at_most}; it must be 1 or more.")


def zoned(text: str) -> datetime:
    """An instant as a cursor has it. ``ValueError`` where it has no zone."""
    moment = datetime.fromisoformat(text)
    if moment.tzinfo is None:
        raise ValueError(f"{text} has no zone")
    return moment
