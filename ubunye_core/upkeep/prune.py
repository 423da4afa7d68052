"""Remove old receipts that no answer needs any more."""

from __future__ import annotations

from collections import Counter as Tally
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ubunye_core.counted import count
from ubunye_core.errors import ConfigError, StoreUnavailableError
from ubunye_core.names import check_task_or_pattern, fits
from ubunye_core.questions.answer import Moment
from ubunye_core.receipt import Receipt
from ubunye_core.stores import ReceiptStore, Unreadable
from ubunye_core.stores.url import StoreLike, store_of
from ubunye_core.times import duration
from ubunye_core.upkeep.keeping import Facts, kept_of_task, pinned
from ubunye_core.upkeep.reading import Counter, Told, holdings, nobody

CHUNK = 500


@dataclass(frozen=True, kw_only=True)
class PrunedTask:
    """What goes of one task."""

    task: str
    receipts: int
    """How many were read."""
    goes: int
    """How many are removed."""
    oldest: datetime
    """When the first of those started."""
    newest: datetime
    """When the last of those started."""


@dataclass(frozen=True, kw_only=True)
class PrunedStore:
    """What a prune removed, or would remove."""

    url: str
    """Where the store is, without secrets."""
    cut: datetime
    """What ended earlier is old."""
    tasks: tuple[PrunedTask, ...] = ()
    """The tasks of which something goes."""
    removed: int | None = None
    """How many receipts were removed; None where it was only asked what would be."""
    receipts: int = 0
    """How many were read, in all tasks."""
    kept: Mapping[str, int] = field(default_factory=dict)
    """How many old ones stay, by the reason."""
    unreadable: tuple[Unreadable, ...] = ()
    """What could not be read; it stays."""

    @property
    def goes(self) -> int:
        """How many receipts are old and not needed."""
        return sum(each.goes for each in self.tasks)


def prune_store(
    store: StoreLike = None,
    *,
    older_than: timedelta | str,
    task: str | None = None,
    now: datetime | str | None = None,
    remove: bool = False,
    told: Told | None = None,
) -> PrunedStore:
    """Say which receipts are old and needed for no answer, and with ``remove`` remove them.

    These stay, however old: what says ``running``; of each task its newest run, its last success,
    and what has not succeeded since; of each batch the last success and the newest run; the runs
    that are evidence (``upstreams``) for a receipt of another task that stays; what cannot be
    read.

    Args:
        store: A store or its URL; by default what ``UBUNYE_STORE`` names.
        older_than: How long ago a run must have ended, such as ``400d``.
        task: Remove only of this task, or of those that fit this pattern. All are read, for what
            they have pinned.
        now: The instant to count from; None is the clock.
        remove: Remove them. Otherwise nothing is written.
        told: Called with the task and the number of receipts read or removed so far.

    Raises:
        ConfigError: an argument is wrong, or the store cannot remove receipts.
        ReceiptNotFoundError: a task is named, and the store holds none such.
        StoreUnavailableError: it could not be read or written. Ask again, and it goes on.
    """
    opened, moment = store_of(store), Moment.of(now)
    if not hasattr(opened, "remove"):
        raise ConfigError(
            f"{opened.url} offers no way to remove receipts, so nothing can be pruned.",
            hint="Copy what you need into another store: ubunye-runs store copy.",
        )
    cut = moment.now - duration(older_than, what="older_than")
    wanted = None if task is None else check_task_or_pattern(task)
    plan = _plan(opened, cut, moment, wanted, told)
    return PrunedStore(
        url=opened.url,
        cut=cut,
        tasks=tuple(_summary(name, plan) for name, runs in plan.goes.items() if runs),
        removed=_removed(opened, plan.goes, told) if remove else None,
        receipts=sum(plan.receipts.values()),
        kept=dict(sorted(plan.kept.items())),
        unreadable=tuple(plan.unreadable.values()),
    )


@dataclass
class _Plan:
    """What goes, by task; what stays although it is old, by reason."""

    goes: dict[str, dict[str, Facts]] = field(default_factory=dict)
    receipts: dict[str, int] = field(default_factory=dict)
    kept: Tally[str] = field(default_factory=Tally)
    unreadable: dict[str, Unreadable] = field(default_factory=dict)


def _plan(
    store: ReceiptStore, cut: datetime, moment: Moment, wanted: str | None, told: Told | None
) -> _Plan:
    """Read everything once, and keep of each receipt only what decides."""
    if wanted is not None:
        holdings(store, wanted)  # says so where nothing fits
    plan, counter = _Plan(), Counter(told)
    held = holdings(store)
    plan.unreadable = {bad.where: bad for bad in held.of_no_task}
    pins: dict[str, list[tuple[tuple[str, str], ...]]] = {}
    for task in held.tasks:
        runs: list[Facts] = []
        for found in counter.of(store, task):
            if isinstance(found, Receipt):
                runs.append(Facts.of(found, moment))
            else:
                plan.unreadable[found.where] = found
        kept = kept_of_task(runs, cut)
        is_meant = wanted is None or fits(task, wanted)
        stays = [run for run in runs if run.run_id in kept or not is_meant]
        plan.receipts[task] = len(runs)
        plan.goes[task] = {run.run_id: run for run in runs if is_meant and run.run_id not in kept}
        pins[task] = [run.pins for run in stays if run.pins]
        plan.kept.update(
            kept[run.run_id] for run in stays if is_meant and kept[run.run_id] != "young"
        )
    for task, run_id in pinned(pins, plan.goes):
        del plan.goes[task][run_id]
        plan.kept["evidence"] += 1
    return plan


def _summary(task: str, plan: _Plan) -> PrunedTask:
    started = [run.order[0] for run in plan.goes[task].values()]
    return PrunedTask(
        task=task,
        receipts=plan.receipts[task],
        goes=len(started),
        oldest=min(started),
        newest=max(started),
    )


def _removed(
    store: ReceiptStore, goes: Mapping[str, Mapping[str, Facts]], told: Told | None
) -> int:
    """Remove what goes, the oldest first; returns how many there were."""
    remove, tell = getattr(store, "remove"), told or nobody  # noqa: B009
    removed = 0
    for task, runs in goes.items():
        ids = [run.run_id for run in sorted(runs.values(), key=lambda run: run.order)]
        for start in range(0, len(ids), CHUNK):
            try:
                removed += remove(task, ids[start : start + CHUNK])
            except StoreUnavailableError as error:
                raise StoreUnavailableError(
                    f"The prune was cut short after {count(removed, 'receipt')}: {error}",
                    hint="Prune again, and it goes on from there.",
                ) from error
            tell(task, removed)
    return removed
