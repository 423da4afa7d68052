"""The web app of receipts behind Airflow's login. Only the api-server imports this."""

from __future__ import annotations

import html
from collections.abc import Mapping
from functools import lru_cache
from typing import Any
from urllib.parse import quote

from airflow.api_fastapi.auth.managers.models.resource_details import AccessView
from airflow.api_fastapi.core_api.security import GetUserDep, requires_access_view
from fastapi import Depends, FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from starlette.exceptions import HTTPException

from ubunye_airflow.hooks import ReceiptStoreHook
from ubunye_airflow.page.access import receipts_seen_by
from ubunye_core import ReceiptStore, open_store
from ubunye_core.web import create_app

USER = "user_of_receipts"
_MAY_LOG_IN_AGAIN = 401


def page() -> FastAPI:
    """The app: whoever is logged in gets the receipts that the auth manager allows."""
    receipts = create_app(_store, access=lambda request: receipts_seen_by(_user_of(request)))
    app = FastAPI(docs_url=None, redoc_url=None, openapi_url=None)

    # One route for everything that there is, files too, so that none can be without a login.
    @app.api_route(
        "/{path:path}",
        methods=["GET", "HEAD"],
        dependencies=[Depends(requires_access_view(AccessView.WEBSITE))],
    )
    async def answer(request: Request, user: GetUserDep) -> Response:
        setattr(request.state, USER, user)
        return _HandedOn(receipts)

    app.add_exception_handler(HTTPException, _not_logged_in)
    return app


class _HandedOn(Response):
    """An answer that another app gives."""

    def __init__(self, app: Any) -> None:
        super().__init__()
        self._app = app

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self._app(scope, receive, send)


def _user_of(request: Any) -> Any:
    return getattr(request.state, USER)


def _store() -> ReceiptStore:
    """The store that Airflow's connection or configuration names now."""
    named = ReceiptStoreHook().named()
    return _opened(named.url, tuple(sorted(named.credentials.items())))


@lru_cache(maxsize=4)
def _opened(url: str, credentials: tuple[tuple[str, str], ...]) -> ReceiptStore:
    """The store, opened once and not by each request: a database would get a pool for each."""
    return open_store(url, credentials=dict(credentials))


async def _not_logged_in(request: Request, error: Exception) -> Response:
    """Say it in words, for it is a person who opens the page."""
    status = error.status_code if isinstance(error, HTTPException) else 500
    headers: Mapping[str, str] = getattr(error, "headers", None) or {}
    detail = html.escape(str(getattr(error, "detail", "")))
    text = f"<p>{detail}.</p>"
    if status == _MAY_LOG_IN_AGAIN:
        root = str(request.scope.get("root_path", "")).rpartition("/")[0]
        login = f"{quote(root)}/api/v2/auth/login?next={quote(str(request.scope['path']), safe='')}"
        text += f'<p><a href="{login}">Log in to Airflow</a>, and open this page again.</p>'
    return HTMLResponse(
        f'<!doctype html><html lang="en"><title>Receipts</title><h1>Receipts</h1>{text}</html>',
        status,
        {
            **headers,
            "Cache-Control": "no-store",
            "Content-Security-Policy": "default-src 'none'; frame-ancestors 'self'",
            "X-Content-Type-Options": "nosniff",
        },
    )
