"""What keeps the pages apart from pages of others: headers, and the names it may be called by."""

from __future__ import annotations

from collections.abc import Collection, MutableMapping
from typing import Any

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import PlainTextResponse
from starlette.types import ASGIApp, Receive, Scope, Send

_HEADERS = {
    # Nothing is fetched but the style sheet and the icon; no script runs, wherever it came from.
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; "
    "form-action 'self'; base-uri 'none'; frame-ancestors 'self'",
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "SAMEORIGIN",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
}


class Protected:
    """Passes requests on to an app, and puts the headers on whatever it answers."""

    def __init__(self, app: ASGIApp, hosts: Collection[str] | None) -> None:
        self._app = app
        self._hosts = None if hosts is None else frozenset(host.lower() for host in hosts)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return

        async def send_protected(message: MutableMapping[str, Any]) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers[name] = value
                headers.setdefault("Cache-Control", "no-store")
            await send(message)

        app = self._app if self._may_be_called(Headers(scope=scope)) else _REFUSAL
        await app(scope, receive, send_protected)

    def _may_be_called(self, headers: Headers) -> bool:
        """Whether the request names a host that we are: else its page may be another's."""
        if self._hosts is None:
            return True
        named = headers.getlist("host")
        return len(named) == 1 and _without_port(named[0]).lower() in self._hosts


_REFUSAL = PlainTextResponse("This page is not called by that name.", 400)


def _without_port(host: str) -> str:
    if host.startswith("["):
        return host[1:].partition("]")[0]
    return host.partition(":")[0]
