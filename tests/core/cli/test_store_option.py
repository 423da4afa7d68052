"""Which store a command asks, and that no other is asked in its place."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from ubunye_core import Receipt, Status, open_store

NOW = datetime(2026, 10, 31, 12, tzinfo=UTC)
HEALTH = ("health", "pay/monthly/calc", "--now", NOW.isoformat())


def filled(folder: Path) -> Path:
    success = Receipt(
        task="pay/monthly/calc",
        run_id="r-1",
        status=Status.SUCCESS,
        started_at=NOW,
        ended_at=NOW,
        variables={"month": "2026-10"},
    )
    open_store(str(folder)).save(success)
    return folder


def test_the_option_wins_over_the_environment(ask, store, tmp_path):
    assert ask(*HEALTH).code == 3
    assert ask(*HEALTH, "--store", filled(tmp_path / "other")).code == 0


def test_a_named_store_is_never_replaced_by_one_that_lies_near(ask, store, folder):
    filled(folder / ".ubunye" / "lineage")
    answer = ask(*HEALTH, "--json")
    assert answer.code == 3
    assert answer.document["store"] == store.url


def test_with_nothing_named_the_records_of_the_current_folder_are_read_and_it_says_so(ask, folder):
    place = filled(folder / ".ubunye" / "lineage")
    answer = ask(*HEALTH)
    assert answer.code == 0
    assert "No store was named" in answer.out
    found = ask(*HEALTH, "--json").document
    assert "No store was named" in found["reason"]
    assert found["store"] == place.as_uri()
    gate = ask("wait-for", "pay/monthly/calc", "--var", "month=2026-10", "--json")
    assert "No store was named" in gate.document["reason"]
    for words in (("list", "pay/monthly/calc"), ("show", "r-1")):
        assert "No store was named" in ask(*words).out


def test_a_store_that_was_only_found_is_not_written_to_by_exec(ask, folder):
    place = filled(folder / ".ubunye" / "lineage")
    answer = ask("exec", "pay/monthly/send", "--var", "month=2026-10", "--", "touch", "ran")
    assert answer.code == 2
    assert place.as_uri() in answer.err
    assert not (folder / "ran").exists()
    assert not (place / "pay" / "monthly" / "send").exists()


def test_with_nothing_to_find_the_error_names_every_way(ask, folder):
    answer = ask(*HEALTH)
    assert (answer.code, answer.out) == (2, "")
    for way in ("--store", "UBUNYE_STORE", ".ubunye/lineage"):
        assert way in answer.err


def test_a_folder_is_not_made_by_asking(ask, folder, tmp_path):
    assert ask(*HEALTH, "--store", tmp_path / "new").code == 3
    assert not (tmp_path / "new").exists()
    assert list(folder.iterdir()) == []


def test_the_pair_of_ubunye_engine_names_its_folder_of_records(ask, folder):
    filled(folder / "usecases" / ".ubunye" / "lineage")
    pair = ("--lineage-backend", "filesystem", "--lineage-dir")
    assert ask(*HEALTH, *pair, "usecases/.ubunye/lineage").code == 0
    assert ask(*HEALTH, *pair[2:], "usecases/.ubunye/lineage").code == 0
    above = ask(*HEALTH, *pair, "usecases")
    assert above.code == 2
    assert "usecases/.ubunye/lineage" in above.err


def test_the_pair_without_a_folder_means_the_usual_one(ask, folder):
    filled(folder / ".ubunye" / "lineage")
    assert ask(*HEALTH, "--lineage-backend", "filesystem").code == 0


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--lineage-backend", "delta", "--lineage-dir", "x"), "'delta'"),
        (("--lineage-backend", "redis"), "'redis'"),
        (("--lineage-dir", "s3://bucket/x"), "--store"),
        (("--store", "a", "--lineage-dir", "b"), "two stores"),
        (("--store", ""), "URL of a store"),
        (("--store", "redis://x"), "redis"),
        (("--store", "file://host/x"), "three slashes"),
    ],
)
def test_what_cannot_be_a_store_is_refused_by_name(ask, folder, words, said):
    answer = ask(*HEALTH, *words)
    assert answer.code == 2
    assert said in answer.err


def test_a_backend_that_only_the_environment_names_must_be_named_with_its_place(
    ask, folder, monkeypatch, tmp_path
):
    filled(folder / ".ubunye" / "lineage")
    monkeypatch.setenv("UBUNYE_LINEAGE_BACKEND", "delta")
    answer = ask(*HEALTH)
    assert answer.code == 2
    assert "UBUNYE_LINEAGE_BACKEND" in answer.err
    assert "--store" in answer.err
    assert ask(*HEALTH, "--lineage-dir", ".ubunye/lineage").code == 2
    monkeypatch.setenv("UBUNYE_STORE", str(filled(tmp_path / "named")))
    assert ask(*HEALTH).code == 0
    monkeypatch.delenv("UBUNYE_STORE")
    monkeypatch.setenv("UBUNYE_LINEAGE_BACKEND", "filesystem")
    assert ask(*HEALTH).code == 0


def test_the_password_of_a_store_is_not_shown(ask, folder):
    url = "postgresql://nina:hunter2@db.invalid/receipts?password=hunter2"
    asked = {url: 3, f"mysql{url[10:]}": 2, f"file:{url[10:]}": 2}
    for (store, code), more in zip(asked.items(), ((), (), ("--json",)), strict=True):
        answer = ask(*HEALTH, "--store", store, *more)
        assert answer.code == code
        assert "hunter2" not in answer.out + answer.err
