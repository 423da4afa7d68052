"""How the variables of two runs are compared: as text, however they were given."""

from __future__ import annotations

import enum
import json
import math
from datetime import UTC, date, datetime, timedelta, timezone
from typing import Any

import pytest

from tests.core.questions.builders import CALC, NOW, a_run, put
from ubunye_core import (
    Batch,
    ConfigError,
    ReceiptStore,
    Requirement,
    check_upstream,
    record_run,
)
from ubunye_core.codec import encode
from ubunye_core.stores import FileStore, MemoryStore

JAKARTA = timezone(timedelta(hours=7))


class Region(enum.StrEnum):
    EU = "eu"


class OldRegion(str, enum.Enum):  # noqa: UP042  # as code of before Python 3.11 has it
    EU = "eu"


class Level(enum.IntEnum):
    HIGH = 3


def met(store: ReceiptStore, ours: Any, theirs: Any) -> bool:
    """Whether a run with v=``ours`` is let through by a receipt that holds v=``theirs``."""
    put(store, a_run(variables={"v": theirs}))
    asked = Requirement(CALC, variables=["v"])
    return (
        check_upstream(asked, variables={"v": ours}, store=store, now=NOW).requirements[0].met
        and check_upstream(CALC, variables={"v": ours}, store=store, now=NOW).requirements[0].met
    )


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("2026-10", "2026-10"),
        ("010", "010"),
        ("NO", "NO"),
        ("1.10", "1.10"),
        ("", ""),
        (" x ", " x "),
        ("Zürich ✓", "Zürich ✓"),
        (date(2026, 10, 1), "2026-10-01"),
        (datetime(2026, 10, 1, 2, 0, tzinfo=UTC), "2026-10-01T02:00:00Z"),
        (datetime(2026, 10, 1, 2, 0, tzinfo=JAKARTA), "2026-09-30T19:00:00Z"),
        (datetime(2026, 10, 1, 2, 0, 0, 500_000, tzinfo=UTC), "2026-10-01T02:00:00.500000Z"),
        (True, "true"),
        (False, "false"),
        (True, True),
        (7, "7"),
        (7, 7),
        (-0, "0"),
        (10**30, str(10**30)),
        (1.5, "1.5"),
        (1.5, 1.5),
        (1.0, "1.0"),
        (1e16, "1e+16"),
        (0.1 + 0.2, "0.30000000000000004"),
        (Region.EU, "eu"),
        (OldRegion.EU, "eu"),
        (Level.HIGH, "3"),
    ],
)
def test_equal_texts_agree(ours: Any, theirs: Any) -> None:
    assert met(MemoryStore(), ours, theirs)


@pytest.mark.parametrize(
    ("ours", "theirs"),
    [
        ("010", "10"),
        ("010", 10),
        ("NO", False),
        ("NO", "no"),
        ("1.10", "1.1"),
        ("1.10", 1.1),
        ("2026-10", "2026-10-01"),
        (1, 1.0),
        (1, True),
        ("1", True),
        (True, "True"),
        ("null", None),
        ("", None),
        ("x", " x"),
        ("é", "e\u0301"),
        (datetime(2026, 10, 1, tzinfo=UTC), "2026-10-01"),
        (datetime(2026, 10, 1, tzinfo=UTC), "2026-10-01T00:00:00+00:00"),
        ("***", "***"),
    ],
)
def test_different_texts_do_not(ours: Any, theirs: Any) -> None:
    assert not met(MemoryStore(), ours, theirs)


def test_numbers_of_numpy_and_times_of_pandas_are_like_those_of_python() -> None:
    import numpy as np
    import pandas as pd

    assert met(MemoryStore(), np.int64(7), "7")
    assert met(MemoryStore(), np.float64(1.5), "1.5")
    assert met(MemoryStore(), pd.Timestamp("2026-10-01", tz="UTC"), "2026-10-01T00:00:00Z")


