"""Which store a command asks: named, or, only here, found under the current folder."""

from __future__ import annotations

import functools
import os
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import click

from ubunye_core.cli.output import moment, note, say
from ubunye_core.errors import ConfigError, StoreUnavailableError
from ubunye_core.masking import masked_url
from ubunye_core.stores import ReceiptStore, open_store
from ubunye_core.stores.url import STORE_VARIABLE

LINEAGE_FOLDER = Path(".ubunye", "lineage")
BACKEND_VARIABLE = "UBUNYE_LINEAGE_BACKEND"
_MADE_BY_A_RUN = "first recorded run makes"
"""What every store says that is not there yet, and no other."""


@dataclass(frozen=True)
class Place:
    """The store of one command."""

    store: ReceiptStore
    named: str
    """What opens the same store in another process; may hold a password."""
    was_found: bool = False
    """Whether nobody named it: it lies under the current folder."""

    @property
    def shown(self) -> str:
        """The store for people and documents, without secrets."""
        return masked_url(self.store.url)

    @property
    def remark(self) -> str:
        """What an answer adds where nobody named the store."""
        if not self.was_found:
            return ""
        return f"No store was named, so this is from {self.shown}, found in the current folder."

    def check_named(self, what: str) -> None:
        """Refuse what nobody does to a store that was only found.

        Raises:
            ConfigError: nobody named the store.
        """
        if self.was_found:
            raise ConfigError(
                f"No receipt store is named, and {what} needs one that is.",
                hint=f"Give its URL, or set {STORE_VARIABLE}.",
            )

    def note_if_absent(self, task: str) -> None:
        """Say that a run makes this store, where it is not there yet: its name may be misspelt.

        Never raises, and says nothing of a store that cannot be looked at: the run goes on.

        Args:
            task: The task that is to run.
        """
        try:
            self.store.list_runs(task, 1)
        except StoreUnavailableError as error:
            if _MADE_BY_A_RUN in (error.hint or ""):
                note(f"Note: there was no store at {self.shown}; this run makes it.")
        except Exception:
            return

    def with_remark(self, reason: str) -> str:
        """A reason that says so when nobody named the store."""
        return f"{reason} {self.remark}".rstrip()


def say_beside(place: Place, now: datetime | None) -> None:
    """Print what people have to know beside an answer: as of when, and from where.

    Args:
        place: The store; told where nobody named it.
        now: The instant that was asked for; None is the clock.
    """
    for text in filter(None, (as_of(now), place.remark)):
        say(text)


def as_of(now: datetime | None) -> str:
    """That an answer is as of another instant than the clock's; empty where it is not."""
    return "" if now is None else f"As of {moment(now)}."


def takes_store(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options that name a store, and the store itself as ``place``."""

    @click.option("--store", metavar="URL", help="The receipt store; else UBUNYE_STORE names it.")
    @click.option("--lineage-backend", metavar="NAME", hidden=True)
    @click.option("--lineage-dir", metavar="PLACE", hidden=True)
    @functools.wraps(command)
    def with_place(
        *args: Any,
        store: str | None,
        lineage_backend: str | None,
        lineage_dir: str | None,
        **kwargs: Any,
    ) -> Any:
        return command(*args, place=find_place(store, lineage_backend, lineage_dir), **kwargs)

    return with_place


def takes_store_argument(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the store as ``place``, named by an argument, by --store or UBUNYE_STORE."""

    @click.argument("url", required=False, metavar="[URL]")
    @click.option("--store", metavar="URL", help="The same as the argument; else UBUNYE_STORE.")
    @functools.wraps(command)
    def with_place(*args: Any, url: str | None, store: str | None, **kwargs: Any) -> Any:
        if url is not None and store is not None:
            raise ConfigError("The argument and --store name two stores.", hint="Name one.")
        return command(*args, place=find_place(store if url is None else url), **kwargs)

    return with_place


def find_place(
    url: str | None = None, backend: str | None = None, folder: str | None = None
) -> Place:
    """The store that the options, the environment or the current folder name, in this order.

    Raises:
        ConfigError: none is named, or what is named cannot be a store.
    """
    if url is not None:
        if backend is not None or folder is not None:
            raise ConfigError("--store and --lineage-backend or --lineage-dir name two stores.")
        return _opened(url)
    if backend is not None or folder is not None:
        return _legacy(backend or os.environ.get(BACKEND_VARIABLE) or "filesystem", folder)
    environment = os.environ.get(STORE_VARIABLE)
    if environment:
        return _opened(environment)
    named = os.environ.get(BACKEND_VARIABLE, "filesystem")
    if named != "filesystem":
        raise ConfigError(
            f"{BACKEND_VARIABLE} is '{named}', which does not say where its store is.",
            hint=f"Name the store by its URL: --store or {STORE_VARIABLE}.",
        )
    if LINEAGE_FOLDER.is_dir():
        return _opened(str(LINEAGE_FOLDER), was_found=True)
    raise ConfigError(
        "No receipt store is named.",
        hint=f"Give --store URL, or set {STORE_VARIABLE}, or stand in a folder that holds "
        f"{LINEAGE_FOLDER}.",
    )


def _opened(url: str, *, was_found: bool = False) -> Place:
    store = open_store(url)
    if store.url.startswith("memory://"):
        note(f"{masked_url(store.url)} is in this process only: it is gone when the command ends.")
    named = url.strip() if "://" in url else store.url  # a relative path means this folder only
    return Place(store=store, named=named, was_found=was_found)


def _legacy(backend: str, folder: str | None) -> Place:
    """ubunye-engine's pair of options. Its folder is the one that holds the records."""
    if backend == "delta":
        raise ConfigError(
            "The lineage backend 'delta' is ubunye-engine's own table, which is not supported.",
            hint="Name a receipt store: --store URL.",
        )
    if backend != "filesystem":
        raise ConfigError(
            f"The lineage backend '{backend}' is not known.",
            hint="Use filesystem, or name a receipt store: --store URL.",
        )
    path = LINEAGE_FOLDER if folder is None else Path(folder).expanduser()
    if (path / LINEAGE_FOLDER).is_dir():
        raise ConfigError(
            f"--lineage-dir {path} is not the folder of the records.",
            hint=f"They are in {path / LINEAGE_FOLDER}.",
        )
    if "://" in str(folder):
        raise ConfigError("--lineage-dir is a folder.", hint="A URL goes to --store.")
    return _opened(str(path))
