"""Which of many tasks are plainly well, by their columns alone."""

from __future__ import annotations

from collections.abc import Sequence

from ubunye_core.receipt import Status
from ubunye_core.stores.capabilities import Settled
from ubunye_core.stores.delta import sql
from ubunye_core.stores.delta.reading import Reading
from ubunye_core.stores.events import standing_events

_COLUMNS = (*sql.KEYS, "ended_at", "window_end")


def settled(reading: Reading, tasks: Sequence[str]) -> dict[str, Settled]:
    """The tasks whose newest run is a success, and of which no run is open or damaged."""
    if not tasks:
        return {}
    in_doubt = {event.task for event in reading.events(sql.tasks_in_doubt(tasks))}
    found: dict[str, Settled] = {}
    last = standing_events(reading.events(sql.last_starts(tasks, _COLUMNS)))
    for event in sorted(
        last, key=lambda each: each.run_id
    ):  # of equal starts the last id is newest
        found.pop(event.task, None)
        is_well = event.status == Status.SUCCESS and event.task not in in_doubt
        if is_well and event.started_at is not None:
            found[event.task] = Settled(
                run_id=event.run_id,
                started_at=event.started_at,
                finished_at=event.ended_at or event.started_at,
                window_end=event.window_end,
            )
    return found
