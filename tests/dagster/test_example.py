"""The example's definitions calculate a month, and pay it only when it is calculated."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import dagster as dg
import pandas as pd
import pytest

from example_dags import dagster_defs
from example_dags.demo import Story
from ubunye_core import open_store
from ubunye_dagster import ReceiptStoreResource

EXAMPLES = Path(dagster_defs.__file__).parent
DATA = EXAMPLES / "data"


@pytest.fixture
def data(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copy(DATA / "people.csv", tmp_path)
    monkeypatch.setenv("PAY_DATA", str(tmp_path))
    monkeypatch.setenv("UBUNYE_STORE", str(tmp_path / "receipts"))
    (tmp_path / "receipts").mkdir()
    return tmp_path


def materialize(asset: str, month: str) -> bool:
    job = dagster_defs.defs.resolve_implicit_global_asset_job_def()
    run = job.execute_in_process(
        partition_key=f"{month}-01", asset_selection=[dg.AssetKey(asset)], raise_on_error=False
    )
    return bool(run.success)


def test_a_month_is_paid_only_when_it_has_been_calculated(data: Path) -> None:
    store = open_store()
    assert not materialize("send", "2026-09")
    assert store.list_runs("pay/monthly/send")[0].was_refused
    assert not (data / "out" / "send").exists()

    assert materialize("calc", "2026-09")
    assert not materialize("send", "2026-10")
    assert materialize("send", "2026-09")
    assert len(pd.read_csv(data / "out" / "send" / "2026-09.csv")) == 17

    (calculated,) = store.list_runs("pay/monthly/calc")
    paid = store.list_runs("pay/monthly/send")[0]
    assert calculated.outputs[0].data_hash == paid.inputs[0].data_hash
    assert [pin.run_id for pin in paid.upstreams] == [calculated.run_id]


def test_the_months_that_were_missed_are_requested_and_then_no_more(data: Path) -> None:
    def requested(instance: dg.DagsterInstance) -> list[str]:
        context = dg.build_sensor_context(
            instance=instance,
            repository_def=dagster_defs.defs.get_repository_def(),
            resources={"receipts": ReceiptStoreResource()},
        )
        tick = dagster_defs.catch_up.evaluate_tick(context)
        return [request.partition_key[:7] for request in tick.run_requests or []]

    with dg.DagsterInstance.ephemeral() as instance:
        first = requested(instance)
        assert first == sorted(first)
        assert 0 < len(first) <= 2
        assert requested(instance) == first
        assert materialize("calc", first[0])
        assert first[0] not in requested(instance)


@pytest.mark.slow
def test_what_the_page_of_the_examples_does_by_hand_goes_as_it_says(data: Path) -> None:
    page = (EXAMPLES / "README.md").read_text(encoding="utf-8")
    block = re.findall(r"```console\n(.*?)```", page, re.DOTALL)[0]
    activate, export, *commands = [line.removeprefix("$ ") for line in block.splitlines()]
    assert activate == ". .venv/bin/activate"
    assert export.startswith("export UBUNYE_STORE=file://")
    found = []
    for command in commands:
        done = subprocess.run(
            ["bash", "-c", command],
            cwd=EXAMPLES.parent,
            env={
                **os.environ,
                "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
                "UBUNYE_STORE": (data / "receipts").as_uri(),
                "DAGSTER_HOME": "",
                "DAGSTER_DISABLE_TELEMETRY": "yes",
            },
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        found.append((done.returncode, done.stdout))
    assert [code for code, _ in found] == [1, 0, 0, 0], found
    assert found[2][1] == "Paid 17 people for 2026-08.\n"
    assert re.findall(r"pay/monthly/\w+ +(\w+)", found[3][1]) == ["success", "success", "skipped"]


def test_the_demo_empties_no_folder_but_its_own(tmp_path: Path) -> None:
    theirs, ours = tmp_path / "theirs", tmp_path / "ours"
    theirs.mkdir()
    (theirs / "kept.txt").write_text("kept")
    with pytest.raises(SystemExit, match="holds other files"):
        Story(theirs).prepare()
    assert [each.name for each in theirs.iterdir()] == ["kept.txt"]
    Story(ours).prepare()
    (ours / "log" / "old.log").touch()
    Story(ours).prepare()
    assert not (ours / "log" / "old.log").exists()
    assert (ours / "data" / "people.csv").exists()
