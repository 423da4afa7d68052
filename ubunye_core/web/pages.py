"""The pages: what each looks up for a request, and what it shows of that."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field

from ubunye_core.errors import AmbiguousRunError, BadReceiptError, ConfigError, ReceiptNotFoundError
from ubunye_core.names import check_run_id
from ubunye_core.questions import Health, TaskHealth, Verdict, job_health
from ubunye_core.questions.tasks import did_you_mean
from ubunye_core.receipt import Orchestrator, Receipt, Status
from ubunye_core.stores import Unreadable
from ubunye_core.stores.attempts import receipts_of_attempt
from ubunye_core.web.access import NEWEST
from ubunye_core.web.asked import MOST_RUNS, SCHEDULE_OPTIONS, Asked, NotThereError
from ubunye_core.web.comparing import compare
from ubunye_core.web.masked import masked, masked_line
from ubunye_core.web.shown import as_text, facts, tables
from ubunye_core.web.tasks import Listed, list_tasks
from ubunye_core.web.windowgrid import grid_of

_WORST_FIRST = (Verdict.FAIL, Verdict.UNKNOWN, Verdict.PASS)
_ID = "id."


@dataclass(frozen=True)
class Page:
    """What answers a request: a template with its values, or another place."""

    template: str
    values: Mapping[str, object] = field(default_factory=dict)
    status: int = 200
    elsewhere: str | None = None


@dataclass(frozen=True)
class HealthShown:
    """The health of the tasks of one page; None where there is no task."""

    answer: Health | None
    listed: Listed

    @property
    def status(self) -> int:
        """The status of HTTP: a store that could not answer is not there."""
        return 503 if self.answer is not None and self.answer.retryable else 200

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """What could not be read and could change the answer."""
        return () if self.answer is None else self.answer.unreadable

    @property
    def worst_first(self) -> list[TaskHealth]:
        """The tasks, and those first that somebody has to look at."""
        tasks = [] if self.answer is None else list(self.answer.tasks)
        return sorted(tasks, key=lambda each: (_WORST_FIRST.index(each.verdict), each.task))


def look_at_health(asked: Asked) -> HealthShown:
    """The health of the tasks that a request names, or of all."""
    wanted = [name for text in asked.all("tasks") for name in text.replace(",", " ").split()]
    listed = list_tasks(asked.store, wanted, asked.text("after"))
    max_age, stuck_after = asked.text("max_age"), asked.text("stuck_after")
    answer = None
    if listed.tasks:
        answer = job_health(
            listed.tasks,
            store=asked.store,
            now=asked.now,
            max_age=max_age,
            stuck_after=stuck_after,
        )
    return HealthShown(answer, listed)


def health(asked: Asked) -> Page:
    """How all tasks stand, or those that fit."""
    shown = look_at_health(asked)
    numbers = Counter(each.verdict for each in shown.worst_first)
    query = {name: asked.all(name) for name in ("tasks", "max_age", "stuck_after")}
    following = shown.listed.following
    return Page(
        "health.html",
        {
            "shown": shown.worst_first,
            "counts": [(verdict, numbers[verdict]) for verdict in _WORST_FIRST],
            "listed": shown.listed,
            "unreadable": _once(shown.unreadable),
            "given": {name: " ".join(texts) for name, texts in query.items()},
            "following": None if following is None else asked.links.home(**query, after=following),
            "is_first": asked.text("after") is None,
        },
        shown.status,
    )


def task(asked: Asked) -> Page:
    """The runs of one task, newest first, and how it stands."""
    name, number = asked.task, asked.number_of_runs()
    status, since = asked.status(), asked.since()
    found = asked.store.search(name, status, since, limit=number + 1)
    if not found and not found.unreadable:
        _check_is_there(asked, name)
    how = job_health(name, store=asked.store, now=asked.now).tasks[0]
    given = {each: asked.text(each) for each in ("status", "since")}
    has_more, next_number = len(found) > number, min(2 * number, MOST_RUNS)
    return Page(
        "task.html",
        {
            "task": name,
            "health": how,
            "runs": [masked_line(run) for run in found[:number]],
            "unreadable": _once(found.unreadable),
            "statuses": list(Status),
            "given": given,
            "more": asked.links.task(name, **given, n=next_number)
            if has_more and next_number > number
            else None,
            "has_more": has_more,
        },
    )


def run(asked: Asked) -> Page:
    """One receipt."""
    receipt = masked(_load(asked, asked.task, asked.path["run_id"]))
    return Page(
        "receipt.html",
        {
            "task": receipt.task,
            "receipt": receipt,
            "facts": facts(receipt),
            "tables": tables(receipt),
            "json": as_text(receipt),
        },
    )


def comparison(asked: Asked) -> Page:
    """Two receipts of a task side by side."""
    name = asked.task
    given = asked.text("a"), asked.text("b")
    if None in given:
        raise ConfigError("Two runs are compared.", hint="Choose run A and run B.")
    first, second = (masked(_load(asked, name, run_id or "")) for run_id in given)
    return Page(
        "compare.html",
        {
            "task": name,
            "runs": (("A", first), ("B", second)),
            "comparison": compare(first, second),
        },
    )


def attempt(asked: Asked) -> Page:
    """The receipt of a scheduler's attempt, which a link can name before the run has an id."""
    name, number = asked.task, asked.text("attempt")
    ids = {each.removeprefix(_ID): asked.text(each) for each in asked.query if each.startswith(_ID)}
    if not ids or number is None or not (number.isascii() and number.isdecimal()):
        raise ConfigError("No attempt is named.", hint="Give 'attempt', and its ids as 'id.NAME'.")
    wanted = Orchestrator(
        name=asked.text("orchestrator") or "airflow",
        ids={each: text or "" for each, text in ids.items()},
        attempt=int(number[:9]),
    )
    found = receipts_of_attempt(wanted, name, asked.store, newest=NEWEST)
    if found:
        return Page("", elsewhere=asked.links.run(name, found[0].run_id))
    for bad in found.unreadable:
        raise BadReceiptError(bad.where, f"{bad.why}; it may be that of the attempt asked for")
    _check_is_there(asked, name)
    raise NotThereError(
        f"There is no receipt of this attempt of {name}.",
        hint="It may not have begun, or not have been recorded.",
    )


