"""From a URL to a store."""

from __future__ import annotations

import inspect
import os
import re
from collections.abc import Callable, Mapping
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from ubunye_core.errors import (
    ConfigError,
    MissingExtraError,
    StoreNotNamedError,
    UnknownStoreError,
)
from ubunye_core.masking import masked_url
from ubunye_core.stores.protocol import ReceiptStore

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

STORE_VARIABLE = "UBUNYE_STORE"
ENTRY_POINTS = "ubunye_receipts.stores"

_LIKE_A_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
_USER_OF_NO_URL = re.compile(r"(?<=:).*@", re.DOTALL)
"""Where one slash is missing, nobody can tell a user from a password."""

_BUILT_IN = {
    "delta+file": "ubunye_core.stores.delta:open_delta",
    "delta+s3": "ubunye_core.stores.delta:open_delta",
    "file": "ubunye_core.stores.files:open_files",
    "jsonl": "ubunye_core.stores.jsonl:open_jsonl",
    "memory": "ubunye_core.stores.memory:open_memory",
    "s3": "ubunye_core.stores.objects:open_objects",
    "gs": "ubunye_core.stores.objects:open_objects",
    "az": "ubunye_core.stores.objects:open_objects",
    "spark": "ubunye_core.stores.spark:open_spark",
    "sqlite": "ubunye_core.stores.sql.sqlite:open_sqlite",
    "postgresql": "ubunye_core.stores.sql.postgres:open_postgres",
    "postgresql+psycopg": "ubunye_core.stores.sql.postgres:open_postgres",
}
"""Where the stores of this library are opened. Each is imported when it is asked for."""

_EXTRAS: dict[str, str] = {
    "delta+file": "delta",
    "delta+s3": "delta",
    "s3": "objects",
    "gs": "objects",
    "az": "objects",
    "spark": "spark",
    "sqlite": "sql",
    "postgresql": "sql",
    "postgresql+psycopg": "sql",
}
"""The extra that brings what a scheme needs."""


StoreLike = ReceiptStore | str | os.PathLike[str] | None
"""A store, its URL or path, or nothing: then ``UBUNYE_STORE`` names it."""


def store_of(given: StoreLike) -> ReceiptStore:
    """The store that an argument stands for: itself, or what its URL names; see ``open_store``."""
    if given is None or isinstance(given, str | os.PathLike):
        return open_store(given)
    return given


def check_store_scheme(scheme: str) -> None:
    """Check that this library or an installed package opens the stores of a scheme.

    Raises:
        UnknownStoreError: none does; its ``known`` are those that are.
    """
    if scheme not in _BUILT_IN:
        _plugin(scheme)


def check_whole_path(url: str) -> None:
    """Check that a store is the same folder or file wherever a process was started.

    What is neither a path nor a URL is for ``open_store`` to tell.

    Raises:
        ConfigError: it is a relative path.
    """
    url = url.strip()
    scheme, separator, rest = url.partition("://")
    if separator:
        path = rest.partition("?")[0].removeprefix("/") if scheme.lower() == "sqlite" else ""
        is_whole, whole = Path(path).is_absolute(), "sqlite:////srv/receipts.db"
    else:
        path = "" if _LIKE_A_URL.match(url) else url
        is_whole, whole = path.startswith("~") or Path(path).is_absolute(), "file:///srv/receipts"
    if path and not is_whole:
        raise ConfigError(
            f"The store {masked_url(url)!r} is a relative path: where it is would depend on the "
            f"folder in which a process was started.",
            hint=f"Write the whole path, such as {whole}.",
        )


def open_store(
    url: str | os.PathLike[str] | None = None, *, credentials: Mapping[str, str] | None = None
) -> ReceiptStore:
    """The store that a URL names; without one, the store that ``UBUNYE_STORE`` names.

    ``file:///srv/receipts`` or a plain path is a folder, ``memory://name`` lives in this process;
    other schemes come from installed packages (entry point group ``ubunye_receipts.stores``).
    Nothing is read or made yet.

    Args:
        url: The store's URL, or the path of a folder.
        credentials: What the store is opened with that must not stand in its URL, instead of what
            the environment holds: ``access_key_id``, ``secret_access_key`` and ``session_token``
            for ``s3://`` and ``delta+s3://``; ``service_account_key`` for ``gs://``;
            ``account_key`` and others for ``az://``. They go to this store alone.

    Raises:
        StoreNotNamedError: neither is given. There is no default store.
        UnknownStoreError: no store is known for the scheme.
        ConfigError: the store takes no such credentials.
    """
    given = {name: text for name, text in (credentials or {}).items() if text}
    if isinstance(url, os.PathLike):
        url = _checked(os.fspath(url))
        return _opened(_factory("file"), url, given)
    named = url if url is not None else os.environ.get(STORE_VARIABLE)
    if url is None and not named:
        raise StoreNotNamedError()
    named = _checked((named or "").strip())
    scheme, separator, _ = named.partition("://")
    if not separator:
        if _LIKE_A_URL.match(named):
            shown = masked_url(_USER_OF_NO_URL.sub("***@", named))
            raise ConfigError(
                f"{shown!r} is not a URL, and no plain path either.",
                hint=f"Write file:///srv/receipts, or ./{shown} for a folder of this name.",
            )
        return _opened(_factory("file"), named, given)
    return _opened(_factory(scheme.lower()), named, given)


def _checked(named: str) -> str:
    """What names a store, if the system can be asked for it."""
    try:
        os.fsencode(named)
    except UnicodeEncodeError:  # half of a character
        is_text = False
    else:
        is_text = "\0" not in named
    if not named or not is_text:
        raise ConfigError(f"{masked_url(named)!r} is not the URL of a store.")
    return named


def _opened(
    factory: Callable[..., ReceiptStore], url: str, credentials: Mapping[str, str]
) -> ReceiptStore:
    """The store, opened with credentials where there are any. A factory may take none."""
    if not credentials:
        return factory(url)
    try:
        takes = "credentials" in inspect.signature(factory).parameters
    except (TypeError, ValueError):
        takes = False
    if not takes:
        raise ConfigError(
            f"The store {masked_url(url)} is given the credential '{min(credentials)}', and takes "
            "none beside its URL."
        )
    return factory(url, credentials=dict(credentials))


def _factory(scheme: str) -> Callable[..., ReceiptStore]:
    """What opens the store of a scheme."""
    place = _BUILT_IN.get(scheme)
    if place is None:
        return _from_plugin(scheme)
    module, _, name = place.partition(":")
    try:
        factory: Callable[..., ReceiptStore] = getattr(import_module(module), name)
    except ModuleNotFoundError as error:
        if scheme not in _EXTRAS:
            raise
        raise MissingExtraError(
            f"The store {scheme}:// needs {error.name}, which is not installed.", _EXTRAS[scheme]
        ) from error
    return factory


def _plugin(scheme: str) -> EntryPoint:
    from importlib.metadata import entry_points

    plugins = {point.name: point for point in entry_points(group=ENTRY_POINTS)}
    if scheme not in plugins:
        raise UnknownStoreError(scheme, sorted({*_BUILT_IN, *plugins}))
    return plugins[scheme]


def _from_plugin(scheme: str) -> Callable[..., ReceiptStore]:
    plugin = _plugin(scheme)
    try:
        factory: Callable[..., ReceiptStore] = plugin.load()
    except (ImportError, AttributeError) as error:
        raise ConfigError(
            f"The package that offers '{scheme}://' cannot be used: {error}.",
            hint=f"It is '{plugin.value}'.",
        ) from error
    return factory
