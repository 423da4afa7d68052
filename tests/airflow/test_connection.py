"""From the connection's form to a store: options, credentials, and nothing of them elsewhere."""

from __future__ import annotations

import json
import os
import re
import uuid
from pathlib import Path
from typing import Any

import pytest

from tests.airflow.conftest import a_receipt
from tests.core.stores.objects.conftest import moto  # noqa: F401  # a fixture
from tests.core.stores.objects.s3_server import READER
from tests.core.stores.objects.servers import BUCKET, SECRET, Moto
from ubunye_airflow import ReceiptStoreHook
from ubunye_airflow.connections import CREDENTIALS, secrets_in
from ubunye_airflow.provider_info import get_provider_info
from ubunye_core import ConfigError, StoreUnavailableError, masked_url

GEHEIM = "Geheim-12345"
FORM = get_provider_info()["connection-types"][0]


def connect(monkeypatch: pytest.MonkeyPatch, **fields: Any) -> ReceiptStoreHook:
    connection = {"conn_type": "ubunye_receipts", **fields}
    monkeypatch.setenv("AIRFLOW_CONN_MINE", json.dumps(connection))
    return ReceiptStoreHook("mine")


@pytest.mark.parametrize("scheme", ["s3", "delta+s3"])
def test_a_bucket_is_opened_by_the_fields_of_its_form_and_the_environment_stays_as_it_is(
    scheme: str,
    moto: Moto,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    host = f"{scheme}://{BUCKET}/{uuid.uuid4().hex[:12]}"
    empty = dict.fromkeys(FORM["conn-fields"])  # as the form sends what nobody filled in
    filled = {"region": "us-east-1", "endpoint": moto.endpoint}
    keys = {"access_key_id": "WRITER", "secret_access_key": SECRET}
    hook = connect(monkeypatch, host=host, extra=json.dumps({**empty, **filled, **keys}))
    before = dict(os.environ)
    store = hook.get_conn()
    store.save(a_receipt())
    assert hook.test_connection() == (
        True,
        f"{store.url} can be read; its newest run is of pay/monthly/calc.",
    )
    assert dict(os.environ) == before
    by_login = connect(
        monkeypatch, host=host, login=READER, password=SECRET, extra=json.dumps(filled)
    )
    assert [run.run_id for run in by_login.get_conn().search()] == ["run-1"]
    with pytest.raises(StoreUnavailableError) as refused:
        by_login.get_conn().save(a_receipt("run-2"))
    assert SECRET not in f"{refused.value} {hook.named()!r} {store!r} {store.url}"


@pytest.mark.parametrize(
    ("fields", "url", "credentials"),
    [
        ({"host": "s3://b/x", "extra": {"region": "eu-west-1"}}, "s3://b/x?region=eu-west-1", {}),
        (
            {"host": "s3://b/x?region=eu-west-1", "extra": {"skip_signature": True}},
            "s3://b/x?region=eu-west-1&skip_signature=true",
            {},
        ),
        (
            {"host": "s3://bucket", "extra": {"region": "r", "endpoint": "https://h:9000"}},
            "s3://bucket?region=r&endpoint=https://h:9000",
            {},
        ),
        (
            {"host": "az://c", "login": "acme", "password": GEHEIM},
            "az://c?account_name=acme",
            {"account_key": GEHEIM},
        ),
        (
            {"host": "gs://b", "extra": {"service_account_key": f'{{"private_key": "{GEHEIM}"}}'}},
            "gs://b",
            {"service_account_key": f'{{"private_key": "{GEHEIM}"}}'},
        ),
        (
            {
                "host": "postgresql://db/jobs",
                "login": "me",
                "password": f"{GEHEIM}/@",
                "extra": {"sslmode": "verify-full", "connect_timeout": 5},
            },
            f"postgresql://me:{GEHEIM}%2F%40@db/jobs?sslmode=verify-full&connect_timeout=5",
            {},
        ),
        (
            {"host": "mine://x", "extra": {"api_token": GEHEIM, "speed": "high"}},
            "mine://x?speed=high",
            {"api_token": GEHEIM},
        ),
        ({"host": "file:///srv/receipts", "extra": {"region": None, "x": ""}},
         "file:///srv/receipts", {}),
        ({"host": "postgresql://db", "port": 5433, "schema": "jobs"},
         "postgresql://db:5433/jobs", {}),
        ({"host": "postgresql://db:5433/jobs", "port": 5433}, "postgresql://db:5433/jobs", {}),
    ],
    ids=str,
)  # fmt: skip
def test_options_go_into_the_url_and_credentials_beside_it(
    fields: dict[str, Any],
    url: str,
    credentials: dict[str, str],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    extra = json.dumps(fields.pop("extra", {}))
    named = connect(monkeypatch, **fields, extra=extra).named()
    assert (named.url, named.credentials) == (url, credentials)
    assert GEHEIM not in repr(named)


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        (
            {"host": "s3://bucket?region=a", "extra": {"region": "b"}},
            "two different values for 'region'",
        ),
        (
            {"host": "s3://bucket", "login": "a", "extra": {"access_key_id": "b"}},
            "two different values for 'access_key_id'",
        ),
        ({"host": "s3://bucket", "extra": {"region": ["a"]}}, "is no text"),
        ({"host": "gs://b", "extra": {"service_account_key": {"a": GEHEIM}}}, "as text"),
        ({"host": "s3://bucket", "extra": {"speed": "high"}}, "option 'speed'"),
        ({"host": "s3://bucket", "extra": {"account_key": GEHEIM}}, "credential 'account_key'"),
        ({"host": "/srv/receipts", "extra": {"secret_access_key": GEHEIM}}, "takes none"),
        ({"host": "file:///srv/receipts", "extra": {"region": "a"}}, "has options"),
        ({"host": "postgresql://db:1/x", "port": 2, "extra": {}}, "two different ports"),
        ({"host": "file:///srv/receipts", "port": 2, "extra": {}}, "no place for it"),
        (
            {"host": "s3://bucket/x", "extra": {"endpoint": f"http://me:{GEHEIM}@h"}},
            "without credentials",
        ),
    ],
    ids=str,
)
def test_fields_that_do_not_fit_together_are_an_error_that_shows_no_secret(
    fields: dict[str, Any], says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    hook = connect(monkeypatch, **{**fields, "extra": json.dumps(fields["extra"])})
    with pytest.raises(ConfigError, match=says) as refused:
        hook.get_conn()
    assert GEHEIM not in str(refused.value)
    good, said = hook.test_connection()
    assert (good, GEHEIM in said) == (False, False)


def test_a_bucket_whose_keys_are_missing_says_what_to_do(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_SESSION_TOKEN"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_METADATA_ENDPOINT", "http://127.0.0.1:9")
    hook = connect(monkeypatch, host="s3://acme-receipts/prod")
    good, said = hook.test_connection()
    assert (good, "no credentials were found" in said, "connection" in said) == (False, True, True)
    half = connect(
        monkeypatch, host="s3://acme-receipts/prod", extra='{"access_key_id": "AKIAEXAMPLE"}'
    )
    assert "Give 'secret_access_key' too" in half.test_connection()[1]


def test_an_extra_that_is_no_json_is_not_passed_over(monkeypatch: pytest.MonkeyPatch) -> None:
    extra = f'{{"secret_access_key": "{GEHEIM}"'
    hook = connect(monkeypatch, host="s3://bucket/x", extra=extra)
    with pytest.raises(ConfigError, match="no JSON object") as refused:
        hook.get_conn()
    assert GEHEIM not in str(refused.value)


def test_every_secret_of_the_form_is_a_credential_and_hidden_once_it_is_saved() -> None:
    hidden = {
        name
        for name, field in FORM["conn-fields"].items()
        if field["schema"].get("format") == "password"
    }
    assert hidden == {name for name in FORM["conn-fields"] if name in CREDENTIALS} - {
        "access_key_id"
    }


@pytest.mark.parametrize(
    ("url", "secrets"),
    [
        ("s3://bucket/x?region=eu", []),
        ("postgresql://me@db:5432/x", []),
        ("postgresql://me:hunter2@db/x", ["hunter2"]),
        ("postgresql://me:hunter%2F2@db/x?sslmode=require", ["hunter%2F2", "hunter/2"]),
        ("postgresql://me:p@ss:word@db/x", ["p@ss:word"]),
        ("postgresql://db/x?password=hunter2&sslmode=require", ["hunter2"]),
        ("postgresql://a:hunter2@db/x?sslpassword=other3", ["hunter2", "other3"]),
        ("postgresql://me:hunter2@db/x@y", ["hunter2", "hunter2@db/x"]),
        ("postgresql://me:hun?ter2@db/x", ["hun?ter2"]),
        ("s3://b/x?endpoint=http://me:hunter2%40h", ["hunter2"]),
        ("{{ conn.x }}", []),
        (str(Path("/srv/receipts")), []),
    ],
)
def test_the_secrets_of_a_url_are_found(url: str, secrets: list[str]) -> None:
    assert sorted(secrets_in(url)) == sorted(secrets)


PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "airflow-connection.md"
EXAMPLES = re.findall(
    r"^```json\n(.*?)^```\n.*?^It opens `(\S+)`", PAGE.read_text(encoding="utf-8"), re.S | re.M
)


@pytest.mark.parametrize(("connection", "shown"), EXAMPLES, ids=[url for _, url in EXAMPLES])
def test_the_examples_of_the_page_open_the_stores_that_it_says(
    connection: str, shown: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_SESSION_TOKEN", raising=False)
    monkeypatch.setenv("AIRFLOW_CONN_MINE", connection)
    named = ReceiptStoreHook("mine").named()
    assert masked_url(named.url) == shown
    assert ReceiptStoreHook("mine").get_conn().url == shown
    assert set(named.secrets) & {"the-secret-key", "the-pass/word"}
    assert len(EXAMPLES) == 3
