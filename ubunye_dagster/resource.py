"""The store of receipts as a Dagster resource: the same one for every process of Dagster."""

from __future__ import annotations

import os
from typing import Any

import dagster as dg
from pydantic import Field

from ubunye_core import (
    ConfigError,
    ReceiptStore,
    check_store_scheme,
    check_whole_path,
    masked_url,
    open_store,
)

RESOURCE_KEY = "receipts"


class ReceiptStoreResource(dg.ConfigurableResource):  # type: ignore[type-arg]
    """Where receipts are kept.

    ::

        defs = dg.Definitions(
            resources={"receipts": ReceiptStoreResource(url=dg.EnvVar("PAY_RECEIPTS"))}
        )

    Dagster shows the configuration of a resource to everybody who may open its web page: a URL
    with a password belongs into an ``EnvVar``, of which it shows the name only.

    A relative path, which would be another folder for each process, and a scheme that no installed
    package knows are errors when the resource is made; of an ``EnvVar``, when a run begins.
    """

    url: str | None = Field(
        default=None,
        description="A store's URL, such as file:///srv/receipts. Left out: the environment "
        "variable UBUNYE_STORE names it.",
    )

    def __init__(self, *, url: str | None = None, **more: Any) -> None:
        # Not by a validator: pydantic's own error would show the URL, and it may hold a password.
        if isinstance(url, str) and not isinstance(url, dg.EnvVar):
            check_store_url(url)
        super().__init__(**{"url": url, **more})

    def get_store(self) -> ReceiptStore:
        """The store.

        Raises:
            ConfigError: there is no such store, nothing names one, or it is a relative path.
        """
        return store_named(self.url)

    def __repr__(self) -> str:
        return f"ReceiptStoreResource(url={self._shown_url()!r})"

    __str__ = __repr__

    def _shown_url(self) -> Any:
        return masked_url(self.url) if isinstance(self.url, str) else self.url


def store_named(url: str | os.PathLike[str] | None) -> ReceiptStore:
    """The store that a URL names, else ``UBUNYE_STORE``. Nothing is read or made yet.

    Raises:
        ConfigError: there is no such store, nothing names one, or it is a relative path.
    """
    named = os.environ.get("UBUNYE_STORE") if url is None else url
    if named:
        check_store_url(named)
    return open_store(url)


def check_store_url(given: object) -> None:
    """Check that a store is the same wherever a process was started, and of a known kind.

    Raises:
        ConfigError: it is a relative path, or no URL at all.
        UnknownStoreError: no installed package knows its scheme.
    """
    if not isinstance(given, str | os.PathLike):
        raise ConfigError(
            f"The store is {given!r}.", hint="Write its URL, such as file:///srv/receipts."
        )
    if isinstance(given, dg.EnvVar):
        raise ConfigError(
            f"The store is the EnvVar {given.env_var_name!r}, which Dagster reads for resources "
            "only, and in runs only.",
            hint="Give ReceiptStoreResource(url=EnvVar(...)) as the resource, or set UBUNYE_STORE.",
        )
    url = os.fspath(given)
    scheme, separator, _ = url.strip().partition("://")
    if separator:
        check_store_scheme(scheme.lower())
    else:
        open_store(url)  # complains of what is neither a path nor a URL; opens nothing
    check_whole_path(url)
