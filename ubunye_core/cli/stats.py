"""``ubunye-runs stats``: how reliable are tasks, and how long do they take?"""

from __future__ import annotations

from datetime import datetime, timedelta

import click

from ubunye_core.cli import options
from ubunye_core.cli.documents import document_of
from ubunye_core.cli.exits import ExitCode, code_of
from ubunye_core.cli.output import moment, say, say_unreadable, say_verdict
from ubunye_core.cli.place import Place, say_beside, takes_store
from ubunye_core.cli.tables import table
from ubunye_core.questions.stats import MOST_DAYS, Stats, Stretch, TaskStats, percent, task_stats
from ubunye_core.questions.tally import Durations
from ubunye_core.times import in_iso, in_words

_COLUMNS = (
    *("task", "runs", "success", "p50", "p95", "longest", "trend", "streak", "windows failed"),
    *("last success", "apart"),
)
_APART = ("retrying", "running", "stuck", "skipped", "refused")


@click.command()
@click.argument("tasks", nargs=-1, required=True, metavar="TASK|PATTERN...")
@click.option(
    "--days",
    type=click.IntRange(1, MOST_DAYS),
    default=30,
    metavar="N",
    help="Of the last N times 24 hours; 30 unless given.",
)
@takes_store
@options.now
@options.as_json
def stats(
    tasks: tuple[str, ...], place: Place, days: int, now: datetime | None, as_json: bool
) -> ExitCode:
    r"""Count how runs ended, how long they took, and whether more of them fail than before.

    The exit code is 0 when it could be told, and 3 when something unreadable could change it.

    \b
    Examples:
      ubunye-runs stats pay/monthly/calc --days 90
      ubunye-runs stats 'pay/*/*' --json
    """
    answer = task_stats(tasks, store=place.store, days=days, now=now)
    code = code_of(answer.verdict)
    if as_json:
        document_of(
            answer,
            place,
            since=in_iso(answer.since),
            tasks=[stats_as_json(each) for each in answer.tasks],
        )
    else:
        _show(answer, place, now)
    return code


def stats_as_json(found: TaskStats) -> dict[str, object]:
    """The numbers of one task, for a document."""
    last = found.last_success_at
    return {
        "task": found.task,
        "verdict": found.verdict.value,
        "reason": found.reason,
        "runs": found.runs,
        "succeeded": found.succeeded,
        "failed": found.failed,
        "success_rate": found.success_rate,
        **{name: getattr(found, name) for name in _APART},
        "durations": _durations_as_json(found.durations),
        "windows": found.windows,
        "windows_failed": found.windows_failed,
        "windows_recovered": found.windows_recovered,
        "longest_failing_streak": found.longest_failing_streak,
        "last_success_at": None if last is None else in_iso(last),
        "trend": found.trend.value,
        "earlier": _stretch_as_json(found.earlier),
        "later": _stretch_as_json(found.later),
        "by_day": [_stretch_as_json(each) for each in found.by_day],
    }


def _durations_as_json(found: Durations | None) -> dict[str, object] | None:
    """In seconds, as programs want them."""
    if found is None:
        return None
    return {
        "runs": found.runs,
        "p50": found.p50.total_seconds(),
        "p95": found.p95.total_seconds(),
        "longest": found.longest.total_seconds(),
    }


def _stretch_as_json(stretch: Stretch | None) -> dict[str, object] | None:
    if stretch is None:
        return None
    return {
        "start": in_iso(stretch.start),
        "end": in_iso(stretch.end),
        "succeeded": stretch.succeeded,
        "failed": stretch.failed,
    }


def _show(answer: Stats, place: Place, now: datetime | None) -> None:
    table(
        _COLUMNS,
        [_line(each) for each in answer.tasks],
        folds=("windows failed", "last success", "apart"),
    )
    say_verdict(answer.verdict, answer.reason)
    for each in answer.tasks:
        if not each and each.reason != answer.reason:
            say(each.reason)
    say_beside(place, now)
    say_unreadable(answer.unreadable, told=[answer.reason, *(each.reason for each in answer.tasks)])


def _line(found: TaskStats) -> tuple[str, ...]:
    took = found.durations
    apart = [f"{getattr(found, name)} {name}" for name in _APART if getattr(found, name)]
    return (
        found.task,
        str(found.runs),
        f"{found.succeeded} ({percent(found.succeeded, found.runs)})" if found.runs else "-",
        *(
            (short_length(took.p50), short_length(took.p95), short_length(took.longest))
            if took
            else "---"
        ),
        found.trend.value,
        str(found.longest_failing_streak),
        f"{found.windows_failed} of {found.windows}",
        moment(found.last_success_at),
        ", ".join(apart) or "-",
    )


def short_length(length: timedelta) -> str:
    """How long a run took, for people: ``42m``, or with its fraction where it is short."""
    return in_words(length) if length >= timedelta(seconds=10) else f"{length.total_seconds():.2g}s"
