"""What a URL may name, and what is said without a session. No Spark is started here."""

from __future__ import annotations

import subprocess
import sys

import pytest

from ubunye_core import ConfigError, open_store
from ubunye_core.stores.spark import SparkStore


@pytest.mark.parametrize("name", ["main.ops.receipts", "ops.receipts", "my-cat._s.T_1"])
def test_a_url_names_a_table_with_its_schema(name: str) -> None:
    store = open_store(f"spark:///{name}")
    assert isinstance(store, SparkStore)
    assert store.url == f"spark:///{name}"


@pytest.mark.parametrize(
    "name",
    ["", "receipts", "a.b.c.d", "a..b", ".a.b", "a.b.", "a.b`c", "a.b;DROP TABLE x", "a.b c",
     "a.`b`", "a/b.c", "a.b?x=1", "a.b#x", "a.é", "-a.b", "a." + "b" * 200,
     "user:pass@host/a.b"],
)  # fmt: skip
def test_what_is_no_name_of_a_table_never_gets_near_a_statement(name: str) -> None:
    with pytest.raises(ConfigError, match="does not name a table of Spark"):
        open_store(f"spark:///{name}")


def test_a_url_with_a_host_is_refused_without_its_secret() -> None:
    with pytest.raises(ConfigError) as refused:
        open_store("spark://user:hunter22@host/a.b")
    assert "hunter22" not in str(refused.value)


def test_it_gives_no_claims() -> None:
    assert not hasattr(SparkStore, "claim")
    assert SparkStore.heartbeat_every.total_seconds() == 600


def test_without_a_session_it_says_what_to_do_and_starts_none() -> None:
    program = (
        "import ubunye_core as u\n"
        "store = u.open_store('spark:///ops.receipts')\n"
        "try: store.search()\n"
        "except u.StoreUnavailableError as error: print(error)\n"
        "answer = u.check_upstream(['a/b/c'], variables={'month': '1'}, store=store)\n"
        "print(answer.verdict)\n"
        "import pyspark; print(pyspark.SparkContext._gateway)\n"
    )
    ran = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=100, check=False
    )
    said = ran.stdout.splitlines()
    assert "no active Spark session" in said[0]
    assert "builder.getOrCreate()" in said[0]
    assert said[1:] == ["UNKNOWN", "None"], ran.stderr
