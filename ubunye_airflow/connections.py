"""From the fields of an Airflow connection to a store's URL, and the credentials beside it."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl, quote, unquote, urlencode

from ubunye_core import ConfigError, masked_url

CREDENTIALS = frozenset(
    {
        *("access_key_id", "secret_access_key", "session_token", "service_account_key"),
        *("account_key", "sas_key", "client_id", "client_secret", "tenant_id"),
    }
)
"""Fields of the extra that a store is opened with; every other one is an option of its URL."""

_KEY_PAIRS = {
    "s3": ("access_key_id", "secret_access_key"),
    "delta+s3": ("access_key_id", "secret_access_key"),
    "az": ("account_name", "account_key"),
}
"""What login and password are for a store without users."""


@dataclass(frozen=True)
class NamedStore:
    """A store as its opener is told of it. Its text shows no secret."""

    url: str = field(repr=False)
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)

    @property
    def secrets(self) -> list[str]:
        """The texts that must be shown nowhere."""
        return [*secrets_in(self.url), *self.credentials.values()]


def store_of(connection: Any) -> NamedStore:
    """The store that a connection names.

    Raises:
        ConfigError: it names none, or its fields cannot be put together.
    """
    name = f"The Airflow connection '{connection.conn_id}'"
    url = _url(connection, name)
    extra, credentials = _extra(connection, name), {}
    scheme, separator, rest = url.partition("://")
    login, password = connection.login or "", connection.password or ""
    if scheme in _KEY_PAIRS:
        for key, text in zip(_KEY_PAIRS[scheme], (login, password), strict=True):
            if text and extra.get(key, text) != text:
                raise ConfigError(f"{name} has two different values for '{key}'.")
            extra |= {key: text} if text else {}
    elif login or password:
        if not separator or "@" in rest.partition("/")[0]:
            raise ConfigError(
                f"{name} has a login or a password, but its store URL {masked_url(url)} has no "
                f"place for it."
            )
        secret = f":{quote(password, safe='')}" if password else ""
        url = f"{scheme}://{quote(login, safe='')}{secret}@{rest}"
    flags = ("true", "false")  # skip_signature
    for key in [key for key in extra if _is_credential(key) and extra[key] not in flags]:
        credentials[key] = extra.pop(key)
    return NamedStore(_with_options(url, extra, name), credentials)


def secrets_in(url: str) -> list[str]:
    """The secrets in a URL, as they stand there and as they are meant."""
    if masked_url(url) == url:
        return []
    rest = url.partition("://")[2]
    # Where a user's part ends is for each client to say, if it holds what should be quoted.
    parts = {re.split("[/?#]", rest)[0], rest.partition("?")[0]}
    parts = {part for part in parts if "@" in part} or {rest}
    found = [part.rpartition("@")[0].partition(":")[2] for part in parts]
    query = rest.partition("?")[2].partition("#")[0]
    for pair in query.split("&"):
        name, _, text = pair.partition("=")
        found += [text] if _is_credential(unquote(name)) else secrets_in(unquote(text))
    return list(dict.fromkeys(way for text in found if text for way in (text, unquote(text))))


def _url(connection: Any, name: str) -> str:
    host = (connection.host or "").strip()
    if not host:
        raise ConfigError(
            f"{name} has no store URL.",
            hint="Write it into the field 'Store URL' (host), such as s3://bucket/receipts.",
        )
    host = _with_port(host, connection.port, name) if connection.port else host
    # A connection that is given as a URI has its path in the schema.
    return f"{host.rstrip('/')}/{connection.schema}" if connection.schema else host


def _with_port(url: str, port: int, name: str) -> str:
    """The URL with the port, which a connection that is given as a URI has beside its host."""
    scheme, separator, rest = url.partition("://")
    place, slash, path = rest.partition("/")
    standing = re.search(r":(\d+)$", place.rpartition("@")[2])
    if not place:
        raise ConfigError(f"{name} has the port {port}, and its store URL has no place for it.")
    if standing is None:
        return f"{scheme}{separator}{place}:{port}{slash}{path}"
    if int(standing[1]) != port:
        raise ConfigError(f"{name} has two different ports, {standing[1]} and {port}.")
    return url


def _extra(connection: Any, name: str) -> dict[str, str]:
    """The extra's fields as text; what a form leaves empty is none."""
    try:
        json.loads(connection.extra or "{}")  # Airflow itself would go on with no field at all
        found = dict(connection.extra_dejson)
    except (TypeError, ValueError) as error:
        raise ConfigError(f"The extra of {name[4:]} is no JSON object.") from error
    texts = {}
    for key, value in found.items():
        if value is None or value == "":
            continue
        if isinstance(value, Mapping) and _is_credential(key):
            raise ConfigError(
                f"{name} has an object in '{key}' of its extra.", hint="Write its JSON as text."
            )
        if not isinstance(value, str | int | float):
            raise ConfigError(
                f"{name} has '{key}' in its extra, which is no text.",
                hint="Each option of a store has one value.",
            )
        texts[str(key)] = str(value).lower() if isinstance(value, bool) else str(value)
    return texts


def _with_options(url: str, options: Mapping[str, str], name: str) -> str:
    """The URL with these options; those that stand in it already must say the same."""
    if not options:
        return url
    standing = dict(parse_qsl(url.partition("?")[2], keep_blank_values=True))
    for key, text in options.items():
        if standing.get(key, text) != text:
            raise ConfigError(f"{name} has two different values for '{key}'.")
    new = {key: text for key, text in options.items() if key not in standing}
    if not new:
        return url
    return f"{url}{'&' if '?' in url else '?'}{urlencode(new, safe=':/')}"


def _is_credential(key: str) -> bool:
    """Whether a field is a credential, by its name: also for a store that we do not know."""
    shown = f"any://store?{key}=value"
    return key in CREDENTIALS or masked_url(shown) != shown
