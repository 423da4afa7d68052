from __future__ import annotations

import subprocess
import sys

import pytest

from ubunye_core import ConfigError, MissingExtraError, open_store
from ubunye_core.stores.objects import ObjectStore
from ubunye_core.stores.objects.address import read_address


@pytest.mark.parametrize(
    "url",
    [
        "s3://acme-receipts",
        "s3://acme-receipts/prod",
        "s3://acme.receipts/team a/prod?region=eu-west-1",
        "s3://b-1/p?endpoint=http://127.0.0.1:9000&region=us-east-1",
        "s3://b-1?virtual_hosted_style_request=true&skip_signature=true",
        "gs://acme-receipts/prod",
        "az://receipts/prod?account_name=acme",
    ],
)
def test_a_bucket_is_named_by_a_url(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AZURE_STORAGE_ACCOUNT_NAME", "acme")
    store = open_store(url)
    assert isinstance(store, ObjectStore)
    assert store.url == url.replace("team a", "team a")
    assert read_address(store.url) == read_address(url)


@pytest.mark.parametrize(
    ("url", "why"),
    [
        ("s3://", "names no bucket"),
        ("s3:///prod", "names no bucket"),
        ("s3://b", "names no bucket.*two or more letters"),
        ("s3://bu cket", "names no bucket"),
        ("s3://bucket#x", "names no bucket"),
        ("s3://bucket/../x", "a folder that the store does not take"),
        ("s3://bucket/a//b", "a folder that the store does not take"),
        ("s3://bucket/.hints", "a folder that the store does not take"),
        ("s3://bucket/%00", "a folder that the store does not take"),
        ("s3://bucket/" + "x" * 500, "a folder that the store does not take"),
        ("s3://bucket?bucket=other", "the option 'bucket'"),
        ("s3://bucket?conditional_put=disabled", "the option 'conditional_put'"),
        ("s3://bucket?endpoint=ftp://x", "no plain http or https URL"),
        ("s3://bucket?endpoint=http://user:pw@x", "no plain http or https URL"),
        ("s3://bucket?endpoint=http://[", "no plain http or https URL"),
        ("s3://bucket?region=", "must say 'region' once"),
        ("s3://bucket?region=a&region=b", "must say 'region' once"),
        ("s3://bucket?skip_signature=maybe", "true or false"),
        ("s3://fast--use1-az4--x-s3/prod", "directory bucket"),
        ("gs://bucket?region=eu", "the option 'region', which gs:// does not know"),
        ("az://bucket?region=eu", "the option 'region', which az:// does not know"),
    ],
)
def test_a_url_that_cannot_be_is_refused_with_the_reason(url: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why):
        open_store(url)


@pytest.mark.parametrize(
    "url",
    [
        "s3://AKIA:Geheim-12345@bucket/prod",
        "s3://bucket?secret_access_key=Geheim-12345",
        "s3://bucket?aws_secret_access_key=Geheim-12345&nonsense=1",
        "s3://bucket?endpoint=http://user:Geheim-12345@host",
        "az://container?sas_token=sig%3DGeheim-12345",
    ],
)
def test_secrets_in_a_url_are_refused_and_not_repeated(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        open_store(url)
    assert "Geheim" not in str(refused.value)


def test_what_the_client_refuses_says_how_it_is_set_up(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("AZURE_STORAGE_ACCOUNT_NAME", "AZURE_STORAGE_ACCOUNT_KEY"):
        monkeypatch.delenv(name, raising=False)
    with pytest.raises(ConfigError, match=r"cannot be opened.*AZURE_STORAGE_\*"):
        open_store("az://receipts/prod")
    monkeypatch.setenv("GOOGLE_SERVICE_ACCOUNT", "/nowhere/key.json")
    with pytest.raises(ConfigError, match=r"cannot be opened.*GOOGLE_\*"):
        open_store("gs://receipts/prod")


def test_without_its_library_the_extra_is_named() -> None:
    code = (
        "import sys; sys.modules['obstore'] = None\n"
        "from ubunye_core import open_store, MissingExtraError\n"
        "try: open_store('s3://bucket/prod')\n"
        "except MissingExtraError as error: print(error)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=True
    )
    assert "ubunye-receipts[objects]" in done.stdout
    assert issubclass(MissingExtraError, ImportError)
