"""What a store has on record about one requirement."""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from ubunye_core.batch import Batch
from ubunye_core.errors import StoreUnavailableError
from ubunye_core.names import near
from ubunye_core.questions.answer import Moment, View, view
from ubunye_core.questions.requirements import Requirement
from ubunye_core.questions.tasks import known_tasks
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.protocol import Found, ReceiptStore, Unreadable

NEWEST_READ = 20


@dataclass(frozen=True, kw_only=True)
class Evidence:
    """The receipts of one task that bear on one requirement, newest first."""

    requirement: Requirement
    task: str
    wanted: Mapping[str, str]
    of_batch: tuple[Receipt, ...]
    """Runs of the batch."""
    success: Receipt | None
    """The newest success of the batch that is recent enough."""
    with_more: tuple[Receipt, ...]
    """Successes that agree on the wanted variables, and have others besides."""
    of_task: tuple[Receipt, ...]
    """The newest runs of any batch; read only when there is no success."""
    near_names: tuple[str, ...]
    """For a task without runs: the tasks that may have been meant."""
    now: datetime
    unreadable: tuple[Unreadable, ...]
    """What could be the success that is missing."""


def gather(
    requirement: Requirement,
    task: str,
    wanted: Mapping[str, str],
    store: ReceiptStore,
    moment: Moment,
    *,
    asker: str | None = None,
) -> Evidence:
    """Look at the store once, and further only where the answer is not yes.

    Raises:
        StoreUnavailableError: the store cannot answer now.
    """
    whole = requirement.variables is None
    seen = _known_success(requirement, task, wanted, store, moment)
    if seen is None:
        found = store.search(task, batch=wanted)
        seen = view(found, found.unreadable, moment)
    batch = Batch.of(wanted)
    of_batch = tuple(run for run in seen.receipts if not whole or run.batch.is_same(batch))
    others = [run for run in seen.receipts if whole and not run.batch.is_same(batch)]
    success = next((run for run in of_batch if _counts(run, requirement, moment)), None)
    any_batch = View((), ()) if success else _of_any_batch(task, seen, store, moment)
    known = success or any_batch.receipts or any_batch.unreadable
    return Evidence(
        requirement=requirement,
        task=task,
        wanted=wanted,
        of_batch=of_batch,
        success=success,
        with_more=tuple(run for run in others if _counts(run, requirement, moment)),
        of_task=any_batch.receipts,
        near_names=() if known else _near_names(task, store, asker),
        now=moment.now,
        unreadable=any_batch.unreadable,
    )


def _known_success(
    requirement: Requirement,
    task: str,
    wanted: Mapping[str, str],
    store: ReceiptStore,
    moment: Moment,
) -> View | None:
    """The newest success of the batch and its newest run, where a store tells them at once.

    None where that does not decide: there is no success, or it does not count, or the runs looked
    different at the instant asked for.
    """
    tell = getattr(store, "success_by_batch", None)
    if tell is None:
        return None
    known: Found | None = tell(task, wanted, whole=requirement.variables is None)
    if known is None:
        return None
    seen = view(known, (), moment)
    if seen.unreadable or seen.receipts != tuple(known):
        return None
    counts = any(_counts(run, requirement, moment) for run in seen.receipts)
    return seen if counts else None


def _of_any_batch(task: str, of_batch: View, store: ReceiptStore, moment: Moment) -> View:
    """The newest runs of a task; all of them where those of the batch are none of the newest.

    What is unreadable among the batch's runs stays so. What is unreadable among the others counts
    only where nothing else shows that the task is known.
    """
    newest = store.list_runs(task, 1)
    seen = view(newest, newest.unreadable, moment)
    if newest and not seen.receipts:  # it had not started at that instant
        newest = store.list_runs(task, NEWEST_READ)
        seen = view(newest, newest.unreadable, moment)
    if newest and not seen.receipts:  # nor had any of these
        found = store.search(task)
        seen = view(found, found.unreadable, moment)
    receipts = seen.receipts or of_batch.receipts
    return View(receipts, of_batch.unreadable or (() if receipts else seen.unreadable))


def _near_names(task: str, store: ReceiptStore, asker: str | None) -> tuple[str, ...]:
    """Names that may have been meant: a help in the text, which no answer hangs on."""
    with contextlib.suppress(StoreUnavailableError):
        known = known_tasks(store) or ()
        return tuple(near(task, (name for name in known if name not in (task, asker))))
    return ()


def _counts(run: Receipt, requirement: Requirement, moment: Moment) -> bool:
    """Whether a run is a success, and recent enough."""
    age = requirement.max_age
    recent = not isinstance(age, timedelta) or moment.now - run.finished_at <= age
    return run.status is Status.SUCCESS and recent
