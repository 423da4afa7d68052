"""Real servers, started once; a folder of its own for each test."""

from __future__ import annotations

import subprocess
import sys
import uuid
from collections.abc import Callable, Iterator

import pytest

from tests.core.stores.objects.s3_server import READER
from tests.core.stores.objects.servers import (
    AZURE_ACCOUNT,
    AZURE_KEY,
    BUCKET,
    ROOT,
    SECRET,
    Moto,
    Server,
    ask,
    make_container,
    running,
)
from ubunye_core.stores.objects import ObjectStore, open_objects


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


@pytest.fixture(scope="session")
def s3rver(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """One that takes no notice of the conditions of writes."""
    folder = tmp_path_factory.mktemp("s3rver")
    with running(
        *("s3rver", "-d", str(folder), "-a", "127.0.0.1", "-p", "0"),
        *("--configure-bucket", BUCKET),
        says=r"listening on 127\.0\.0\.1:(\d+)",
    ) as ready:
        yield Server(f"http://127.0.0.1:{ready[1]}")


@pytest.fixture(scope="session")
def azurite() -> Iterator[str]:
    """The endpoint of Azure's emulator, with a container."""
    with running(
        *("azurite-blob", "--inMemoryPersistence", "--blobPort", "0"),
        *("--skipApiVersionCheck", "--disableTelemetry"),
        says=r"listens on http://127\.0\.0\.1:(\d+)",
    ) as ready:
        endpoint = f"http://127.0.0.1:{ready[1]}/{AZURE_ACCOUNT}"
        make_container(endpoint, BUCKET)
        yield endpoint


@pytest.fixture(autouse=True)
def credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody who may read and write."""
    for name in ("AWS_SESSION_TOKEN", "AWS_PROFILE", "AWS_ENDPOINT_URL"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "WRITER")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", SECRET)
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_KEY", AZURE_KEY)


@pytest.fixture
def as_reader(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ObjectStore]:
    """Opens a store with credentials that may only read."""

    def opened(url: str) -> ObjectStore:
        with pytest.MonkeyPatch.context() as patch:
            patch.setenv("AWS_ACCESS_KEY_ID", READER)
            return open_objects(url)

    return opened


@pytest.fixture
def url(moto: Moto) -> Iterator[str]:
    """The URL of an empty store, in a server that does not fail."""
    yield moto.url(f"test-{uuid.uuid4().hex[:12]}")
    moto.fail_no_more()


@pytest.fixture
def azure_url(azurite: str) -> str:
    folder = f"test-{uuid.uuid4().hex[:12]}"
    return f"az://{BUCKET}/{folder}?account_name={AZURE_ACCOUNT}&endpoint={azurite}"


@pytest.fixture
def store(url: str) -> ObjectStore:
    return open_objects(url)
