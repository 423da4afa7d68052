"""Look after a store: check it, copy it, remove what is old, repair it. Nothing here prints."""

from ubunye_core.upkeep.check import StoreCheck, check_store
from ubunye_core.upkeep.copy import CopiedStore, NotCopied, copy_store
from ubunye_core.upkeep.prune import PrunedStore, PrunedTask, prune_store
from ubunye_core.upkeep.repair import RepairedStore, repair_store

__all__ = [
    "CopiedStore",
    "NotCopied",
    "PrunedStore",
    "PrunedTask",
    "RepairedStore",
    "StoreCheck",
    "check_store",
    "copy_store",
    "prune_store",
    "repair_store",
]
