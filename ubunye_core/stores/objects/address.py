"""The URL of a bucket: what it names, and which options it may have."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from urllib.parse import parse_qsl, quote, unquote, urlsplit

from ubunye_core.errors import ConfigError
from ubunye_core.masking import masked_url

_OPTIONS: Mapping[str, Mapping[str, str]] = {
    "s3": {
        "endpoint": "endpoint",
        "region": "region",
        "virtual_hosted_style_request": "virtual_hosted_style_request",
        "skip_signature": "skip_signature",
        "request_payer": "request_payer",
        "server_side_encryption": "server_side_encryption",
        "sse_kms_key_id": "sse_kms_key_id",
    },
    "gs": {"endpoint": "base_url", "skip_signature": "skip_signature"},
    "az": {
        "account_name": "account_name",
        "endpoint": "endpoint",
        "use_emulator": "use_emulator",
        "skip_signature": "skip_signature",
    },
}
"""What may stand in a URL's query, and what the client calls it."""

_FLAGS = frozenset({"virtual_hosted_style_request", "skip_signature", "request_payer"})
_FLAGS |= {"use_emulator"}
_VARIABLES = {"s3": "AWS_*", "gs": "GOOGLE_*", "az": "AZURE_STORAGE_*"}
_BUCKET = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,254}", re.ASCII)
_SEGMENT = re.compile(r"[A-Za-z0-9_=@+][A-Za-z0-9_=@+. -]*", re.ASCII)
_MAX_PREFIX = 400


@dataclass(frozen=True, kw_only=True)
class Address:
    """What a URL says of a bucket."""

    scheme: str
    bucket: str
    prefix: str
    """Without a slash at its ends; empty for the bucket's root."""
    options: Mapping[str, str]

    @property
    def url(self) -> str:
        """The URL, which holds no secret: none is taken from a URL."""
        place = f"{self.scheme}://{self.bucket}" + (f"/{self.prefix}" if self.prefix else "")
        query = "&".join(f"{name}={quote(text, safe=':/')}" for name, text in self.options.items())
        return f"{place}?{query}" if query else place

    @property
    def client_options(self) -> dict[str, str | bool]:
        """The options, as the client calls them."""
        named = _OPTIONS[self.scheme]
        return {
            named[name]: text == "true" if name in _FLAGS else text
            for name, text in self.options.items()
        }

    @property
    def credentials_from(self) -> str:
        """The environment variables that credentials are read from."""
        return _VARIABLES[self.scheme]


def read_address(url: str) -> Address:
    """What a URL names.

    Raises:
        ConfigError: it names no bucket, holds credentials, or has an option that is not known.
    """
    try:
        parts = urlsplit(url)
    except ValueError as error:
        raise ConfigError(f"'{masked_url(url)}' is not a URL.") from error
    scheme = parts.scheme.lower()
    if "@" in parts.netloc:
        raise ConfigError(
            f"'{masked_url(url)}' holds credentials.",
            hint=f"Give them in the environment ({_VARIABLES[scheme]}), not in the URL.",
        )
    if parts.fragment or not _BUCKET.fullmatch(parts.netloc):
        raise ConfigError(
            f"'{masked_url(url)}' names no bucket.",
            hint=f"Write {scheme}://bucket/folder.",
        )
    if scheme == "s3" and parts.netloc.endswith("--x-s3"):
        raise ConfigError(
            f"'{parts.netloc}' is a directory bucket, whose listings have no order.",
            hint="Use a general purpose bucket.",
        )
    prefix = unquote(parts.path).strip("/")
    if len(prefix) > _MAX_PREFIX or not all(
        _SEGMENT.fullmatch(part) for part in prefix.split("/") if prefix
    ):
        raise ConfigError(
            f"'{masked_url(url)}' names a folder that the store does not take.",
            hint="Use letters, digits and _ = @ + - . or spaces, and single slashes.",
        )
    return Address(
        scheme=scheme, bucket=parts.netloc, prefix=prefix, options=_read_options(url, scheme)
    )


def _read_options(url: str, scheme: str) -> dict[str, str]:
    """The options in a URL's query, each checked."""
    options: dict[str, str] = {}
    for name, text in parse_qsl(urlsplit(url).query, keep_blank_values=True):
        if name not in _OPTIONS[scheme]:
            raise ConfigError(
                f"'{masked_url(url)}' has the option '{name}', which {scheme}:// does not know.",
                hint=f"It knows: {', '.join(_OPTIONS[scheme])}. Credentials are read from the "
                f"environment ({_VARIABLES[scheme]}).",
            )
        if not text or name in options:
            raise ConfigError(f"'{masked_url(url)}' must say '{name}' once, with a value.")
        if name in _FLAGS and text not in ("true", "false"):
            raise ConfigError(f"'{masked_url(url)}': '{name}' is true or false.")
        options[name] = text
    endpoint = options.get("endpoint")
    if endpoint is not None:
        _check_endpoint(url, endpoint)
    return options


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
