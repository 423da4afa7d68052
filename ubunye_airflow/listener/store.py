"""The store that the listener writes to: the same in a worker, in the scheduler and in the API."""

from __future__ import annotations

import os
from functools import lru_cache

from ubunye_airflow.compat import conf
from ubunye_airflow.listener.rules import Named
from ubunye_airflow.options import SECTION
from ubunye_airflow.variables import is_template
from ubunye_core import ConfigError, ReceiptStore, check_whole_path, open_store


def listener_store() -> ReceiptStore:
    """The store of the option ``store``, else of ``UBUNYE_STORE``; never of a connection.

    In the scheduler a look at a connection would break its transaction.

    Raises:
        ConfigError: neither names one, or it is wrong.
    """
    url = conf.get(SECTION, "store", fallback=None) or os.environ.get("UBUNYE_STORE")
    if not url:
        raise ConfigError(
            "No receipt store is named for the listener.",
            hint=f"Give the option 'store' in the section [{SECTION}] of Airflow's configuration, "
            "or the environment variable UBUNYE_STORE. A connection is not looked at.",
        )
    check_whole_path(url)
    return _opened(url, os.getpid())


def own_store(name: Named | None) -> str | None:
    """The URL of the store of a task that records itself, where it can be told here."""
    url = None if name is None else name.store
    return url if url and not is_template(url) else None


@lru_cache(maxsize=4)
def _opened(url: str, pid: int) -> ReceiptStore:
    """One store a process: what a forked one inherits is not its own."""
    return open_store(url)