def windows(asked: Asked) -> Page:
    """How the scheduled windows of a task stand, where its schedule is known or given."""
    name = asked.task
    _check_is_there(asked, name, is_expected=name in asked.schedules)
    grid = grid_of(asked, name)
    return Page(
        "windows.html",
        {
            "task": name,
            "grid": grid,
            "unreadable": _once(() if grid.answer is None else grid.answer.unreadable),
            "given": {each: asked.text(each) or "" for each in (*SCHEDULE_OPTIONS, "since")},
            "is_known": name in asked.schedules,
        },
        503 if grid.answer is not None and grid.answer.retryable else 200,
    )


def _load(asked: Asked, name: str, run_id: str) -> Receipt:
    """A receipt by its whole id."""
    try:
        receipt = asked.store.load(name, check_run_id(run_id))
    except (ReceiptNotFoundError, AmbiguousRunError):
        receipt = None
    if receipt is None or receipt.run_id != run_id:
        raise NotThereError(f"There is no run {run_id} of {name}.")
    return receipt


def _check_is_there(asked: Asked, name: str, *, is_expected: bool = False) -> None:
    """Refuse a task of which there is nothing to be seen."""
    if is_expected and not asked.is_restricted:
        return
    newest = asked.store.list_runs(name, 1)
    if not newest and not newest.unreadable:
        near = did_you_mean(name, asked.store)
        raise NotThereError(f"There is no receipt of {name}.{near}")


def _once(unreadable: tuple[Unreadable, ...]) -> list[Unreadable]:
    """What could not be read, each place once."""
    return list({(bad.where, bad.why): bad for bad in unreadable}.values())
