"""The right answers about real records of ubunye-engine, for one fixed clock."""

from __future__ import annotations

from pathlib import Path

import pytest

REAL = Path(__file__).parents[2] / "data" / "receipts-corpus"
STORE = REAL / "ubunye-engine-0.8.0" / "dot-ubunye" / "lineage"
ASKED = ("--store", STORE, "--now", "2026-11-30T12:00:00Z")
STUCK = "8dc6a23f-e14a-45bf-9930-3f0502b730e5"


def test_send_is_unhealthy_for_one_failure_and_one_stuck_run(ask):
    answer = ask("health", "pay/monthly/send", *ASKED, "--json")
    assert answer.code == 1
    (task,) = answer.document["tasks"]
    assert task["consecutive_failures"] == 1
    assert task["stuck"] == [STUCK]
    assert task["last_status"] == "running"


def test_calc_is_healthy(ask):
    assert ask("health", "pay/monthly/calc", *ASKED).code == 0


def test_the_gate_of_send_opens_for_october_and_not_for_november(ask, folder):
    (folder / "config.yaml").write_text(
        "CONFIG:\n  requires:\n    - {task: pay/monthly/calc, variables: [month]}\n"
    )
    gate = ("wait-for", "--config", "config.yaml", *ASKED, "--var", "mode=PROD", "--var")
    met = ask(*gate, "month=2026-10")
    assert met.code == 0
    assert "mode=DEV" in met.out
    unmet = ask(*gate, "month=2026-11")
    assert unmet.code == 1
    assert "a50f2f7c-7551-4e68-9ef9-fd866fe0fb08" in unmet.out
    assert ask("wait-for", "pay/monthly/calc", "--var", "month=2026-10", *ASKED).code == 0


@pytest.mark.parametrize(
    ("version", "runs"),
    [("0.5.0", 4), ("0.7.1", 2), ("0.8.0", 3)],
)
def test_every_version_s_records_are_listed_and_shown(ask, version, runs):
    store = REAL / f"ubunye-engine-{version}" / "dot-ubunye" / "lineage"
    found = ask("list", "pay/monthly/calc", "--store", store, "--json").document
    assert (len(found["runs"]), found["unreadable"]) == (runs, [])
    for run in found["runs"]:
        answer = ask("show", run["run_id"], "--store", store)
        assert answer.code == 0
        assert run["run_id"] in answer.out


def test_records_are_found_as_ubunye_engine_lays_them(ask, folder):
    (folder / ".ubunye").symlink_to(STORE.parent)
    assert ask("health", "pay/monthly/calc", "--now", "2026-11-30T12:00:00Z").code == 0
    place = ("--lineage-backend", "filesystem", "--lineage-dir", ".ubunye/lineage")
    assert ask("health", "pay/monthly/calc", "--now", "2026-11-30T12:00:00Z", *place).code == 0
