"""The parts of a store's URL, read alike for all stores: what cannot be meant is refused."""

from __future__ import annotations

import os
import re
from collections.abc import Collection, Mapping
from urllib.parse import SplitResult, parse_qsl, quote, unquote, urlsplit

from ubunye_core.errors import ConfigError
from ubunye_core.masking import masked_url

_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}", re.ASCII)
_SEGMENT = re.compile(r"[A-Za-z0-9_=@+][A-Za-z0-9_=@+. -]*", re.ASCII)
_MAX_PREFIX = 400


def split(url: str) -> SplitResult:
    """The parts of a URL; its scheme in small letters.

    Raises:
        ConfigError: it has none.
    """
    try:
        return urlsplit(url)
    except ValueError as error:
        raise ConfigError(f"'{masked_url(url)}' is not a URL.") from error


def local_path(url: str, *, what: str, example: str) -> str:
    """The whole path that a URL without a machine and without options names.

    Args:
        url: The URL.
        what: What is kept there, for the error: ``folder``.
        example: A URL that would do.

    Raises:
        ConfigError: it names a machine, has options, or names no path.
    """
    parts = split(url)
    if parts.netloc not in ("", "localhost"):
        raise ConfigError(
            f"'{masked_url(url)}' names a machine.",
            hint=f"The URL of a {what} has three slashes: {example}.",
        )
    if parts.query or parts.fragment:
        raise ConfigError(f"'{masked_url(url)}' has options; a {what} takes none.")
    path = unquote(parts.path)
    if not path.startswith("/") or "\0" in path:
        raise ConfigError(f"'{masked_url(url)}' names no {what}.", hint=f"Write {example}.")
    return path


def bucket_and_folder(url: str, *, keys_from: str) -> tuple[str, str]:
    """The bucket that a URL names, and the folder in it, which may be empty.

    Args:
        url: The URL.
        keys_from: Where credentials are read from, for the error.

    Raises:
        ConfigError: it names none, or holds credentials.
    """
    parts = split(url)
    if "@" in parts.netloc:
        raise ConfigError(
            f"'{masked_url(url)}' holds credentials.",
            hint=f"Give them in the environment ({keys_from}), not in the URL.",
        )
    if parts.fragment or not _BUCKET.fullmatch(parts.netloc):
        raise ConfigError(
            f"'{masked_url(url)}' names no bucket.",
            hint=f"Write {parts.scheme}://bucket/folder. A bucket's name has two or more letters, "
            "digits, '.', '_' and '-'.",
        )
    folder = unquote(parts.path).strip("/")
    segments = folder.split("/") if folder else []
    if len(folder) > _MAX_PREFIX or not all(map(_SEGMENT.fullmatch, segments)):
        raise ConfigError(
            f"'{masked_url(url)}' names a folder that the store does not take.",
            hint="Use letters, digits and _ = @ + - . or spaces, and single slashes.",
        )
    return parts.netloc, folder


def options_in(
    url: str, known: Collection[str], *, keys_from: str, flags: Collection[str] = ()
) -> dict[str, str]:
    """The options of a bucket's URL, each once and with a value.

    Args:
        url: The URL.
        known: Which there are.
        keys_from: Where credentials are read from, for the error.
        flags: Those that are true or false.

    Raises:
        ConfigError: one is not known, stands there twice, or cannot be what it says.
    """
    parts = split(url)
    options: dict[str, str] = {}
    for name, text in parse_qsl(parts.query, keep_blank_values=True):
        if name not in known:
            raise ConfigError(
                f"'{masked_url(url)}' has the option '{name}', which {parts.scheme}:// does not "
                f"know.",
                hint=f"It knows: {', '.join(known)}. Credentials are read from the environment "
                f"({keys_from}).",
            )
        if not text or name in options:
            raise ConfigError(f"'{masked_url(url)}' must say '{name}' once, with a value.")
        if name in flags and text not in ("true", "false"):
            raise ConfigError(f"'{masked_url(url)}': '{name}' is true or false.")
        options[name] = text
    if "endpoint" in options:
        _check_endpoint(url, options["endpoint"])
    return options


_KEY_PAIR = frozenset({"access_key_id", "secret_access_key"})


def check_credentials(
    url: str, given: Mapping[str, str], known: Collection[str], *, not_with: Mapping[str, str]
) -> dict[str, str]:
    """The credentials that a bucket is opened with, apart from its URL. No value is shown.

    Args:
        url: The URL, for errors.
        given: What was given; what is empty counts as not given.
        known: The names there are.
        not_with: The environment's variables that a client would mix with one of these names.

    Raises:
        ConfigError: a name is not known, half of a key pair is missing, or the environment would
            be mixed in.
    """
    found = {name: text for name, text in given.items() if text}
    unknown = sorted(set(found) - set(known))
    if unknown:
        raise ConfigError(
            f"'{masked_url(url)}' is given the credential '{unknown[0]}', which {split(url).scheme}"
            f":// does not know.",
            hint=f"It knows: {', '.join(known)}.",
        )
    half = found.keys() & _KEY_PAIR
    if len(half) == 1:
        (lacking,) = _KEY_PAIR - half
        raise ConfigError(
            f"'{masked_url(url)}' is given the credential '{min(half)}' without '{lacking}'.",
            hint=f"Give '{lacking}' too, or neither.",
        )
    for name, variable in not_with.items():
        if found and name not in found and os.environ.get(variable):
            raise ConfigError(
                f"'{masked_url(url)}' is given credentials without '{name}', and the environment "
                f"has {variable}, which would be taken with them.",
                hint=f"Give '{name}' too, or unset {variable}.",
            )
    return found


def with_options(place: str, options: Mapping[str, str]) -> str:
    """The URL of a place, as it is shown: it holds no secret, for none is taken from a URL."""
    query = "&".join(f"{name}={quote(text, safe=':/')}" for name, text in options.items())
    return f"{place}?{query}" if query else place


def _check_endpoint(url: str, endpoint: str) -> None:
    try:
        parts = urlsplit(endpoint)
        good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        good = False
    if not good or "@" in endpoint or parts.query or parts.fragment:
        raise ConfigError(
            f"'{masked_url(url)}': the endpoint is no plain http or https URL.",
            hint="Write endpoint=https://host:port, without credentials.",
        )
