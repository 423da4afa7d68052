"""Every kind of store that can be had here is checked, copied, pruned and repaired."""

from __future__ import annotations

import hashlib
from itertools import pairwise
from pathlib import Path

import pytest

from tests.core.questions.builders import CALC, DAY, NOW, a_run, put
from tests.core.upkeep.conftest import KINDS, ON_DISK, all_in, on_disk
from ubunye_core import ConfigError, Receipt, Verdict, open_store
from ubunye_core.stores import MemoryStore
from ubunye_core.upkeep import check_store, copy_store, prune_store, repair_store

every_kind = pytest.mark.parametrize("kind", KINDS)


@every_kind
def test_everything_goes_in_and_comes_out_as_it_was(url: str, hard: list[Receipt]) -> None:
    source, back = MemoryStore(), MemoryStore()
    put(source, *hard)
    into = copy_store(source, url)
    assert into, into
    assert (into.copied, into.running) == (len(hard), 1)
    out = copy_store(url, back)
    assert out, out
    assert all_in(back) == all_in(open_store(url)) == all_in(source)
    again = copy_store(source, url)
    assert (again.copied, again.same) == (0, len(hard))


def test_it_can_go_through_all_kinds_on_disk_and_back(tmp_path: Path, hard: list[Receipt]) -> None:
    (tmp_path / "back").mkdir()
    first = on_disk("file", tmp_path)
    put(open_store(first), *hard)
    way = [first, *(on_disk(kind, tmp_path) for kind in ("sqlite", "jsonl", "delta+file"))]
    way.append(on_disk("file", tmp_path / "back"))
    for source, target in pairwise(way):
        assert copy_store(source, target).copied == len(hard)
    assert all_in(open_store(way[-1])) == all_in(open_store(first))


def everything(folder: Path) -> dict[str, str]:
    return {
        str(each): hashlib.sha256(each.read_bytes()).hexdigest() if each.is_file() else ""
        for each in folder.rglob("*")
    }


@every_kind
def test_a_good_store_is_good(kind: str, url: str, hard: list[Receipt], tmp_path: Path) -> None:
    put(open_store(url), *hard)
    before = everything(tmp_path)
    check = check_store(url)
    bad = [finding.what for finding in check.findings if finding.good is False]
    # The server of these tests is quick, and does not care for crashes; the store sees it.
    assert bad == (["durability"] if kind == "postgresql" else []), check
    assert check.verdict is (Verdict.FAIL if bad else Verdict.PASS), check
    assert (check.receipts, check.tasks) == (len(hard), 4)
    whats = [finding.what for finding in check.findings]
    assert {"list", "read", "write", "durability", "claim"} <= set(whats)
    assert len(whats) == len(set(whats))
    assert everything(tmp_path) == before


@pytest.mark.parametrize("kind", ON_DISK)
def test_a_store_that_is_not_there_is_bad_and_is_not_made(url: str, tmp_path: Path) -> None:
    check = check_store(url)
    assert check.verdict is Verdict.FAIL
    assert list(tmp_path.iterdir()) == []


@every_kind
def test_old_receipts_go_where_a_store_can_remove_them(url: str) -> None:
    store = open_store(url)
    put(store, *(a_run(ago=(n + 1) * 90 * DAY, run_id=f"r-{n}") for n in range(6)))
    if not hasattr(store, "remove"):
        with pytest.raises(ConfigError, match="no way to remove"):
            prune_store(store, older_than="200d", now=NOW, remove=True)
        return
    assert prune_store(store, older_than="200d", now=NOW).goes == 4
    assert prune_store(store, older_than="200d", now=NOW, remove=True).removed == 4
    assert [each.run_id for each in open_store(url).list_runs(CALC)] == ["r-0", "r-1"]


@every_kind
def test_a_repair_changes_no_receipt(url: str, hard: list[Receipt]) -> None:
    store = open_store(url)
    put(store, *hard)
    before = all_in(store)
    assert repair_store(store)
    assert all_in(open_store(url)) == before
