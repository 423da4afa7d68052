"""A bucket: the few things that the store asks of it, each whole or refused."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

import obstore
from obstore import exceptions
from obstore.store import AzureStore, GCSStore, S3Store

from ubunye_core.errors import ConfigError, StoreUnavailableError
from ubunye_core.masking import masked_text
from ubunye_core.stores.forks import Runtime
from ubunye_core.stores.objects.address import Address
from ubunye_core.stores.objects.refusals import code_of, is_absent, unavailable

PAGE = 1000
_REFUSED = (exceptions.BaseError, OSError, NotImplementedError)
_NOT_FOUND = (exceptions.NotFoundError, FileNotFoundError)
_PROBE = ".conditional-writes"
_NOT_KEPT = frozenset({"NotImplemented", "UnsupportedHeader"})

_ENDPOINTS = ("AWS_ENDPOINT_URL_S3", "AWS_ENDPOINT_URL", "AWS_ENDPOINT")

_CLIENT = {"connect_timeout": timedelta(seconds=5), "timeout": timedelta(seconds=20)}
_RETRY = {
    "max_retries": 3,
    "retry_timeout": timedelta(seconds=30),
    "backoff": {
        "init_backoff": timedelta(milliseconds=100),
        "max_backoff": timedelta(seconds=3),
        "base": 2,
    },
}
"""A gate that asks must not hang for minutes: it hears that the store is unavailable, and waits."""


@dataclass(frozen=True, slots=True)
class Stored:
    """An object as it was read, and what it takes to replace this very version of it."""

    document: bytes
    e_tag: str | None
    version: str | None
    modified: datetime
    """By the server's clock, to the second."""


@dataclass(frozen=True, slots=True)
class Listed:
    """An object as a listing shows it."""

    key: str
    e_tag: str | None
    modified: datetime


