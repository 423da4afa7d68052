"""What every check here is made of: its definition in Dagster, and its question by itself."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any
from weakref import WeakKeyDictionary

import dagster as dg

from ubunye_core import ConfigError, ReceiptStore, Requirement, Verdict, is_pattern
from ubunye_dagster.calls import with_store
from ubunye_dagster.names import Asset, asset_key_of

Ask = Callable[[ReceiptStore, Any], dg.AssetCheckResult]
"""The answer of a store, for the context of a run; None is asked outside of one."""


@dataclass(frozen=True)
class Question:
    """What a check asks, without Dagster around it."""

    task: str
    """A task or a pattern."""
    ask: Ask
    in_a_tick: bool
    """Whether it reads receipts and nothing else, and so is soon answered."""


_questions: WeakKeyDictionary[dg.AssetChecksDefinition, Question] = WeakKeyDictionary()


def question_of(check: dg.AssetChecksDefinition) -> Question | None:
    """What a check of this library asks; None for any other check."""
    return _questions.get(check)


def is_asked_in_a_tick(check: dg.AssetChecksDefinition) -> bool:
    """Whether a check is one of this library that is soon answered."""
    question = question_of(check)
    return question is not None and question.in_a_tick


def check_that_asks(
    question: Question,
    *,
    name: str,
    asset: Asset | None,
    description: str,
    resource_key: str,
    store: str | None,
    **check_arguments: Any,
) -> dg.AssetChecksDefinition:
    """A check on the given asset, else on the one whose key is the task's name.

    Raises:
        ConfigError: the asset is not given, and the task is a pattern.
    """
    if asset is None and is_pattern(question.task):
        raise _names_no_asset(question.task, "asset='sales'")

    def check(context: dg.AssetCheckExecutionContext, opened: ReceiptStore) -> dg.AssetCheckResult:
        return question.ask(opened, context)

    stands_on: Any = asset_key_of(question.task) if asset is None else asset
    made = dg.asset_check(asset=stands_on, name=name, description=description, **check_arguments)(
        with_store(check, by="asset_check", resource_key=resource_key, store=store)
    )
    _questions[made] = question
    return made


def answered(
    verdict: Verdict,
    reason: str,
    metadata: Mapping[str, dg.MetadataValue],
    owner: str | None = None,
) -> dg.AssetCheckResult:
    """An answer as the result of a check: "cannot be told" fails as loudly as a no."""
    passed, shown = verdict is Verdict.PASS, dict(metadata)
    if owner is not None:
        shown["owner"] = dg.MetadataValue.text(owner)
        reason = reason if passed else f"{reason} To be told: {owner}."
    return dg.AssetCheckResult(
        passed=passed,
        severity=dg.AssetCheckSeverity.ERROR,
        description=reason,
        metadata=shown,
    )


def pairs_of(
    tasks: Mapping[Any, str] | Iterable[str], *, patterns: bool = True
) -> list[tuple[Asset | None, str]]:
    """The task of each asset; the asset is None where it is named like its task.

    Raises:
        ConfigError: one is no task, or is a pattern whose asset is not given, or that may not be.
    """
    pairs: list[tuple[Asset | None, str]]
    if isinstance(tasks, Mapping):
        pairs = [(asset, task) for asset, task in tasks.items()]
    else:
        several: Any = tasks
        if isinstance(tasks, str | bytes) or not isinstance(tasks, Iterable):
            several = [tasks]
        pairs = [(None, task) for task in several]
    for asset, task in pairs:
        Requirement(task)  # complains of what is no task
        if not patterns:
            check_one_task(task)
        elif asset is None and is_pattern(task):
            raise _names_no_asset(task, f"{{'sales': {task!r}}}")
    return pairs


def check_one_task(task: str) -> None:
    """Check the task of a check that compares runs.

    Raises:
        ConfigError: it is no task, or a pattern.
    """
    Requirement(task)
    if is_pattern(task):
        raise ConfigError(
            f"{task!r} is a pattern, and runs of several tasks cannot be compared.",
            hint="Name one task; several have a check each.",
        )


def _names_no_asset(pattern: str, instead: str) -> ConfigError:
    return ConfigError(
        f"{pattern!r} is a pattern, and names no asset that its check could stand on.",
        hint=f"Say which asset stands for all of them, such as {instead}; or name each task, and "
        f"it has a check of its own.",
    )
