"""Claims in a folder: the highest of the numbered files of a key says who has it.

``.claims/<key>/<token>`` is linked from a complete temporary file, which of any number of writers
exactly one can do. Its date is when the lease began, by the clock of the file system; a temporary
file that has just been written tells what that clock says now. The highest token stays for good,
so that the next one is greater.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ubunye_core.codec import MAX_RECEIPT_BYTES
from ubunye_core.errors import StoreUnavailableError
from ubunye_core.names import check_run_id
from ubunye_core.stores.atomic import (
    hidden_folder,
    lock,
    make_folder,
    read_with_stat,
    sync_folder,
    unfinished,
)
from ubunye_core.stores.claims import Claim, ClaimKey, Held, check_claim
from ubunye_core.stores.files.place import CLAIMS, TEMPORARY, Place
from ubunye_core.stores.protocol import ReceiptStore
from ubunye_core.stores.refusals import claim_lost
from ubunye_core.stores.takeover import end_of_the_old_holder
from ubunye_core.times import utc_now

TURN_WITHIN_SECONDS = 2.0
"""How long a claimer waits for its turn. Then it goes on: the link elects one even so."""
_DIGITS = 20
_TRIES = 1_000
_SECOND = 1_000_000_000
_TOKEN = re.compile(r"[0-9]{20}")


@dataclass(frozen=True)
class _Record:
    """What the file of the highest token says."""

    token: int
    run_id: str
    lease: timedelta
    claimed_at: datetime
    is_open: bool
    since: int
    """When the lease began, in nanoseconds, by the clock of the file system."""

    def until(self) -> datetime:
        return datetime.fromtimestamp(self.since / _SECOND, UTC) + self.lease

    def has_run_out(self, now: int) -> bool:
        """Whether the lease is over. Where dates are whole seconds, one more is waited for."""
        coarse = _SECOND if self.since % _SECOND == 0 else 0
        return now - self.since >= self.lease // timedelta(microseconds=1) * 1_000 + coarse

    def held(self, key: ClaimKey) -> Held:
        return Held(key=key, run_id=self.run_id, token=self.token, until=self.until())


class Claims:
    """The claims of a folder store."""

    def __init__(self, place: Place, store: ReceiptStore) -> None:
        self._place, self._store = place, store

    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        """Take the right to run, or learn who has it."""
        check_claim(run_id, lease)
        with self._place.writing():
            make_folder(self._place.folder(key.task))
            hidden_folder(self._place.folder(key.task) / CLAIMS)
            hidden_folder(self._folder(key))
            with self._turn(key):
                for _ in range(_TRIES):
                    answer = self._try(key, run_id, lease)
                    if answer is not None:
                        return answer
        raise StoreUnavailableError(f"The claims in {self._folder(key)} cannot be told.")

    def _try(self, key: ClaimKey, run_id: str, lease: timedelta) -> Claim | Held | None:
        """One try to take it; None where another was faster, and all is to be looked at anew."""
        known = self._highest(key)
        is_own = known is not None and known.is_open and known.run_id == run_id
        token = 1 if known is None else known.token if is_own else known.token + 1
        mine = _Record(token, run_id, lease, utc_now(), is_open=True, since=0)
        with self._written(key, mine) as file:
            now = os.stat(file).st_mtime_ns
            if is_own:
                os.replace(file, self._file(key, token))
            else:
                if known is not None and known.is_open:
                    if not known.has_run_out(now):
                        return known.held(key)
                    self._end(key, known)
                    os.utime(file)  # the lease begins when the old one has been ended
                if not _linked(file, self._file(key, token)):
                    return None
        sync_folder(self._folder(key))
        stands = self._highest(key)
        if stands is None or (stands.token, stands.run_id) != (token, run_id):
            return None  # a slow link at a token that has been passed
        self._remove_below(key, token)
        return Claim(key=key, run_id=run_id, token=token, lease=lease)

    def _end(self, key: ClaimKey, known: _Record) -> None:
        end_of_the_old_holder(
            self._store, known.held(key), claimed_at=known.claimed_at, now=utc_now()
        )

    def renew(self, claim: Claim) -> None:
        """Begin the lease anew."""
        with self._place.writing(), self._turn(claim.key):
            file = self._file(claim.key, claim.token)
            with contextlib.suppress(FileNotFoundError):
                if self._is_own(claim):
                    os.utime(file)
                    if self._is_own(claim):
                        return
        raise claim_lost(claim)

    def release(self, claim: Claim) -> None:
        """Give the right back."""
        with self._place.writing(), self._turn(claim.key):
            known = self._highest(claim.key)
            if known is None or not self._is_own(claim):
                return
            given_back = _Record(
                known.token, known.run_id, known.lease, known.claimed_at, is_open=False, since=0
            )
            with self._written(claim.key, given_back) as file:
                os.replace(file, self._file(claim.key, claim.token))
            sync_folder(self._folder(claim.key))

    def holder(self, key: ClaimKey) -> Held | None:
        """Who has the right now; told by this machine's clock where nothing may be written."""
        with self._place.reading():
            self._place.check_root()
            known = self._highest(key)
            if known is None or not known.is_open:
                return None
            return None if known.has_run_out(self._now(key)) else known.held(key)

    def _now(self, key: ClaimKey) -> int:
        """What the clock of the file system says, in nanoseconds."""
        try:
            with unfinished("clock", b"", temporary=self._temporary(key)) as file:
                return os.stat(file).st_mtime_ns
        except OSError:
            return int(utc_now().timestamp() * _SECOND)

    def _is_own(self, claim: Claim) -> bool:
        known = self._highest(claim.key)
        return (
            known is not None
            and known.is_open
            and (known.token, known.run_id) == (claim.token, claim.run_id)
        )

    def _highest(self, key: ClaimKey) -> _Record | None:
        """What the highest token says; None where there is none."""
        for _ in range(_TRIES):
            tokens = self._tokens(key)
            if not tokens:
                return None
            with contextlib.suppress(FileNotFoundError):  # removed: then there is a higher one
                return self._read(key, max(tokens))
        raise StoreUnavailableError(f"The claims in {self._folder(key)} cannot be told.")

    def _tokens(self, key: ClaimKey) -> list[int]:
        try:
            names = os.listdir(self._folder(key))
        except FileNotFoundError:
            return []
        return [int(name) for name in names if _TOKEN.fullmatch(name)]

    def _read(self, key: ClaimKey, token: int) -> _Record:
        file = self._file(key, token)
        text, found = read_with_stat(file, at_most=MAX_RECEIPT_BYTES, follow=False)
        try:
            said = json.loads(text)
            return _Record(
                token=token,
                run_id=check_run_id(said["run_id"]),
                lease=timedelta(seconds=float(said["lease"])),
                claimed_at=datetime.fromisoformat(said["claimed_at"]).astimezone(UTC),
                is_open=bool(said["is_open"]),
                since=found.st_mtime_ns,
            )
        except (ValueError, KeyError, TypeError, OverflowError) as error:
            raise StoreUnavailableError(
                f"The claim {file} is damaged.",
                hint="Who has it cannot be told; remove it by hand.",
            ) from error

    @contextlib.contextmanager
    def _written(self, key: ClaimKey, record: _Record) -> Iterator[Path]:
        """A complete file, not yet at its place."""
        said = {
            "run_id": record.run_id,
            "lease": record.lease.total_seconds(),
            "claimed_at": record.claimed_at.isoformat(),
            "is_open": record.is_open,
            "batch": key.batch.as_dict(),
            "mode": key.mode,
        }
        content = json.dumps(said).encode()
        name = f"{key.digest[:16]}.{record.token}"
        with unfinished(name, content, temporary=self._temporary(key)) as file:
            yield file

    @contextlib.contextmanager
    def _turn(self, key: ClaimKey) -> Iterator[None]:
        """A turn among those who claim, renew and give back; not waited for without end."""
        with contextlib.ExitStack() as turn:
            with contextlib.suppress(TimeoutError, FileNotFoundError):
                turn.enter_context(lock(self._folder(key) / "lock", within=TURN_WITHIN_SECONDS))
            yield

    def _remove_below(self, key: ClaimKey, token: int) -> None:
        for older in self._tokens(key):
            if older < token:
                with contextlib.suppress(OSError):
                    os.unlink(self._file(key, older))

    def _folder(self, key: ClaimKey) -> Path:
        return self._place.folder(key.task) / CLAIMS / key.digest

    def _file(self, key: ClaimKey, token: int) -> Path:
        return self._folder(key) / f"{token:0{_DIGITS}d}"

    def _temporary(self, key: ClaimKey) -> Path:
        return self._place.folder(key.task) / TEMPORARY


def _linked(file: Path, place: Path) -> bool:
    """Whether a file has been linked to its place, by us.

    A network file system may do it, lose the answer and then say that the place is taken: the
    number of links tells.
    """
    try:
        os.link(file, place)
    except FileExistsError:
        return os.stat(file).st_nlink == 2
    return True
