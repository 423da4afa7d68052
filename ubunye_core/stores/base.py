"""What the stores of this library do alike with what they are asked, before they look anywhere."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime, timedelta

from ubunye_core.names import check_run_id, check_task
from ubunye_core.receipt import Orchestrator, Receipt, Status
from ubunye_core.stores.capabilities import GivesClaims
from ubunye_core.stores.claims import Claim, ClaimKey, Held, check_claim
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.select import select_read
from ubunye_core.times import as_utc


class BaseStore(ABC):
    """Checks a search before a place is looked at: what is asked wrongly is told everywhere."""

    def list_runs(self, task: str, n: int = 20) -> Found:
        """The newest ``n`` readable receipts of a task."""
        return self.search(task, limit=n)

    def search(
        self,
        task: str | None = None,
        status: Status | None = None,
        since: datetime | None = None,
        *,
        batch: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> Found:
        """The receipts that fit everything given."""
        return self._search(
            None if task is None else check_task(task),
            None if status is None else Status(status),
            None if since is None else as_utc(since),
            batch,
            limit,
        )

    @abstractmethod
    def _search(
        self,
        task: str | None,
        status: Status | None,
        since: datetime | None,
        batch: Mapping[str, str] | None,
        limit: int | None,
    ) -> Found:
        """The answer to ``search``."""


class HasClaims:
    """A store whose claims are kept by a part of it."""

    _claims: GivesClaims

    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        """Take the right to run, or learn who has it."""
        check_claim(run_id, lease)
        return self._claims.claim(key, run_id=run_id, lease=lease)

    def renew(self, claim: Claim) -> None:
        """Begin the lease anew."""
        self._claims.renew(claim)

    def release(self, claim: Claim) -> None:
        """Give the right back."""
        self._claims.release(claim)

    def holder(self, key: ClaimKey) -> Held | None:
        """Who has the right now."""
        return self._claims.holder(key)


def checked(receipt: Receipt) -> Receipt:
    """A receipt whose names keep to the grammar."""
    check_task(receipt.task)
    check_run_id(receipt.run_id)
    return receipt


def in_parts(task: str, run_ids: Sequence[str], *, at_once: int) -> list[list[str]]:
    """The ids of runs that are to be removed, each once, so many at a time."""
    check_task(task)
    ids = sorted({check_run_id(run_id) for run_id in run_ids})
    return [ids[at : at + at_once] for at in range(0, len(ids), at_once)]


def of_the_attempt(read: Iterable[Receipt | Unreadable], attempt: Orchestrator) -> Found:
    """The answer to ``of_attempt``, of receipts among which all of that attempt are."""
    found = select_read(read)
    same = (receipt for receipt in found if attempt.is_same_attempt(receipt.orchestrator))
    return Found(same, found.unreadable)
