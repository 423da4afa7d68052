"""Which store is meant: looked for in one order, and never guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.airflow.conftest import a_receipt
from ubunye_airflow import ReceiptStoreHook
from ubunye_airflow.listener.store import listener_store
from ubunye_core import ConfigError, ReceiptStore, UnknownStoreError


def connect(monkeypatch: pytest.MonkeyPatch, conn_id: str, **fields: Any) -> None:
    connection = {"conn_type": "ubunye_receipts", **fields}
    monkeypatch.setenv(f"AIRFLOW_CONN_{conn_id.upper()}", json.dumps(connection))


@pytest.fixture
def everywhere(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A store is named in each place; they are listed in order."""
    connect(monkeypatch, "mine", host="memory://connection")
    monkeypatch.setenv("AIRFLOW__UBUNYE_RECEIPTS__STORE", "memory://config")
    monkeypatch.setenv("UBUNYE_STORE", "memory://environment")
    return ["AIRFLOW_CONN_MINE", "AIRFLOW__UBUNYE_RECEIPTS__STORE", "UBUNYE_STORE"]


def test_the_argument_comes_first(everywhere: list[str]) -> None:
    assert ReceiptStoreHook("mine", store="memory://argument").get_conn().url == "memory://argument"


def test_then_the_connection(everywhere: list[str]) -> None:
    assert ReceiptStoreHook("mine").get_conn().url == "memory://connection"


def test_then_the_configuration_then_the_environment(
    everywhere: list[str], monkeypatch: pytest.MonkeyPatch, airflow_db: None
) -> None:
    assert ReceiptStoreHook().get_conn().url == "memory://config"
    monkeypatch.delenv("AIRFLOW__UBUNYE_RECEIPTS__STORE")
    assert ReceiptStoreHook().get_conn().url == "memory://environment"


def test_nothing_named_is_an_error_that_names_every_place(airflow_db: None) -> None:
    with pytest.raises(ConfigError) as caught:
        ReceiptStoreHook().get_conn()
    for place in ("'store'", "ubunye_receipts_default", "[ubunye_receipts]", "UBUNYE_STORE"):
        assert place in str(caught.value)


def test_a_named_connection_that_is_missing_is_an_error_although_other_places_name_a_store(
    everywhere: list[str], airflow_db: None
) -> None:
    with pytest.raises(ConfigError, match="'nobodys' does not exist"):
        ReceiptStoreHook("nobodys").get_conn()


def test_the_default_connection_counts_once_somebody_makes_it(
    everywhere: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    connect(monkeypatch, "ubunye_receipts_default", host="memory://default")
    assert ReceiptStoreHook().get_conn().url == "memory://default"


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"conn_type": "postgres", "host": "db"}, "is of type 'postgres'"),
        ({}, "has no store URL"),
        ({"host": "  "}, "has no store URL"),
        ({"host": "/srv/receipts", "password": "hunter2"}, "has no place for it"),
        ({"host": "sql://a:b@db/x", "password": "hunter2"}, "has no place for it"),
    ],
)
def test_a_connection_that_names_no_store_is_an_error(
    monkeypatch: pytest.MonkeyPatch, everywhere: list[str], fields: dict[str, str], says: str
) -> None:
    connect(monkeypatch, "mine", **fields)
    with pytest.raises(ConfigError, match=says) as caught:
        ReceiptStoreHook("mine").get_conn()
    assert "hunter2" not in str(caught.value)


def test_an_empty_argument_is_an_error_and_not_the_next_place(everywhere: list[str]) -> None:
    with pytest.raises(ConfigError, match="'store' is empty"):
        ReceiptStoreHook("mine", store=" ").get_conn()


@pytest.mark.parametrize(
    "relative", ["receipts", "./receipts", "..", "sqlite:///receipts.db", "sqlite:///a.db?x=/y"]
)
def test_a_path_that_depends_on_where_a_worker_was_started_is_refused_wherever_it_is_named(
    relative: str, monkeypatch: pytest.MonkeyPatch, airflow_db: None
) -> None:
    connect(monkeypatch, "mine", host=relative)
    monkeypatch.setenv("UBUNYE_STORE", relative)
    for hook in (ReceiptStoreHook("mine"), ReceiptStoreHook(store=relative), ReceiptStoreHook()):
        with pytest.raises(ConfigError, match=r"is a relative path.*Write the whole path"):
            hook.get_conn()
        good, said = hook.test_connection()
        assert (good, "relative path" in said) == (False, True)
    with pytest.raises(ConfigError, match="is a relative path"):
        listener_store()


@pytest.mark.parametrize(
    "whole", ["/srv/receipts", "~/receipts", "sqlite:////srv/receipts.db", "memory://receipts"]
)
def test_a_whole_path_is_the_same_wherever_a_worker_was_started(
    whole: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    connect(monkeypatch, "mine", host=whole)
    here = ReceiptStoreHook("mine").get_conn().url
    monkeypatch.chdir(tmp_path)
    assert ReceiptStoreHook("mine").get_conn().url == here


def test_login_and_password_of_the_connection_go_into_the_url(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    connect(monkeypatch, "mine", host="sql://db:5432/receipts", login="me", password="p@ss/word")
    hook = ReceiptStoreHook("mine")
    assert hook.named().url == "sql://me:p%40ss%2Fword@db:5432/receipts"
    with pytest.raises(UnknownStoreError):  # the store itself is not there yet
        hook.get_conn()


def test_a_connection_may_be_written_as_a_uri(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("AIRFLOW_CONN_MINE", "ubunye-receipts://memory%3A%2F%2Furi")
    assert ReceiptStoreHook("mine").get_conn().url == "memory://uri"
    monkeypatch.setenv("AIRFLOW_CONN_MINE", "ubunye-receipts://s3://bucket/some/prefix")
    assert ReceiptStoreHook("mine").named().url == "s3://bucket/some/prefix"


def test_the_button_test_says_whether_the_store_can_be_read(
    store: ReceiptStore, store_url: str, tmp_path: Path
) -> None:
    good, said = ReceiptStoreHook(store=store_url).test_connection()
    assert (good, "no receipts yet" in said) == (True, True)
    store.save(a_receipt())
    good, said = ReceiptStoreHook(store=store_url).test_connection()
    assert (good, "pay/monthly/calc" in said) == (True, True)
    missing = tmp_path / "missing"
    good, said = ReceiptStoreHook(store=str(missing)).test_connection()
    assert (good, str(missing) in said) == (False, True)
    assert ReceiptStoreHook(store="nope://x").test_connection()[0] is False
