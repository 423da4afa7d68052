"""What is remembered of receipts that have ended, so that they need not be read again.

A fact belongs to one version of an object: a fresh listing shows the version, and another version
is read. Nothing is remembered of a run that is running, nor that something is absent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime

from ubunye_core.batch import Scalar, agrees
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.objects.bucket import Listed

MOST = 200_000


@dataclass(frozen=True, slots=True)
class _Fact:
    e_tag: str
    status: Status
    started_at: datetime
    variables: Mapping[str, Scalar]


@dataclass(frozen=True, kw_only=True)
class Wanted:
    """Which receipts a question asks for."""

    status: Status | None = None
    since: datetime | None = None
    batch: Mapping[str, str] | None = None


class Facts:
    """Facts by key. Threads may share it."""

    def __init__(self) -> None:
        self._facts: dict[str, _Fact] = {}

    def learn(self, listed: Listed, receipt: Receipt) -> None:
        """Remember what a version of an object says, once its run has ended."""
        if listed.e_tag is None or not receipt.status.is_final:
            return
        if len(self._facts) >= MOST:
            self._facts = {}
        self._facts[listed.key] = _Fact(
            listed.e_tag, receipt.status, receipt.started_at, receipt.variables
        )

    def rule_out(self, listed: Listed, wanted: Wanted) -> bool:
        """Whether it is known that this version of an object is not asked for."""
        fact = self._facts.get(listed.key)
        if fact is None or fact.e_tag != listed.e_tag:
            return False
        return (
            (wanted.status is not None and fact.status is not wanted.status)
            or (wanted.since is not None and fact.started_at < wanted.since)
            or (wanted.batch is not None and not agrees(fact.variables, wanted.batch))
        )
