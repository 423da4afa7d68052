"""The web app without a server: requests are handed to it as it is."""

from __future__ import annotations

import warnings
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from ubunye_core import Receipt, Status, open_store
from ubunye_core.stores import FileStore, ReceiptStore
from ubunye_core.web import create_app

NOW = datetime(2026, 10, 31, 6, tzinfo=UTC)
CALC = "pay/monthly/calc"
HASH = "sha256:{:064x}".format


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    place = tmp_path / "receipts"
    place.mkdir()
    found = open_store(str(place))
    assert isinstance(found, FileStore)
    return found


Keep = Callable[..., Receipt]


@pytest.fixture
def keep(store: FileStore) -> Keep:
    """Keep a receipt of pay/monthly/calc; anything can be given otherwise."""
    count = 0

    def save(status: str = "success", *, hours_ago: float = 1, **fields: Any) -> Receipt:
        nonlocal count
        count += 1
        started = NOW - timedelta(hours=hours_ago)
        ended = started + timedelta(minutes=5) if status != "running" else None
        given = {
            "task": CALC,
            "run_id": f"r-{count}",
            "status": Status(status),
            "started_at": started,
            "ended_at": ended,
            "variables": {"month": "2026-10"},
            **fields,
        }
        receipt = Receipt(**given)
        store.save(receipt)
        return receipt

    return save


@pytest.fixture
def damage(store: FileStore) -> Callable[..., None]:
    """Put what is no receipt where one would be."""

    def put(task: str = CALC, run_id: str = "broken") -> None:
        file = store.root / task / f"{run_id}.json"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text("{")

    return put


def client(store: ReceiptStore | Callable[[], ReceiptStore], **options: Any) -> Any:
    """What asks the app as a browser would, without a browser."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        from starlette.testclient import TestClient
    app = create_app(store, now=lambda: NOW, **options)
    return TestClient(app, "http://localhost", follow_redirects=False)


@dataclass
class Seen:
    """A page as it is read."""

    status: int
    html: str
    text: str
    tags: set[str]
    attributes: set[str]
    headings: list[str]
    links: list[str]


class _Reader(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.tags: set[str] = set()
        self.attributes: set[str] = set()
        self.links: list[str] = []
        self.headings: list[str] = []
        self.words: list[str] = []
        self._in_heading = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.add(tag)
        self.attributes |= {name for name, _ in attrs}
        self.links += [value or "" for name, value in attrs if name in ("href", "src", "action")]
        if tag in ("h1", "h2"):
            self.headings.append(tag)

    def handle_data(self, data: str) -> None:
        self.words += data.split()


def read(answer: Any) -> Seen:
    """A page as a person reads it, with one space between words."""
    reader = _Reader()
    reader.feed(answer.text)
    reader.close()
    return Seen(
        answer.status_code,
        answer.text,
        " ".join(reader.words),
        reader.tags,
        reader.attributes,
        reader.headings,
        reader.links,
    )


Look = Callable[..., Seen]


@pytest.fixture
def look(store: FileStore) -> Look:
    """Look at a page of the store."""
    asking = client(store)
    return lambda path: read(asking.get(path))
