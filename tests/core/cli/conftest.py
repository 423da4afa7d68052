"""The command line as a person and as a program meet it: in this process, and as a process."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from ubunye_core import Receipt, Status, open_store
from ubunye_core.cli import output, progress
from ubunye_core.cli.app import commands
from ubunye_core.stores import FileStore

PROGRAM = str(Path(sys.executable).with_name("ubunye-runs"))
NOW = datetime(2026, 10, 31, 12, tzinfo=UTC)
REAL = Path(__file__).parents[2] / "data" / "receipts-corpus"


@dataclass
class Answer:
    """What a command printed, and how it ended."""

    code: int
    out: str
    err: str

    @property
    def document(self) -> dict[str, Any]:
        """Standard output, which must be one JSON document and nothing else."""
        found: dict[str, Any] = json.loads(self.out)
        return found


Ask = Callable[..., Answer]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty current folder."""
    place = tmp_path / "here"
    place.mkdir()
    monkeypatch.chdir(place)
    return place


@pytest.fixture
def store(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, folder: Path) -> FileStore:
    """A store that UBUNYE_STORE names."""
    place = tmp_path / "receipts"
    place.mkdir()
    monkeypatch.setenv("UBUNYE_STORE", str(place))
    found = open_store(str(place))
    assert isinstance(found, FileStore)
    return found


@pytest.fixture
def ask(folder: Path) -> Ask:
    """Run a command in this process."""

    def run(*words: object) -> Answer:
        result = CliRunner().invoke(commands, [str(word) for word in words])
        assert result.exception is None or isinstance(result.exception, SystemExit)
        return Answer(result.exit_code, result.stdout, result.stderr)

    return run


@pytest.fixture
def shell(folder: Path) -> Ask:
    """Run the installed program."""

    def run(*words: object, **options: Any) -> Answer:
        done = subprocess.run(
            [PROGRAM, *map(str, words)],
            capture_output=True,
            text=True,
            timeout=60,
            check=False,
            **options,
        )
        return Answer(done.returncode, done.stdout, done.stderr)

    return run


@pytest.fixture
def begin(folder: Path) -> Callable[..., subprocess.Popen[str]]:
    """Begin the installed program, to watch it and send it signals."""
    begun: list[subprocess.Popen[str]] = []

    def run(*words: object, **options: Any) -> subprocess.Popen[str]:
        process = subprocess.Popen(
            [PROGRAM, *map(str, words)],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
            start_new_session=True,
            **options,
        )
        begun.append(process)
        return process

    yield run  # type: ignore[misc]
    for process in begun:  # with all that it has started, which may ignore gentler signals
        with contextlib.suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.communicate(timeout=20)


@pytest.fixture
def keep(store: FileStore) -> Callable[..., Receipt]:
    """Keep a receipt of pay/monthly/calc for 2026-10; anything can be given otherwise."""
    count = 0

    def save(status: str = "success", *, hours_ago: float = 1, **fields: Any) -> Receipt:
        nonlocal count
        count += 1
        started = NOW - timedelta(hours=hours_ago)
        ended = started + timedelta(minutes=5) if status != "running" else None
        given = {
            "task": "pay/monthly/calc",
            "run_id": f"r-{count}",
            "status": Status(status),
            "started_at": started,
            "ended_at": ended,
            "variables": {"month": "2026-10"},
            **fields,
        }
        receipt = Receipt(**given)
        store.save(receipt)
        return receipt

    return save


Keep = Callable[..., Receipt]


@pytest.fixture
def damage(store: FileStore) -> Callable[..., Path]:
    """Put what is no receipt where one would be."""

    def put(task: str = "pay/monthly/calc", run_id: str = "broken", text: str = "{") -> Path:
        file = store.root / task / f"{run_id}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        return file

    return put


@pytest.fixture
def until_said(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], None]:
    """Have long work soon say how far it has come; inside it, wait until it has said something."""
    said: list[str] = []

    def note(text: str) -> None:
        output.note(text)
        said.append(text)

    def wait(words: str) -> None:
        until = time.monotonic() + 60
        while not any(words in each for each in said):
            assert time.monotonic() < until, said
            time.sleep(0.01)

    monkeypatch.setattr(progress, "_QUIET_SECONDS", 0.05)
    monkeypatch.setattr(progress, "note", note)
    return wait


def json_of(answer: Answer, code: int) -> dict[str, Any]:
    """The document of an answer, whose exit code must be this one, inside it as well."""
    assert answer.code == code, answer
    assert answer.document["exit_code"] == code
    return answer.document
