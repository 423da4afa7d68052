"""Nothing private is ever written down."""

from __future__ import annotations

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubunye_core.masking import (
    MASK,
    MAX_ERROR_TEXT,
    MAX_TEXT,
    clean_text,
    error_text,
    is_secret_name,
    masked_text,
    masked_url,
    masked_variables,
    secrets_of,
)

SECRET = "Wachtwoord-42"


@pytest.mark.parametrize(
    "name",
    [
        "password", "PASSWORD", "passwd", "secret", "token", "apikey", "api_key", "api-key",
        "credential", "private_key", "auth", "db_password", "AUTH_TOKEN", "apiKey", "APIKey",
        "ApiKey", "x.api.key", "client_secret", "clientSecret", "token_2", "password1",
        "credentials", "secrets", "api_keys", "basic_auth", "authToken", "aws_secret_access_key",
        "privateKeyPem", "SSH_PRIVATE_KEY", "auth0",
    ],
)  # fmt: skip
def test_a_name_with_a_secret_word_is_secret(name: str) -> None:
    assert is_secret_name(name)


@pytest.mark.parametrize(
    "name",
    [
        "author", "authors", "authority", "authorised_by", "signature_date", "monkey", "key",
        "keys", "api", "private", "tokenizer", "secretary", "month", "region", "passport",
        "key_api", "keys_api", "apikeyring", "public_key", "primary_key", "",
        "compass", "oauthor",
    ],
)  # fmt: skip
def test_a_name_that_only_resembles_one_is_not(name: str) -> None:
    assert not is_secret_name(name)


def test_variables_are_masked_by_name_and_passwords_in_their_urls_too() -> None:
    variables = {
        "month": "2026-10",
        "db_password": SECRET,
        "source": f"postgresql://ada:{SECRET}@db/pay?sslmode=require",
        "both": f"from ftp://a:{SECRET}@x to sftp://b:{SECRET}@y",
        "author": "Ada",
    }
    assert masked_variables(variables) == {
        "month": "2026-10",
        "db_password": MASK,
        "source": "postgresql://ada:***@db/pay?sslmode=require",
        "both": "from ftp://a:***@x to sftp://b:***@y",
        "author": "Ada",
    }
    assert set(secrets_of(variables)) == {SECRET}


@pytest.mark.parametrize(
    ("url", "masked"),
    [
        ("postgresql://ada:pw@db/pay", "postgresql://ada:***@db/pay"),
        ("postgresql://db/pay?sslpassword=pw&sslmode=require",
         "postgresql://db/pay?sslpassword=***&sslmode=require"),
        ("postgresql+psycopg://ada:pw@db:5432/pay", "postgresql+psycopg://ada:***@db:5432/pay"),
        ("redis://:pw@cache", "redis://:***@cache"),
        ("postgresql://ada@corp:pw@db/pay", "postgresql://ada@corp:***@db/pay"),
        ("postgresql://ada:p/w@db/pay", "postgresql://ada:***@db/pay"),
        ("postgresql://ada:p@w@db/pay", "postgresql://ada:***@db/pay"),
        ("postgresql://ada:p?w#@db/pay", "postgresql://ada:***@db/pay"),
        ("postgresql://ada:p'w\"@db/pay", "postgresql://ada:***@db/pay"),
        ("https://host/x?token=abc&month=2026-10", "https://host/x?token=***&month=2026-10"),
        ("https://host/x?api%5Fkey=abc", "https://host/x?api%5Fkey=***"),
        ("s3://b/x?endpoint=http://me:abc%40h&region=eu", "s3://b/x?endpoint=***&region=eu"),
        ("https://host/x?next=http%3A%2F%2Fme%3Aabc%40h", "https://host/x?next=***"),
        ("https://host/x?sv=1&sig=abc%3D#top", "https://host/x?sv=1&sig=***#top"),
        ("https://b.s3/x?X-Amz-Signature=ab&X-Amz-Security-Token=c",
         "https://b.s3/x?X-Amz-Signature=***&X-Amz-Security-Token=***"),
        ("jdbc:sqlserver://db;user=ada;password=pw;encrypt=true",
         "jdbc:sqlserver://db;user=ada;password=***;encrypt=true"),
    ],
)  # fmt: skip
def test_a_url_loses_its_secrets(url: str, masked: str) -> None:
    assert masked_url(url) == masked
    assert masked_url(masked) == masked
    assert masked_text(f"could not open {url} now") == f"could not open {masked} now"


@pytest.mark.parametrize(
    "url",
    [
        "/srv/data/people.csv", "file:///srv/a@b/x", "s3://bucket/a@b.csv", "s3://bucket/key",
        "abfss://lake@account.dfs.core.windows.net/raw", "https://host:8080/users/a@b",
        "https://joe@host:8080/x", "s3://b/author=smith/part-0.parquet", "", "people", "a?b=c&d",
        "https://host/x?author=smith&signature_date=2026-10-01", "memory://", "https://host/x?",
        "https://host/x?token=", "delta+s3://bucket/table?region=eu",
    ],
)  # fmt: skip
def test_a_url_without_secrets_stays_as_it_is(url: str) -> None:
    assert masked_url(url) == url


