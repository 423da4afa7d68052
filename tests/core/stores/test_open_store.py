"""From a URL to a store."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from ubunye_core import (
    ConfigError,
    StoreNotNamedError,
    UnknownStoreError,
    check_whole_path,
    open_store,
)
from ubunye_core.stores import FileStore, MemoryStore
from ubunye_core.testing import a_receipt

PLUGIN = """
from ubunye_core.stores import MemoryStore

def open_it(url):
    return MemoryStore(url)

def open_with(url, *, credentials=None):
    return MemoryStore(f"{url} by {credentials}")
"""


def root_of(url: str | Path) -> str:
    store = open_store(url)
    assert isinstance(store, FileStore)
    return str(store.root)


@pytest.mark.parametrize(
    ("url", "root"),
    [
        ("/srv/receipts", "/srv/receipts"),
        ("/srv/my receipts", "/srv/my receipts"),
        ("/srv/a%20b", "/srv/a%20b"),
        ("/srv/what?#x", "/srv/what?#x"),
        ("file:///srv/receipts", "/srv/receipts"),
        ("FILE:///srv/receipts", "/srv/receipts"),
        ("file:///srv/my receipts", "/srv/my receipts"),
        ("file:///srv/a%20b", "/srv/a b"),
        ("file:///srv/50%25", "/srv/50%"),
        ("file:///srv/z%C3%BCrich", "/srv/zürich"),
        ("file://localhost/srv/receipts", "/srv/receipts"),
        ("  /srv/receipts\n", "/srv/receipts"),
        (Path("/srv/receipts"), "/srv/receipts"),
    ],
)
def test_a_folder_is_named_by_a_path_or_a_url(url: str | Path, root: str) -> None:
    assert root_of(url) == root


def test_a_relative_path_starts_from_the_working_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    store = open_store("receipts")
    monkeypatch.chdir("/")
    store.save(a_receipt())
    assert (tmp_path / "receipts" / "pay").is_dir()


def test_a_tilde_is_the_home_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/home/ada")
    assert root_of("~/receipts") == "/home/ada/receipts"
    with pytest.raises(ConfigError, match="home folder"):
        open_store("~nobody-of-this-name/receipts")


@pytest.mark.parametrize(
    "url",
    ["file://host/srv", "file://srv/receipts", "file:/srv/receipts", "file:receipts", "file://",
     "file:///srv?fast=yes", "file:///srv#x", "file:///a%00b", "a\0b", "", "   ",
     "s3:/bucket/receipts", "memory:name", "postgresql:db", "\ud800", Path("\ud800"), Path("a\0b")],
)  # fmt: skip
def test_what_is_no_folder_is_refused(url: str | Path) -> None:
    with pytest.raises(ConfigError):
        open_store(url)


@pytest.mark.parametrize("root", ["/srv/receipts", "/srv/my receipts", "/srv/50%", "/srv/zürich"])
def test_the_url_of_a_store_opens_the_same_store(root: str) -> None:
    assert root_of(open_store(root).url) == root


@pytest.mark.parametrize(
    "url",
    ["file://ada:wachtwoord@host/x", "file:///x?token=wachtwoord", "file:///x#token=wachtwoord",
     "postgresql:/ada:wachtwoord@host/db", "postgresql:ada:wacht/wachtwoord@host/db",
     "ada:wachtwoord@host/db", "jdbc:db:host;password=wachtwoord"],
)  # fmt: skip
def test_no_password_stands_in_a_refusal(url: str) -> None:
    with pytest.raises(ConfigError) as refused:
        open_store(url)
    assert "wachtwoord" not in str(refused.value)


def test_a_folder_may_have_a_name_like_a_url(tmp_path: Path) -> None:
    assert root_of(f"{tmp_path}/s3:/x") == f"{tmp_path}/s3:/x"
    assert root_of("./memory:x").endswith("/memory:x")


def test_a_path_below_a_folder_that_was_removed_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = tmp_path / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    with pytest.raises(ConfigError, match="current folder, which has been removed"):
        open_store("receipts")


def test_the_environment_names_the_store_when_it_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("UBUNYE_STORE", "file:///srv/a")
    assert root_of(open_store().url) == "/srv/a"
    monkeypatch.setenv("UBUNYE_STORE", "file:///srv/b")
    assert root_of(open_store().url) == "/srv/b"
    assert root_of(open_store("/srv/argument").url) == "/srv/argument"


@pytest.mark.parametrize("value", [None, ""])
def test_there_is_no_default_store(value: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("UBUNYE_STORE", raising=False)
    if value is not None:
        monkeypatch.setenv("UBUNYE_STORE", value)
    with pytest.raises(StoreNotNamedError, match="UBUNYE_STORE"):
        open_store()


def test_an_empty_argument_does_not_fall_back_to_the_environment(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("UBUNYE_STORE", "/srv/other")
    with pytest.raises(ConfigError):
        open_store("")


def test_an_unknown_scheme_names_those_that_are_known() -> None:
    with pytest.raises(UnknownStoreError) as refused:
        open_store("gopher://user:wachtwoord@host/receipts")
    assert refused.value.scheme == "gopher"
    assert {"file", "memory"} <= set(refused.value.known)
    assert "wachtwoord" not in str(refused.value)


def test_a_memory_store_is_shared_by_its_name() -> None:
    first, same, other = (open_store(f"memory://{name}") for name in ("one", "one", "two"))
    assert isinstance(first, MemoryStore)
    assert first is same
    assert first is not other


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A package with two stores, installed as pip would: a module and its metadata."""
    (tmp_path / "my_plugin.py").write_text(PLUGIN)
    metadata = tmp_path / "my_plugin-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: my-plugin\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text(
        "[ubunye_receipts.stores]\nmine = my_plugin:open_it\nwith = my_plugin:open_with\n"
        "torn = my_plugin:nothing\n"
        "gone = no_such_module:open_it\nfile = my_plugin:open_it\n"
    )
    monkeypatch.syspath_prepend(str(tmp_path))
    yield tmp_path
    sys.modules.pop("my_plugin", None)


