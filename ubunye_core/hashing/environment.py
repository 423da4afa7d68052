"""What a run ran on, as far as it can change a result."""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from types import MappingProxyType
from typing import Any

from ubunye_core.hashing.rows_v1 import sha256_name

PACKAGES = (
    "ubunye-engine",
    "pyspark",
    "delta-spark",
    "pandas",
    "pyarrow",
    "numpy",
    "narwhals",
    "scikit-learn",
    "torch",
    "mlflow",
)
"""The packages that are recorded where they are installed. A longer list would give every
environment another hash than the one ubunye-engine gives it."""


@dataclass(frozen=True, kw_only=True)
class Environment:
    """The interpreter, the machine and the installed packages that can change a result."""

    python: str
    implementation: str
    platform: str
    machine: str
    packages: Mapping[str, str]

    def fields(self) -> dict[str, Any]:
        """The object of a receipt. Nothing may be added: its hash would no longer compare."""
        return {
            "python": self.python,
            "implementation": self.implementation,
            "platform": self.platform,
            "machine": self.machine,
            "packages": dict(self.packages),
        }


@cache
def environment() -> Environment:
    """The environment of this process; looked up once, for packages do not change under it."""
    from importlib import metadata

    packages = {}
    for name in PACKAGES:
        try:
            packages[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return Environment(
        python=platform.python_version(),
        implementation=platform.python_implementation(),
        platform=sys.platform,
        machine=platform.machine(),
        packages=MappingProxyType(packages),
    )


def environment_hash(of: Environment) -> str:
    """The hash of an environment."""
    return sha256_name(json.dumps(of.fields(), sort_keys=True, separators=(",", ":")))
