"""Every question is asked of both built-in stores."""

from __future__ import annotations

from pathlib import Path

import pytest

from ubunye_core import ReceiptStore
from ubunye_core.stores import FileStore, MemoryStore


@pytest.fixture(params=["memory", "files"])
def store(request: pytest.FixtureRequest, tmp_path: Path) -> ReceiptStore:
    """An empty store."""
    if request.param == "memory":
        return MemoryStore(request.node.name)
    folder = tmp_path / "receipts"
    folder.mkdir()
    return FileStore(folder)


@pytest.fixture
def files(tmp_path: Path) -> FileStore:
    """An empty store of files."""
    folder = tmp_path / "receipts"
    folder.mkdir()
    return FileStore(folder)