@pytest.mark.parametrize(
    "value",
    [
        ["2026-10"],
        ("a", "b"),
        {"a": 1},
        {"a"},
        b"2026-10",
        object(),
        1j,
        math.nan,
        math.inf,
        datetime(2026, 10, 1),  # noqa: DTZ001  # without a zone, on purpose
        datetime.max.replace(tzinfo=timezone(timedelta(hours=-7))),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_no_single_value_is_refused_by_name(value: object) -> None:
    store = MemoryStore()
    with pytest.raises(ConfigError, match="'v'"):
        check_upstream(CALC, variables={"v": value}, store=store, now=NOW)
    with pytest.raises(ConfigError, match="'v'"):
        Requirement(CALC, variables={"v": value})
    with pytest.raises(ConfigError, match="'v'"):
        record_run(CALC, variables={"v": value}, store=store)


@pytest.mark.parametrize("name", ["", "a\nb", "x" * 129, 7, None])
def test_a_name_that_no_variable_can_have_is_refused(name: Any) -> None:
    with pytest.raises(ConfigError, match="name for a variable"):
        check_upstream(CALC, variables={name: "x"}, store=MemoryStore(), now=NOW)


def test_a_null_is_absent_on_both_sides(store: ReceiptStore) -> None:
    put(store, a_run(variables={"month": "2026-10", "region": None}))
    asked = {"month": "2026-10", "tier": None}
    assert check_upstream(CALC, variables=asked, store=store, now=NOW).requirements[0].met


def test_an_empty_map_of_variables_is_no_way_to_say_any_success() -> None:
    with pytest.raises(ConfigError, match=r"any old success would do.*'variables: \[\]'"):
        Requirement(CALC, variables={})


def test_a_requirement_may_not_give_a_null(store: ReceiptStore) -> None:
    with pytest.raises(ConfigError, match="has no value"):
        Requirement(CALC, variables={"month": None})


@pytest.mark.parametrize(
    "name", ["password", "db_password", "apiKey", "API-KEY", "auth", "secrets", "private_key"]
)
def test_a_requirement_on_a_masked_variable_is_a_configuration_error(name: str) -> None:
    for variables in ([name], {name: "x"}):
        with pytest.raises(ConfigError, match="masked"):
            Requirement(CALC, variables=variables)


@pytest.mark.parametrize("name", ["author", "signature_date", "authority", "tokenizer"])
def test_harmless_names_may_be_named(name: str) -> None:
    assert Requirement(CALC, variables=[name]).variables == (name,)


def test_secrets_are_no_part_of_a_batch(store: ReceiptStore) -> None:
    put(store, a_run(variables={"month": "2026-10", "api_token": "***"}))
    asked = {"month": "2026-10", "api_token": "hunter2", "db_password": "x"}
    answer = check_upstream(CALC, variables=asked, store=store, now=NOW)
    assert answer.requirements[0].met
    assert answer.requirements[0].batch == {"month": "2026-10"}
    assert "hunter2" not in repr(answer)


@pytest.mark.parametrize(
    ("theirs", "ours"),
    [
        ("s3://lake/prices/token=BTC", "s3://lake/prices/token=ETH"),
        ("https://x/export?token=2026-09", "https://x/export?token=2026-10"),
        ("s3://acct:lake/2026-09/x@v2", "s3://acct:lake/2026-10/x@v2"),
    ],
)
def test_values_that_differ_only_where_they_are_masked_are_never_the_same(
    store: ReceiptStore, theirs: str, ours: str
) -> None:
    with record_run(CALC, variables={"source": theirs}, store=store):
        pass
    for asked in (theirs, ours):
        for variables in (None, ["source"], {"source": asked}):
            with pytest.raises(ConfigError, match="'source', which holds more than the password"):
                check_upstream(
                    Requirement(CALC, variables), variables={"source": asked}, store=store
                )
    (receipt,) = store.search()
    assert not receipt.batch.is_same(Batch.of({"source": ours}))


def test_of_a_url_everything_but_its_password_is_compared(store: ReceiptStore) -> None:
    with record_run(CALC, variables={"source": "ftp://ada:one@x/2026-10"}, store=store):
        pass
    for source, is_met in (
        ("ftp://ada:two@x/2026-10", True),
        ("ftp://ada:***@x/2026-10", True),
        ("ftp://ada:one@x/2026-11", False),
        ("ftp://eve:one@x/2026-10", False),
    ):
        answer = check_upstream(CALC, variables={"source": source}, store=store)
        assert (answer.verdict == "PASS") is is_met


def test_what_a_foreign_recorder_masked_never_matches(store: ReceiptStore) -> None:
    """ubunye-engine masks signature_date too, which is no secret to us."""
    put(store, a_run(variables={"month": "2026-10", "signature_date": "***"}))

    def is_met(requirement: Any, variables: dict[str, object]) -> bool:
        return check_upstream(requirement, variables=variables, store=store, now=NOW).verdict == (
            "PASS"
        )

    assert not is_met(CALC, {"month": "2026-10"})  # the date is there, and is not known
    assert not is_met(CALC, {"month": "2026-10", "signature_date": "***"})
    assert not is_met(CALC, {"month": "2026-10", "signature_date": "2026-10-01"})
    assert not is_met(Requirement(CALC, variables={"signature_date": "***"}), {})
    assert is_met(Requirement(CALC, variables=["month"]), {"month": "2026-10"})


def test_a_foreign_list_or_map_is_an_unreadable_receipt_and_no_match(files: FileStore) -> None:
    run = put(files, a_run())
    path = files.root / CALC / f"{run.run_id}.json"
    document = json.loads(encode(run))
    for value in (["2026-10"], {"is": "2026-10"}):
        document["variables"] = {"month": value}
        path.write_text(json.dumps(document))
        answer = check_upstream(CALC, variables={"month": "2026-10"}, store=files, now=NOW)
        assert answer.verdict == "UNKNOWN"
        assert str(path) in answer.reason


def test_numbers_of_foreign_records_are_compared_by_the_same_rules(files: FileStore) -> None:
    run = put(files, a_run())
    document = json.loads(encode(run)) | {"variables": {"month": 202610, "full": True, "x": 1.10}}
    (files.root / CALC / f"{run.run_id}.json").write_text(json.dumps(document))
    asked = {"month": "202610", "full": "true", "x": "1.1"}
    assert check_upstream(CALC, variables=asked, store=files, now=NOW).requirements[0].met


def test_a_batch_is_what_the_variables_say_less_mode_and_dtf() -> None:
    batch = Batch.of({"region": "eu", "month": "2026-10", "mode": "PROD", "dtf": "%Y", "x": None})
    assert batch.as_dict() == {"month": "2026-10", "region": "eu"}
    assert batch.names == {"month", "region"}
    assert str(batch) == "month=2026-10, region=eu"
    assert batch == Batch.of({"month": "2026-10", "region": "eu"})
    assert not Batch.of({"mode": "PROD"})


def test_long_and_unprintable_values_are_shown_short_and_harmless() -> None:
    shown = str(Batch.of({"v": "x" * 5000, "w\n": "a\x1b[31m\nb"}))
    assert len(shown) < 120
    assert shown.isprintable()
