"""Where a Delta table lies: its URL, and what delta-rs has to know to reach it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path

from ubunye_core.errors import ConfigError, StoreUnavailableError
from ubunye_core.masking import masked_url
from ubunye_core.stores.addresses import (
    bucket_and_folder,
    check_credentials,
    local_path,
    options_in,
    split,
    with_options,
)

LOG = "_delta_log"
_WHAT = "folder of a Delta table"
_KEYS_FROM = "AWS_*"

_OF_S3 = {"region": "aws_region", "endpoint": "aws_endpoint_url"}
"""What the URL of a bucket may say, by the names that delta-rs has for it."""
_CREDENTIALS = ("access_key_id", "secret_access_key", "session_token")
"""What the bucket may be opened with apart from its URL; delta-rs puts ``aws_`` before it."""
_ALWAYS = {
    "aws_conditional_put": "etag",  # a commit is a put-if-absent: needs no table of locks
    "connect_timeout": "5s",
    "timeout": "30s",
    "max_retries": "5",
    "retry_timeout": "30s",
}


@dataclass(frozen=True)
class Place:
    """The place of one table."""

    url: str
    """As the store shows it, without secrets."""
    uri: str
    """As delta-rs takes it."""
    options: Mapping[str, str] = field(default_factory=dict, repr=False)
    root: Path | None = None
    """Its folder, where it lies in one."""

    def beside(self, suffix: str) -> Place:
        """The place of another table, whose name is this one's and a suffix."""
        path, mark, query = self.url.partition("?")
        return replace(
            self,
            url=path + suffix + mark + query,
            uri=self.uri + suffix,
            root=None if self.root is None else self.root.with_name(self.root.name + suffix),
        )

    def identity_of_log(self) -> tuple[int, int] | None:
        """What tells a folder's table from another that took its place; None without a folder.

        Raises:
            OSError: the folder cannot be looked at.
        """
        if self.root is None:
            return None
        try:
            found = os.stat(self.root / LOG)
        except (FileNotFoundError, NotADirectoryError):
            return None
        return found.st_dev, found.st_ino

    @property
    def is_surely_empty(self) -> bool:
        """Whether a look at the folder tells that there is no table."""
        return self.root is not None and self.identity_of_log() is None

    def prepare(self) -> None:
        """Make the folder in which a table is about to be made.

        Raises:
            StoreUnavailableError: files of a table lie there, whose log is gone.
            OSError: the folder cannot be made.
        """
        if self.root is None:
            return
        self.root.mkdir(parents=True, exist_ok=True)
        left = [name for name in os.listdir(self.root) if "=" in name or name.endswith(".parquet")]
        if left:
            raise StoreUnavailableError(
                f"{self.url} holds files of a Delta table, such as {left[0]!r}, and no log.",
                hint=f"Restore its folder {LOG}, or name another place.",
            )


def place_of(url: str, credentials: Mapping[str, str] | None = None) -> Place:
    """The place that a store's URL names, and what it is opened with beside it.

    Raises:
        ConfigError: it names none, or takes no such credentials.
    """
    if split(url).scheme != "delta+file":
        return _bucket(url, credentials or {})
    check_credentials(url, credentials or {}, (), not_with={})
    return _folder(url)


def _folder(url: str) -> Place:
    path = local_path(url, what=_WHAT, example="delta+file:///srv/receipts")
    root = Path(os.path.normpath(path))
    if not path.strip("/"):
        raise ConfigError(
            f"'{masked_url(url)}' names no {_WHAT}.", hint="Write delta+file:///srv/receipts."
        )
    return Place(url=f"delta+{root.as_uri()}", uri=str(root), root=root)


def _bucket(url: str, credentials: Mapping[str, str]) -> Place:
    bucket, table = bucket_and_folder(url, keys_from=_KEYS_FROM)
    if not table:
        raise ConfigError(
            f"'{masked_url(url)}' names no {_WHAT}, but a bucket alone.",
            hint="Write delta+s3://bucket/table?region=eu-west-1.",
        )
    asked = options_in(url, _OF_S3, keys_from=_KEYS_FROM)
    options = {_OF_S3[name]: text for name, text in asked.items()} | _ALWAYS
    mixed = {"session_token": "AWS_SESSION_TOKEN"}
    keys = check_credentials(url, credentials, _CREDENTIALS, not_with=mixed)
    options |= {f"aws_{name}": text for name, text in keys.items()}
    if asked.get("endpoint", os.environ.get("AWS_ENDPOINT_URL", "")).startswith("http://"):
        options["aws_allow_http"] = "true"
    return Place(
        url=with_options(f"delta+s3://{bucket}/{table}", asked),
        uri=f"s3://{bucket}/{table}",
        options=options,
    )
