"""The servers of these tests, as a test speaks to them."""

from __future__ import annotations

import json
import urllib.request
from dataclasses import dataclass

BUCKET = "receipts"
SECRET = "Geheim-8123-never-shown"


@dataclass(frozen=True)
class Server:
    """A server that speaks S3."""

    endpoint: str

    def url(self, prefix: str, bucket: str = BUCKET) -> str:
        return f"s3://{bucket}/{prefix}?endpoint={self.endpoint}&region=us-east-1"

    def put(self, key: str, document: bytes, bucket: str = BUCKET) -> None:
        """Put an object without conditions, as another program does."""
        ask(f"{self.endpoint}/{bucket}/{key}", "PUT", document)


class Moto(Server):
    """Moto's, watched."""

    def seen(self) -> dict[str, int]:
        """How many requests of each kind there were since the last look."""
        return json.loads(ask(f"{self.endpoint}/_watch", "GET"))

    def fail(self, kind: str, key: str, status: int, code: str, times: int, after: bool) -> None:
        """Let requests fail; ``after``: what they ask for is done, and the answer gets lost."""
        given = {"kind": kind, "key": key, "status": status, "code": code, "times": times}
        ask(f"{self.endpoint}/_fault", "POST", json.dumps({**given, "after": after}).encode())

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
