"""On what code, machine and packages a run takes place, and who runs it."""

from __future__ import annotations

import logging
import os
import socket
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import TypedDict

from ubunye_core.hashing import code_hash, environment, environment_hash
from ubunye_core.receipt import Json, Recorder, TriggeredBy
from ubunye_core.recording.databricks import databricks_user

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
        found["recorder"] = recorder()
        found["environment"] = environment().fields()
        found["environment_hash"] = environment_hash(environment())
        found["time_zone"] = os.environ.get("TZ") or "UTC"
        if code is not None and code.exists():
            found["code_hash"] = code_hash(code)
    except Exception as error:
        log.warning("The circumstances of a run are incomplete: %s", type(error).__name__)
    return found


@cache
def recorder() -> Recorder:
    """This library, and its version."""
    from importlib.metadata import PackageNotFoundError, version

    try:
        return Recorder(name=DISTRIBUTION, version=version(DISTRIBUTION))
    except PackageNotFoundError:
        return Recorder(name=DISTRIBUTION, version="unknown")


def with_actor(trigger: TriggeredBy) -> TriggeredBy:
    """What started a run, with the user of this process where nobody else is named.

    In a notebook or job of Databricks that is the user as whom it runs there.
    """
    if trigger.actor:
        return trigger
    user = databricks_user()
    if user is not None:
        return replace(trigger, actor=user, asserted_by="databricks")
    return replace(trigger, actor=os_user(), asserted_by="os-user")


def os_user() -> str:
    """The user of this process, as the operating system knows it.

    Not what the environment says (``USER``, ``LOGNAME``), which whoever starts a process chooses. A
    user without a name, as containers have them, is ``uid 1000``.
    """
    try:
        import pwd
    except ImportError:  # Windows
        import getpass

        return getpass.getuser()
    number = os.getuid()
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return f"uid {number}"
