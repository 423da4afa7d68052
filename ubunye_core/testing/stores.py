"""The suite that every store passes."""

from __future__ import annotations

import pytest

from ubunye_core.stores import ReceiptStore
from ubunye_core.testing.ends import Ends
from ubunye_core.testing.offers import Offers
from ubunye_core.testing.reading import Reads
from ubunye_core.testing.writers import Writes


class StoreConformance(Reads, Ends, Writes, Offers):
    """Tests of a store: subclass it, and give a fixture ``store`` with an empty store.

    A store in which others can place documents subclasses ``HoldsDocuments`` too.
    """

    @pytest.fixture
    def store(self) -> ReceiptStore:
        """An empty store of the kind that is tested."""
        raise NotImplementedError("give a fixture 'store' with an empty store")
