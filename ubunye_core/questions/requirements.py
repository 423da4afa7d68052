"""What must be on record before a run may start."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, fields
from datetime import timedelta
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from ubunye_core.batch import text_of
from ubunye_core.errors import ConfigError, NoParenthesesError
from ubunye_core.masking import is_secret_name
from ubunye_core.names import check_task_or_pattern
from ubunye_core.times import duration

if TYPE_CHECKING:
    from ubunye_core.schedules import Schedule

EVERY = "all"
"""What ``windows`` may be."""

ScheduleLike: TypeAlias = (
    "Schedule | Mapping[str, object] | Sequence[Schedule | Mapping[str, object]]"
)
"""A schedule or its versions: as they are, or as a mapping with the keys of ``Schedule``."""


class OnFailed(StrEnum):
    """What a gate does once the batch's newest run is finally not a success."""

    WAIT = "wait"
    FAIL = "fail"


@dataclass(frozen=True)
class Requirement:
    """A task whose success, for a batch, must be on record before another may start.

    Lengths of time are timedeltas or texts such as ``2h``.

    Raises:
        ConfigError: a value cannot be what it stands for.
    """

    task: str
    """The upstream task, or a pattern: then every task that fits must be met."""
    variables: Sequence[str] | Mapping[str, object] | None = None
    """Names whose values must be those of this run; or names and values; None means all batch
    variables of this run. An empty list is met by any success: best with ``max_age``."""
    wait: timedelta | str | None = field(default=None, kw_only=True)
    """How long to keep looking; None looks once."""
    poll: timedelta | str | None = field(default=None, kw_only=True)
    """How long to pause between two looks; None means 60 seconds."""
    max_age: timedelta | str | None = field(default=None, kw_only=True)
    """How old the success may be."""
    on_failed: OnFailed | str = field(default=OnFailed.WAIT, kw_only=True)
    optional: bool = field(default=False, kw_only=True)
    """Whether a miss is recorded, and passes."""
    allow_unknown: bool = field(default=False, kw_only=True)
    """Whether to wait for a task that the store has never seen."""
    windows: str | None = field(default=None, kw_only=True)
    """``all``: every window of the upstream's schedule that shares time with the window of this run
    must have succeeded. ``variables`` then names what must agree beside the window."""
    schedule: ScheduleLike | None = field(default=None, kw_only=True)
    """The upstream's schedule, or the versions of it: for ``windows``."""

    def __post_init__(self) -> None:
        check_task_or_pattern(self.task)
        object.__setattr__(self, "variables", _variables(self.task, self.variables))
        for name in ("wait", "poll", "max_age"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, duration(value, what=f"'{name}'"))
        if self.poll == timedelta(0):
            raise ConfigError("'poll' is zero; two looks need a pause.")
        if self.on_failed not in list(OnFailed):
            raise ConfigError(f"'on_failed' is {self.on_failed!r}.", hint="Use one of: wait, fail.")
        object.__setattr__(self, "on_failed", OnFailed(self.on_failed))
        for name in ("optional", "allow_unknown"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"'{name}' is {getattr(self, name)!r}, not true or false.")
        object.__setattr__(self, "schedule", _versions(self.schedule))
        if self.windows not in (None, EVERY):
            raise ConfigError(f"'windows' is {self.windows!r}.", hint=f"Use: {EVERY}.")
        if (self.windows is None) != (not self.schedule):
            raise ConfigError(
                f"The requirement on {self.task} needs 'windows' and 'schedule', or neither.",
                hint="Which windows there are, the upstream's schedule says.",
            )

    @property
    def versions(self) -> tuple[Schedule, ...]:
        """The versions of the upstream's schedule; none where windows are not asked for."""
        return _versions(self.schedule)

    @property
    def length(self) -> timedelta:
        """How long to keep looking."""
        return self.wait if isinstance(self.wait, timedelta) else timedelta(0)

    @classmethod
    def of(cls, given: RequirementLike) -> Requirement:
        """A requirement from what an author may write: itself, a task's name, or a mapping.

        Raises:
            ConfigError: a key is not known, or a value is wrong.
        """
        if isinstance(given, Requirement):
            return given
        if isinstance(given, str):
            return cls(given)
        if not isinstance(given, Mapping):
            raise _no_requirement(given)
        unknown = [str(key) for key in given if key not in KEYS]
        if unknown:
            raise ConfigError(
                f"'{unknown[0]}' is not a known key of a requirement.",
                hint=f"Known: {', '.join(KEYS)}.",
            )
        if "task" not in given:
            raise ConfigError("A requirement has no 'task'.")
        return cls(**given)  # type: ignore[arg-type]  # each value is checked above


def _versions(given: ScheduleLike | None) -> tuple[Schedule, ...]:
    """The versions of a schedule, from what an author may write."""
    if given is None:
        return ()
    # Not at the top: files of DAGs are read all day, and few of them require windows.
    from ubunye_core.schedules import Schedule

    if isinstance(given, Schedule):
        return (given,)
    if not isinstance(given, Mapping):
        return tuple(version for each in given for version in _versions(each))
    try:
        return (Schedule(**given),)  # type: ignore[arg-type]  # each value is checked there
    except TypeError as error:
        raise ConfigError(f"The schedule has a key that is not known: {error}.") from error


KEYS = tuple(each.name for each in fields(Requirement))
"""What a mapping may say of a requirement, in Python and in YAML."""

RequirementLike = Requirement | str | Mapping[str, object]
"""What an author may write for one: itself, a task's name, or a mapping with its keys."""


def requirements_of(
    given: RequirementLike | Iterable[RequirementLike],
) -> tuple[Requirement, ...]:
    """One requirement or several, from what an author may write.

    Raises:
        ConfigError: there is none, or one is wrong. A gate that requires nothing would be open.
    """
    if isinstance(given, Requirement | str | Mapping):
        given = [given]
    if not isinstance(given, Iterable):
        raise _no_requirement(given)
    found = tuple(Requirement.of(each) for each in given)
    if not found:
        raise ConfigError(
            "Nothing is required, so this gate would always be open.", hint="Name a task."
        )
    return found


def _no_requirement(given: object) -> ConfigError:
    if callable(given):
        return NoParenthesesError(given)
    return ConfigError(f"{given!r} is not a requirement.", hint="Name a task.")


def _variables(task: str, given: object) -> tuple[str, ...] | dict[str, str] | None:
    if given is None:
        return None
    if isinstance(given, Mapping):
        found = {}
        for name, value in given.items():
            text = text_of(value, name=str(name))
            if text is None:
                raise ConfigError(
                    f"The variable '{name}' of the requirement on {task} has no value.",
                    hint="Give one, or leave the variable out.",
                )
            found[str(name)] = text
        if not found:
            raise ConfigError(
                f"'variables' of the requirement on {task} is an empty map, so any old success "
                f"would do.",
                hint="Say 'variables: []' if that is meant, best with 'max_age'.",
            )
        names: Iterable[object] = found
    elif isinstance(given, str) or not isinstance(given, Iterable):
        raise ConfigError(
            f"'variables' of the requirement on {task} is {given!r}.",
            hint="Use a list of names, [month], or names and values, {month: '2026-10'}.",
        )
    else:
        names = list(given)
        found = None
    for name in names:
        if not isinstance(name, str) or not name:
            raise ConfigError(f"{name!r} is not a name for a variable.")
        if is_secret_name(name):
            raise ConfigError(
                f"The requirement on {task} names the variable '{name}', which is masked in "
                f"every receipt and so can never be compared.",
                hint="Leave it out.",
            )
    return found if found is not None else tuple(dict.fromkeys(map(str, names)))
