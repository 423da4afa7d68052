"""When a lease in a folder is over, by the dates that its file system gives to files."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from ubunye_core.stores import Claim, ClaimKey, FileStore
from ubunye_core.testing import A_TASK

KEY = ClaimKey.of(A_TASK, {"month": "2026-10"})
SECOND = 1_000_000_000


@pytest.mark.parametrize(
    ("since", "over"),
    [
        (1_790_000_000 * SECOND, timedelta(seconds=901)),  # a second more, for it may be coarse
        (1_790_000_000 * SECOND + 1_999, timedelta(seconds=900, microseconds=2)),
    ],
)
def test_a_lease_is_never_told_to_be_over_too_early(
    tmp_path: Path, since: int, over: timedelta
) -> None:
    store = FileStore(tmp_path)
    claim = store.claim(KEY, run_id="run-1", lease=timedelta(minutes=15))
    assert isinstance(claim, Claim)
    (file,) = (tmp_path / A_TASK / ".claims" / KEY.digest).glob("0*")
    os.utime(file, ns=(since, since))
    known = store._claims._highest(KEY)
    assert known is not None
    assert known.until == datetime.fromtimestamp(1_790_000_000, UTC) + over
