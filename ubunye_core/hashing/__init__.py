"""Hashes of what a run read, wrote, ran and ran on."""

from ubunye_core.hashing.code import code_hash
from ubunye_core.hashing.environment import Environment, environment, environment_hash
from ubunye_core.hashing.fingerprint import (
    Fingerprint,
    canonical_lines,
    fingerprint,
    row_count,
)
from ubunye_core.hashing.problems import UnhashableError

__all__ = [
    "Environment",
    "Fingerprint",
    "UnhashableError",
    "canonical_lines",
    "code_hash",
    "environment",
    "environment_hash",
    "fingerprint",
    "row_count",
]
