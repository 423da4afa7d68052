"""How a test reaches its store from elsewhere."""

from __future__ import annotations

from ubunye_core.stores import ReceiptStore, open_store


class Handles:
    """Other handles on the store under test. Override these where its URL is not enough."""

    def address(self, store: ReceiptStore) -> str:
        """A URL that opens the store in another process; one with its secrets, if it has some."""
        return store.url

    def reopened(self, store: ReceiptStore) -> ReceiptStore:
        """The same store through another handle."""
        return open_store(self.address(store))
