"""Hashes of what a run read, wrote, ran and ran on."""

from ubunye_core.hashing.fingerprint import (
    Fingerprint,
    canonical_lines,
    fingerprint,
    row_count,
)
from ubunye_core.hashing.problems import UnhashableError

__all__ = [
    "Fingerprint",
    "UnhashableError",
    "canonical_lines",
    "fingerprint",
    "row_count",
]
