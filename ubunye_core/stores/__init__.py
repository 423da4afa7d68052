"""Where receipts live."""

from ubunye_core.stores.files import FileStore
from ubunye_core.stores.memory import MemoryStore
from ubunye_core.stores.protocol import Found, ListsTasks, ReceiptStore, Unreadable
from ubunye_core.stores.url import open_store

__all__ = [
    "FileStore",
    "Found",
    "ListsTasks",
    "MemoryStore",
    "ReceiptStore",
    "Unreadable",
    "open_store",
]
