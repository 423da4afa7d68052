"""Claims in the memory of a process, which other stores give as it does."""

from __future__ import annotations

import uuid

import pytest

from ubunye_core.stores import MemoryStore, open_store
from ubunye_core.testing import ClaimsConformance


class TestMemoryStore(ClaimsConformance):
    @pytest.fixture
    def store(self) -> MemoryStore:
        store = open_store(f"memory://{uuid.uuid4()}")
        assert isinstance(store, MemoryStore)
        return store
