"""Where receipts live; and what somebody needs who writes a store.

A kind of store is imported when it is asked for: most who import this never open it.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

from ubunye_core.codec import MAX_RECEIPT_BYTES, decode, encode
from ubunye_core.names import check_run_id, check_task
from ubunye_core.runids import time_in
from ubunye_core.stores.capabilities import (
    Compacts,
    Examines,
    Finding,
    FindsAttempt,
    FindsSuccess,
    GivesClaims,
    ListsTasks,
    Removes,
    Repaired,
    Repairs,
    SavesMany,
    Scans,
    SetsHeartbeat,
    Settled,
    Summarises,
    TellsSettled,
)
from ubunye_core.stores.claims import Claim, ClaimKey, Held, check_claim
from ubunye_core.stores.deciding import (
    KnownClaim,
    Take,
    decide_claim,
    holder_of,
    own_claim,
    renewable,
)
from ubunye_core.stores.ends import on_record, standing
from ubunye_core.stores.protocol import Found, ReceiptStore, Unreadable
from ubunye_core.stores.select import could_be_since, select
from ubunye_core.stores.successes import Success, Summaries, Summed, in_short
from ubunye_core.stores.takeover import end_of_the_old_holder
from ubunye_core.stores.url import open_store

if TYPE_CHECKING:
    from ubunye_core.stores.files import FileStore
    from ubunye_core.stores.memory import MemoryStore

_LATER = {"FileStore": "ubunye_core.stores.files", "MemoryStore": "ubunye_core.stores.memory"}

__all__ = [
    # the stores there are
    "open_store",
    "FileStore",
    "MemoryStore",
    # what a store is, and what it answers with
    "ReceiptStore",
    "Found",
    "Unreadable",
    # what it may offer besides
    "ListsTasks",
    "SetsHeartbeat",
    "FindsSuccess",
    "FindsAttempt",
    "TellsSettled",
    "Settled",
    "Summarises",
    "Summed",
    "Summaries",
    "Success",
    "in_short",
    "Scans",
    "SavesMany",
    "GivesClaims",
    "ClaimKey",
    "Claim",
    "Held",
    "Removes",
    "Compacts",
    "Repairs",
    "Repaired",
    "Examines",
    "Finding",
    # the rules that all stores share
    "check_task",
    "check_run_id",
    "on_record",
    "standing",
    "check_claim",
    "KnownClaim",
    "decide_claim",
    "Take",
    "renewable",
    "own_claim",
    "holder_of",
    "end_of_the_old_holder",
    "select",
    "could_be_since",
    "time_in",
    # a receipt as it is stored
    "encode",
    "decode",
    "MAX_RECEIPT_BYTES",
]


def __getattr__(name: str) -> Any:
    if name not in _LATER:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(_LATER[name]), name)
