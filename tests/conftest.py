"""What every test stands on: a clean environment, and folders that vanish."""

from __future__ import annotations

import atexit
import os
import shutil
import signal
import tempfile
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

pytest_plugins = ("tests.suite_report", "tests.sharing")

ROOT = Path(__file__).parents[1]

# The schedulers read these when first imported, so they are set before any test file is.
_HOME = tempfile.mkdtemp(prefix="ubunye-tests-")
atexit.register(shutil.rmtree, _HOME, ignore_errors=True)
for _name in [name for name in os.environ if name.startswith(("AIRFLOW", "DAGSTER", "UBUNYE_"))]:
    if not _name.startswith("UBUNYE_TEST_"):  # how to test, not how to run
        del os.environ[_name]
os.environ |= {
    "AIRFLOW_HOME": f"{_HOME}/airflow",
    "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
    "AIRFLOW__USAGE_DATA_COLLECTION__ENABLED": "False",
    "DAGSTER_DISABLE_TELEMETRY": "yes",
    "DO_NOT_TRACK": "1",
    "TZ": "UTC",
}

# A shell that starts tests in the background has them ignore Ctrl-C, and nohup the end of a
# terminal; what they start would inherit that.
for _number, _usual in (
    (signal.SIGINT, signal.default_int_handler),
    (signal.SIGHUP, signal.SIG_DFL),
):
    if signal.getsignal(_number) is signal.SIG_IGN:
        signal.signal(_number, _usual)

# A shared machine may stall any one example; CI must not fail for that, nor by luck of a seed.
settings.register_profile("ubunye", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.register_profile("ci", parent=settings.get_profile("ubunye"), derandomize=True)
settings.load_profile("ci" if os.environ.get("CI") else "ubunye")


@pytest.fixture(scope="session")
def engine_bin() -> Path:
    """The commands of the published ubunye-engine, which has an environment of its own."""
    folder = ROOT / ".venv-engine" / "bin"
    if not (folder / "ubunye").exists():
        pytest.fail("ubunye-engine is not installed: run `make engine` first")
    return folder
