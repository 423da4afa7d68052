"""The pages keep to themselves: headers, names, methods, threads, and names that are no markup."""

from __future__ import annotations

import asyncio
import threading
import uuid

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.web.conftest import CALC, NOW, client, read
from ubunye_core import Orchestrator, Receipt, Status, Step, TriggeredBy, TriggerKind, open_store
from ubunye_core.web import create_app, site

PATHS = ("/", f"/task/{CALC}", f"/task/{CALC}/run/r-1", "/nothing", "/?max_age=x", "/health.json",
         "/static/style.css", "/static/icon.svg", "/static/../site.py")  # fmt: skip


@pytest.mark.parametrize("path", PATHS)
def test_every_answer_forbids_scripts_and_guesses(keep, store, path):
    keep()
    headers = client(store).get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "script-src" not in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'self'" in policy
    assert headers["x-content-type-options"] == "nosniff"
    assert headers["referrer-policy"] == "no-referrer"
    if not path.startswith("/static/s") and not path.endswith("svg"):
        assert headers["cache-control"] == "no-store"


@pytest.mark.parametrize("method", ["POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE"])
@pytest.mark.parametrize("path", ["/", f"/task/{CALC}", f"/task/{CALC}/run/r-1", "/health.json"])
def test_the_pages_are_only_for_reading(keep, store, method, path):
    keep()
    before = sorted((each, each.stat().st_mtime_ns) for each in store.root.rglob("*"))
    assert client(store).request(method, path).status_code == 405
    assert client(store).head(path).status_code == 200
    assert before == sorted((each, each.stat().st_mtime_ns) for each in store.root.rglob("*"))


@pytest.mark.parametrize(
    ("host", "status"),
    [
        ("localhost", 200),
        ("LOCALHOST:8787", 200),
        ("127.0.0.1:8787", 200),
        ("[::1]:8787", 200),
        ("evil.example", 400),
        ("localhost.evil.example", 400),
        ("127.0.0.1.evil.example:8787", 400),
        ("evil.example:8787@localhost", 400),
        ("", 400),
    ],
)
def test_a_page_is_given_to_no_name_of_somebody_elses(keep, store, host, status):
    keep()
    asking = client(store, hosts={"localhost", "127.0.0.1", "::1"})
    for path in ("/", "/static/style.css"):
        answer = asking.get(path, headers={"host": host})
        assert answer.status_code == status
        assert (CALC in answer.text) == (status == 200 and path == "/")


@pytest.mark.parametrize("host", ["[evil", "evil.example/x.json?"])
def test_what_is_no_name_of_a_host_changes_no_answer(keep, store, host):
    keep()
    for path, status in (("/", 200), ("/nothing", 404), ("/task/a/b/c", 404)):
        answer = client(store).get(path, headers={"host": host})
        assert (answer.status_code, answer.headers["content-type"]) == (
            status,
            "text/html; charset=utf-8",
        )


def test_links_keep_to_the_place_where_the_app_is_mounted(keep, store):
    from starlette.applications import Starlette
    from starlette.routing import Mount
    from starlette.testclient import TestClient

    keep()
    app = Starlette(routes=[Mount("/over/here", app=create_app(store, now=lambda: NOW))])
    asking = TestClient(app)
    for path in ("/", f"/task/{CALC}", f"/task/{CALC}/run/r-1", f"/task/{CALC}/windows", "/none"):
        seen = read(asking.get(f"/over/here{path}"))
        assert seen.links
        assert all(link.startswith(("/over/here/", "#")) for link in seen.links), seen.links


def test_every_link_of_a_page_leads_somewhere(keep, store):
    for _ in range(3):
        keep("error", error="x")
    asking, seen, to_see = client(store), set(), ["/"]
    while to_see:
        path = to_see.pop()
        answer = asking.get(path)
        assert answer.status_code in (200, 400), path
        seen.add(path)
        links = [] if path.startswith("/static") else read(answer).links
        to_see += [link for link in links if link not in seen and not link.startswith("#")]
        to_see = list(dict.fromkeys(to_see))
    assert f"/task/{CALC}/run/r-3" in seen
    assert f"/task/{CALC}/windows" in seen


class Held:
    """A store that answers when it is told to."""

    url = "memory://held"

    def __init__(self) -> None:
        self.go, self.asked = threading.Event(), threading.Semaphore(0)

    def tasks(self) -> list[str]:
        self.asked.release()
        self.go.wait(60)
        return []


async def ask(app, path: str) -> int:
    """The status of an answer, on the loop that runs now."""
    sent = []
    scope = {
        "type": "http", "method": "GET", "path": path, "raw_path": path.encode(),
        "query_string": b"", "headers": [(b"host", b"localhost")], "root_path": "",
        "scheme": "http", "server": ("localhost", 80), "client": ("127.0.0.1", 1),
        "http_version": "1.1",
    }  # fmt: skip

    async def receive():
        await asyncio.Event().wait()

    async def send(message):
        sent.append(message)

    await app(scope, receive, send)
    return int(sent[0]["status"])


