"""The page about the web page: its commands begin a server, and its code makes an app."""

from __future__ import annotations

import shlex
import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.web.conftest import CALC, NOW
from tests.pages import blocks
from ubunye_core import Receipt, Status, open_store

PAGE = "how-to/web-page.md"
COMMANDS = [line for kind, text in blocks(PAGE) if kind == "console" for line in text.splitlines()]


def ours(text: str, folder: Path) -> str:
    """A block with places of this test, for those that nobody else has."""
    text = text.replace("file:///srv/receipts", folder.joinpath("receipts").as_uri())
    return text.replace("--config tasks --port 9000", f"--config {folder}/tasks --port 0")


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    task = tmp_path / "tasks" / CALC
    task.mkdir(parents=True)
    (task / "receipts.yaml").write_text("schedule: {cron: '0 2 * * *'}\n")
    (tmp_path / "receipts").mkdir()
    store = open_store(str(tmp_path / "receipts"))
    store.save(Receipt(task=CALC, run_id="r-1", status=Status.SUCCESS, started_at=NOW))
    return tmp_path


@pytest.mark.slow
@pytest.mark.parametrize("command", COMMANDS)
def test_each_command_begins_a_server(folder: Path, command: str) -> None:
    words = shlex.split(ours(command.removeprefix("$ "), folder))
    if "--port" not in words:
        words += ["--port", "0"]  # the usual one may be taken here
    words[0] = str(Path(sys.executable).with_name("ubunye-runs"))
    process = subprocess.Popen(words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        assert "http://127.0.0.1:" in process.stdout.readline()
    finally:
        process.kill()
        process.communicate(timeout=20)


def test_the_code_makes_an_app_that_keeps_to_its_rule(folder: Path) -> None:
    from starlette.testclient import TestClient

    names: dict[str, object] = {}
    (code,) = (text for kind, text in blocks(PAGE) if kind == "python")
    exec(compile(ours(code, folder), PAGE, "exec"), names)
    asking = TestClient(names["app"], "http://localhost")
    assert CALC in asking.get("/receipts/", headers={"x-team": "pay"}).text
    assert CALC not in asking.get("/receipts/", headers={"x-team": "sales"}).text
    assert CALC not in asking.get("/receipts/").text


def test_the_options_of_the_configuration_are_those_that_airflow_knows() -> None:
    from ubunye_airflow.provider_info import get_provider_info

    (text,) = (text for kind, text in blocks(PAGE) if kind == "ini")
    known = get_provider_info()["config"]["ubunye_receipts"]["options"]
    said = [line.partition(" = ")[0] for line in text.splitlines()[1:]]
    assert text.startswith("[ubunye_receipts]\n")
    assert set(said) <= set(known)
