"""What a store has on record about one requirement."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import timedelta

from ubunye_core.batch import Batch
from ubunye_core.names import near
from ubunye_core.questions.answer import Moment, view
from ubunye_core.questions.requirements import Requirement
from ubunye_core.questions.tasks import known_tasks
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.protocol import ReceiptStore, Unreadable

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
    unreadable: tuple[Unreadable, ...]
    """What could be the success that is missing."""


def gather(
    requirement: Requirement,
    task: str,
    wanted: Mapping[str, str],
    store: ReceiptStore,
    moment: Moment,
) -> Evidence:
    """Look at the store once, and further only where the answer is not yes.

    Raises:
        StoreUnavailableError: the store cannot answer now.
    """
    found = store.search(task, batch=wanted)
    seen = view(found, found.unreadable, moment)
    whole = requirement.variables is None
    batch = Batch.of(wanted)
    of_batch = tuple(run for run in seen.receipts if not whole or run.batch == batch)
    successes = [run for run in of_batch if run.status is Status.SUCCESS]
    success = next((run for run in successes if _is_recent(run, requirement, moment)), None)
    with_more = tuple(
        run
        for run in seen.receipts
        if whole and run.batch != batch and run.status is Status.SUCCESS
    )
    of_task: tuple[Receipt, ...] = ()
    unreadable = seen.unreadable
    names: tuple[str, ...] = ()
    if success is None:
        newest = store.list_runs(task, NEWEST_READ)
        of_task = view(newest, (), moment).receipts or seen.receipts
        if not of_task and not unreadable:
            names = tuple(near(task, known_tasks(store) or ()))
    return Evidence(
        requirement=requirement,
        task=task,
        wanted=wanted,
        of_batch=of_batch,
        success=success,
        with_more=with_more,
        of_task=of_task,
        near_names=names,
        unreadable=unreadable if success is None else (),
    )


def _is_recent(run: Receipt, requirement: Requirement, moment: Moment) -> bool:
    age = requirement.max_age
    return not isinstance(age, timedelta) or moment.now - run.finished_at <= age
