"""External assets for the tasks of a store, whichever scheduler runs them."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterable, Mapping, Sequence
from os import PathLike
from typing import TypeVar

import dagster as dg

from ubunye_core import Found, ReceiptStore, tasks_named
from ubunye_dagster.names import Key, as_name, asset_key_of
from ubunye_dagster.resource import check_store_url, store_named
from ubunye_dagster.tags import PACKAGE, TASK, USECASE
from ubunye_dagster.wording import cannot_be_read

EVERY_TASK = "*/*/*"
RECEIPTS_READ = 20
"""Of each task, so many of its newest receipts tell its upstreams and its scheduler."""
MOST_KINDS = 3
Given = TypeVar("Given")


def load_receipt_asset_specs(
    tasks: str | Iterable[str] = EVERY_TASK,
    *,
    store: ReceiptStore | str | PathLike[str] | None = None,
    exclude: str | Iterable[str] = (),
    owners: Mapping[str, str | Sequence[str]] | None = None,
    descriptions: Mapping[str, str] | None = None,
    partitions: Mapping[str, dg.PartitionsDefinition] | None = None,
    asset_keys: Mapping[str, Key] | None = None,
    group_name: str | None = None,
) -> list[dg.AssetSpec]:
    """An external asset for each task of a store.

    ::

        specs = load_receipt_asset_specs("pay/*/*", owners={"pay/*/*": "team:payroll"})
        defs = dg.Definitions(assets=[*specs, send])

    Its key is the task's three segments, it depends on the tasks that satisfied its gates, and its
    kind is the scheduler that ran it last. The store is read once, when the code location is
    loaded: a task that is new after that is an asset after the next load.

    A mapping names tasks or patterns; of several that fit a task the last one counts.

    Args:
        tasks: Tasks or patterns. A task that is named is an asset also before it has ever run.
        store: A store, its URL or path; by default what ``UBUNYE_STORE`` names.
        exclude: Tasks or patterns to leave out, such as those whose assets stand in this code
            location already.
        owners: Who is told. What is neither an e-mail address nor ``team:...`` is a team.
        descriptions: What the assets are.
        partitions: How the assets are partitioned; without, they are not.
        asset_keys: The keys of assets that are not named like their task.
        group_name: One group for all; by default the first segment of each task.

    Raises:
        ConfigError: a name is none, or the store cannot list its tasks.
        StoreUnavailableError: the store cannot be read now.
    """
    if store is not None and not callable(getattr(store, "list_runs", None)):
        check_store_url(store)
    opened = store_named(store) if store is None or isinstance(store, str | PathLike) else store
    asked = tasks_named(tasks, store=opened)
    left_out = tasks_named(exclude, among=asked)
    named = [task for task in asked if task not in left_out]
    found = {task: opened.list_runs(task, RECEIPTS_READ) for task in named}
    _warn_of_unreadable(found)
    edges = _without_circles({task: _upstreams(task, runs) for task, runs in found.items()})
    owner_of, described = _by_task(owners, named), _by_task(descriptions, named)
    partitioned = _by_task(partitions, named)
    return [
        dg.AssetSpec(
            asset_key_of(task, asset_keys),
            deps=[asset_key_of(each, asset_keys) for each in edges[task]],
            description=described.get(task) or _description(task, found[task]),
            metadata={TASK: task},
            group_name=group_name or as_name(task.split("/")[0]),
            owners=_owners(owner_of.get(task, ())),
            kinds=_kinds(found[task]),
            tags=_tags(task),
            partitions_def=partitioned.get(task),
        )
        for task in named
    ]


def _by_task(given: Mapping[str, Given] | None, named: Sequence[str]) -> dict[str, Given]:
    """For each task what the last name or pattern that fits it was given."""
    return {
        task: value
        for name, value in (given or {}).items()
        for task in tasks_named(name, among=named)
    }


def _upstreams(task: str, runs: Found) -> list[str]:
    pinned = {pin.task for run in runs for pin in run.upstreams if pin.task != task}
    return sorted(pinned)


def _without_circles(edges: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """The edges less those that would close a circle, which Dagster refuses; a warning says so."""
    kept: dict[str, list[str]] = {task: [] for task in edges}
    for task, upstreams in edges.items():
        for upstream in upstreams:
            if _leads_to(upstream, task, kept):
                warnings.warn(
                    f"{task} and {upstream} wait for each other, says the store: the asset of "
                    f"{task} does not show that it depends on {upstream}.",
                    stacklevel=3,
                )
            else:
                kept[task].append(upstream)
    return kept


def _leads_to(start: str, wanted: str, edges: Mapping[str, Sequence[str]]) -> bool:
    """Whether a task is upstream of another, or is that one."""
    seen, ahead = {start}, [start]
    while ahead:
        task = ahead.pop()
        if task == wanted:
            return True
        ahead += [each for each in edges.get(task, ()) if each not in seen]
        seen.update(ahead)
    return False


def _warn_of_unreadable(found: Mapping[str, Found]) -> None:
    bad = [each for runs in found.values() for each in runs.unreadable]
    if bad:
        warnings.warn(
            f"Assets may lack what they depend on: {cannot_be_read(bad, 1)}", stacklevel=3
        )


def _description(task: str, runs: Found) -> str:
    if not runs:
        return f"The task {task}; it has never run, as far as the store knows."
    by = next((run.orchestrator.name for run in runs if run.orchestrator), None)
    return f"The task {task}, known by its receipts" + (f"; {by} runs it." if by else ".")


def _kinds(runs: Found) -> set[str]:
    """The schedulers that ran it, the last one first: Dagster allows three."""
    names = dict.fromkeys(run.orchestrator.name.lower() for run in runs if run.orchestrator)
    kinds = [
        kind for kind in (re.sub(r"[^\w.-]+", "-", name)[:32].strip("-") for name in names) if kind
    ]
    return set(kinds[:MOST_KINDS])


def _tags(task: str) -> dict[str, str]:
    """The first two segments, by which assets are filtered, as far as Dagster takes them."""
    usecase, package, _ = task.split("/")
    tags = {USECASE: usecase, PACKAGE: package}
    return {name: text for name, text in tags.items() if len(text) <= 63}


def _owners(given: str | Sequence[str]) -> list[str]:
    owners = [given] if isinstance(given, str) else list(given)
    return [_owner(each) for each in owners]


def _owner(owner: str) -> str:
    """An owner as Dagster takes it: an e-mail address, or a team."""
    try:
        dg.AssetSpec("any", owners=[owner])
    except dg.DagsterInvalidDefinitionError:
        team = re.sub(r"[^\w.@-]+", "-", owner).strip("-")
        return f"team:{team}"
    return owner
