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

MOST = 100_000
"""A fact takes about half a kilobyte."""


@dataclass(frozen=True, slots=True)
class Fact:
    """What one version of an object says of a run that has ended."""

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
    """Facts by task and key. Threads may share it."""

    def __init__(self) -> None:
        self._of_task: dict[str, dict[str, Fact]] = {}

    def of_task(self, task: str) -> dict[str, Fact]:
        """What is known of a task's receipts, by key."""
        return dict(self._of_task.get(task, {}))

    def add(self, task: str, facts: Mapping[str, Fact]) -> None:
        """Take over what somebody has kept; what is known already stays."""
        if sum(map(len, self._of_task.values())) + len(facts) <= MOST:
            self._of_task[task] = {**facts, **self._of_task.get(task, {})}

    def is_known(self, task: str, listed: Listed) -> bool:
        """Whether something is known of this version of an object."""
        fact = self._of_task.get(task, {}).get(listed.key)
        return fact is not None and fact.e_tag == listed.e_tag

    def learn(self, task: str, listed: Listed, receipt: Receipt) -> None:
        """Remember what a version of an object says, once its run has ended.

        Where that would be too much, other tasks are forgotten first.
        """
        if listed.e_tag is None or not receipt.status.is_final:
            return
        known = self._of_task.setdefault(task, {})
        if sum(map(len, self._of_task.values())) >= MOST:
            self._of_task = {task: known}
            if len(known) >= MOST:
                return
        known[listed.key] = Fact(
            listed.e_tag, receipt.status, receipt.started_at, receipt.variables
        )

    def rule_out(self, task: str, listed: Listed, wanted: Wanted) -> bool:
        """Whether it is known that this version of an object is not asked for."""
        fact = self._of_task.get(task, {}).get(listed.key)
        if fact is None or fact.e_tag != listed.e_tag:
            return False
        return (
            (wanted.status is not None and fact.status is not wanted.status)
            or (wanted.since is not None and fact.started_at < wanted.since)
            or (wanted.batch is not None and _is_for_other_data(fact.variables, wanted.batch))
        )


def _is_for_other_data(variables: Mapping[str, Scalar], wanted: Mapping[str, str]) -> bool:
    """Whether these variables do not agree with those wanted; mostly told by a glance."""
    for name, text in wanted.items():
        value = variables.get(name)
        if value is None:
            return True
        if isinstance(value, str) and value != text and "://" not in value + text:
            return True
    return not agrees(variables, wanted)
