"""Two sites, no network between them, one bucket, and credentials that may only read."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta

import pytest

from tests.core.stores.objects.servers import Moto
from ubunye_core import Status, StoreUnavailableError, Verdict, check_upstream, job_health
from ubunye_core.stores import ClaimKey
from ubunye_core.stores.objects import ObjectStore
from ubunye_core.testing import A_TASK, a_receipt, at

READS = {"GET", "LIST"}
AsReader = Callable[[str], ObjectStore]


def test_a_gate_works_across_sites_that_share_only_a_bucket_they_may_read(
    moto: Moto, store: ObjectStore, as_reader: AsReader
) -> None:
    sites = [as_reader(store.url), as_reader(store.url)]

    def verdicts(month: str) -> set[Verdict]:
        return {
            check_upstream([A_TASK], variables={"month": month}, store=site, now=at(60)).verdict
            for site in sites
        }

    store.save(a_receipt(status=Status.RUNNING))
    moto.seen()
    assert verdicts("2026-10") == {Verdict.FAIL}
    assert set(moto.seen()) <= READS
    store.save(a_receipt())
    moto.seen()
    assert verdicts("2026-10") == {Verdict.PASS}
    assert verdicts("2026-11") == {Verdict.FAIL}
    assert {job_health(A_TASK, store=site, now=at(60)).verdict for site in sites} == {Verdict.PASS}
    assert set(moto.seen()) <= READS


def test_every_answer_is_the_same_with_and_without_the_right_to_write(
    moto: Moto, store: ObjectStore, as_reader: AsReader
) -> None:
    for number in range(40):
        store.save(a_receipt(run_id=f"r{number:02}", started_at=at(number)))
    claim = store.claim(ClaimKey.of(A_TASK, {}), run_id="r1", lease=timedelta(minutes=5))
    reader = as_reader(store.url)
    moto.seen()
    assert list(reader.list_runs(A_TASK, 7)) == list(store.list_runs(A_TASK, 7))
    assert list(reader.search(since=at(20))) == list(store.search(since=at(20)))
    assert reader.tasks() == store.tasks()
    assert reader.load(A_TASK, "r03") == store.load(A_TASK, "r03")
    october = {"month": "2026-10"}
    for whole in (True, False):
        known = reader.success_by_batch(A_TASK, october, whole=whole)
        assert known is not None
        assert [run.run_id for run in known] == ["r39"]
    held = reader.holder(ClaimKey.of(A_TASK, {}))
    assert held is not None
    assert held.token == claim.token


def test_to_save_without_the_right_is_refused_with_a_reason(
    store: ObjectStore, as_reader: AsReader
) -> None:
    reader = as_reader(store.url)
    for write in (
        lambda: reader.save(a_receipt()),
        lambda: reader.save_many([a_receipt()]),
        lambda: reader.claim(ClaimKey.of(A_TASK, {}), run_id="r", lease=timedelta(minutes=5)),
    ):
        with pytest.raises(StoreUnavailableError, match="written: the server refused the creden"):
            write()
    assert list(store.search()) == []


def test_an_examination_tells_a_reader_from_a_writer(
    store: ObjectStore, as_reader: AsReader
) -> None:
    writers = {finding.what: finding.good for finding in store.examine()}
    assert writers == dict.fromkeys(("list", "read", "write", "durability", "claim", "clock"), True)
    readers = {finding.what: finding.good for finding in as_reader(store.url).examine()}
    assert readers == {"list": True, "read": True, "write": False, "claim": None, "clock": None}
    assert store.tasks() == []
