"""From an Airflow connection to a receipt store."""

from __future__ import annotations

import os
from typing import Any
from urllib.parse import quote

from ubunye_airflow.compat import AirflowNotFoundException, BaseHook, conf
from ubunye_core import ConfigError, ReceiptStore, UbunyeError, masked_url, open_store

DEFAULT_CONN_ID = "ubunye_receipts_default"
CONN_TYPE = "ubunye_receipts"


class ReceiptStoreHook(BaseHook):
    """Opens the store that receipts are kept in.

    It is looked for in this order: the argument ``store``; the connection; the option ``store``
    of the section ``[ubunye_receipts]`` of Airflow's configuration; the environment variable
    ``UBUNYE_STORE``. There is no default store, and no falling back from a store that is named.

    Args:
        store_conn_id: A connection of type ``ubunye_receipts``. One that is named must exist;
            the default one need not.
        store: The store's URL.
    """

    conn_name_attr = "store_conn_id"
    default_conn_name = DEFAULT_CONN_ID
    conn_type = CONN_TYPE
    hook_name = "Ubunye receipts"

    def __init__(
        self, store_conn_id: str | None = DEFAULT_CONN_ID, *, store: str | None = None
    ) -> None:
        super().__init__()
        self.store_conn_id, self.store = store_conn_id, store

    def get_conn(self) -> ReceiptStore:
        """The store. Nothing is read or made yet.

        Raises:
            ConfigError: no store is named, or what names it is wrong.
        """
        return open_store(self.store_url())

    def store_url(self) -> str:
        """The store's URL, secrets included.

        Raises:
            ConfigError: no store is named, or the connection is wrong.
        """
        if self.store is not None and str(self.store).strip():
            return str(self.store)
        if self.store is not None:
            raise ConfigError("The argument 'store' is empty.", hint="Give a URL, or leave it out.")
        url = self._of_connection() or conf.get(CONN_TYPE, "store", fallback=None)
        url = url or os.environ.get("UBUNYE_STORE")
        if not url:
            raise ConfigError(
                "No receipt store is named.",
                hint=f"Give the argument 'store', the connection '{self.store_conn_id}' of type "
                f"{CONN_TYPE}, the option 'store' in the section [{CONN_TYPE}] of Airflow's "
                f"configuration, or the environment variable UBUNYE_STORE.",
            )
        return url

    def test_connection(self) -> tuple[bool, str]:
        """What the button 'Test' of the connection's form asks: can the store be read?"""
        try:
            store = self.get_conn()
            newest = store.search(limit=1)
        except (UbunyeError, OSError) as error:
            return False, str(error)
        found = f"; its newest run is of {newest[0].task}" if newest else "; it has no receipts yet"
        return True, f"{store.url} can be read{found}."

    def _of_connection(self) -> str | None:
        """The URL in the connection; None when nobody made the default one."""
        if not self.store_conn_id:
            return None
        try:
            found = self.get_connection(self.store_conn_id)
        except AirflowNotFoundException as error:
            if self.store_conn_id == DEFAULT_CONN_ID:
                return None
            raise ConfigError(
                f"The Airflow connection '{self.store_conn_id}' does not exist.",
                hint=f"Make it, of type {CONN_TYPE}, with the store's URL as its host.",
            ) from error
        if found.conn_type != CONN_TYPE:
            raise ConfigError(
                f"The Airflow connection '{self.store_conn_id}' is of type '{found.conn_type}', "
                f"not {CONN_TYPE}."
            )
        return _url(found)


def _url(connection: Any) -> str:
    """The store's URL from the fields of a connection."""
    host = (connection.host or "").strip()
    if not host:
        raise ConfigError(
            f"The Airflow connection '{connection.conn_id}' has no store URL.",
            hint="Write it into the field 'Store URL' (host), such as s3://bucket/receipts.",
        )
    # A connection that is given as a URI has its path in the schema.
    url = f"{host.rstrip('/')}/{connection.schema}" if connection.schema else host
    if not connection.login and not connection.password:
        return url
    scheme, separator, rest = url.partition("://")
    if not separator or "@" in rest.partition("/")[0]:
        raise ConfigError(
            f"The Airflow connection '{connection.conn_id}' has a login or a password, but its "
            f"store URL {masked_url(url)} has no place for it."
        )
    user = quote(connection.login or "", safe="")
    password = f":{quote(connection.password, safe='')}" if connection.password else ""
    return f"{scheme}://{user}{password}@{rest}"
