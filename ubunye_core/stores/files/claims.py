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
from datetime import datetime, timedelta
from pathlib import Path

from ubunye_core.codec import MAX_RECEIPT_BYTES
from ubunye_core.errors import StoreUnavailableError
from ubunye_core.stores.atomic import (
    hidden_folder,
    lock,
    make_folder,
    read_with_stat,
    sync_folder,
    unfinished,
)
from ubunye_core.stores.claims import Claim, ClaimKey, Held
from ubunye_core.stores.deciding import (
    KnownClaim,
    decide_claim,
    holder_of,
    own_claim,
    reading_claim,
    renewable,
    the_time_decides,
)
from ubunye_core.stores.files.place import CLAIMS, TEMPORARY, Place
from ubunye_core.stores.protocol import ReceiptStore
from ubunye_core.stores.takeover import end_of_the_old_holder
from ubunye_core.times import instant_of, parse_instant, utc_now

TURN_WITHIN_SECONDS = 2.0
"""How long a claimer waits for its turn. Then it goes on: the link elects one even so."""
_DIGITS = 20
_TRIES = 1_000
_SECOND = 1_000_000_000
_TOKEN = re.compile(r"[0-9]{20}")


class Claims:
    """The claims of a folder store."""

    def __init__(self, place: Place, store: ReceiptStore) -> None:
        self._place, self._store = place, store

    def claim(self, key: ClaimKey, *, run_id: str, lease: timedelta) -> Claim | Held:
        """Take the right to run, or learn who has it."""
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
        now = self._clock(key) if the_time_decides(known, run_id) else None
        decided = decide_claim(known, key, run_id=run_id, lease=lease, now=now)
        if isinstance(decided, Held):
            return decided
        if decided.lost is not None:
            end_of_the_old_holder(self._store, key, decided.lost, now=now or utc_now())
        claim = decided.claim
        with self._written(claim, claimed_at=utc_now()) as file:
            if decided.is_again:
                os.replace(file, self._file(key, claim.token))
            elif not _linked(file, self._file(key, claim.token)):
                return None
        sync_folder(self._folder(key))
        if own_claim(self._highest(key), claim) is None:
            return None  # a slow link at a token that has been passed
        self._remove_below(key, claim.token)
        return claim

    def renew(self, claim: Claim) -> None:
        """Begin the lease anew."""
        with self._place.writing(), self._turn(claim.key):
            self._place.check_root()
            renewable(self._highest(claim.key), claim)
            with contextlib.suppress(FileNotFoundError):
                os.utime(self._file(claim.key, claim.token))
            renewable(self._highest(claim.key), claim)

    def release(self, claim: Claim) -> None:
        """Give the right back."""
        with self._place.writing(), self._turn(claim.key):
            self._place.check_root()
            known = own_claim(self._highest(claim.key), claim)
            if known is None:
                return
            with self._written(claim, claimed_at=known.claimed_at, is_open=False) as file:
                os.replace(file, self._file(claim.key, claim.token))
            sync_folder(self._folder(claim.key))

    def holder(self, key: ClaimKey) -> Held | None:
        """Who has the right now; told by this machine's clock where nothing may be written."""
        with self._place.reading():
            self._place.check_root()
            known = self._highest(key)
            if known is None or not known.is_standing:
                return None
            try:
                now = self._clock(key)
            except OSError:
                now = utc_now()
            return holder_of(known, key, now)

    def _clock(self, key: ClaimKey) -> datetime:
        """What the clock of the file system says: the date of a file that is written now."""
        with unfinished("clock", b"", temporary=self._temporary(key)) as file:
            return _moment(os.stat(file).st_mtime_ns)

    def _highest(self, key: ClaimKey) -> KnownClaim | None:
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

    def _read(self, key: ClaimKey, token: int) -> KnownClaim:
        file = self._file(key, token)
        text, found = read_with_stat(file, at_most=MAX_RECEIPT_BYTES, follow=False)
        with reading_claim(str(file)):
            said = json.loads(text)
            return KnownClaim(
                token=token,
                run_id=said["run_id"],
                claimed_at=parse_instant(said["claimed_at"]),
                until=_over_at(found.st_mtime_ns, timedelta(seconds=float(said["lease"]))),
                is_open=said["is_open"],
            )

    @contextlib.contextmanager
    def _written(
        self, claim: Claim, *, claimed_at: datetime, is_open: bool = True
    ) -> Iterator[Path]:
        """A complete file, not yet at its place. Its date is when the lease begins."""
        key = claim.key
        said = {
            "run_id": claim.run_id,
            "lease": claim.lease.total_seconds(),
            "claimed_at": claimed_at.isoformat(),
            "is_open": is_open,
            "batch": key.batch.as_dict(),
            "mode": key.mode,
        }
        content = json.dumps(said).encode()
        name = f"{key.digest[:16]}.{claim.token}"
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


def _moment(nanoseconds: int) -> datetime:
    """A date of the file system, to the microsecond below."""
    return instant_of(nanoseconds // 1000)


def _over_at(since: int, lease: timedelta) -> datetime:
    """When a lease is over that began at a date of the file system.

    Where dates are whole seconds, one more is waited for.
    """
    tick = timedelta(seconds=1) if since % _SECOND == 0 else timedelta(microseconds=1)
    return _moment(since) + lease + tick


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
