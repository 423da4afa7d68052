"""What must never be written down: secrets in variables, URLs and error texts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from itertools import pairwise
from urllib.parse import urlsplit, urlunsplit

MASK = "***"
MAX_ERROR_TEXT = 300
_SECRET_WORDS = frozenset({"password", "passwd", "secret", "token", "apikey", "credential", "auth"})
_SECRET_PAIRS = frozenset({("api", "key"), ("private", "key")})
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_URL = re.compile(r"\b([A-Za-z][A-Za-z0-9+.-]*://)([^\s/'\"]*)@")
_ASSIGNED = re.compile(
    r"(?i)(\b[\w.-]*(?:password|passwd|secret|token|api_?key|credential|private_?key|auth)"
    r"[\w.-]*[\"']?\s*[=:]\s*)(\"[^\"]*\"|'[^']*'|(?:Bearer\s+|Basic\s+)?[^\s,;&\"'}\])]+)"
)


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name looks like a secret.

    A part of the name must be one of the words (``db_password``, ``apiKey``, ``auth-token``);
    ``author`` and ``signature_date`` are no secrets.
    """
    words = [word.lower() for word in _WORDS.findall(name)]
    words += [word[:-1] for word in words if word.endswith("s")]
    pairs = set(pairwise(words))
    return not _SECRET_WORDS.isdisjoint(words) or not _SECRET_PAIRS.isdisjoint(pairs)


def masked_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """A copy with the values of secret-looking names replaced by ``***``."""
    return {name: MASK if is_secret_name(name) else text for name, text in variables.items()}


def masked_url(url: str) -> str:
    """A URL without its password, and without secret-looking query values."""
    text = _URL.sub(_mask_user, url)
    if "?" not in text:
        return text
    try:
        parts = urlsplit(text)
    except ValueError:
        return text.split("?", 1)[0] + "?" + MASK
    pairs = [pair.partition("=") for pair in parts.query.split("&")]
    query = "&".join(
        name + sep + (MASK if sep and is_secret_name(name) else value) for name, sep, value in pairs
    )
    return urlunsplit(parts._replace(query=query))


def _mask_user(match: re.Match[str]) -> str:
    user, colon, _ = match[2].partition(":")
    return f"{match[1]}{user}:{MASK}@" if colon else match[0]


def masked_text(text: str) -> str:
    """Free text without URL passwords and ``password=...`` values."""
    return _ASSIGNED.sub(lambda match: match[1] + MASK, _URL.sub(_mask_user, text))


def error_text(
    error: BaseException, *, with_message: bool = True, secrets: Iterable[str] = ()
) -> str:
    """An exception for a receipt: its type, and a masked first line of at most 300 characters.

    Args:
        error: What was raised.
        with_message: False keeps the type alone.
        secrets: Texts that must not appear, wherever they stand in the message.
    """
    kind = type(error).__name__
    try:
        lines = str(error).strip().splitlines() if with_message else []
    except Exception:  # a broken __str__ must not break the record of the run
        lines = []
    if not lines:
        return kind
    line = masked_text(lines[0])
    for secret in secrets:
        line = line.replace(secret, MASK) if len(secret) > 3 else line
    return f"{kind}: {line if len(line) <= MAX_ERROR_TEXT else line[: MAX_ERROR_TEXT - 3] + '...'}"
