"""From an Airflow connection to a receipt store."""

from __future__ import annotations

import os

from ubunye_airflow.arguments import check_store
from ubunye_airflow.compat import AirflowNotFoundException, BaseHook, conf, hide
from ubunye_airflow.connections import NamedStore, store_of
from ubunye_airflow.options import SECTION
from ubunye_core import (
    ConfigError,
    ReceiptStore,
    StoreUnavailableError,
    UbunyeError,
    check_whole_path,
    open_store,
)

DEFAULT_CONN_ID = "ubunye_receipts_default"
CONN_TYPE = "ubunye_receipts"


class ReceiptStoreHook(BaseHook):
    """Opens the store that receipts are kept in.

    It is looked for in this order: the argument ``store``; the connection; the option ``store``
    of the section ``[ubunye_receipts]`` of Airflow's configuration; the environment variable
    ``UBUNYE_STORE``. There is no default store, and no falling back from a store that is named.
    What the connection says goes to this store alone: the environment stays as it is.

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
            StoreUnavailableError: the connection cannot be looked up now.
        """
        named = self.named()
        return open_store(named.url, credentials=named.credentials)

    def named(self) -> NamedStore:
        """The store's URL and the credentials beside it. Airflow is told to hide their secrets.

        Raises:
            ConfigError: no store is named, the connection is wrong, or the URL is a relative path.
            StoreUnavailableError: the connection cannot be looked up now.
        """
        named = self._named()
        hide(named.secrets)
        check_whole_path(named.url)
        return named

    def _named(self) -> NamedStore:
        check_store(self.store, self.store_conn_id)
        if self.store is not None:
            return NamedStore(str(self.store))
        of_connection = self._of_connection()
        if of_connection is not None:
            return of_connection
        url = conf.get(SECTION, "store", fallback=None) or os.environ.get("UBUNYE_STORE")
        if not url:
            raise ConfigError(
                "No receipt store is named.",
                hint=f"Give the argument 'store', the connection '{self.store_conn_id}' of type "
                f"{CONN_TYPE}, the option 'store' in the section [{SECTION}] of Airflow's "
                f"configuration, or the environment variable UBUNYE_STORE.",
            )
        return NamedStore(url)

    def test_connection(self) -> tuple[bool, str]:
        """What the button 'Test' of the connection's form asks: can the store be read?"""
        try:
            store = self.get_conn()
            newest = store.search(limit=1)
        except (UbunyeError, OSError) as error:
            return False, str(error)
        found = f"; its newest run is of {newest[0].task}" if newest else "; it has no receipts yet"
        return True, f"{store.url} can be read{found}."

    def _of_connection(self) -> NamedStore | None:
        """The store of the connection; None when nobody made the default one."""
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
        except Exception as error:
            raise StoreUnavailableError(
                f"The Airflow connection '{self.store_conn_id}' cannot be looked up now "
                f"({type(error).__name__})."
            ) from error
        if found.conn_type != CONN_TYPE:
            raise ConfigError(
                f"The Airflow connection '{self.store_conn_id}' is of type '{found.conn_type}', "
                f"not {CONN_TYPE}."
            )
        return store_of(found)
