"""Write the hints of a store anew, and move damage out of the way."""

from __future__ import annotations

from dataclasses import dataclass

from ubunye_core.stores import ReceiptStore, Repaired, Unreadable
from ubunye_core.stores.url import StoreLike, store_of
from ubunye_core.upkeep.reading import holdings, receipts_of


@dataclass(frozen=True, kw_only=True)
class RepairedStore:
    """What a repair did. True when nothing unreadable is left that it knows of."""

    url: str
    """Where the store is, without secrets."""
    offered: bool
    """Whether the store can repair anything. One that cannot is only read for its damage."""
    repaired: Repaired

    def __bool__(self) -> bool:
        return not self.repaired.left


def repair_store(store: StoreLike = None, *, set_aside: bool = False) -> RepairedStore:
    """Write all hints of a store anew; receipts stay as they are.

    Args:
        store: A store or its URL; by default what ``UBUNYE_STORE`` names.
        set_aside: Move damaged receipts to where no question looks; nothing is deleted.

    Raises:
        ConfigError: an argument is wrong.
        StoreUnavailableError: the store could not be read or written.
    """
    opened = store_of(store)
    repair = getattr(opened, "repair", None)
    repaired = Repaired(left=_damage(opened)) if repair is None else repair(set_aside=set_aside)
    return RepairedStore(url=opened.url, offered=repair is not None, repaired=repaired)


def _damage(store: ReceiptStore) -> tuple[Unreadable, ...]:
    """What cannot be read in a store that repairs nothing, each once."""
    held = holdings(store)
    found = dict.fromkeys(held.of_no_task)
    for task in held.tasks:
        found |= dict.fromkeys(
            each for each in receipts_of(store, task) if isinstance(each, Unreadable)
        )
    return tuple(found)
