"""A number of things in words: ``1 window``, ``2,000 windows``."""

from __future__ import annotations


def count(number: int, one: str, several: str | None = None) -> str:
    """How many there are of something.

    Args:
        number: How many.
        one: What one of them is called.
        several: What more than one, and none, are called; by default ``one`` with an s.
    """
    return f"{number:,} {one if number == 1 else several or one + 's'}"