class Bucket:
    """The objects below a prefix; keys are relative to it.

    Nothing is remembered. Every write is conditional: of several writers at once, one comes
    first, and the others learn it. A server that does not keep conditions is refused.
    """

    def __init__(self, address: Address) -> None:
        self.address = address
        self._below = f"{address.prefix}/" if address.prefix else ""
        self._client = _client(address)
        self._keeps_conditions = False

    def where(self, key: str) -> str:
        """The place of an object, for people."""
        return f"{self.address.scheme}://{self.address.bucket}/{self._below}{key}"

    def get(self, key: str) -> Stored | None:
        """An object; None only where the server says that it is not there."""
        _runtime.use()
        try:
            result = obstore.get(self._client, self._below + key)
            document, meta = bytes(result.bytes()), result.meta
        except _NOT_FOUND as error:
            if is_absent(error) or (code_of(error) is None and self._answers(key)):
                return None
            raise self._unavailable(error, "read") from None
        except _REFUSED as error:
            raise self._unavailable(error, "read") from None
        return Stored(document, meta["e_tag"], meta["version"], meta["last_modified"])

    def write(self, key: str, document: bytes, *, over: Stored | None) -> bool:
        """Write an object if it is still as it was read: ``over`` this one, or absent.

        Returns:
            False when somebody else was first: then read again. So it also is after an answer
            that got lost, when this very write was first.

        Raises:
            ConfigError: the server does not keep conditions, so that writes could get lost.
        """
        if not self._keeps_conditions:
            self.check_conditions(_PROBE)
            self._keeps_conditions = True
        return self._put(key, document, over)

    def check_conditions(self, key: str) -> None:
        """See at an object of no meaning whether the server keeps conditions.

        Raises:
            ConfigError: it does not.
        """
        text = b"Shows that this server keeps the conditions of writes. May be removed.\n"
        if self._put(key, text, None) and self._put(key, text, None):
            raise self._unfit("wrote over an object that was to be absent")
        stale = Stored(
            b"", '"00000000000000000000000000000000"', "1", datetime.min.replace(tzinfo=UTC)
        )
        if self._put(key, text, stale):
            raise self._unfit("wrote over a version other than the one named")

    def delete(self, keys: Sequence[str]) -> None:
        """Remove objects; one that is absent is removed already."""
        _runtime.use()
        try:
            if keys:
                obstore.delete(self._client, [self._below + key for key in keys])
        except _NOT_FOUND as error:
            if not is_absent(error):
                raise self._unavailable(error, "written") from None
        except _REFUSED as error:
            raise self._unavailable(error, "written") from None

    def listed(self, folder: str, *, after: str | None = None) -> Iterator[list[Listed]]:
        """The objects in a folder and below, by key, in pages of up to 1,000.

        Args:
            folder: It ends without a slash; ``""`` is the store's own.
            after: Only keys that come after this one; it need not exist.
        """
        _runtime.use()
        offset = None if after is None else self._below + after
        prefix = (self._below + folder).rstrip("/") or None
        try:
            for page in obstore.list(self._client, prefix, offset=offset, chunk_size=PAGE):
                yield [
                    Listed(
                        meta["path"].removeprefix(self._below),
                        meta["e_tag"],
                        meta["last_modified"],
                    )
                    for meta in page
                ]
        except _REFUSED as error:
            raise self._unavailable(error, "listed") from None

    def folders(self, folder: str) -> list[str]:
        """The names of the folders in a folder; ``""`` is the store's own."""
        _runtime.use()
        prefix = (self._below + folder).rstrip("/") or None
        try:
            found = obstore.list_with_delimiter(self._client, prefix)
        except _REFUSED as error:
            raise self._unavailable(error, "listed") from None
        return [each.rstrip("/").rpartition("/")[2] for each in found["common_prefixes"]]

    def _put(self, key: str, document: bytes, over: Stored | None) -> bool:
        _runtime.use()
        mode: Any = "create"
        if over is not None:
            known = {"e_tag": over.e_tag, "version": over.version}
            mode = {name: text for name, text in known.items() if text is not None}
        try:
            obstore.put(self._client, self._below + key, document, mode=mode)
        except (exceptions.AlreadyExistsError, exceptions.PreconditionError, FileExistsError):
            return False
        except (exceptions.NotSupportedError, NotImplementedError) as error:
            raise self._unfit(f"says: {masked_text(str(error).splitlines()[0])[:100]}") from None
        except _REFUSED as error:
            if code_of(error) in _NOT_KEPT:
                raise self._unfit(f"answers {code_of(error)}") from None
            raise self._unavailable(error, "written") from None
        return True

    def _answers(self, key: str) -> bool:
        """Whether the bucket can be listed; a server that says too little of an absent object."""
        next(self.listed(key), None)
        return True

    def _unfit(self, did: str) -> ConfigError:
        return ConfigError(
            f"The server of {self.address.url} does not keep the conditions of writes: it {did}. "
            "Writers at the same time would lose receipts, so nothing is written there.",
            hint="Use a server with conditional writes (S3 itself has them), or another store.",
        )

    def _unavailable(self, error: BaseException, doing: str) -> StoreUnavailableError:
        return unavailable(error, self.address, doing)


_runtime = Runtime("A bucket")


def _client(address: Address) -> Any:
    """The client of a bucket. Nothing is asked of it yet."""
    kinds: dict[str, Any] = {"s3": S3Store, "gs": GCSStore, "az": AzureStore}
    options: dict[str, Any] = dict(address.client_options)
    client = dict(_CLIENT)
    named = next((os.environ[name] for name in _ENDPOINTS if os.environ.get(name)), "")
    endpoint = address.options.get("endpoint", named if address.scheme == "s3" else "")
    if endpoint.startswith("http:") or options.get("use_emulator"):
        client["allow_http"] = True  # type: ignore[assignment]
    try:
        return kinds[address.scheme](
            address.bucket, client_options=client, retry_config=_RETRY, **options
        )
    except (*_REFUSED, ValueError, TypeError) as error:
        # What the client says of credentials that were given could quote them.
        first = "it takes no such credentials" if address.credentials else masked_text(str(error))
        raise ConfigError(
            f"The store {address.url} cannot be opened: {first.splitlines()[0][:200].rstrip('.')}.",
            hint=f"It is set up by its URL and the variables {address.credentials_from}.",
        ) from None
