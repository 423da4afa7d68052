"""Look after a store: check it, copy it, remove what is old, repair it. Nothing here prints."""

from ubunye_core.upkeep.check import StoreCheck, check_store
from ubunye_core.upkeep.copy import CopiedStore, NotCopied, copy_store
from ubunye_core.upkeep.ledger import (
    BadLine,
    ExportedLedger,
    ImportedLedger,
    NotExported,
    NotImported,
    export_ledger,
    import_ledger,
)
from ubunye_core.upkeep.prune import PrunedStore, PrunedTask, prune_store
from ubunye_core.upkeep.repair import RepairedStore, repair_store

__all__ = [
    "BadLine",
    "CopiedStore",
    "ExportedLedger",
    "ImportedLedger",
    "NotCopied",
    "NotExported",
    "NotImported",
    "PrunedStore",
    "PrunedTask",
    "RepairedStore",
    "StoreCheck",
    "check_store",
    "copy_store",
    "export_ledger",
    "import_ledger",
    "prune_store",
    "repair_store",
]