def test_an_installed_package_brings_a_store(installed: Path) -> None:
    store = open_store("MINE://somewhere/x")
    store.save(a_receipt())
    assert store.url == "memory://MINE://somewhere/x"
    assert len(store.search()) == 1


def test_a_package_whose_store_takes_credentials_is_given_them(installed: Path) -> None:
    store = open_store("with://x", credentials={"key": "k", "other": ""})
    assert store.url == "memory://with://x by {'key': 'k'}"
    assert open_store("with://x").url == "memory://with://x by None"
    with pytest.raises(ConfigError, match="takes none"):
        open_store("mine://x", credentials={"key": "k"})


def test_a_package_does_not_take_the_place_of_a_store_of_ours(installed: Path) -> None:
    assert root_of("file:///srv/receipts") == "/srv/receipts"


@pytest.mark.parametrize("scheme", ["torn", "gone"])
def test_a_package_that_cannot_be_used_is_an_error_that_names_it(
    installed: Path, scheme: str
) -> None:
    with pytest.raises(ConfigError, match=f"'{scheme}://' cannot be used"):
        open_store(f"{scheme}://x")


def test_an_installed_scheme_is_among_those_known(installed: Path) -> None:
    with pytest.raises(UnknownStoreError, match="mine://"):
        open_store("other://x")


@pytest.mark.parametrize(
    ("url", "whole"),
    [
        ("receipts", "file:///srv/receipts"),
        (" ./receipts", "file:///srv/receipts"),
        ("sqlite:///receipts.db", "sqlite:////srv/receipts.db"),
        ("SQLite:///~/receipts.db?timeout=5", "sqlite:////srv/receipts.db"),
    ],
)
def test_a_relative_path_is_refused_where_processes_start_in_folders_of_their_own(
    url: str, whole: str
) -> None:
    with pytest.raises(ConfigError, match=f"is a relative path.* such as {whole}"):
        check_whole_path(url)


@pytest.mark.parametrize(
    "url",
    ["/srv/receipts", "~/receipts", "file:///srv/receipts", "sqlite:////srv/receipts.db",
     "sqlite://", "s3://bucket/receipts", "memory://pay", "s3:/bucket"],
)  # fmt: skip
def test_a_whole_path_and_what_is_no_path_are_not_refused_for_their_path(url: str) -> None:
    check_whole_path(url)
