"""A folder and several processes, by the suite that every shared store passes."""

from __future__ import annotations

from pathlib import Path

import pytest

from ubunye_core.stores import FileStore
from ubunye_core.testing import ProcessConformance


class TestFileStore(ProcessConformance):
    @pytest.fixture
    def store(self, tmp_path: Path) -> FileStore:
        root = tmp_path / "receipts"
        root.mkdir()
        return FileStore(root)
