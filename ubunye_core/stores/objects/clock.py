"""The server's clock, as the dates of its objects show it."""

from __future__ import annotations

import os
import time
from datetime import datetime, timedelta

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.stores.objects.bucket import Bucket
from ubunye_core.times import utc_now

A_SECOND = timedelta(seconds=1)
"""How finely an object's date tells when it was written."""
_GOOD_FOR = 60.0
_PROBES = ".clock"


class ServerClock:
    """What time it is by the server's clock: never later than it is there, and hardly earlier."""

    def __init__(self, bucket: Bucket) -> None:
        self._bucket = bucket
        self._shown: tuple[datetime, float] | None = None

    def now(self) -> datetime:
        """The time; measured anew each minute. By this machine's clock where nobody may write."""
        shown = self._shown
        if shown is None or not 0 <= time.monotonic() - shown[1] < _GOOD_FOR:
            try:
                shown = self._shown = self.measured()
            except StoreUnavailableError:
                return utc_now()
        return shown[0] + timedelta(seconds=time.monotonic() - shown[1])

    def measured(self) -> tuple[datetime, float]:
        """The date of an object that is written now, and the moment after by ``monotonic``.

        The object is removed again.
        """
        key = f"{_PROBES}/{os.urandom(8).hex()}"
        self._bucket.write(key, b"Shows the time. May be removed.\n", over=None)
        written = time.monotonic()
        try:
            stored = self._bucket.get(key)
        finally:
            self._bucket.delete([key])
        if stored is None:
            raise StoreUnavailableError(f"{self._bucket.where(key)} has gone at once.")
        return stored.modified, written
