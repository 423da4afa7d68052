"""The servers of these tests, as a test speaks to them."""

from __future__ import annotations

import base64
import contextlib
import email.utils
import hashlib
import hmac
import json
import re
import subprocess
import urllib.request
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import obstore
import pytest
from obstore.store import S3Store

ROOT = Path(__file__).parents[4]
BUCKETS = ROOT / ".buckets" / "node_modules" / ".bin"
BUCKET = "receipts"
SECRET = "Geheim-8123-never-shown"
AZURE_ACCOUNT = "devstoreaccount1"
AZURE_KEY = (
    "Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw=="
)
"""Of the emulator, the same everywhere; no secret."""


@dataclass(frozen=True)
class Server:
    """A server that speaks S3."""

    endpoint: str

    def url(self, prefix: str, bucket: str = BUCKET) -> str:
        return f"s3://{bucket}/{prefix}?endpoint={self.endpoint}&region=us-east-1"

    def put(self, key: str, document: bytes) -> None:
        """Put an object without conditions, as another program does."""
        client = S3Store(
            BUCKET,
            endpoint=self.endpoint,
            access_key_id="ANOTHER",
            secret_access_key=SECRET,
            client_options={"allow_http": True},
        )
        obstore.put(client, key, document)

    def put_by_its_address(self, key: str, document: bytes) -> None:
        """Put an object under a key that the client of the store does not take."""
        ask(f"{self.endpoint}/{BUCKET}/{key}", "PUT", document)


class Moto(Server):
    """Moto's, watched."""

    def seen(self) -> dict[str, int]:
        """How many requests of each kind there were since the last look."""
        return json.loads(ask(f"{self.endpoint}/_watch", "GET"))

    def fail(
        self,
        kind: str,
        key: str,
        status: int,
        code: str,
        *,
        times: int = 1,
        skip: int = 0,
        after: bool = False,
    ) -> None:
        """Let requests fail, after ``skip`` that do not.

        ``after``: what they ask for is done, and the answer gets lost.
        """
        given = {"kind": kind, "key": key, "status": status, "code": code}
        given |= {"times": times, "skip": skip, "after": after}
        ask(f"{self.endpoint}/_fault", "POST", json.dumps(given).encode())

    def set_clock_ahead(self, seconds: float) -> None:
        """Let the server's clock be wrong."""
        ask(f"{self.endpoint}/_clock", "POST", json.dumps(seconds).encode())

    def fail_no_more(self) -> None:
        ask(f"{self.endpoint}/_fault", "POST", b"null")
        self.set_clock_ahead(0)

    def load(self, documents: dict[str, bytes]) -> None:
        """Fill the bucket at once."""
        texts = {key: document.decode() for key, document in documents.items()}
        given = {"bucket": BUCKET, "documents": texts}
        ask(f"{self.endpoint}/_load", "POST", json.dumps(given).encode())


def ask(url: str, method: str, body: bytes | None = None) -> bytes:
    request = urllib.request.Request(
        url, method=method, data=body, headers={"Content-Type": "application/octet-stream"}
    )
    with urllib.request.urlopen(request, timeout=60) as answer:
        return answer.read()


@contextlib.contextmanager
def running(*command: str, says: str) -> Iterator[re.Match[str]]:
    """A server from npm, while it is needed; what it said when it was ready."""
    program = BUCKETS / command[0]
    if not program.exists():
        pytest.fail(f"{command[0]} is not installed: run `make buckets` first")
    process = subprocess.Popen(
        [program, *command[1:]], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    assert process.stdout is not None
    try:
        said = (re.search(says, line) for line in process.stdout)
        ready = next((match for match in said if match), None)
        if ready is None:
            pytest.fail(f"{command[0]} did not start")
        yield ready
    finally:
        process.kill()
        process.wait()


def make_container(endpoint: str, name: str) -> None:
    """Make a container of Azure's emulator, which a store does not do."""
    date = email.utils.formatdate(usegmt=True)
    signed = (
        "PUT" + "\n" * 12 + f"x-ms-date:{date}\nx-ms-version:2021-08-06\n"
        f"/{AZURE_ACCOUNT}/{AZURE_ACCOUNT}/{name}\nrestype:container"
    )
    key = base64.b64decode(AZURE_KEY)
    signature = base64.b64encode(hmac.new(key, signed.encode(), hashlib.sha256).digest()).decode()
    headers = {
        "x-ms-date": date,
        "x-ms-version": "2021-08-06",
        "Authorization": f"SharedKey {AZURE_ACCOUNT}:{signature}",
        "Content-Length": "0",
    }
    request = urllib.request.Request(
        f"{endpoint}/{name}?restype=container", method="PUT", headers=headers
    )
    with urllib.request.urlopen(request, timeout=60):
        return
