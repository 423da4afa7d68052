"""Many things said in one line: the first few by name, the rest by their number."""

from __future__ import annotations

from collections.abc import Sequence

from ubunye_core import Unreadable


def named(items: Sequence[str], most: int = 5, *, between: str = ", ") -> str:
    """The first items, and how many more there are."""
    more = f" and {len(items) - most} more" if len(items) > most else ""
    return between.join(items[:most]) + more


def no_partitions(items: Sequence[str], *, between: str = ", ") -> str:
    """What names a partition that the definition does not have: it may be there at a later tick."""
    return f"Not a partition (yet): {named(items, between=between)}."


def left_over(number: int) -> str:
    """How many of what a tick found it leaves to those that come."""
    return f"Left for the next ticks: {number}."


def cannot_be_read(receipts: Sequence[Unreadable], most: int = 3) -> str:
    """Where receipts are that cannot be read, and why."""
    places = named([f"{each.where} ({each.why})" for each in receipts], most)
    return f"receipts that cannot be read: {places}."
