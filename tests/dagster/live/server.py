"""A real ``dagster dev``: started, asked for its health, and stopped to the last process."""

from __future__ import annotations

import os
import signal
import subprocess
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

import psutil

from tests.dagster.live.client import Client, NoAnswerError
from tests.ports import free_port

ROOT = Path(__file__).parents[3]
PYTHON = ROOT / ".venv-dagster" / "bin" / "python"
START = 240.0
"""How many seconds a start may take; on a quiet machine it takes 20."""
STOP = 120.0
LOCATIONS = ("calculation", "payment")
DAGSTER_YAML = """
telemetry: {enabled: false}
run_monitoring: {enabled: true, poll_interval_seconds: 2, start_timeout_seconds: 300}
run_coordinator:
  module: dagster.core.run_coordinator
  class: QueuedRunCoordinator
  config: {max_concurrent_runs: 1, dequeue_interval_seconds: 1}
sensors: {use_threads: true, num_workers: 4}
"""


class DagsterDev:
    """A webserver and a daemon, with a home and a process group of their own.

    Args:
        home: An empty folder.
        store: The URL of the store that the code locations are given.
    """

    def __init__(self, home: Path, store: str) -> None:
        self.home, self.log = home, home / "dev.log"
        self.url = f"http://127.0.0.1:{free_port()}"
        self.client = Client(self.url)
        self._environment = environment(home, store)
        self._process: subprocess.Popen[bytes] | None = None
        self.exit_code: int | None = None
        """What the parent ended with, once it was stopped."""

    @property
    def is_started(self) -> bool:
        return self._process is not None

    def start(self) -> None:
        """Start, and come back when the daemons are healthy and both code locations are loaded.

        Raises:
            RuntimeError: it ended, or a code location does not load.
            TimeoutError: it is not healthy in time.
        """
        (self.home / "dagster.yaml").write_text(DAGSTER_YAML)
        locations = "".join(
            f"\n  - python_module: {{module_name: tests.dagster.live.{name}, "
            f"working_directory: {ROOT}, location_name: {name}}}"
            for name in LOCATIONS
        )
        workspace = self.home / "workspace.yaml"
        workspace.write_text(f"load_from:{locations}\n")
        port = self.url.rpartition(":")[2]
        words = ["-m", "dagster", "dev", "-w", str(workspace), "-h", "127.0.0.1", "-p", port]
        with self.log.open("ab") as file:
            self._process = subprocess.Popen(
                [str(PYTHON), *words],
                cwd=ROOT,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                stdout=file,
                stderr=subprocess.STDOUT,
                start_new_session=True,  # a shell's background job would ignore SIGINT
            )
        until(
            self._is_ready,
            within=START,
            what=lambda: f"Dagster to be ready; its log ends with:\n{self.tail()}",
        )

    def stop(self) -> None:
        """End every process of it: asked first, then forced."""
        if self._process is None:
            return
        ours = self.processes()
        self._process.send_signal(signal.SIGINT)
        with suppress(subprocess.TimeoutExpired):
            self.exit_code = self._process.wait(STOP)
        # What the parent leaves behind: code servers, and runs that were under way.
        _, left = psutil.wait_procs([*ours, *self.processes()], timeout=1)
        for process in {*left, *self.processes()}:
            with suppress(psutil.Error):
                process.kill()
        psutil.wait_procs(left, timeout=STOP)
        self._process.wait(STOP)
        self._process = None

    def processes(self) -> list[psutil.Process]:
        """Every process of this server that is alive."""
        return [each for each in psutil.process_iter() if self._is_ours(each)]

    def tail(self, lines: int = 80) -> str:
        """The end of its log."""
        return "\n".join(self.log.read_text(errors="replace").splitlines()[-lines:])

    def _is_ready(self) -> bool:
        assert self._process is not None
        if self._process.poll() is not None:
            raise RuntimeError(f"Dagster ended with {self._process.returncode}:\n{self.tail()}")
        try:
            loaded = self.client.locations()
            return set(loaded) == set(LOCATIONS) and self.client.daemons_are_healthy()
        except NoAnswerError:
            return False

    def _is_ours(self, process: psutil.Process) -> bool:
        """It has the home that no other has in its environment, whatever its parent and group."""
        with suppress(psutil.Error, OSError):
            if process.status() != psutil.STATUS_ZOMBIE:
                return process.environ().get("DAGSTER_HOME") == str(self.home)
        return False


def environment(home: Path, store: str) -> dict[str, str]:
    """The environment of a server: what it is told, and of schedulers nothing else."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if not name.startswith(("AIRFLOW", "DAGSTER", "UBUNYE_", "PYTEST_", "COV"))
    }
    return {
        **kept,
        "DAGSTER_HOME": str(home),
        "DAGSTER_DISABLE_TELEMETRY": "yes",
        "UBUNYE_STORE": store,
        "PATH": f"{PYTHON.parent}{os.pathsep}{os.environ['PATH']}",
        "PYTHONPATH": str(ROOT),
        "PYTHONWARNINGS": "ignore",
        "NO_PROXY": "127.0.0.1",
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
