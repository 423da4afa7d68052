"""The web app itself: which address is which page, and what happens where none can be shown."""

from __future__ import annotations

import logging
import traceback
from collections.abc import Callable, Collection, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from threading import BoundedSemaphore

from anyio import CapacityLimiter, move_on_after, to_thread
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, JSONResponse, RedirectResponse, Response
from starlette.routing import Route
from starlette.types import ASGIApp

from ubunye_core.errors import BadReceiptError, ConfigError, StoreUnavailableError, UbunyeError
from ubunye_core.masking import masked_text
from ubunye_core.schedules import Schedule
from ubunye_core.stores import ReceiptStore
from ubunye_core.web import pages
from ubunye_core.web.access import SeenStore, Sees
from ubunye_core.web.asked import Asked, NotThereError
from ubunye_core.web.documents import health_document
from ubunye_core.web.links import Links
from ubunye_core.web.pages import Page
from ubunye_core.web.protection import Protected
from ubunye_core.web.rendering import render

log = logging.getLogger(__name__)

WORKERS = 8
"""So many requests look into the store at once; the others wait without a thread."""
LONGEST_LOOK = 60.0
"""After so many seconds without an answer of the store, a page says so."""
MOST_HANGING = 32
"""So many looks may still be under way, those that were given up too; then no other begins."""
_TASK = "/task/{usecase}/{package}/{task_name}"
_PAGES = {
    "/": pages.health,
    _TASK: pages.task,
    f"{_TASK}/windows": pages.windows,
    f"{_TASK}/compare": pages.comparison,
    f"{_TASK}/attempt": pages.attempt,
    f"{_TASK}/run/{{run_id}}": pages.run,
}
_FILES = {"style.css": "text/css; charset=utf-8", "icon.svg": "image/svg+xml"}

Answer = Callable[[Asked], Response]


def site(
    opened: Callable[[], ReceiptStore],
    *,
    access: Callable[[Request], Sees] | None,
    schedules: Mapping[str, Sequence[Schedule] | UbunyeError],
    hosts: Collection[str] | None,
    now: Callable[[], datetime],
) -> ASGIApp:
    """The web app; see ``create_app``."""
    limiter, under_way = CapacityLimiter(WORKERS), BoundedSemaphore(MOST_HANGING)

    def answered_by(answer: Callable[[Request, Asked], Response]) -> Callable[..., object]:
        def look(request: Request) -> Response:
            if not under_way.acquire(blocking=False):
                hung = f"The store has not answered {MOST_HANGING} requests, and still does not."
                return _problem(request, StoreUnavailableError(hung))
            try:
                store = _open(opened)
                seen = store if access is None else SeenStore(store, access(request))
                return answer(request, _asked(request, seen, now(), schedules))
            except Exception as error:
                return _problem(request, error)
            finally:
                under_way.release()

        async def endpoint(request: Request) -> Response:
            with move_on_after(LONGEST_LOOK):
                return await to_thread.run_sync(
                    look, request, limiter=limiter, abandon_on_cancel=True
                )
            late = StoreUnavailableError(f"The store has not answered for {LONGEST_LOOK:g} s.")
            return _problem(request, late)

        return endpoint

    routes = [Route(path, answered_by(_shown_by(page))) for path, page in _PAGES.items()]
    routes.append(Route("/health.json", answered_by(_health_as_json)))
    routes += [Route(f"/static/{name}", _file(name, kind)) for name, kind in _FILES.items()]
    app = Starlette(routes=routes, exception_handlers={HTTPException: _refused})
    app.router.redirect_slashes = False
    return Protected(app, hosts)


class _StoreNotOpenError(UbunyeError):
    """What names the store is wrong: nothing that whoever asks can mend."""


def _open(opened: Callable[[], ReceiptStore]) -> ReceiptStore:
    try:
        return opened()
    except StoreUnavailableError:
        raise
    except UbunyeError as error:
        raise _StoreNotOpenError(f"The store cannot be opened: {error}") from error


def _asked(
    request: Request,
    store: ReceiptStore,
    now: datetime,
    schedules: Mapping[str, Sequence[Schedule] | UbunyeError],
) -> Asked:
    query = request.query_params
    return Asked(
        store=store,
        path={name: str(text) for name, text in request.path_params.items()},
        query={name: query.getlist(name) for name in query},
        now=now,
        links=_links(request),
        schedules=schedules,
    )


def _links(request: Request) -> Links:
    return Links(str(request.scope.get("root_path", "")).rstrip("/"))


def _shown_by(page: Callable[[Asked], Page]) -> Callable[[Request, Asked], Response]:
    def shown(request: Request, asked: Asked) -> Response:
        found = page(asked)
        if found.elsewhere is not None:
            return RedirectResponse(found.elsewhere, 303)
        values = {
            **found.values,
            "now": asked.now,
            "store": masked_text(asked.store.url),
            "is_restricted": asked.is_restricted,
        }
        return HTMLResponse(render(found.template, asked.links, values), found.status)

    return shown


def _health_as_json(request: Request, asked: Asked) -> Response:
    shown = pages.look_at_health(asked)
    following = shown.listed.following
    document = health_document(shown.answer, following, asked.store.url, asked.now)
    return JSONResponse(document, shown.status)


def _problem(request: Request, error: Exception) -> Response:
    """The page that says why there is no other."""
    status, title, retry = _what_it_is(error)
    if status == 500 and not isinstance(error, UbunyeError):
        log.error("%s", masked_text("".join(traceback.format_exception(error))))
        text = f"A fault of this page: {type(error).__name__}. The log says more."
    else:
        text = masked_text(str(error))
    return _message(request, status, title, text, {"Retry-After": "30"} if retry else {})


def _what_it_is(error: Exception) -> tuple[int, str, bool]:
    if isinstance(error, NotThereError):
        return 404, "Not found", False
    if isinstance(error, StoreUnavailableError):
        return 503, "The store cannot answer", True
    if isinstance(error, BadReceiptError):
        return 500, "This receipt cannot be read", False
    if isinstance(error, ConfigError):
        return 400, "This cannot be asked", False
    return 500, "This page cannot be shown", False


async def _refused(request: Request, error: Exception) -> Response:
    status = error.status_code if isinstance(error, HTTPException) else 500
    title = {404: "Not found", 405: "Only to be read"}.get(status, "This cannot be shown")
    text = {404: "There is no such page.", 405: "These pages are only for reading."}
    headers = dict(getattr(error, "headers", None) or {})
    return _message(request, status, title, text.get(status, title), headers)


def _message(
    request: Request, status: int, title: str, text: str, headers: Mapping[str, str]
) -> Response:
    # Not that of the request's URL, which is made of the Host header.
    if str(request.scope["path"]).endswith(".json"):
        document = {"verdict": "UNKNOWN" if status >= 500 else None, "reason": text}
        return JSONResponse(document, status, dict(headers))
    values = {"title": title, "text": text, "status": status, "is_restricted": False}
    return HTMLResponse(render("message.html", _links(request), values), status, dict(headers))


def _file(name: str, kind: str) -> Callable[..., object]:
    content = (Path(__file__).parent / "static" / name).read_bytes()

    async def endpoint(request: Request) -> Response:
        return Response(content, media_type=kind, headers={"Cache-Control": "max-age=300"})

    return endpoint
