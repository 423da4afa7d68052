"""A store may be given credentials apart from its URL; they go to no other store."""

from __future__ import annotations

import os
import uuid

import pytest

from tests.core.stores.objects.s3_server import READER
from tests.core.stores.objects.servers import BUCKET, SECRET, Moto
from ubunye_core import ConfigError, StoreUnavailableError, open_store
from ubunye_core.testing import a_receipt

KEYS = {"access_key_id": "WRITER", "secret_access_key": SECRET}
GEHEIM = "Geheim-12345"


@pytest.mark.parametrize("scheme", ["s3", "delta+s3"])
def test_a_bucket_is_opened_with_what_it_is_given_and_nothing_of_the_environment_changes(
    moto: Moto, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    url = f"{scheme}://{BUCKET}/{uuid.uuid4().hex[:12]}?endpoint={moto.endpoint}&region=us-east-1"
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", READER)
    before = dict(os.environ)
    open_store(url, credentials=KEYS).save(a_receipt())
    with pytest.raises(StoreUnavailableError):
        open_store(url).save(a_receipt(run_id="run-2"))
    reader = open_store(url, credentials={**KEYS, "access_key_id": READER, "session_token": ""})
    assert [run.run_id for run in reader.search()] == ["run-1"]
    with pytest.raises(StoreUnavailableError) as refused:
        reader.save(a_receipt(run_id="run-3"))
    assert dict(os.environ) == before
    assert SECRET not in f"{refused.value} {reader.url} {reader!r} {vars(reader)!r}"


@pytest.mark.parametrize(
    ("url", "given", "says"),
    [
        ("s3://bucket", {"password": GEHEIM}, "does not know"),
        ("s3://bucket", {"access_key_id": GEHEIM}, "Give 'secret_access_key' too, or neither"),
        ("s3://bucket", {"secret_access_key": GEHEIM}, "Give 'access_key_id' too, or neither"),
        ("delta+s3://bucket/x", {"access_key_id": GEHEIM}, "Give 'secret_access_key' too"),
        ("delta+s3://bucket/x", {"account_key": GEHEIM}, "does not know"),
        ("delta+file:///srv/x", {"access_key_id": GEHEIM}, "does not know"),
        ("gs://bucket", {"service_account_key": f"{{{GEHEIM}"}, r"no such credentials\. It is"),
        ("az://bucket?account_name=x", {"account_key": f"{GEHEIM}!"}, "no such credentials"),
        ("/srv/receipts", {"access_key_id": GEHEIM}, "takes none"),
        ("memory://x", {"access_key_id": GEHEIM}, "takes none"),
        ("sqlite:////srv/x.db", {"access_key_id": GEHEIM}, "takes none"),
    ],
)
def test_credentials_that_a_store_does_not_take_are_refused_and_not_repeated(
    url: str, given: dict[str, str], says: str
) -> None:
    with pytest.raises(ConfigError, match=says) as refused:
        open_store(url, credentials=given)
    assert GEHEIM not in str(refused.value)


@pytest.mark.parametrize("url", ["s3://bucket/x", "delta+s3://bucket/x"])
def test_keys_are_not_mixed_with_a_session_of_the_environment(
    url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SESSION_TOKEN", "of-somebody-else")
    with pytest.raises(ConfigError, match="AWS_SESSION_TOKEN"):
        open_store(url, credentials=KEYS)
    open_store(url, credentials={**KEYS, "session_token": "mine"})
    open_store(url)


def test_none_are_given_where_all_are_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    assert open_store("memory://x", credentials={"access_key_id": ""}).url == "memory://x"
