"""Real servers, started once; a folder of its own for each test."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.core.stores.objects.s3_server import READER
from tests.core.stores.objects.servers import BUCKET, SECRET, Moto, ask
from ubunye_core.stores.objects import ObjectStore, open_objects

ROOT = Path(__file__).parents[4]


@pytest.fixture(scope="session")
def moto() -> Iterator[Moto]:
    process = subprocess.Popen(
        [sys.executable, "-m", "tests.core.stores.objects.s3_server"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=ROOT,
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        server = Moto(f"http://127.0.0.1:{int(process.stdout.readline())}")
        ask(f"{server.endpoint}/{BUCKET}", "PUT")
        yield server
    finally:
        process.stdin.close()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who may read and write."""
    for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "WRITER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)


@pytest.fixture
def as_reader(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ObjectStore]:
    """Opens a store with credentials that may only read."""

    def opened(url: str) -> ObjectStore:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_ACCESS_KEY_ID", READER)
            return open_objects(url)

    return opened


@pytest.fixture
def url(moto: Moto) -> str:
    """The URL of an empty store."""
    return moto.url(f"test-{uuid.uuid4().hex[:12]}")


@pytest.fixture
def store(url: str) -> ObjectStore:
    return open_objects(url)