def test_a_store_that_hangs_holds_up_neither_the_server_nor_more_than_its_threads():
    held = Held()
    app = create_app(held, now=lambda: NOW)

    async def all_at_once():
        slow = [asyncio.create_task(ask(app, "/")) for _ in range(3 * site.WORKERS)]
        for _ in range(site.WORKERS):
            await asyncio.to_thread(held.asked.acquire)
        assert await ask(app, "/static/style.css") == 200  # the loop is free
        assert not held.asked.acquire(timeout=0.2)  # and no other thread has begun
        held.go.set()
        return await asyncio.gather(*slow)

    assert asyncio.run(all_at_once()) == [200] * 3 * site.WORKERS


def test_a_store_that_does_not_answer_is_given_up(monkeypatch):
    monkeypatch.setattr(site, "LONGEST_LOOK", 0.1)
    held = Held()
    try:
        assert asyncio.run(_give_up(create_app(held, now=lambda: NOW), held)) == 503
    finally:
        held.go.set()


async def _give_up(app, held) -> int:
    status = await ask(app, "/")
    held.go.set()  # asyncio's end waits for its threads
    return status


def test_looks_that_were_given_up_are_not_added_to_without_end(monkeypatch):
    monkeypatch.setattr(site, "LONGEST_LOOK", 0.05)
    monkeypatch.setattr(site, "MOST_HANGING", site.WORKERS + 2)
    held = Held()
    app = create_app(held, now=lambda: NOW)

    async def again_and_again():
        try:
            for _ in range(3):
                asking = [ask(app, "/") for _ in range(site.WORKERS)]
                assert set(await asyncio.gather(*asking)) == {503}
        finally:
            held.go.set()
        monkeypatch.setattr(site, "LONGEST_LOOK", 60)
        while (status := await ask(app, "/")) == 503:  # until the threads have ended
            await asyncio.sleep(0.01)
        return status

    assert asyncio.run(again_and_again()) == 200  # it answers as soon as the store does
    begun = sum(held.asked.acquire(blocking=False) for _ in range(4 * site.WORKERS))
    assert begun <= site.WORKERS + 2 + 1  # and the last one


ALLOWED = {
    *("html", "head", "meta", "title", "link", "body", "a", "header", "nav", "p", "span", "time"),
    *("main", "h1", "h2", "form", "label", "input", "select", "option", "button", "section", "ul"),
    *("ol", "li", "code", "div", "table", "caption", "thead", "tbody", "tr", "th", "td", "small"),
    *("dl", "dt", "dd", "details", "summary", "pre", "b"),
}
HOSTILE = st.one_of(
    st.text(min_size=1, max_size=40),
    st.sampled_from(
        [
            "<script>alert(1)</script>",
            '"><img src=x onerror=alert(1)>',
            "'><svg/onload=alert(1)>",
            "{{ 7*7 }}{% for x in y %}",
            "</pre></details><script src=//evil.example>",
            "\u202etxt.exe\x00\x1b[31m",
            "javascript:alert(1)",
        ]
    ),
)


@pytest.mark.slow
@settings(max_examples=50)
@given(HOSTILE, HOSTILE, HOSTILE)
def test_whatever_a_receipt_holds_is_text_on_every_page(name, text, other):
    store = open_store(f"memory://{uuid.uuid4()}")
    for run_id in ("r-1", "r-2"):
        store.save(
            Receipt(
                task=CALC,
                run_id=run_id,
                status=Status.ERROR,
                started_at=NOW,
                ended_at=NOW,
                variables={name: text},
                error=text,
                outcome=other,
                host=name,
                triggered_by=TriggeredBy(kind=TriggerKind.MANUAL, actor=text, reason=other),
                orchestrator=Orchestrator(name=name, ids={name: text}, url=other),
                inputs=(Step(name=name, direction="input", location=text, hash_error=other),),
                extra={name: {other: [text]}},
            )
        )
    asking = client(store)
    for path in (
        "/",
        f"/task/{CALC}",
        f"/task/{CALC}/run/r-1",
        f"/task/{CALC}/compare?a=r-1&b=r-2",
        f"/task/{CALC}/windows?every=1d",
    ):
        seen = read(asking.get(path))
        assert seen.status == 200
        assert seen.tags <= ALLOWED
        assert not [each for each in seen.attributes if each.startswith("on") or each == "style"]
        assert all(link.startswith(("/", "#", "http://", "https://")) for link in seen.links)
        assert not any(char in seen.html for char in "\u202e\x00\x1b")
        assert "49{%" not in seen.html


@pytest.mark.slow
@settings(max_examples=50)
@given(HOSTILE, HOSTILE)
def test_whatever_is_asked_is_text_in_the_answer(text, other):
    store = open_store(f"memory://{uuid.uuid4()}")
    store.save(Receipt(task=CALC, run_id="r-1", status=Status.SUCCESS, started_at=NOW))
    asking = client(store)
    for path, query in (
        ("/", {"tasks": text, "max_age": other}),
        (f"/task/{CALC}", {"since": text, "n": other}),
        (f"/task/{CALC}/windows", {"every": "1d", "variable": text, "format": other}),
        (f"/task/{CALC}/compare", {"a": text, "b": other}),
        (f"/task/{CALC}/attempt", {"attempt": text, f"id.{other}": text}),
    ):
        seen = read(asking.get(path, params=query))
        assert seen.status in (200, 400, 404)
        assert seen.tags <= ALLOWED
        assert not [each for each in seen.attributes if each.startswith("on") or each == "style"]
