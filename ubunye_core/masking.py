"""What must never be written down: secrets in variables, URLs and error texts."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from itertools import pairwise
from urllib.parse import quote, quote_plus, unquote_plus

MASK = "***"
MAX_ERROR_TEXT = 300
MAX_TEXT = 2000
SHORTEST_SECRET = 4
"""A shorter value is not looked for in texts: it would be found in every other word."""
_MOST_LOOKED_AT = 4_000
_SECRET_WORDS = frozenset({"password", "passwd", "secret", "token", "apikey", "credential", "auth"})
_SECRET_PAIRS = frozenset({("api", "key"), ("private", "key")})
_SIGNATURES = frozenset({"sig", "signature"})
_WORDS = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")
_A_URL = re.compile(r"[A-Za-z][A-Za-z0-9+.-]{0,40}://\S+")
_WORD = re.compile(r"\S+")
# A user, and a password that ends at the last "@" and may hold anything; a port before a path is
# no password.
_USER = re.compile(r"(://[^\s/:]*):(?!\d+[/?#])([^\s?#]*|\S*)@")
_NAME_AND_SIGN = re.compile(r"(?<![\w.-])([\w.-]{1,128})[\"']?\s{0,9}[=:]\s{0,9}")
_VALUE = re.compile(r"\"[^\"]*\"?|'[^']*'?|(?:(?:Bearer|Basic)\s+)?[^\s,;&\"'}\])]+", re.IGNORECASE)
# In free text, rather a name too many than a secret.
_SECRET_IN_TEXT = re.compile(
    r"password|passwd|secret|token|api_?key|credential|private_?key|authorization|\bpwd\b|\bpass\b",
    re.IGNORECASE,
)


def is_secret_name(name: str) -> bool:
    """Whether a variable of this name looks like a secret.

    A part of the name must be one of the words (``db_password``, ``apiKey``, ``auth-token``);
    ``author`` and ``signature_date`` are no secrets.
    """
    words = [_singular(word.lower()) for word in _WORDS.findall(name)]
    return not _SECRET_WORDS.isdisjoint(words) or not _SECRET_PAIRS.isdisjoint(pairwise(words))


def _singular(word: str) -> str:
    return word.removesuffix("s")


def masked_variables(variables: Mapping[str, str]) -> dict[str, str]:
    """A copy without secrets: values of secret-looking names, and passwords in URLs."""
    return {
        name: MASK if is_secret_name(name) else masked_value(text)
        for name, text in variables.items()
    }


def masked_value(text: str) -> str:
    """The value of a variable without the passwords of URLs in it."""
    return _A_URL.sub(lambda url: masked_url(url[0]), text) if "://" in text else text


def comparable_value(text: str) -> str:
    """The text by which the value of a variable is compared: of a URL, all but its password.

    Where more than that is hidden (``token=ETH`` in a path, the value of a query, a "password" that
    holds a path), two different values would look the same: then it is ``***``, which is equal to
    nothing.
    """
    masked = masked_value(text)
    is_known = MASK not in masked.replace(f":{MASK}@", "@")
    is_known = is_known and not any("/" in password for password in _url_passwords(text))
    return masked if is_known else MASK


def secrets_of(variables: Mapping[str, str]) -> list[str]:
    """The texts among these variables that must not be written down anywhere."""
    named = [text for name, text in variables.items() if is_secret_name(name)]
    return named + [secret for text in variables.values() for secret in _url_passwords(text)]


def _url_passwords(text: str) -> list[str]:
    words = text.split() if "://" in text else []
    return [found[2] for word in words for found in _USER.finditer(_to_last_at(word)[0])]


def _to_last_at(word: str) -> tuple[str, str]:
    """The part of a word that may hold passwords, and the rest.

    Beyond the last "@" there is none, and a search there would begin anew at every "://".
    """
    end = word.rfind("@") + 1
    return word[:end], word[end:]


def _without_passwords(word: str) -> str:
    before, after = _to_last_at(word)
    return _USER.sub(rf"\1:{MASK}@", before) + after


def masked_url(url: str) -> str:
    """A URL without its password, and without secret-looking query values."""
    url = _WORD.sub(lambda word: _without_passwords(word[0]), url) if "@" in url else url
    place, mark, query = url.partition("?")
    query, hash_, fragment = query.partition("#")
    pairs = [pair.partition("=") for pair in query.split("&")]
    query = "&".join(
        name + sep + (MASK if value and _is_secret_pair(name, value) else value)
        for name, sep, value in pairs
    )
    return _masked_assignments(place, is_secret_name) + mark + query + hash_ + fragment


def _is_secret_pair(name: str, value: str) -> bool:
    """Also a URL with a password, written as a URL's query must write it."""
    in_a_url = set(_url_passwords(unquote_plus(value))) - {MASK}
    return _is_secret_in_query(unquote_plus(name)) or bool(in_a_url)


def _is_secret_in_query(name: str) -> bool:
    last = _WORDS.findall(name)[-1:]
    if "password" in name.lower():  # sslpassword
        return True
    return is_secret_name(name) or (bool(last) and last[0].lower() in _SIGNATURES)


def masked_text(text: str) -> str:
    """Free text without URL passwords and ``password=...`` values."""
    return _masked_assignments(masked_value(text), _is_secret_in_text)


def told(value: object) -> str:
    """A value as text; only its type's name where it cannot be shown."""
    try:
        return str(value)
    except Exception:  # a broken __str__ must not break the run that speaks of it
        return type(value).__name__


def clean_text(text: object, secrets: Iterable[str] = ()) -> str:
    """What a person or a program says about a run, fit to be written down."""
    return masked_text(without_secrets(told(text), secrets).strip())[:MAX_TEXT]


def _is_secret_in_text(name: str) -> bool:
    return is_secret_name(name) or _SECRET_IN_TEXT.search(name) is not None


def _masked_assignments(text: str, is_secret: Callable[[str], bool]) -> str:
    """Text with ``***`` for what is assigned to secret names, by ``=`` or ``:``."""
    kept, done = [], 0
    for found in _NAME_AND_SIGN.finditer(text):
        if found.start() < done or not is_secret(found[1]):
            continue
        value = _VALUE.match(text, found.end())
        if value is not None:
            kept += [text[done : found.end()], MASK]
            done = value.end()
    return "".join((*kept, text[done:]))


def without_secrets(text: str, secrets: Iterable[str]) -> str:
    """Text in which these secrets, also as Python or a URL writes them, are masked."""
    ways: set[str] = set()
    for secret in secrets:
        quoted = (quote(secret, safe="", errors="replace"), quote_plus(secret, errors="replace"))
        ways |= {secret, repr(secret)[1:-1], *quoted}
    for way in sorted(ways, key=len, reverse=True):
        text = text.replace(way, MASK) if len(way) >= SHORTEST_SECRET else text
    return text


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
    line = _first_line(error, secrets) if with_message else ""
    return f"{kind}: {line}" if line else kind


def _first_line(error: BaseException, secrets: Iterable[str]) -> str:
    try:
        text = without_secrets(str(error), secrets).strip()
    except Exception:  # a broken __str__ must not break the record of the run
        return ""
    if len(text) > _MOST_LOOKED_AT:
        text, _, word = text[:_MOST_LOOKED_AT].rpartition(" ")
        # A URL that is cut may no longer show that it holds a password.
        text = text if "://" in word else f"{text} {word}"
    lines = text.splitlines()
    line = masked_text(lines[0]).strip() if lines else ""
    return line if len(line) <= MAX_ERROR_TEXT else line[: MAX_ERROR_TEXT - 3] + "..."
