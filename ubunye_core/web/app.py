"""From a store to the web app that shows it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from ubunye_core.errors import MissingExtraError, UbunyeError
from ubunye_core.stores import ReceiptStore
from ubunye_core.stores.url import StoreLike, store_of
from ubunye_core.times import utc_now

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.types import ASGIApp

    from ubunye_core.schedules import Schedule
    from ubunye_core.web.access import Sees


def create_app(
    store: StoreLike | Callable[[], ReceiptStore] = None,
    *,
    access: Callable[[Request], Sees] | None = None,
    schedules: Mapping[str, Sequence[Schedule] | UbunyeError] | None = None,
    hosts: Collection[str] | None = None,
    now: Callable[[], datetime] = utc_now,
) -> ASGIApp:
    """The web app that shows the receipts of a store: an ASGI app, to be run alone or mounted.

    It answers GET alone, and reads no more of the store than a page shows. Whoever reaches it sees
    what it shows: it asks nobody to log in. Masked values stay masked, and what looks like a
    secret in a receipt of somebody else's is masked too.

    Args:
        store: The store, its URL, or what opens it at each request; by default what
            ``UBUNYE_STORE`` names.
        access: Given a request, which receipts it may see. All pages keep to it: what may not be
            seen is, for that request, not there. It is called in a worker thread, as is what it
            returns. None shows everything.
        schedules: The schedule of each task whose windows are to be shown without giving one; or
            why it cannot be told, which is then shown instead.
        hosts: The names by which it may be called; a request for another is refused, so that no
            page of somebody else's can read it through a name of its own. None allows all.
        now: The clock.

    Raises:
        ConfigError: no store is named, or what names it is wrong.
        MissingExtraError: the extra ``web`` is not installed.
    """
    try:
        from ubunye_core.web.site import site
    except ModuleNotFoundError as error:
        if str(error.name).partition(".")[0] == "ubunye_core":
            raise
        raise MissingExtraError(
            f"The page of receipts needs {error.name}, which is not installed.", "web"
        ) from error
    return site(_opener(store), access=access, schedules=schedules or {}, hosts=hosts, now=now)


def _opener(
    store: StoreLike | Callable[[], ReceiptStore],
) -> Callable[[], ReceiptStore]:
    if callable(store):
        return store
    opened = store_of(store)
    return lambda: opened
