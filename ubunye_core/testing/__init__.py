"""For those who write a store or a hash engine: the tests it must pass.

A store's test is a class with a fixture::

    class TestMyStore(StoreConformance):
        @pytest.fixture
        def store(self, tmp_path):
            return open_store(f"mine://{tmp_path}")

Beside it, for what a store offers, stand ``HoldsDocuments`` (others can place documents in it),
``ProcessConformance`` (a URL opens it in several processes), ``ClaimsConformance`` and
``ClaimsAcrossProcesses`` (it gives claims). Long tests are marked ``slow``, those of minutes
``soak``: register these markers to choose by them; without, a soak test is skipped.

An engine's is a class with a fixture that hashes a ``pyarrow.Table`` by way of the engine::

    class TestMyEngine(HashConformance):
        @pytest.fixture
        def fingerprint(self):
            return lambda table: fingerprint(my.frame(table))
"""

import pytest

_TESTS = "reading ends writers offers damage claims children processes races hash_conformance"
pytest.register_assert_rewrite(*(f"{__name__}.{name}" for name in _TESTS.split()))

from ubunye_core.testing.builders import A_TASK, a_receipt, a_step, at  # noqa: E402
from ubunye_core.testing.claims import ClaimsConformance  # noqa: E402
from ubunye_core.testing.damage import DAMAGED, HoldsDocuments  # noqa: E402
from ubunye_core.testing.hash_conformance import (  # noqa: E402
    HashAnswer,
    HashConformance,
    HashEngine,
    HashVector,
    hash_vectors,
)
from ubunye_core.testing.processes import ProcessConformance  # noqa: E402
from ubunye_core.testing.races import ClaimsAcrossProcesses  # noqa: E402
from ubunye_core.testing.stores import StoreConformance  # noqa: E402
from ubunye_core.testing.writers import HOSTILE_SEGMENTS  # noqa: E402

__all__ = [
    "StoreConformance",
    "HoldsDocuments",
    "ProcessConformance",
    "ClaimsConformance",
    "ClaimsAcrossProcesses",
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
