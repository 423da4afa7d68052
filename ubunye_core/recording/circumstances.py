"""On what code, machine and packages a run takes place."""

from __future__ import annotations

import logging
import os
import socket
from functools import cache
from pathlib import Path
from typing import TypedDict

from ubunye_core.hashing import code_hash, environment, environment_hash
from ubunye_core.receipt import Json, Recorder

log = logging.getLogger("ubunye_core.recording")
DISTRIBUTION = "ubunye-receipts"


class Circumstances(TypedDict, total=False):
    """The fields of a receipt that say where and on what a run took place."""

    code_hash: str | None
    environment: dict[str, Json] | None
    environment_hash: str | None
    time_zone: str | None
    recorder: Recorder
    host: str
    pid: int


def circumstances(code: Path | None) -> Circumstances:
    """Where and on what this process runs. Never raises: what cannot be told is left out."""
    found: Circumstances = {"pid": os.getpid()}
    try:
        found["host"] = socket.gethostname()
        found["recorder"] = _recorder()
        found["environment"] = environment().fields()
        found["environment_hash"] = environment_hash(environment())
        found["time_zone"] = os.environ.get("TZ") or "UTC"
        if code is not None and code.exists():
            found["code_hash"] = code_hash(code)
    except Exception as error:
        log.warning("The circumstances of a run are incomplete: %s", type(error).__name__)
    return found


@cache
def _recorder() -> Recorder:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return Recorder(name=DISTRIBUTION, version=version(DISTRIBUTION))
    except PackageNotFoundError:
        return Recorder(name=DISTRIBUTION, version="unknown")


def os_user() -> str | None:
    """The user of this process, as the operating system knows it."""
    import getpass

    try:
        return getpass.getuser()
    except (OSError, KeyError, ImportError):
        return None
