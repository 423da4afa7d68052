"""``ubunye-runs calendar``: may a task start at this time of day? When else?"""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import click

from ubunye_core.cli import options
from ubunye_core.cli.documents import document_of
from ubunye_core.cli.exits import ExitCode, code_of
from ubunye_core.cli.output import moment, say, say_unreadable, say_verdict
from ubunye_core.cli.place import Place, say_beside, takes_store
from ubunye_core.cli.tables import table
from ubunye_core.counted import count
from ubunye_core.errors import ConfigError
from ubunye_core.questions.conflicts import MaintenanceConflict, Slot, TaskConflict
from ubunye_core.questions.maintenancefiles import read_maintenance
from ubunye_core.questions.slots import (
    A_DAY,
    SHORTEST,
    SlotAnswer,
    Suggestion,
    check_slot,
    suggest_slot,
)
from ubunye_core.questions.stats import MOST_DAYS
from ubunye_core.questions.tasks import if_it_never_ran
from ubunye_core.times import in_iso, in_words

_COLUMNS = ("in the way", "when", "days", "runs", "takes", "next or newest")


@click.command()
@click.argument("slot", required=False)
@click.option("--suggest", is_flag=True, help="Name the free slots that are nearest.")
@click.option(
    "--maintenance",
    type=click.Path(path_type=Path),
    metavar="FILE",
    help="The YAML file that says when maintenance takes place.",
)
@click.option("--time-zone", default="UTC", metavar="ZONE", help="Whose clocks; UTC unless given.")
@click.option(
    "--task",
    "tasks",
    multiple=True,
    metavar="TASK|PATTERN",
    help="Look only at runs of this task, or of those that fit; repeatable.",
)
@click.option("--asker", metavar="TASK", help="The task that is to start then: it is no conflict.")
@click.option(
    "--ignore",
    multiple=True,
    metavar="TASK|PATTERN",
    help="A task that is no conflict, such as one that runs all day; repeatable.",
)
@click.option(
    "--takes",
    callback=options.length(least=SHORTEST, most=A_DAY, limits="a slot is from 1m to 24h long"),
    metavar="TIME",
    help="How long it takes; unless given, what the asker usually takes, else 15m.",
)
@click.option(
    "--days",
    type=click.IntRange(1, MOST_DAYS),
    default=30,
    metavar="N",
    help="Look at the runs of the last N days; 30 unless given.",
)
@takes_store
@options.now
@options.as_json
def calendar(
    slot: str | None,
    suggest: bool,
    maintenance: Path | None,
    time_zone: str,
    tasks: tuple[str, ...],
    asker: str | None,
    ignore: tuple[str, ...],
    takes: timedelta | None,
    days: int,
    place: Place,
    now: datetime | None,
    as_json: bool,
) -> ExitCode:
    r"""Say whether a task may start at a time of day: no maintenance then, and no other runs.

    SLOT is a time of day, such as 02:00. The exit code is 0 when it is clean, and 1 when
    something is in the way. Without SLOT, --suggest names the free slots nearest to 00:00, and
    the exit code says whether there is one.

    \b
    Examples:
      ubunye-runs calendar 02:00 --time-zone Asia/Jakarta --maintenance maintenance.yaml
      ubunye-runs calendar 00:00 --suggest --takes 30m --asker pay/monthly/calc
      ubunye-runs calendar --suggest --task 'pay/*/*' --json
    """
    asked: dict[str, Any] = {
        "maintenance": () if maintenance is None else read_maintenance(maintenance),
        "tasks": tasks,
        "asker": asker,
        "ignore": ignore,
        "takes": takes,
        "time_zone": time_zone,
        "days": days,
        "store": place.store,
        "now": now,
    }
    free = suggest_slot(slot or "00:00", **asked) if suggest else None
    told: SlotAnswer | Suggestion
    if free is not None:
        told = free if slot is None else free.wish
    elif slot is not None:
        told = check_slot(slot, **asked)
    else:
        raise ConfigError(
            "No slot is named.", hint="Name a time of day, such as 02:00, or give --suggest."
        )
    if asker is not None:
        never = if_it_never_ran(asker, place.store)
        told = replace(told, reason=f"{told.reason}{never}")
    answer = told if isinstance(told, SlotAnswer) else None
    code = code_of(told.verdict)
    if as_json:
        document_of(
            told,
            place,
            slot=None if answer is None else _slot_as_json(answer.slot),
            maintenance=[] if answer is None else list(map(_as_json, answer.maintenance)),
            tasks=[] if answer is None else list(map(_task_as_json, answer.tasks)),
            suggested=None if free is None else list(map(_slot_as_json, free.slots)),
        )
    else:
        _show(told, free, place, now)
    return code


def _slot_as_json(slot: Slot) -> dict[str, object]:
    return {
        "at": f"{slot.at:%H:%M}",
        "takes": slot.takes.total_seconds(),
        "time_zone": slot.zone.key,
        "name": slot.name,
    }


def _as_json(conflict: MaintenanceConflict) -> dict[str, object]:
    return {
        "name": conflict.name,
        "times": conflict.times,
        "time_zone": conflict.time_zone,
        "next_at": in_iso(conflict.next_at),
        "days": conflict.days,
    }


def _task_as_json(conflict: TaskConflict) -> dict[str, object]:
    return {
        "task": conflict.task,
        "starts": conflict.starts,
        "runs_over": conflict.runs_over,
        "days": conflict.days,
        "first": conflict.first,
        "last": conflict.last,
        "usual_length": conflict.usual_length.total_seconds(),
        "last_at": in_iso(conflict.last_at),
    }


def _show(
    told: SlotAnswer | Suggestion, free: Suggestion | None, place: Place, now: datetime | None
) -> None:
    rows = [*_maintenance_rows(told), *_task_rows(told)] if isinstance(told, SlotAnswer) else []
    if rows:
        table(_COLUMNS, rows, folds=("in the way",))
    say_verdict(told.verdict, told.reason)
    if free is not None and isinstance(told, SlotAnswer):
        say(free.reason)
    say_beside(place, now)
    say_unreadable(told.unreadable, told=[told.reason])


def _maintenance_rows(answer: SlotAnswer) -> list[tuple[str, ...]]:
    return [
        (
            f"maintenance '{each.name}'",
            f"{each.times} {each.time_zone}",
            f"{each.days} ahead",
            "-",
            "-",
            moment(each.next_at),
        )
        for each in answer.maintenance
    ]


def _task_rows(answer: SlotAnswer) -> list[tuple[str, ...]]:
    return [
        (
            each.task,
            each.first if each.first == each.last else f"{each.first}–{each.last}",
            str(each.days),
            f"{count(each.starts, 'starts', 'start')}, "
            f"{count(each.runs_over, 'runs over', 'run over')}",
            in_words(each.usual_length),
            moment(each.last_at),
        )
        for each in answer.tasks
    ]
