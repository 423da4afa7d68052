"""What can be told of a bucket: what one may do in it, and what it promises."""

from __future__ import annotations

import contextlib
import os
import time
from collections.abc import Iterator
from datetime import timedelta

from ubunye_core.errors import ConfigError, StoreUnavailableError
from ubunye_core.stores.capabilities import Finding
from ubunye_core.stores.objects.bucket import Bucket
from ubunye_core.stores.objects.clock import A_SECOND
from ubunye_core.stores.objects.leases import Leases
from ubunye_core.times import utc_now

_PROBES = ".examine"
_FAR = timedelta(seconds=5)


def examine(bucket: Bucket, leases: Leases) -> Iterator[Finding]:
    """Look at a bucket, and leave no trace in it."""
    probe = f"{_PROBES}/{os.urandom(8).hex()}"
    try:
        bucket.folders("")
    except StoreUnavailableError as error:
        yield Finding(what="list", good=False, why=str(error))
    else:
        yield Finding(what="list", good=True, why="the bucket can be listed; no listing is kept")
    try:
        bucket.get(probe)
    except StoreUnavailableError as error:
        yield Finding(what="read", good=False, why=str(error))
    else:
        yield Finding(what="read", good=True, why="objects can be read")
    yield from _writing(bucket, leases, probe)


def _writing(bucket: Bucket, leases: Leases, probe: str) -> Iterator[Finding]:
    unknown = "it cannot be told where nothing can be written"
    try:
        bucket.check_conditions(probe)
    except StoreUnavailableError as error:
        yield Finding(what="write", good=False, why=str(error))
        yield Finding(what="claim", good=None, why=unknown)
        yield Finding(what="clock", good=None, why=f"{unknown}; leases then go by this machine's")
        return
    except ConfigError as error:
        yield Finding(what="write", good=False, why=str(error))
        yield Finding(what="claim", good=False, why="claims need conditional writes too")
        return
    finally:
        with contextlib.suppress(StoreUnavailableError):
            bucket.delete([probe])
    yield Finding(
        what="write",
        good=True,
        why="put-if-absent and compare-and-set are kept, so writers at once lose nothing",
    )
    yield Finding(what="durability", good=True, why="a save is durable when the server says so")
    yield Finding(
        what="claim",
        good=True,
        why="one winner, by compare-and-set; leases go by the server's clock, to 2 seconds",
    )
    yield _clock(leases)


def _clock(leases: Leases) -> Finding:
    try:
        shown, then = leases.clock.measured()
    except StoreUnavailableError as error:
        return Finding(what="clock", good=None, why=str(error))
    ahead = shown - (utc_now() - timedelta(seconds=time.monotonic() - then))
    if -_FAR <= ahead <= _FAR - A_SECOND:
        return Finding(what="clock", good=True, why="the server's and this machine's agree")
    word = "ahead of" if ahead > timedelta(0) else "behind"
    return Finding(
        what="clock",
        good=False,
        why=f"the server's is {abs(ahead.total_seconds()):.0f} s {word} this machine's",
    )
