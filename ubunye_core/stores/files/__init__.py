"""``file:///folder`` or a plain path: one JSON file a run, in ubunye-engine's layout."""

from ubunye_core.stores.files.store import FileStore
from ubunye_core.stores.files.url import open_files

__all__ = ["FileStore", "open_files"]
