"""An S3 server for the tests: moto's, in a process of its own, watched.

``python -m tests.core.stores.objects.s3_server`` says its port. Writes are let in one by one:
moto looks at a condition first and writes then. ``/_watch`` tells how many requests there were and
forgets them; ``/_fault`` makes the next ones fail; ``/_clock`` sets the server's clock wrong;
``/_load`` fills a bucket without requests.
Who signs as ``READER`` may only read.
"""

from __future__ import annotations

import json
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable
from datetime import timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import Any
from urllib.parse import parse_qs

READER = "READER"
_WRITES = ("PUT", "POST", "DELETE")
_DENIED = b"<Error><Code>AccessDenied</Code><Message>Access Denied</Message></Error>"


class Watched:
    """Moto's application, and what is known of the requests to it."""

    def __init__(self, application: Callable[..., Iterable[bytes]]) -> None:
        self._application = application
        self._writing, self._lock = threading.Lock(), threading.Lock()
        self._seen: Counter[str] = Counter()
        self._faults: list[dict[str, Any]] = []
        self._ahead = timedelta(0)

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"]
        if path.startswith("/_"):
            answer = json.dumps(self._control(path, environ)).encode()
            start("200 OK", [("Content-Length", str(len(answer)))])
            return [answer]
        kind = "LIST" if "list-type" in parse_qs(environ["QUERY_STRING"]) else method
        with self._lock:
            self._seen[kind] += 1
            fault = next((f for f in self._faults if f["kind"] == kind and f["key"] in path), None)
            if fault is not None and fault["skip"]:
                fault["skip"] -= 1
                fault = None
            elif fault is not None:
                fault["times"] -= 1
                self._faults = [each for each in self._faults if each["times"] > 0]
        if fault is not None and not fault["after"]:
            return _refuse(start, fault["status"], fault["code"])
        if method in _WRITES and f"Credential={READER}/" in environ.get("HTTP_AUTHORIZATION", ""):
            start("403 Forbidden", [("Content-Length", str(len(_DENIED)))])
            return [_DENIED]
        if method not in _WRITES:
            return self._application(environ, self._dated(start))
        with self._writing:
            answer = list(self._application(environ, start if fault is None else _nobody))
        return answer if fault is None else _refuse(start, fault["status"], fault["code"])

    def _control(self, path: str, environ: dict[str, Any]) -> object:
        size = int(environ.get("CONTENT_LENGTH") or 0)
        given = json.loads(environ["wsgi.input"].read(size) or b"null")
        if path == "/_load":
            _load(given["bucket"], given["documents"])
        with self._lock:
            seen = dict(self._seen)
            self._seen.clear()
            if path == "/_clock":
                self._ahead = timedelta(seconds=given)
            if path == "/_fault":
                self._faults = [given] if given else []
        return seen

    def _dated(self, start: Callable[..., Any]) -> Callable[..., Any]:
        """Answers with the dates that the server's clock gives."""

        def started(status: str, headers: list[tuple[str, str]], *info: object) -> Any:
            return start(status, [(name, self._shifted(name, text)) for name, text in headers])

        return started

    def _shifted(self, name: str, text: str) -> str:
        if name.lower() != "last-modified":
            return text
        return format_datetime(parsedate_to_datetime(text) + self._ahead, usegmt=True)


def _nobody(status: str, headers: list[tuple[str, str]], info: object = None) -> None:
    """What was done, and whose answer gets lost."""


def _refuse(start: Callable[..., Any], status: int, code: str) -> list[bytes]:
    body = f"<Error><Code>{code}</Code><Message>injected</Message></Error>".encode()
    start(f"{status} Refused", [("Content-Length", str(len(body)))])
    return [body]


def _load(bucket: str, documents: dict[str, str]) -> None:
    from moto.core import DEFAULT_ACCOUNT_ID
    from moto.s3.models import s3_backends

    backend = s3_backends[DEFAULT_ACCOUNT_ID]["aws"]
    for key, text in documents.items():
        backend.put_object(bucket, key, text.encode())


def main() -> None:
    from moto.moto_server.werkzeug_app import DomainDispatcherApplication, create_backend_app
    from werkzeug.serving import WSGIRequestHandler, make_server

    class Quiet(WSGIRequestHandler):
        def log(self, type: str, message: str, *args: Any) -> None:
            """Say nothing of each request."""

    application = Watched(DomainDispatcherApplication(create_backend_app))
    server = make_server("127.0.0.1", 0, application, threaded=True, request_handler=Quiet)
    threading.Thread(target=_end_with_input, args=(server,), daemon=True).start()
    print(server.port, flush=True)
    server.serve_forever()


def _end_with_input(server: Any) -> None:
    sys.stdin.read()
    server.shutdown()


if __name__ == "__main__":
    main()
