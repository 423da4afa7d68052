"""Where a Delta table lies: its URL, and what delta-rs has to know to reach it."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

from ubunye_core.errors import ConfigError, StoreUnavailableError
from ubunye_core.masking import is_secret_name, masked_url

LOG = "_delta_log"

_OF_S3 = {"region": "aws_region", "endpoint": "aws_endpoint_url"}
"""What the URL of a bucket may say, by the names that delta-rs has for it."""
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
    options: Mapping[str, str] = field(default_factory=dict)
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


def place_of(url: str) -> Place:
    """The place that a store's URL names.

    Raises:
        ConfigError: it names none.
    """
    parts = urlsplit(url)
    if parts.fragment:
        raise ConfigError(f"'{masked_url(url)}' has a '#', which no Delta table's URL has.")
    return _folder(url) if parts.scheme == "delta+file" else _bucket(url)


def _folder(url: str) -> Place:
    parts = urlsplit(url)
    path = unquote(parts.path)
    if parts.netloc not in ("", "localhost") or not path.strip("/") or parts.query or "\0" in path:
        raise ConfigError(
            f"'{masked_url(url)}' does not name the folder of a Delta table.",
            hint="Write it as delta+file:///srv/receipts, with three slashes and nothing after it.",
        )
    root = Path(os.path.normpath(path))
    return Place(url=f"delta+{root.as_uri()}", uri=str(root), root=root)


def _bucket(url: str) -> Place:
    parts = urlsplit(url)
    hint = "Write it as delta+s3://bucket/table?region=eu-west-1."
    if "@" in parts.netloc or not parts.netloc or not parts.path.strip("/"):
        raise ConfigError(f"'{masked_url(url)}' does not name a table in a bucket.", hint=hint)
    asked = dict(parse_qsl(parts.query, keep_blank_values=True))
    for name in asked.keys() - _OF_S3.keys():
        if is_secret_name(name) or "key" in name.lower():
            raise ConfigError(
                f"The URL of a store does not take '{name}': URLs are shown and logged.",
                hint="Give keys in the environment: AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY.",
            )
        raise ConfigError(
            f"'{name}' is nothing that the URL of a Delta table may say.",
            hint=f"It may say: {', '.join(_OF_S3)}. {hint}",
        )
    key = parts.path.strip("/")
    options = {_OF_S3[name]: text for name, text in asked.items()} | _ALWAYS
    if asked.get("endpoint", os.environ.get("AWS_ENDPOINT_URL", "")).startswith("http://"):
        options["aws_allow_http"] = "true"
    query = f"?{urlencode(asked)}" if asked else ""
    return Place(
        url=masked_url(f"delta+s3://{parts.netloc}/{key}{query}"),
        uri=f"s3://{parts.netloc}/{key}",
        options=options,
    )
