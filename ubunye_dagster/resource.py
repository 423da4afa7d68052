"""The store of receipts as a Dagster resource."""

from __future__ import annotations

from typing import Any

import dagster as dg
from pydantic import Field

from ubunye_core import ReceiptStore, masked_url, open_store

RESOURCE_KEY = "receipts"


class ReceiptStoreResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Where receipts are kept.

    ::

        defs = dg.Definitions(
            resources={"receipts": ReceiptStoreResource(url=dg.EnvVar("PAY_RECEIPTS"))}
        )

    Dagster shows the configuration of a resource to everybody who may open its web page: a URL
    with a password belongs into an ``EnvVar``, of which it shows the name only.
    """

    url: str | None = Field(
        default=None,
        description="A store's URL, such as file:///srv/receipts. Left out: the environment "
        "variable UBUNYE_STORE names it.",
    )

    def get_store(self) -> ReceiptStore:
        """The store.

        Raises:
            ConfigError: there is no such store, or nothing names one.
        """
        return open_store(self.url)

    def __repr__(self) -> str:
        return f"ReceiptStoreResource(url={self._shown_url()!r})"

    __str__ = __repr__

    def _shown_url(self) -> Any:
        return masked_url(self.url) if isinstance(self.url, str) else self.url
