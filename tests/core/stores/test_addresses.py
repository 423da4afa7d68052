"""URLs of stores: what cannot be meant is refused alike, whichever store it names."""

from __future__ import annotations

import pytest

from ubunye_core import ConfigError, open_store

FOLDERS = ["file", "jsonl", "delta+file"]
BUCKETS = ["s3", "delta+s3"]


@pytest.mark.parametrize("scheme", [*FOLDERS, *BUCKETS])
def test_what_is_no_url_is_refused(scheme: str) -> None:
    with pytest.raises(ConfigError, match="is not a URL"):
        open_store(f"{scheme}://[srv/receipts")


@pytest.mark.parametrize("scheme", FOLDERS)
@pytest.mark.parametrize(
    ("rest", "why"),
    [
        ("srv/receipts", "has three slashes"),
        ("ada:Geheim-12345@host/srv/receipts", "has three slashes"),
        ("/srv/receipts?mode=ro", "takes none"),
        ("/srv/receipts#1", "takes none"),
        ("/srv/%00", "names no"),
        ("", "names no"),
    ],
)
def test_a_place_on_this_machine_has_no_machine_and_no_options(
    scheme: str, rest: str, why: str
) -> None:
    with pytest.raises(ConfigError, match=why) as refused:
        open_store(f"{scheme}://{rest}")
    assert "Geheim" not in str(refused.value)


@pytest.mark.parametrize("scheme", BUCKETS)
@pytest.mark.parametrize(
    ("rest", "why"),
    [
        ("", "names no bucket"),
        ("/prod", "names no bucket"),
        ("bu cket/prod", "names no bucket"),
        ("bucket:80/prod", "names no bucket"),
        ("bucket/prod#x", "names no bucket"),
        ("AKIA:Geheim-12345@bucket/prod", "holds credentials"),
        ("bucket/../x", "a folder that the store does not take"),
        ("bucket/x/..", "a folder that the store does not take"),
        ("bucket/%2e%2e/x", "a folder that the store does not take"),
        ("bucket/a//b", "a folder that the store does not take"),
        ("bucket/.hints", "a folder that the store does not take"),
        ("bucket/%00", "a folder that the store does not take"),
        ("bucket/" + "x" * 500, "a folder that the store does not take"),
        ("bucket/prod?conditional_put=disabled", "the option 'conditional_put'"),
        ("bucket/prod?aws_secret_access_key=Geheim-12345", "the option 'aws_secret_access_key'"),
        ("bucket/prod?endpoint=ftp://x", "no plain http or https URL"),
        ("bucket/prod?endpoint=http://user:Geheim-12345@x", "no plain http or https URL"),
        ("bucket/prod?endpoint=http://[", "no plain http or https URL"),
        ("bucket/prod?region=", "must say 'region' once"),
        ("bucket/prod?region=a&region=b", "must say 'region' once"),
    ],
)
def test_a_bucket_is_named_in_one_way(scheme: str, rest: str, why: str) -> None:
    with pytest.raises(ConfigError, match=why) as refused:
        open_store(f"{scheme}://{rest}")
    assert "Geheim" not in str(refused.value)


@pytest.mark.parametrize(
    "url",
    [
        "s3://acme.receipts/team a/prod?region=eu-west-1",
        "delta+s3://acme.receipts/team a/prod?region=eu-west-1",
        "s3://b-1/p?endpoint=http://127.0.0.1:9000&region=us-east-1",
        "delta+s3://b-1/p?endpoint=http://127.0.0.1:9000&region=us-east-1",
        "delta+file:///srv/receipts",
        "jsonl:///srv/ledger.jsonl",
        "file:///srv/receipts",
        "memory://here",
    ],
)
def test_a_store_shows_the_url_that_names_it(url: str) -> None:
    assert open_store(url).url == url
    assert open_store(open_store(url).url).url == url


def test_a_scheme_may_be_written_in_capitals() -> None:
    assert open_store("MEMORY://capitals") is open_store("memory://capitals")
    assert open_store("Delta+File:///srv/receipts").url == "delta+file:///srv/receipts"
