"""The URL of a bucket: what it names, and which options it may have."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ubunye_core.errors import ConfigError
from ubunye_core.stores.addresses import (
    bucket_and_folder,
    check_credentials,
    options_in,
    split,
    with_options,
)

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
_CREDENTIALS: Mapping[str, tuple[str, ...]] = {
    "s3": ("access_key_id", "secret_access_key", "session_token"),
    "gs": ("service_account_key",),
    "az": ("account_key", "sas_key", "client_id", "client_secret", "tenant_id"),
}
"""What a bucket may be opened with apart from its URL; the client calls it the same."""

_VARIABLES = {"s3": "AWS_*", "gs": "GOOGLE_*", "az": "AZURE_STORAGE_*"}


@dataclass(frozen=True, kw_only=True)
class Address:
    """What a URL says of a bucket."""

    scheme: str
    bucket: str
    prefix: str
    """Without a slash at its ends; empty for the bucket's root."""
    options: Mapping[str, str]
    credentials: Mapping[str, str] = field(default_factory=dict, repr=False)
    """Instead of those that the environment holds; never shown."""

    @property
    def url(self) -> str:
        """The URL, which holds no secret: none is taken from a URL."""
        place = f"{self.scheme}://{self.bucket}" + (f"/{self.prefix}" if self.prefix else "")
        return with_options(place, self.options)

    @property
    def client_options(self) -> dict[str, str | bool]:
        """The options and the credentials, as the client calls them."""
        named = _OPTIONS[self.scheme]
        options = {
            named[name]: text == "true" if name in _FLAGS else text
            for name, text in self.options.items()
        }
        return {**options, **self.credentials}

    @property
    def credentials_from(self) -> str:
        """The environment variables that credentials are read from."""
        return _VARIABLES[self.scheme]


def read_address(url: str, credentials: Mapping[str, str] | None = None) -> Address:
    """What a URL names, and what it is opened with beside it.

    Raises:
        ConfigError: it names no bucket, holds credentials, or has an option that is not known.
    """
    scheme = split(url).scheme
    keys_from = _VARIABLES[scheme]
    bucket, prefix = bucket_and_folder(url, keys_from=keys_from)
    if scheme == "s3" and bucket.endswith("--x-s3"):
        raise ConfigError(
            f"'{bucket}' is a directory bucket, whose listings have no order.",
            hint="Use a general purpose bucket.",
        )
    options = options_in(url, _OPTIONS[scheme], keys_from=keys_from, flags=_FLAGS)
    mixed = {"session_token": "AWS_SESSION_TOKEN"} if scheme == "s3" else {}
    given = check_credentials(url, credentials or {}, _CREDENTIALS[scheme], not_with=mixed)
    return Address(scheme=scheme, bucket=bucket, prefix=prefix, options=options, credentials=given)
