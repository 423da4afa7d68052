"""The requirements that a command asks about: from its options, or from a task's YAML."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path

from ubunye_core.batch import NOT_IN_BATCH
from ubunye_core.errors import ConfigError
from ubunye_core.questions import OnFailed, Requirement, read_requirements


@dataclass(frozen=True, kw_only=True)
class Terms:
    """What the options say about every requirement; None and False where they say nothing."""

    max_age: timedelta | None = None
    on_failed: str | None = None
    allow_unknown: bool = False
    whole_batch: bool = False
    any_batch: bool = False

    @property
    def given(self) -> list[str]:
        """The options that say something, as they are written."""
        said = [name for name, value in vars(self).items() if value not in (None, False)]
        return [f"--{name.replace('_', '-')}" for name in said]


def from_file(file: Path, *, beside: Sequence[str] = ()) -> tuple[Requirement, ...]:
    """The requirements that stand in a file.

    Args:
        file: ``config.yaml`` or ``receipts.yaml``, or the folder that holds them.
        beside: What else was given, and would say the same again.

    Raises:
        ConfigError: something is wrong in it, it requires nothing, or anything stands beside it.
    """
    if beside:
        raise ConfigError(
            f"--config takes the requirements from {file}, so {', '.join(beside)} cannot be "
            f"given too.",
            hint="Write it into the file, or leave out --config.",
        )
    found = read_requirements(file)
    if not found:
        raise ConfigError(
            f"{file} requires nothing, so there is nothing to ask.",
            hint="Write 'requires' into its receipts.yaml, or under CONFIG in its config.yaml; or "
            "leave out --config.",
        )
    return found


def from_options(
    tasks: Sequence[str], variables: Mapping[str, str], terms: Terms, *, if_any: str
) -> tuple[Requirement, ...]:
    """A requirement on each task, on the variables given or, by its terms, the whole batch.

    Args:
        tasks: Tasks and patterns.
        variables: The variables given; with none of the batch, any old success would do, which
            nobody means by leaving something out.
        terms: What the options say.
        if_any: What to write if that is meant.

    Raises:
        ConfigError: no batch is named, or a value is wrong.
    """
    in_batch = [name for name in variables if name not in NOT_IN_BATCH]
    if terms.any_batch and (in_batch or terms.whole_batch):
        raise ConfigError("--any-batch contradicts --var and --whole-batch.")
    if not in_batch and not terms.any_batch:
        raise ConfigError(
            "No batch is named, so any old success would do.",
            hint=f"Say which, such as --var month=2026-10; if any will do, {if_any}.",
        )
    return tuple(
        Requirement(
            task,
            None if terms.whole_batch else list(variables),
            max_age=terms.max_age,
            on_failed=terms.on_failed or OnFailed.WAIT,
            allow_unknown=terms.allow_unknown,
        )
        for task in tasks
    )
