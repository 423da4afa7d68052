"""Arguments of a run that are not what its spec or its schedule says."""

from __future__ import annotations

import uuid
from dataclasses import replace
from datetime import date

import pytest

from ubunye_core import (
    ConfigError,
    Override,
    Policy,
    ReceiptStore,
    RunRefusedError,
    TriggeredBy,
    TriggerKind,
    UpstreamNotMetError,
    open_store,
    overrides_of,
    record_run,
)

CALC = "pay/monthly/calc"


@pytest.fixture
def store() -> ReceiptStore:
    return open_store(f"memory://{uuid.uuid4()}")


def test_only_what_differs_is_an_override() -> None:
    usual = {"month": "2026-10", "limit": 100, "since": date(2026, 10, 1), "region": "eu"}
    given = {"month": "2026-09", "limit": "100", "since": "2026-10-01", "dry_run": True}
    assert overrides_of(usual, given) == (
        Override(name="dry_run", usual=None, given="true"),
        Override(name="month", usual="2026-10", given="2026-09"),
    )


def test_null_is_an_override_of_a_value_and_none_of_nothing() -> None:
    assert overrides_of({"limit": 5}, {"limit": None, "other": None}) == (
        Override(name="limit", usual="5", given=None),
    )


def test_lists_and_maps_are_compared_as_what_they_hold() -> None:
    usual = {"columns": ["a", "b"], "read": {"sep": ";", "header": True}}
    assert overrides_of(usual, {"columns": ["a", "b"], "read": {"header": True, "sep": ";"}}) == ()
    (found,) = overrides_of(usual, {"columns": ["a"]})
    assert (found.usual, found.given) == ('["a", "b"]', '["a"]')


def test_what_cannot_be_written_down_is_told_by_its_text() -> None:
    own: dict[object, object] = {1: "a", "b": 2}
    own["self"] = own
    (found,) = overrides_of({}, {"odd": own})
    assert found.given is not None
    assert "..." in found.given


def test_secrets_are_masked_wherever_they_stand(store: ReceiptStore) -> None:
    usual = {"db_password": "hunter2", "url": "postgresql://me:hunter2@host/db", "more": {}}
    given = {
        "db_password": "sesame22",
        "url": "postgresql://me:sesame22@host/db2",
        "more": {"token": "sesame22"},
        "note": "with sesame33",
    }
    with record_run(
        CALC, variables={"api_key": "sesame33"}, store=store, overrides=overrides_of(usual, given)
    ):
        pass
    (found,) = store.list_runs(CALC)
    assert "hunter2" not in repr(found.overrides)
    assert "sesame" not in repr(found.overrides)
    by_name = {each.name: (each.usual, each.given) for each in found.overrides}
    assert by_name["db_password"] == ("***", "***")
    assert by_name["url"] == ("postgresql://me:***@host/db", "postgresql://me:***@host/db2")
    assert by_name["note"] == (None, "with ***")


def test_a_refused_run_says_what_was_asked_of_it(store: ReceiptStore) -> None:
    overrides = overrides_of({"month": "2026-10"}, {"month": "2026-09"})
    upstream = {"task": "a/b/c", "variables": []}
    recording = record_run(CALC, store=store, overrides=overrides, requires=upstream)
    with pytest.raises(UpstreamNotMetError):
        recording.__enter__()
    (found,) = store.list_runs(CALC)
    assert found.overrides == overrides


def test_what_is_no_override_is_refused() -> None:
    with pytest.raises(ConfigError, match="overrides_of"):
        record_run(CALC, overrides={"month": "2026-09"})  # type: ignore[arg-type]


def test_no_secret_of_who_started_a_run_or_of_an_override_made_by_hand_is_kept(
    store: ReceiptStore,
) -> None:
    secret = "postgres://me:hunter2@host/db"
    by = TriggeredBy(kind=TriggerKind.MANUAL, actor=secret, asserted_by=secret, reason=secret)
    made = [
        Override(name="password", usual="hunter2", given="hunter22"),
        Override(name=secret, usual=secret, given=None),
    ]
    with record_run(CALC, store=store, triggered_by=by, overrides=made):
        pass
    with record_run(CALC, store=store, overrides=overrides_of({}, {secret: 1})):
        pass
    assert "hunter2" not in repr(store.search(CALC))
    refused = record_run(
        CALC,
        store=store,
        triggered_by=replace(by, reason=None),
        policy=Policy(require_reason=True),
    )
    with pytest.raises(RunRefusedError, match=r"postgres://me:\*\*\*@host/db") as error, refused:
        pass
    assert "hunter2" not in str(error.value)


def test_an_override_of_no_name_is_refused(store: ReceiptStore) -> None:
    with pytest.raises(ConfigError, match="that is none"):
        record_run(CALC, store=store, overrides=[Override(name=5, usual=None, given="1")])  # type: ignore[arg-type]
