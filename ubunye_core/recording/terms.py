"""On what terms a run is recorded: what its call says, on top of its task's policy."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Literal, TypedDict

from ubunye_core.errors import ConfigError
from ubunye_core.names import one_of
from ubunye_core.questions.guard import order_of
from ubunye_core.questions.policy import LEASE, WAIT, IfHeld, Policy
from ubunye_core.questions.wait import POLL
from ubunye_core.stores.claims import check_lease
from ubunye_core.times import duration, instant

if TYPE_CHECKING:
    from ubunye_core.schedules import Schedule

_YES_OR_NO: tuple[Literal["rerun", "ordered"], ...] = ("rerun", "ordered")
PolicyLike = Policy | str | os.PathLike[str]
"""A policy, or where it stands: a task's folder, or its ``config.yaml`` or ``receipts.yaml``."""


class GuardTerms(TypedDict, total=False):
    """How a run is guarded; what is not said here, or None, is as the policy says."""

    rerun: bool
    """Whether a batch that has succeeded may be run again."""
    lease: timedelta | str | None
    """How long the run may be silent before another takes over; 15 minutes unless said."""
    if_held: IfHeld | str | None
    """What to do while another run holds the batch: ``fail`` (unless said), ``skip``, ``wait``."""
    wait: timedelta | str | None
    """With ``if_held="wait"``, how long, from the start of the run; an hour unless said."""
    deadline: datetime | str | None
    """With ``if_held="wait"``, until when, whenever the run started; wins over ``wait``."""
    poll: timedelta | str | None
    """With ``if_held="wait"``, the pause between two looks; 60 seconds unless said."""
    ordered: bool
    """Whether the window before this one must have succeeded."""
    schedule: Schedule | Sequence[Schedule] | None
    """With ``ordered``, the schedule of the task; by default that of the policy's file."""


@dataclass(frozen=True, kw_only=True)
class Guarding:
    """How a run is guarded, with nothing left open."""

    rerun: bool
    lease: timedelta
    if_held: IfHeld
    wait: timedelta
    deadline: datetime | None
    poll: timedelta
    schedule: Schedule | Sequence[Schedule] | None
    """The schedule in whose order it is run; None: in any."""

    def until(self, started_at: datetime) -> datetime:
        """When a run that started then waits no longer."""
        return started_at + self.wait if self.deadline is None else self.deadline


@dataclass(frozen=True)
class Terms:
    """What must be so for a run to begin."""

    require_reason: bool = False
    guarding: Guarding | None = None


def terms_of(guard: bool, policy: PolicyLike | None, given: GuardTerms) -> Terms:
    """The terms of a run: those of its task's policy, and what its call adds to it.

    A call may say otherwise how long to wait and what to do then. It cannot take away that a
    reason, a guard or an order is wanted.

    Raises:
        ConfigError: something is wrong, or says how to guard where nothing guards.
    """
    if guard is not None and not isinstance(guard, bool):
        raise ConfigError(f"'guard' is {guard!r}, not true or false.")
    task, schedule = _policy(policy)
    said = {
        name: value
        for name, value in given.items()
        if value is not None and not (value is False and name in _YES_OR_NO)
    }
    unknown = [name for name in said if name not in GuardTerms.__annotations__]
    if unknown:
        raise TypeError(f"record_run() got an unexpected keyword argument {unknown[0]!r}")
    if not guard and not task.guards:
        if said:
            names = " and ".join(f"'{name}'" for name in said)
            raise ConfigError(f"{names}: that is how to guard.", hint="Give guard=True, too.")
        return Terms(task.require_reason)
    return Terms(task.require_reason, _guarding(task, schedule, GuardTerms(**said)))  # type: ignore[typeddict-item]


def _policy(given: PolicyLike | None) -> tuple[Policy, Sequence[Schedule]]:
    """A policy, and the schedule that stands beside it."""
    if given is None:
        return Policy(), ()
    if isinstance(given, Policy):
        return given, ()
    if not isinstance(given, str | os.PathLike):
        raise ConfigError(
            f"A {type(given).__name__} is no policy.",
            hint="Give Policy(require_reason=True, ...) of ubunye_core, or its folder or YAML.",
        )
    from ubunye_core.questions.policyfiles import read_policy
    from ubunye_core.questions.schedulefiles import read_schedule

    place = os.fspath(given)
    return read_policy(place), read_schedule(place)


def _guarding(task: Policy, of_task: Sequence[Schedule], said: GuardTerms) -> Guarding:
    if_held = one_of(IfHeld, said.get("if_held", task.if_held or IfHeld.FAIL), "if_held")
    for name in ("wait", "deadline", "poll"):
        if name in said and if_held is not IfHeld.WAIT:
            raise ConfigError(
                f"'{name}' says how to wait for a batch that is held.",
                hint="Give if_held='wait', too.",
            )
    for name in _YES_OR_NO:
        if not isinstance(said.get(name, False), bool):  # "no" would be a yes
            raise ConfigError(f"'{name}' is {said.get(name)!r}, not true or false.")
    deadline, schedule = said.get("deadline"), _schedule(said.get("schedule"))
    ordered = said.get("ordered", False) or task.ordered
    if ordered:
        schedule = schedule or of_task
    order_of(ordered, schedule, None)  # complains here, rather than when the run begins
    poll = _length(said.get("poll"), task.poll, POLL, "poll")
    if not poll:
        raise ConfigError("'poll' is zero; two looks need a pause.")
    lease = _length(said.get("lease"), task.lease, LEASE, "lease")
    check_lease(lease)
    return Guarding(
        rerun=said.get("rerun", False),
        lease=lease,
        if_held=if_held,
        wait=_length(said.get("wait"), task.wait, WAIT, "wait"),
        deadline=None if deadline is None else instant(deadline, what="deadline"),
        poll=poll,
        schedule=schedule,
    )


def _schedule(
    given: Schedule | Sequence[Schedule] | None,
) -> Schedule | Sequence[Schedule] | None:
    """A schedule, or the versions of one."""
    if given is None:
        return None
    # Not at the top: few runs are ordered.
    from ubunye_core.schedules import Schedule

    versions = given if isinstance(given, Sequence) else [given]
    for each in versions:
        if not isinstance(each, Schedule):
            raise ConfigError(
                f"'schedule' or a version of it is of type {type(each).__name__}.",
                hint="Give Schedule(cron='0 2 * * *', ...), or a list of its versions.",
            )
    return given


def _length(
    said: timedelta | str | None, of_task: timedelta | str | None, usual: timedelta, what: str
) -> timedelta:
    """What the call says, else its task's policy, else what is usual."""
    given = of_task if said is None else said
    return usual if given is None else duration(given, what=what)
