"""Where Dagster finds the store, and who can read its secrets."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import dagster as dg
import pytest
from pydantic import ValidationError

from tests.dagster.conftest import Put
from ubunye_core import (
    ConfigError,
    ReceiptStore,
    StoreNotNamedError,
    UnknownStoreError,
    open_store,
)
from ubunye_core.testing import a_receipt
from ubunye_dagster import (
    ReceiptStoreResource,
    build_health_checks,
    gated,
    load_receipt_asset_specs,
    partition_format,
    recorded,
)

TASK = "pay/monthly/calc"
SECRET = "hunter2"


@dg.asset
@recorded(TASK)
def calc(context: dg.AssetExecutionContext) -> None: ...


def run(asset: Any, resources: Any) -> Any:
    return dg.materialize([asset], resources=resources, raise_on_error=False)


def test_the_resources_url_wins_over_the_environment(
    store: ReceiptStore, receipts: Any, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("UBUNYE_STORE", str(tmp_path / "other"))
    assert run(calc, receipts).success
    assert len(store.list_runs(TASK)) == 1
    assert not (tmp_path / "other").exists()


def test_a_resource_without_a_url_is_the_store_of_the_environment(
    store: ReceiptStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("UBUNYE_STORE", url)
    assert run(calc, {"receipts": ReceiptStoreResource()}).success
    assert len(store.list_runs(TASK)) == 1


def test_a_url_may_come_from_a_variable_of_the_environment(
    store: ReceiptStore, url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PAY_RECEIPTS", url)
    assert run(calc, {"receipts": ReceiptStoreResource(url=dg.EnvVar("PAY_RECEIPTS"))}).success
    assert len(store.list_runs(TASK)) == 1


def test_a_store_that_nothing_names_is_an_error_that_says_where_to_name_it() -> None:
    with pytest.raises(StoreNotNamedError, match="resource"):
        ReceiptStoreResource().get_store()


@pytest.mark.parametrize("url", ["nosuch://here", "postgresq://pay:hunter2@db/receipts"])
def test_an_unknown_kind_of_store_is_an_error_when_the_resource_is_made(url: str) -> None:
    with pytest.raises(UnknownStoreError, match=r"Use one of: .*postgresql://") as refused:
        ReceiptStoreResource(url=url)
    assert SECRET not in str(refused.value)


@pytest.mark.parametrize(
    ("url", "says"),
    [
        ("receipts", "'receipts' is a relative path.*such as file:///srv/receipts"),
        ("./receipts", "relative path"),
        ("sqlite:///receipts.db", "relative path.*such as sqlite:////srv/receipts.db"),
        ("sqlite:///~/receipts.db", "relative path"),
        ("sqlite:///a.db?password=x-1", r"db\?password=\*{3}' is a relative path"),
        ("postgresql:/ada:x-1@db/pay", r"'postgresql:\*{3}@db/pay' is not a URL"),
        ("s3:/bucket", "is not a URL, and no plain path either"),
        ("", "is not the URL of a store"),
    ],
)
def test_a_store_that_would_be_another_for_each_process_is_an_error_wherever_it_is_named(
    url: str, says: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in (
        lambda: ReceiptStoreResource(url=url),
        lambda: recorded(TASK, store=url)(lambda context: None),
        lambda: build_health_checks([TASK], store=url),
        lambda: load_receipt_asset_specs(TASK, store=url),
    ):
        with pytest.raises(ConfigError, match=says):
            name()
    if url:
        monkeypatch.setenv("UBUNYE_STORE", url)
        with pytest.raises(ConfigError, match=says):
            ReceiptStoreResource().get_store()


def test_a_store_that_is_a_path_is_taken_and_one_that_is_neither_is_named(tmp_path: Path) -> None:
    recorded(TASK, store=tmp_path)(lambda context: None)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match=r"The store is 5\. Write its URL"):
        recorded(TASK, store=5)(lambda context: None)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="relative path"):
        recorded(TASK, store=Path("receipts"))(lambda context: None)  # type: ignore[arg-type]
    with pytest.raises(ValidationError, match="valid string"):
        ReceiptStoreResource(url=5)  # type: ignore[arg-type]


@pytest.mark.parametrize("url", ["receipts", "nosuch://here"])
def test_what_a_variable_of_the_environment_names_is_checked_when_a_run_begins(
    url: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("PAY_RECEIPTS", url)
    resources = {"receipts": ReceiptStoreResource(url=dg.EnvVar("PAY_RECEIPTS"))}
    assert not run(calc, resources).success
    assert not (tmp_path / "receipts").exists()


@pytest.mark.parametrize(
    "url",
    ["~/receipts", "/srv/receipts", "FILE:///srv/receipts", "sqlite:////srv/x.db", "s3://b/x"],
)
def test_a_whole_path_and_a_known_kind_of_store_are_taken_as_they_are(url: str) -> None:
    assert ReceiptStoreResource(url=url).url == url


def test_a_resource_that_is_missing_is_an_error_of_the_definitions() -> None:
    with pytest.raises(dg.DagsterInvalidDefinitionError, match="receipts"):
        dg.Definitions.validate_loadable(dg.Definitions(assets=[calc]))


def test_the_resource_may_have_another_key(store: ReceiptStore, receipts: Any) -> None:
    @dg.asset
    @recorded(TASK, resource_key="ledger")
    @gated({"task": "pay/monthly/other", "variables": [], "optional": True}, resource_key="ledger")
    def other(context: dg.AssetExecutionContext) -> None: ...

    assert run(other, {"ledger": receipts["receipts"]}).success
    assert len(store.list_runs(TASK)) == 1


def test_a_store_given_to_the_decorator_needs_no_resource(store: ReceiptStore, url: str) -> None:
    @dg.asset(required_resource_keys={"bank"})
    @recorded(TASK, store=url)
    def named(context: dg.AssetExecutionContext) -> str:
        return str(context.resources.bank)

    assert run(named, {"bank": "First"}).output_for_node("named") == "First"
    assert len(store.list_runs(TASK)) == 1


def test_a_password_is_shown_neither_by_the_resource_nor_in_dagsters_configuration(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    secret_url = f"postgresql://pay:{SECRET}@db/receipts"
    monkeypatch.setenv("PAY_RECEIPTS", secret_url)
    assert SECRET not in repr(ReceiptStoreResource(url=secret_url))
    assert SECRET not in str(ReceiptStoreResource(url=secret_url))

    resource = ReceiptStoreResource(url=dg.EnvVar("PAY_RECEIPTS"))
    assert SECRET not in repr(resource)
    assert resource.url == dg.EnvVar("PAY_RECEIPTS")  # the name is all that definitions hold


def test_two_code_locations_that_share_only_the_store_see_the_same_month(
    store: ReceiptStore, url: str, put: Put
) -> None:
    """Neither imports the other's definitions; one writes months its own way."""
    ours = dg.MonthlyPartitionsDefinition("2026-01-01", end_offset=24)
    theirs = dg.MonthlyPartitionsDefinition(
        "2020-01", fmt="%Y-%m", timezone="Asia/Jakarta", end_offset=24
    )

    @dg.asset(name="calc", partitions_def=theirs)
    @recorded(TASK, variables={"month": partition_format("%Y-%m")})
    def calculated(context: dg.AssetExecutionContext) -> None: ...

    @dg.asset(name="send", partitions_def=ours)
    @recorded("pay/monthly/send", variables={"month": partition_format("%Y-%m")})
    @gated(TASK)
    def sent(context: dg.AssetExecutionContext) -> None: ...

    def location(asset: Any) -> Any:
        resources = {"receipts": ReceiptStoreResource(url=url)}
        return dg.Definitions(assets=[asset], resources=resources)

    def execute(defs: Any, key: str) -> bool:
        job = defs.resolve_implicit_global_asset_job_def()
        with dg.DagsterInstance.ephemeral() as instance:  # each location has a Dagster of its own
            run = job.execute_in_process(partition_key=key, instance=instance, raise_on_error=False)
            return bool(run.success)

    assert not execute(location(sent), "2026-09-01")
    assert execute(location(calculated), "2026-09")
    assert execute(location(sent), "2026-09-01")
    assert not execute(location(sent), "2026-10-01")


