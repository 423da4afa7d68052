"""The words of a plan: what is to be done about which window."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import InitVar, dataclass, field
from datetime import timedelta
from enum import StrEnum

from ubunye_core.names import check_task
from ubunye_core.questions.requirements import Requirement, RequirementLike, requirements_of
from ubunye_core.questions.window_state import WindowState
from ubunye_core.schedules import Schedule, ScheduledWindow
from ubunye_core.times import duration


class Include(StrEnum):
    """Which windows a plan takes up."""

    MISSING = "missing"
    """Those in which nothing ran, or a gate refused to."""
    MISSING_AND_FAILED = "missing+failed"
    """Also those whose run failed, was interrupted or is stuck."""
    ALL = "all"
    """Also those that succeeded: they run again."""


class Catchup(StrEnum):
    """What an adapter may start by itself."""

    NONE = "none"
    LATEST = "latest"
    """The newest window of each task."""
    ALL = "all"


class Action(StrEnum):
    """What is to be done about a window."""

    RUN = "run"
    SKIP = "skip"
    """A run is under way, or the plan is full."""
    TOO_OLD = "too_old"
    """Its source keeps its data no longer."""
    EXCLUDED = "excluded"
    """The calendar has no work for it."""
    BLOCKED = "blocked"
    """What it requires has not succeeded, and is not in this plan; or it has failed too often; or
    it cannot be told."""


@dataclass(frozen=True, kw_only=True)
class ToCatchUp:
    """A task whose windows are planned.

    Raises:
        ConfigError: something of it is wrong.
    """

    task: str
    schedule: InitVar[Schedule | Sequence[Schedule]]
    """Its schedule, or the versions of it."""
    requires: InitVar[RequirementLike | Iterable[RequirementLike]] = ()
    """What must have succeeded for a window's variables."""
    retention: timedelta | str | None = None
    """How long its source keeps its data; None: for ever."""
    owners: Mapping[str, str] = field(default_factory=dict)
    """Who is to be told of this task, and of those that it requires, where that is known."""
    versions: tuple[Schedule, ...] = field(init=False)
    requirements: tuple[Requirement, ...] = field(init=False)

    def __post_init__(
        self,
        schedule: Schedule | Sequence[Schedule],
        requires: RequirementLike | Iterable[RequirementLike],
    ) -> None:
        check_task(self.task)
        versions = (schedule,) if isinstance(schedule, Schedule) else tuple(schedule)
        object.__setattr__(self, "versions", versions)
        wanted = requirements_of(requires) if requires else ()
        object.__setattr__(self, "requirements", wanted)
        if self.retention is not None:
            object.__setattr__(self, "retention", duration(self.retention, what="retention"))


@dataclass(frozen=True, kw_only=True)
class PlannedWindow:
    """One window of a plan."""

    task: str
    window: ScheduledWindow
    action: Action
    reason: str
    state: WindowState
    runs: tuple[str, ...] = ()
    """The runs for it so far, newest first."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """What a run is to be given for this window, where the schedule names a variable."""
    after: tuple[str, ...] = ()
    """Windows of this plan that must succeed first, as ``task window``."""
    because_of: str | None = None
    """The task that has to run for this window to be done: this one, or one that it requires, or
    that one requires in turn."""
    owner: str | None = None
    """Who owns that task, where it is known."""

    @property
    def name(self) -> str:
        """The window with its task, for people and for ``after``."""
        return f"{self.task} {self.window.name}"
