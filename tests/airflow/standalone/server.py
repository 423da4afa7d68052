"""A real ``airflow standalone``: started, asked for its health, and stopped to the last process."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import httpx
import psutil

from tests.ports import free_port

ROOT = Path(__file__).parents[3]
DAGS = {"standalone": Path(__file__).with_name("dags"), "examples": ROOT / "example_dags/airflow"}
AUTH = Path(__file__).with_name("auth.py")
PASSWORD = "only-for-tests"
USERS = {"admin": "admin", "viewer": "viewer", "outsider": "viewer"}
SLOTS = 4
"""How many tasks run at once."""
START = 400.0
"""How many seconds a start may take; on a quiet machine it takes 25."""
STOP = 120.0


class Standalone:
    """One server with a home of its own, in a process group of its own.

    Args:
        home: An empty folder.
        store: The URL of the store that the server's configuration names.
    """

    def __init__(self, home: Path, store: str) -> None:
        self.home = home
        self.log = home / "standalone.log"
        self.url = f"http://127.0.0.1:{free_port()}"
        self.environment = environment(home, self.url, store)
        self._started: list[subprocess.Popen[bytes]] = []

    @property
    def is_started(self) -> bool:
        return bool(self._started)

    def start(self) -> None:
        """Start, and come back when every part of it says that it is healthy.

        Raises:
            RuntimeError: it ended, or is not healthy in time.
        """
        (self.home / "passwords.json").write_text(json.dumps(dict.fromkeys(USERS, PASSWORD)))
        (self.home / "config").mkdir(exist_ok=True)
        shutil.copy(AUTH, self.home / "config/airflow_local_settings.py")
        process = self.run("standalone", log=self.log)
        until(
            lambda: self._is_healthy(process),
            within=START,
            what=lambda: f"Airflow to be healthy; its log ends with:\n{self.tail()}",
        )

    def run(self, *arguments: str, log: Path) -> subprocess.Popen[bytes]:
        """Start a command of Airflow that belongs to this server and ends with it."""
        with log.open("ab") as file:
            process = subprocess.Popen(
                [sys.executable, "-m", "airflow", *arguments],
                cwd=self.home,
                env=self.environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )
        self._started.append(process)
        return process

    def stop(self) -> None:
        """End every process of it: asked first, then forced."""
        for ask in (self._end_groups, self._kill_all):
            ask()
            end = time.monotonic() + STOP
            while (left := self.processes()) and time.monotonic() < end:
                psutil.wait_procs(left, timeout=0.2)
            if not left:
                break
        for process in self._started:
            process.wait(STOP)
        self._started.clear()

    def processes(self) -> list[psutil.Process]:
        """Every process of this server that is alive."""
        return [each for each in psutil.process_iter() if self._is_ours(each)]

    def component(self, name: str) -> list[psutil.Process]:
        """The processes of one part of it, such as ``triggerer``, the parent first."""
        found = [each for each in self.processes() if name in words_of(each)]
        return sorted(found, key=lambda each: each.pid)

    def health(self) -> dict[str, str]:
        """What each part of it says of itself; empty when it does not answer."""
        try:
            answer = httpx.get(f"{self.url}/api/v2/monitor/health", timeout=10, trust_env=False)
            answer.raise_for_status()
        except httpx.HTTPError:
            return {}
        return {name: str(part["status"]) for name, part in answer.json().items()}

    def tail(self, lines: int = 80) -> str:
        """The end of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _end_groups(self) -> None:
        for process in self._started:
            with suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGTERM)

    def _kill_all(self) -> None:
        for process in self.processes():
            with suppress(psutil.Error):
                process.kill()

    def _is_healthy(self, process: subprocess.Popen[bytes]) -> bool:
        if process.poll() is not None:
            raise RuntimeError(f"Airflow ended with {process.returncode}:\n{self.tail()}")
        found = self.health()
        return bool(found) and set(found.values()) == {"healthy"}

    def _is_ours(self, process: psutil.Process) -> bool:
        with suppress(psutil.Error, OSError):
            if process.status() == psutil.STATUS_ZOMBIE:
                return False
            groups = {each.pid for each in self._started}
            return os.getsid(process.pid) in groups or process.cwd() == str(self.home)
        return False


def words_of(process: psutil.Process) -> list[str]:
    with suppress(psutil.Error):
        return list(process.cmdline())
    return []


def environment(home: Path, url: str, store: str) -> dict[str, str]:
    """The environment of a server: what it is told of nothing else."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AIRFLOW", "DAGSTER", "UBUNYE_", "PYTEST_"))
    }
    bundle = "airflow.dag_processing.bundles.local.LocalDagBundle"
    options = {
        "API__BASE_URL": url,
        "API__HOST": "127.0.0.1",
        "API__PORT": url.rpartition(":")[2],
        "API__WORKERS": "1",
        "API_AUTH__JWT_SECRET": "only-for-tests-" * 5,
        "CORE__EXECUTION_API_SERVER_URL": f"{url}/execution/",
        "CORE__EXECUTOR": "LocalExecutor",
        "CORE__LOAD_EXAMPLES": "False",
        "CORE__PARALLELISM": str(SLOTS),
        "CORE__SIMPLE_AUTH_MANAGER_PASSWORDS_FILE": str(home / "passwords.json"),
        "CORE__SIMPLE_AUTH_MANAGER_USERS": ",".join(f"{n}:{role}" for n, role in USERS.items()),
        "CORE__TASK_SUCCESS_OVERTIME": "5",
        "DAG_PROCESSOR__DAG_BUNDLE_CONFIG_LIST": json.dumps(
            [
                {"name": name, "classpath": bundle, "kwargs": {"path": str(folder)}}
                for name, folder in DAGS.items()
            ]
        ),
        "DAG_PROCESSOR__MIN_FILE_PROCESS_INTERVAL": "3600",
        "LOGGING__TRIGGER_LOG_SERVER_PORT": str(free_port()),
        "LOGGING__WORKER_LOG_SERVER_PORT": str(free_port()),
        "TRIGGERER__TRIGGERER_HEALTH_CHECK_THRESHOLD": "15",
        "UBUNYE_RECEIPTS__LISTENER": "True",
        "UBUNYE_RECEIPTS__STORE": store,
        "USAGE_DATA_COLLECTION__ENABLED": "False",
        "WORKERS__EXECUTION_API_TIMEOUT": "60",
    }
    return {
        **kept,
        **{f"AIRFLOW__{name}": value for name, value in options.items()},
        "AIRFLOW_HOME": str(home),
        "PAY_DATA": str(home),
        "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        **dict.fromkeys(("NO_PROXY", "no_proxy"), "127.0.0.1"),
    }


def until(holds: Callable[[], object], *, within: float, what: str | Callable[[], str]) -> None:
    """Come back as soon as something holds.

    Raises:
        TimeoutError: it does not, within so many seconds.
    """
    end = time.monotonic() + within
    while not holds():
        if time.monotonic() > end:
            told = what if isinstance(what, str) else what()
            raise TimeoutError(f"Waited {within:.0f} s for {told}")
        time.sleep(0.25)
