"""The Javas of this machine, of which Spark's tests start one after another."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from functools import cache
from pathlib import Path

NAMED = "UBUNYE_TEST_JAVA_HOMES"
"""Folders to take instead of looking for some, with colons between them."""


@cache
def java_homes() -> dict[int, str]:
    """The home of each major version of Java, the oldest first."""
    found: dict[int, str] = {}
    for home in _candidates():
        version = _version(Path(home, "bin", "java"))
        if version is not None:
            found.setdefault(version, home)
    return dict(sorted(found.items()))


def _candidates() -> list[str]:
    named = os.environ.get(NAMED)
    if named:
        return named.split(":")
    on_path = shutil.which("java")
    homes = [os.environ.get("JAVA_HOME", ""), *map(str, sorted(Path("/usr/lib/jvm").glob("*")))]
    if on_path:
        homes.append(str(Path(on_path).resolve().parents[1]))
    return [home for home in homes if home]


def _version(java: Path) -> int | None:
    try:
        asked = subprocess.run(
            [java, "-version"], capture_output=True, text=True, timeout=60, check=False
        )
    except OSError:
        return None
    version = re.search(r'version "(\d+)', asked.stderr)
    return int(version.group(1)) if version else None
