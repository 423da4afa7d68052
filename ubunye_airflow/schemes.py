"""The scheme of a store's URL: one that is misspelt is told when the DAG is read."""

from __future__ import annotations

from difflib import get_close_matches

from ubunye_core import ConfigError, UnknownStoreError, check_store_scheme, masked_url

ALIKE = 0.75
"""So much of two schemes must be the same: ``fiel`` and ``file`` have three letters of four."""


def check_scheme(url: str) -> None:
    """Check that the scheme of a store is not a known one with a slip in it.

    One that is like no other may be of a package that only the workers have; so may one that is
    put together of known words, such as ``delta+gs``.

    Raises:
        ConfigError: no installed package knows it, and it is nearly one that is known.
    """
    given, separator, rest = url.strip().partition("://")
    scheme = given.lower()
    if not separator or not scheme:
        return
    try:
        check_store_scheme(scheme)
    except UnknownStoreError as error:
        known = error.known
    else:
        return
    words = {word for each in known for word in each.split("+")}
    if words.issuperset(scheme.split("+")):
        return
    for meant in get_close_matches(scheme, known, n=1, cutoff=ALIKE):
        raise ConfigError(
            f"No receipt store is known for '{scheme}://'.",
            hint=f"Write {masked_url(f'{meant}://{rest}')}. If {scheme}:// is meant, install the "
            f"package that knows it where DAGs are read, too.",
        )
