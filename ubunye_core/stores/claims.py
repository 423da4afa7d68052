"""Claims: the right to run one batch of one task now. What all stores share of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta

from ubunye_core.batch import Batch, Scalar
from ubunye_core.errors import ConfigError
from ubunye_core.names import check_run_id, check_task
from ubunye_core.times import LONGEST

SHORTEST_LEASE = timedelta(seconds=1)


@dataclass(frozen=True, kw_only=True)
class ClaimKey:
    """What a claim is for: one batch of one task, in one mode."""

    task: str
    batch: Batch
    mode: str | None = None

    def __post_init__(self) -> None:
        check_task(self.task)

    @classmethod
    def of(cls, task: str, variables: Mapping[str, Scalar]) -> ClaimKey:
        """The key of a run with these variables."""
        mode = variables.get("mode")
        return cls(task=task, batch=Batch.of(variables), mode=None if mode is None else str(mode))

    @property
    def digest(self) -> str:
        """64 hexadecimal digits that stand for the batch and the mode, fit for a file's name."""
        text = json.dumps([self.batch.digest, self.mode], separators=(",", ":"))
        return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True, kw_only=True)
class Claim:
    """The right to run, held by one run. True."""

    key: ClaimKey
    run_id: str
    token: int
    """Greater than that of every earlier claim of this key."""
    lease: timedelta
    """How long it is held without a renewal."""

    def __bool__(self) -> bool:
        return True


@dataclass(frozen=True, kw_only=True)
class Held:
    """Another run has the right. False."""

    key: ClaimKey
    run_id: str
    """The run that has it."""
    token: int
    until: datetime
    """When its lease ends, unless it is renewed; by the store's clock where it has one."""

    def __bool__(self) -> bool:
        return False


def check_claim(run_id: str, lease: timedelta) -> None:
    """Refuse what cannot be claimed with.

    Raises:
        InvalidNameError: the run id breaks the grammar.
        ConfigError: the lease is too short to be renewed in time, or so long that its end is no
            date.
    """
    check_run_id(run_id)
    check_lease(lease)


def check_lease(lease: timedelta) -> None:
    """Refuse a lease that cannot be kept.

    Raises:
        ConfigError: it is too short to be renewed in time, or so long that its end is no date.
    """
    if lease < SHORTEST_LEASE:
        raise ConfigError(f"A lease of {lease.total_seconds():g} s is too short to be kept.")
    if lease > LONGEST:
        raise ConfigError(
            f"A lease of {lease.days} days is too long: the longest is a hundred years."
        )
