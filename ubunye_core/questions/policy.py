"""On what terms a task may be run: one run of a batch at a time, in order, with a reason."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from enum import StrEnum

from ubunye_core.errors import ConfigError
from ubunye_core.names import one_of
from ubunye_core.times import duration

LEASE = timedelta(minutes=15)
WAIT = timedelta(hours=1)


class IfHeld(StrEnum):
    """What a run does whose batch another run holds."""

    FAIL = "fail"
    """It is refused, loudly."""
    SKIP = "skip"
    """It is refused, quietly."""
    WAIT = "wait"
    """It waits until the batch is free, and then goes by the rules."""


@dataclass(frozen=True, kw_only=True)
class Policy:
    """On what terms a task may be run.

    Lengths of time are timedeltas or texts such as ``2h``. All but ``require_reason`` is about the
    guard: what says how to guard also guards.

    Raises:
        ConfigError: a value cannot be what it stands for.
    """

    require_reason: bool = False
    """Whether a run that is started by hand must say why."""
    guard: bool = False
    """Whether a run must have its batch to itself."""
    ordered: bool = False
    """Whether a window is refused before the one before it has succeeded; needs the schedule."""
    if_held: IfHeld | str | None = None
    """What to do while another run holds the batch; None is ``fail``."""
    wait: timedelta | str | None = None
    """With ``if_held: wait``, how long; None is an hour."""
    poll: timedelta | str | None = None
    """With ``if_held: wait``, how long to pause between two looks; None is 60 seconds."""
    lease: timedelta | str | None = None
    """How long a run may be silent before another takes over; None is 15 minutes."""

    def __post_init__(self) -> None:
        for name in ("require_reason", "guard", "ordered"):
            if not isinstance(getattr(self, name), bool):
                raise ConfigError(f"'{name}' is {getattr(self, name)!r}, not true or false.")
        for name in ("wait", "poll", "lease"):
            value = getattr(self, name)
            if value is not None:
                object.__setattr__(self, name, duration(value, what=f"'{name}'"))
        if self.poll == timedelta(0):
            raise ConfigError("'poll' is zero; two looks need a pause.")
        if self.if_held is not None:
            object.__setattr__(self, "if_held", one_of(IfHeld, self.if_held, "if_held"))

    @property
    def guards(self) -> bool:
        """Whether it asks for a guard."""
        said = (self.if_held, self.wait, self.poll, self.lease)
        return self.guard or self.ordered or any(each is not None for each in said)
