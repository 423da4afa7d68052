"""For those who write a store or a hash engine: the tests it must pass.

A store's test is a class with a fixture::

    class TestMyStore(StoreConformance):
        @pytest.fixture
        def store(self, tmp_path):
            return open_store(f"mine://{tmp_path}")

An engine's is a class with a fixture that hashes a ``pyarrow.Table`` by way of the engine::

    class TestMyEngine(HashConformance):
        @pytest.fixture
        def fingerprint(self):
            return lambda table: fingerprint(my.frame(table))
"""

import pytest

pytest.register_assert_rewrite(
    *(f"{__name__}.{name}" for name in ("reading", "ends", "writers", "damage", "hash_conformance"))
)

from ubunye_core.testing.builders import A_TASK, a_receipt, a_step, at  # noqa: E402
from ubunye_core.testing.damage import DAMAGED, HoldsDocuments  # noqa: E402
from ubunye_core.testing.hash_conformance import (  # noqa: E402
    HashAnswer,
    HashConformance,
    HashEngine,
    HashVector,
    hash_vectors,
)
from ubunye_core.testing.stores import StoreConformance  # noqa: E402
from ubunye_core.testing.writers import HOSTILE_SEGMENTS  # noqa: E402

__all__ = [
    "StoreConformance",
    "HoldsDocuments",
    "DAMAGED",
    "HOSTILE_SEGMENTS",
    "A_TASK",
    "a_receipt",
    "a_step",
    "at",
    "HashConformance",
    "HashEngine",
    "HashAnswer",
    "HashVector",
    "hash_vectors",
]
