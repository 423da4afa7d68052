"""What a bucket's refusals mean, in words for people and without secrets."""

from __future__ import annotations

import re

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.masking import masked_text
from ubunye_core.stores.objects.address import Address

_CODE = re.compile(r"<Code>\s*(\w{1,80})\s*</Code>")
_STATUS = re.compile(r"status code: (\d{3})")
_ABSENT = frozenset({"NoSuchKey", "BlobNotFound"})
_NO_BUCKET = frozenset({"NoSuchBucket", "ContainerNotFound"})
_NO_CLOCK = frozenset({"RequestTimeTooSkewed", "RequestExpired"})
_NO_KEYS = ("/latest/api/token", "/latest/meta-data", "169.254.", "metadata.google.internal")
"""What the client asks for credentials when it was given none."""


def code_of(error: BaseException) -> str | None:
    """The server's own word for an error, where it gave one."""
    found = _CODE.search(str(error))
    return found[1] if found else None


def is_absent(error: BaseException) -> bool:
    """Whether the server said that this object is not there, and nothing else is wrong."""
    return code_of(error) in _ABSENT


def unavailable(error: BaseException, address: Address, doing: str) -> StoreUnavailableError:
    """The error for what a bucket refused: ``doing`` is ``read``, ``listed`` or ``written``."""
    why, hint = _meaning(error, address)
    return StoreUnavailableError(f"The store {address.url} could not be {doing}: {why}.", hint=hint)


def _meaning(error: BaseException, address: Address) -> tuple[str, str | None]:
    text, code = str(error), code_of(error)
    status = _STATUS.search(text)
    if any(place in text for place in _NO_KEYS):
        return "no credentials were found", (
            f"Set {address.credentials_from} or the keys of the scheduler's connection, or run "
            "where the machine has a role."
        )
    if code in _NO_BUCKET:
        return f"there is no bucket '{address.bucket}'", (
            "Is its name right, and its endpoint and region? The store does not make buckets."
        )
    if code in _NO_CLOCK:
        return "the server finds this machine's clock wrong", "Set the clock of this machine."
    if (status and status[1] in ("401", "403")) or isinstance(error, PermissionError):
        return f"the server refused the credentials ({code or 'forbidden'})", (
            "Reading needs the rights to list the bucket and to get objects; writing also to put "
            "them. Without the right to list, S3 refuses what is absent."
        )
    if "without LOCATION" in text:
        return "the bucket is in another region", "Name it: ?region=eu-west-1."
    if "EmptySegment" in text or "InvalidPath" in type(error).__name__:
        return f"it holds an object that no store can name ({_first_line(text)})", (
            "Remove that object, or give the receipts a folder of their own."
        )
    if status:
        return f"the server answered {status[1]}" + (f" ({code})" if code else ""), None
    if "error sending request" in text or "HTTP error" in text:
        return "the server cannot be reached", "Is the endpoint right, and the network up?"
    return _first_line(text) or type(error).__name__, None


def _first_line(text: str) -> str:
    lines = masked_text(text[:1000]).splitlines()
    return lines[0][:200] if lines else ""