@pytest.mark.parametrize(
    "text",
    [
        "password={}", "password = {}", "PASSWORD: {}", "{{'password': '{}'}}", "db_password={};x",
        '{{"api_key": "{}", "n": 1}}', "error: password={}", "Authorization: Bearer {}",
        "authorization=Basic {}", "--token={}", "DBPASSWORD={}", "mypassword: {}", "?token={}&x=1",
        "PWD={};UID=sa", "user=sa pass={}", "https://x/y?sig={}", "ftp://a:{}@h/x",
        "secret='{}' and more", "secret='{}", "client-secret : {}",
    ],
)  # fmt: skip
def test_free_text_loses_what_is_assigned_to_a_secret_name(text: str) -> None:
    masked = masked_text(text.format(SECRET))
    assert SECRET not in masked
    assert MASK in masked
    assert masked_text(masked) == masked


@pytest.mark.parametrize(
    "text",
    ["author=Smith: no such column", "month=2026-10 is missing", "12:30:45 done", "a: b: c", "",
     "the monkey: ate it", "no password", "KeyError: 'people'"],
)  # fmt: skip
def test_other_text_stays_as_it_is(text: str) -> None:
    assert masked_text(text) == text


def test_an_error_is_its_type_and_a_first_line() -> None:
    assert error_text(ValueError("no column 'age'\nat row 7: Jan Smit")) == (
        "ValueError: no column 'age'"
    )
    assert error_text(ValueError("\n\n  spaced  \n")) == "ValueError: spaced"
    assert error_text(ValueError()) == "ValueError"
    assert error_text(ValueError("x"), with_message=False) == "ValueError"


@pytest.mark.parametrize(
    "secret",
    [
        SECRET,
        'it\'s "q" \\ n',
        "two\nlines-of-it",
        "p@ss w/rd?&=",
        "Ünïcode",
        "half-\ud800-surrogate",
    ],
)
def test_a_secret_shows_in_no_error_however_it_is_written(secret: str) -> None:
    from urllib.parse import quote, quote_plus

    ways = [secret, repr(secret)[1:-1]]
    ways += [quote(secret, safe="", errors="replace"), quote_plus(secret, errors="replace")]
    for way in ways:
        text = error_text(ValueError(f"refused '{way}' for ada"), secrets=[secret])
        assert text == "ValueError: refused '***' for ada"


def test_the_longer_of_two_secrets_is_masked_whole() -> None:
    assert error_text(ValueError("abcdefgh"), secrets=["abcd", "abcdefgh"]) == "ValueError: ***"


def test_a_secret_of_three_letters_is_not_looked_for() -> None:
    assert error_text(ValueError("a cat sat"), secrets=["cat"]) == "ValueError: a cat sat"


def test_a_huge_error_is_cut_and_costs_no_time() -> None:
    began = time.thread_time()  # of this work alone, whatever else the machine does
    for text in (
        "x" * 5_000_000,
        "a." * 1_000_000,
        "://:" * 1_000_000,
        "k=" * 1_000_000,
        " " * 10**6,
    ):
        assert len(error_text(ValueError(text))) <= MAX_ERROR_TEXT + len("ValueError: ")
    assert time.thread_time() - began < 5


@pytest.mark.parametrize(
    "text",
    [
        "://a:" * 200_000, "x@y " + "://a:" * 200_000 + " @", "h://a:" * 200_000,
        "h://a:b?" * 100_000 + "@", "h://x@" + "://a:" * 200_000 + "?", "a=" * 400_000,
        "token=" * 150_000, "a=\"b='" * 150_000, "A" * 1_000_000, "h://x?" + "a&" * 400_000,
    ],
)  # fmt: skip
def test_a_long_text_of_any_kind_is_masked_at_once(text: str) -> None:
    began = time.thread_time()
    assert len(clean_text(text)) <= MAX_TEXT
    masked_variables({"source": text})
    secrets_of({"source": text})
    assert time.thread_time() - began < 10


def test_a_url_that_is_cut_keeps_its_password_to_itself() -> None:
    text = "password=" + "y" * 3_990 + " postgresql://ada:" + SECRET * 100 + "@db"
    assert SECRET not in error_text(ValueError(text))


def test_an_exception_that_cannot_be_shown_is_its_type() -> None:
    class BrokenError(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no")

    class OddError(Exception):
        def __str__(self) -> str:
            return 7  # type: ignore[return-value]

    assert (error_text(BrokenError()), error_text(OddError())) == ("BrokenError", "OddError")


@given(st.text(), st.lists(st.text(min_size=1), max_size=3))
def test_any_text_can_be_masked_and_masking_again_changes_nothing(
    text: str, secrets: list[str]
) -> None:
    line = error_text(ValueError(text), secrets=secrets)
    assert len(line) <= MAX_ERROR_TEXT + len("ValueError: ")
    assert masked_url(masked_url(text)) == masked_url(text)
    masked_variables({text: text})
