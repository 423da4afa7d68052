"""``ubunye-runs serve``: a server for the pages, begun and ended as a person does."""

from __future__ import annotations

import http.client
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from tests.core.web.conftest import CALC
from ubunye_core.cli.app import commands

PROGRAM = str(Path(sys.executable).with_name("ubunye-runs"))
BAD = "pay/monthly/bad"
Served = Callable[..., tuple[subprocess.Popen[str], int]]


@pytest.fixture
def serve(store) -> Iterator[Served]:
    """Begin a server on a free port."""
    begun: list[subprocess.Popen[str]] = []

    def start(*words: str) -> tuple[subprocess.Popen[str], int]:
        process = subprocess.Popen(
            [PROGRAM, "serve", "--store", str(store.root), "--port", "0", *words],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONUNBUFFERED": "1"},
        )
        begun.append(process)
        line = process.stdout.readline()
        found = re.search(r"http://\S+:(\d+)/", line)
        assert found, (line, process.stderr.read())
        return process, int(found[1])

    yield start
    for process in begun:
        process.kill()
        process.communicate(timeout=20)


def get(port: int, path: str, host: str | None = None) -> tuple[int, str]:
    asking = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        asking.request("GET", path, headers={} if host is None else {"Host": host})
        answer = asking.getresponse()
        return answer.status, answer.read().decode()
    finally:
        asking.close()


def test_the_pages_are_served_until_ctrl_c(serve, keep):
    keep()
    process, port = serve()
    status, html = get(port, "/")
    assert (status, CALC in html) == (200, True)
    assert get(port, "/", host="evil.example")[0] == 400
    assert get(port, "/", host=f"localhost:{port}")[0] == 200
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert (process.returncode, out, err) == (0, "", "")


@pytest.mark.slow
def test_a_server_that_others_reach_says_so_and_schedules_come_from_a_folder(serve, keep, tmp_path):
    keep()
    folder = tmp_path / "tasks" / CALC
    folder.mkdir(parents=True)
    (folder / "receipts.yaml").write_text("schedule: {cron: '0 2 * * *'}\n")
    process, port = serve("--host", "0.0.0.0", "--config", str(tmp_path / "tasks"))
    assert get(port, "/", host="receipts.example")[0] == 200
    assert "No schedule" not in get(port, f"/task/{CALC}/windows")[1]
    process.terminate()
    _, err = process.communicate(timeout=30)
    assert "Whoever reaches it sees every receipt, without a login." in err


@pytest.mark.slow
def test_one_wrong_file_hides_no_other_task_and_its_own_page_says_what_is_wrong(
    serve, keep, tmp_path
):
    for task, text in ((CALC, "{cron: '0 2 * * *'}"), (BAD, "{cron: 0 2 * *}")):
        keep(task=task)
        (tmp_path / "tasks" / task).mkdir(parents=True)
        (tmp_path / "tasks" / task / "receipts.yaml").write_text(f"schedule: {text}\n")
    process, port = serve("--config", str(tmp_path / "tasks"))
    assert (get(port, "/")[0], get(port, f"/task/{BAD}")[0]) == (200, 200)
    status, html = get(port, f"/task/{CALC}/windows")
    assert (status, "No schedule" in html) == (200, False)
    status, html = get(port, f"/task/{BAD}/windows")
    assert (status, "receipts.yaml, line 1: " in html, "is no cron expression" in html) == (
        400, True, True,
    )  # fmt: skip
    assert get(port, f"/task/{BAD}/windows?every=6h")[0] == 200
    process.terminate()
    warned = process.communicate(timeout=30)[1]
    assert warned.startswith(f"Warning: the windows of {BAD} are not shown: {tmp_path}/tasks/{BAD}")


def answer(*words: object) -> tuple[int, str]:
    result = CliRunner().invoke(commands, ["serve", *map(str, words)])
    return result.exit_code, result.stderr


def test_a_port_that_is_taken_is_told(store):
    with socket.create_server(("127.0.0.1", 0)) as taken:
        code, err = answer("--store", store.root, "--port", taken.getsockname()[1])
    assert code == 2
    assert "cannot be listened on" in err
    assert "--port 0" in err


def test_a_host_that_is_none_is_told(store):
    assert answer("--store", store.root, "--host", "no.such.host.invalid", "--port", "0")[0] == 2


def test_a_file_of_one_task_does_not_say_of_which(store, tmp_path):
    file = tmp_path / "receipts.yaml"
    file.write_text("schedule: {cron: '0 2 * * *'}\n")
    code, err = answer("--store", store.root, "--config", file)
    assert (code, "does not say which" in err) == (2, True)


@pytest.mark.slow
@pytest.mark.parametrize("library", ["starlette", "jinja2", "uvicorn"])
def test_a_missing_library_names_the_extra(store, library):
    program = (
        "import sys; from importlib.abc import MetaPathFinder\n"
        "class Missing(MetaPathFinder):\n"
        "    def find_spec(self, name, *_):\n"
        f"        if name.partition('.')[0] == {library!r}:\n"
        "            raise ModuleNotFoundError(f'No module named {name!r}', name=name)\n"
        "sys.meta_path.insert(0, Missing())\n"
        "from ubunye_core.cli import main; main()"
    )
    words = [sys.executable, "-c", program, "serve", "--store", str(store.root), "--port", "0"]
    done = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert f"needs {library}" in done.stderr
    assert "pip install 'ubunye-receipts[web]'" in done.stderr


def test_neither_the_door_nor_the_command_line_imports_a_web_library():
    program = (
        "import sys; import ubunye_core.web, ubunye_core.cli;"
        "print(sorted({'starlette', 'jinja2', 'uvicorn', 'anyio', 'fastapi'} & set(sys.modules)))"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert done.stdout == "[]\n"
