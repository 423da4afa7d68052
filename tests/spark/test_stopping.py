"""Whoever stops waiting for a hash stops Spark too, and nothing else that Spark does."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from tests.spark.stopping import (
    SECONDS,
    StoppedError,
    seconds_of_next_hash,
    slow_frame,
    stopped_hash,
)

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]


def test_a_stopped_hash_leaves_no_job_and_no_tag(spark: Any) -> None:
    frame = slow_frame(spark)
    assert isinstance(stopped_hash(frame), StoppedError)
    deadline = time.monotonic() + SECONDS / 3
    while spark.sparkContext.statusTracker().getActiveJobsIds():
        assert time.monotonic() < deadline, "the job went on"
        time.sleep(0.1)
    assert not spark.sparkContext.getJobTags()
    assert seconds_of_next_hash(spark) < SECONDS / 2


def test_jobs_of_others_go_on(spark: Any) -> None:
    def wait(batches: Any) -> Any:
        import time

        for batch in batches:
            time.sleep(12)
            yield batch

    found: list[int] = []
    theirs = spark.range(1, numPartitions=1).mapInArrow(wait, "id long")
    thread = threading.Thread(target=lambda: found.append(theirs.count()))
    thread.start()
    assert isinstance(stopped_hash(slow_frame(spark)), StoppedError)
    thread.join()
    assert found == [1]
