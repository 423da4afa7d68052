"""The README keeps its word: its code runs, its commands answer, its links lead somewhere."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PYTHON = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
COMMANDS = [
    line.removeprefix("$ ").split("  #")[0].strip()
    for block in re.findall(r"```console\n(.*?)```", README, re.DOTALL)
    for line in block.splitlines()
    if line.startswith("$ ")
]
EXPECTED = {  # what cannot run inside its own test, and what must answer how
    "make demo": None,
    "make test": None,
    "pip install '.[pandas]'": None,
    "export UBUNYE_STORE=file:///srv/receipts": None,
    "ubunye-runs wait-for pay/monthly/calc --var month=2026-09": 1,
    "ubunye-runs health 'pay/*/*'": 0,
    "ubunye-runs list pay/monthly/calc": 0,
    "ubunye-runs exec pay/monthly/load --var month=2026-10 -- ./load.sh": 0,
    "ubunye-runs windows sales/daily/load --config tasks/sales/daily/load --since 14d": 1,
    "ubunye-runs plan sales/daily/load --config tasks/sales/daily/load --retention 30d": 0,
    "ubunye-runs morning --config tasks": 1,
}


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder like a reader's own, after the README's scripts have run in it in order."""
    folder = tmp_path_factory.mktemp("reader")
    (folder / "people.csv").write_text("name,age\nann,41\nbob,12\n", encoding="utf-8")
    (folder / "load.sh").write_text("#!/bin/sh\necho loaded\n", encoding="utf-8")
    (folder / "load.sh").chmod(0o755)
    task = folder / "tasks" / "sales" / "daily" / "load"
    task.mkdir(parents=True)
    schedule = "schedule: {cron: 0 2 * * *, window: day, variable: dt}"
    (task / "receipts.yaml").write_text(schedule, encoding="utf-8")
    (folder / "script.py").write_text("\n".join(PYTHON[1:]), encoding="utf-8")
    done = in_shell(folder, f"{sys.executable} script.py")
    assert done.returncode == 0, done.stderr
    assert "paying" in done.stdout
    return folder


def in_shell(folder: Path, command: str) -> subprocess.CompletedProcess[str]:
    environment = {
        **os.environ,
        "UBUNYE_STORE": (folder / "receipts").as_uri(),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
    }
    return subprocess.run(
        ["bash", "-c", command],
        cwd=folder,
        env=environment,
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )


def test_the_first_line_says_whom_it_is_for() -> None:
    first = README.split("\n\n")[1]
    assert first.startswith("Scheduled data jobs")


def test_the_sensor_of_the_first_screen_can_be_made() -> None:
    pytest.importorskip("airflow")
    names: dict[str, object] = {}
    exec(PYTHON[0], names)
    assert "UpstreamReceiptSensor" in names


def test_the_scripts_record_and_pass_their_gate(desk: Path) -> None:
    assert len(list((desk / "receipts").rglob("*.json"))) >= 2


def test_every_command_is_known_to_this_test() -> None:
    assert sorted(set(COMMANDS)) == sorted(EXPECTED)


@pytest.mark.parametrize("command", [each for each, code in EXPECTED.items() if code is not None])
def test_a_command_ends_with_the_code_it_promises(desk: Path, command: str) -> None:
    done = in_shell(desk, command)
    assert done.returncode == EXPECTED[command], done.stdout + done.stderr


@pytest.mark.parametrize("target", sorted(set(re.findall(r"\]\((?!http)([^)#]+)\)", README))))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (ROOT / target).exists()


def test_the_make_targets_exist() -> None:
    makefile = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert re.search(r"^demo:", makefile, re.MULTILINE)
    assert re.search(r"^test:", makefile, re.MULTILINE)
