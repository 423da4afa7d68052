"""What importing every module of a package warns of."""

from __future__ import annotations

import json
import subprocess
import sys

_PROGRAM = """
import importlib, json, pkgutil, sys, warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    package = importlib.import_module(sys.argv[1])
    found = [each.name for each in pkgutil.walk_packages(package.__path__, f"{sys.argv[1]}.")]
    for name in found:
        importlib.import_module(name)
said = [[each.filename, str(each.message)] for each in caught]
print(json.dumps({"modules": found, "warnings": said}))
"""


def warned_when_all_are_imported(package: str) -> list[str]:
    """The warnings that are of this package's own lines, in a process that has imported nothing."""
    done = subprocess.run(
        [sys.executable, "-c", _PROGRAM, package], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout.splitlines()[-1])
    assert len(told["modules"]) > 10
    return [f"{file}: {message}" for file, message in told["warnings"] if f"/{package}/" in file]