def test_what_is_on_record_outlives_dagsters_own_history(
    store: ReceiptStore, receipts: Any
) -> None:
    with dg.DagsterInstance.ephemeral() as instance:
        dg.materialize([calc], resources=receipts, instance=instance)
        instance.wipe()
    (receipt,) = open_store(store.url).list_runs(TASK)
    assert receipt.status == "success"
    for wrong in (5, b"file:///srv/receipts", ["file:///srv/receipts"]):
        with pytest.raises(ConfigError, match=r"The store is .*\. Write its URL"):
            load_receipt_asset_specs(TASK, store=wrong)  # type: ignore[arg-type]


def test_specs_are_read_from_a_store_that_is_a_path(tmp_path: Path) -> None:
    store = open_store(tmp_path)
    store.save(a_receipt(task=TASK))
    (spec,) = load_receipt_asset_specs(store=tmp_path)
    assert spec.key == dg.AssetKey(TASK.split("/"))


def test_a_store_that_only_a_resource_may_be_given_says_where_to_give_it() -> None:
    named = dg.EnvVar("PAY_RECEIPTS")
    for ask in (
        lambda: recorded(TASK, store=named)(lambda context: None),
        lambda: load_receipt_asset_specs(TASK, store=named),
        lambda: ReceiptStoreResource(url=named).get_store(),
    ):
        with pytest.raises(ConfigError, match=r"the EnvVar 'PAY_RECEIPTS', which.*as the resource"):
            ask()
