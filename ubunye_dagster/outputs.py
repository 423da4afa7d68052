"""What a run wrote, by its receipt: how many rows, and the hash of it all."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence

from ubunye_core import Receipt, Step


def row_count(receipt: Receipt) -> int | None:
    """How many rows the run wrote: those of its one output, else the rows it says it loaded."""
    if len(receipt.outputs) == 1 and receipt.outputs[0].row_count is not None:
        return receipt.outputs[0].row_count
    return None if receipt.counts is None else receipt.counts.loaded


def data_version(outputs: Sequence[Step]) -> str | None:
    """The hash of all that a run wrote; None where one part of it has none."""
    hashes = {each.name: each.data_hash for each in outputs}
    if not hashes or len(hashes) < len(outputs) or not all(hashes.values()):
        return None
    if len(hashes) == 1:
        return outputs[0].data_hash
    told = "".join(f"{name}\0{text}\n" for name, text in sorted(hashes.items()))
    return f"sha256:{hashlib.sha256(told.encode()).hexdigest()}"
