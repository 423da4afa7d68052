"""Gates, checks and sensors that stand in YAML."""

from __future__ import annotations

import re
import textwrap
import warnings
from collections.abc import Callable, Iterator
from importlib.metadata import entry_points

import dagster as dg
import jsonschema
import pytest
from dagster.components.testing import create_defs_folder_sandbox

from tests.dagster.conftest import Put
from ubunye_dagster import ReceiptGatesComponent, gated, recorded

CALC = dg.AssetKey(["pay", "monthly", "calc"])
GATE = dg.AssetCheckKey(CALC, "upstream_pay_monthly_calc")
MONTHLY = dg.MonthlyPartitionsDefinition("2026-01-01", end_offset=24)
PARTITIONS = '{type: monthly, start_date: "2026-01-01", end_offset: 24}'
MONTH = '{month: {partition_format: "%Y-%m"}}'
Load = Callable[[str], tuple[ReceiptGatesComponent, dg.Definitions]]


@pytest.fixture
def load(url: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Load]:
    """What a project has that holds one component with these attributes."""
    monkeypatch.setenv("PAY_RECEIPTS", url)
    with warnings.catch_warnings(), create_defs_folder_sandbox() as sandbox:
        warnings.simplefilter("ignore", dg.BetaWarning)

        def load_yaml(attributes: str) -> tuple[ReceiptGatesComponent, dg.Definitions]:
            path = sandbox.scaffold_component(component_cls=ReceiptGatesComponent)
            (path / "defs.yaml").write_text(
                "type: ubunye_dagster.ReceiptGatesComponent\nattributes:\n"
                + textwrap.indent(textwrap.dedent(attributes), "  ")
            )
            with sandbox.load_component_and_build_defs(defs_path=path) as (component, defs):
                assert isinstance(component, ReceiptGatesComponent)
                return component, defs

        yield load_yaml


def why_of(error: BaseException | None) -> str:
    """What an error and its causes say."""
    return "" if error is None else f"{error}\n{why_of(error.__cause__)}"


def test_a_store_that_the_environment_does_not_have_is_an_error_and_no_other_store(
    load: Load,
) -> None:
    health = "health: [{tasks: pay/monthly/calc}]"
    with pytest.raises(Exception) as refused:  # noqa: PT011  # Dagster wraps it
        load(f'store: "{{{{ env.NO_SUCH_RECEIPTS }}}}"\n{health}')
    assert "store is given and is empty" in why_of(refused.value)
    load(f'store: "{{{{ env.PAY_RECEIPTS }}}}"\n{health}')
    load(health)


UNSET = '"{{ env.NO_SUCH_PAY }}"'


@pytest.mark.parametrize(
    ("attributes", "name"),
    [
        (f"hashes: [{{task: pay/monthly/calc, load: {UNSET}}}]", "hashes[0].load"),
        (f"health: [{{tasks: pay/monthly/calc, max_age: {UNSET}}}]", "health[0].max_age"),
        (f"gates: [{{requires: hr/monthly/people, asset: {UNSET}}}]", "gates[0].asset"),
        (
            f"gates: [{{requires: hr/monthly/people, asset: a, variables: {{month: {UNSET}}}}}]",
            "gates[0].variables.month",
        ),
        (
            "gates: [{asset: a, requires: [{task: hr/monthly/people, variables: [], "
            f"max_age: {UNSET}}}]}}]",
            "gates[0].requires[0].max_age",
        ),
    ],
)
def test_what_the_environment_does_not_have_is_not_as_if_nobody_had_asked_for_it(
    load: Load, attributes: str, name: str
) -> None:
    with pytest.raises(Exception) as refused:  # noqa: PT011  # Dagster wraps it
        load(attributes)
    assert f"{name} is given and is empty. Set the environment" in why_of(refused.value)


WHOLE = f"""
store: "{{{{ env.PAY_RECEIPTS }}}}"
external_assets:
  tasks: [pay/monthly/calc, hr/*/*]
  owners: {{pay/*/*: payroll}}
  descriptions: {{pay/monthly/calc: What everybody is paid.}}
  partitions: {PARTITIONS}
gates:
  - requires: pay/monthly/calc
    variables: {MONTH}
    job: {{name: pay_send, assets: send}}
  - requires:
      - {{task: hr/monthly/people, variables: [], max_age: 40d, optional: true}}
      - bank/daily/rates
    asset: pay/monthly/calc
    blocking: false
health:
  - {{tasks: pay/monthly/calc, max_age: 40d, owner: payroll}}
freshness:
  - {{tasks: [pay/monthly/calc, hr/monthly/people], max_age: 40d}}
row_counts:
  - {{tasks: pay/monthly/calc, min_rows: 1, max_change: 0.5}}
hashes:
  - {{task: pay/monthly/calc, load: /srv/adults.parquet, changed: true, variables: {MONTH}}}
  - {{task: hr/monthly/people, asset: staff/people, blocking: true}}
upstream_sensors:
  - name: send_when_calculated
    task: pay/monthly/calc
    job: pay_send
    partitions: {PARTITIONS}
    variables: {MONTH}
    minimum_interval_seconds: 60
    running: true
missed_windows:
  - name: send_what_was_missed
    task: pay/monthly/send
    assets: send
    partitions: {PARTITIONS}
    variables: {MONTH}
    requires: pay/monthly/calc
    catchup: all
    cap: 2
catalog:
  tasks: pay/*/*
  variables: {MONTH}
  since: 60d
reconcile: {{tasks: pay/*/*, running: true}}
"""


@pytest.fixture
def whole(load: Load, put: Put) -> dg.Definitions:
    """The definitions of a component with every part, beside an asset that is gated."""
    put(task="hr/monthly/people")
    _, defs = load(WHOLE)

    @dg.asset(partitions_def=MONTHLY, deps=[CALC])
    @recorded("pay/monthly/send", store="memory://pay")
    @gated("pay/monthly/calc", store="memory://pay")
    def send(context: dg.AssetExecutionContext) -> None: ...

    whole = dg.Definitions.merge(defs, dg.Definitions(assets=[send]))
    dg.Definitions.validate_loadable(whole)
    return whole


def test_a_component_makes_the_assets_and_checks_that_its_functions_make(
    whole: dg.Definitions,
) -> None:
    graph = whole.resolve_asset_graph()
    calc = graph.get(CALC)
    assert calc.owners == ["team:payroll"]
    assert calc.description == "What everybody is paid."
    assert calc.partitions_def == MONTHLY
    assert sorted(f"{key.asset_key.path[-1]} {key.name}" for key in graph.asset_check_keys) == [
        "calc receipt_changed",
        "calc receipt_freshness",
        "calc receipt_health",
        "calc receipt_output",
        "calc receipt_reproduced",
        "calc receipt_rows",
        "calc upstream_bank_daily_rates",
        "calc upstream_hr_monthly_people",
        "calc upstream_pay_monthly_calc",
        "people receipt_freshness",
        "people receipt_reproduced",
    ]
    staff = dg.AssetCheckKey(dg.AssetKey(["staff", "people"]), "receipt_reproduced")
    assert graph.get_check_spec(staff).blocking
    assert graph.get_check_spec(GATE).blocking
    assert not graph.get_check_spec(dg.AssetCheckKey(CALC, "upstream_bank_daily_rates")).blocking


def test_a_component_makes_the_sensors_that_its_functions_make(whole: dg.Definitions) -> None:
    sensors = {sensor.name: sensor for sensor in whole.sensors or ()}
    assert sorted(sensors) == [
        "receipts_are_ended",
        "receipts_to_catalog",
        "send_what_was_missed",
        "send_when_calculated",
    ]
    started = sensors["send_when_calculated"]
    assert started.minimum_interval_seconds == 60
    for turned_on in (started, sensors["receipts_are_ended"]):
        assert turned_on.default_status is dg.DefaultSensorStatus.RUNNING
    assert sensors["receipts_to_catalog"].default_status is dg.DefaultSensorStatus.STOPPED


def test_a_job_of_a_component_runs_only_past_its_gate(whole: dg.Definitions, put: Put) -> None:
    job = whole.resolve_job_def("pay_send")
    result = job.execute_in_process(partition_key="2026-10-01", raise_on_error=False)
    assert not result.success
    (check,) = result.get_asset_check_evaluations()
    assert (check.check_name, check.passed) == (GATE.name, False)
    put(run_id="r2", month="2026-10")
    result = job.execute_in_process(partition_key="2026-10-01", raise_on_error=False)
    (check,) = result.get_asset_check_evaluations()
    assert check.passed


@pytest.mark.parametrize(
    ("part", "is_right"),
    [
        ({"gates": [{"requires": "a/b/c"}]}, True),
        ({"gates": [{"requires": ["a/b/c", {"task": "a/b/d", "variables": []}]}]}, True),
        ({"gates": [{"requires": [{"task": "a/b/d", "variable": []}]}]}, False),
        ({"catalog": {"variables": {"a": "x", "n": 1, "m": {"partition_format": "%Y"}}}}, True),
        ({"catalog": {"variables": {"m": {"partition_fmt": "%Y"}}}}, False),
        ({"catalog": {"partitions": {"type": "daily", "start_date": "2026-01-01"}}}, True),
        ({"catalog": {"partitions": {"type": "yearly"}}}, False),
        ({"hashes": [{"task": "a/b/c", "load": "/srv/x.parquet", "reproduced": False}]}, True),
        ({"hashes": [{"tasks": "a/b/c"}]}, False),
        ({"store": "{{ env.PAY_RECEIPTS }}", "external_assets": {"tasks": "pay/*/*"}}, True),
        ({"missed_windows": [{"name": "m", "task": "a/b/c", "catchup": "all"}]}, False),
    ],
)
def test_the_schema_by_which_dg_checks_yaml_says_the_same(
    part: dict[str, object], is_right: bool
) -> None:
    schema = ReceiptGatesComponent.model().model_json_schema()
    wrong = list(jsonschema.Draft202012Validator(schema).iter_errors(part))
    assert bool(wrong) is not is_right


def test_without_a_store_the_projects_resource_is_asked(load: Load) -> None:
    _, defs = load("""
        resource_key: money
        health:
          - tasks: pay/monthly/calc
        """)
    (check,) = defs.asset_checks or ()
    assert isinstance(check, dg.AssetsDefinition)
    assert "money" in check.required_resource_keys
    assert "receipts" not in check.required_resource_keys


@pytest.mark.parametrize(
    ("attributes", "at", "line"),
    [
        ("storr: memory://x", r"attributes\.storr", 3),
        ("gates:\n  - requires: a/b/c\n    blockin: true", r"attributes\.gates\..*\.0\.blockin", 3),
        ("resource_key: r\ngates:\n  - requires:\n      - task: a/b/c\n        maxage: 2d",
         r"attributes\.gates\..*\.0\.requires\..*\.0\..*\.maxage", 4),
        ("catalog:\n  variables:\n    month: {partition_fmt: '%Y'}",
         r"attributes\.catalog\..*\.variables\..*month\..*\.partition_fmt", 3),
        ("freshness:\n  - tasks: a/b/c", r"attributes\.freshness\..*\.0\.max_age", 3),
    ],
)  # fmt: skip
def test_a_misspelt_or_missing_key_is_named_with_its_line(
    load: Load, attributes: str, at: str, line: int
) -> None:
    """Dagster tells the whole path of a key, and the line of the part of the component it is in."""
    with pytest.raises(Exception, match=r"defs\.yaml") as raised:
        load(attributes)
    told = why_of(raised.value)
    assert re.search(rf"{at} at \S*defs\.yaml:{line}`", told), told


@pytest.mark.parametrize(
    ("attributes", "why"),
    [
        ("gates: [{requires: pay/monthly}]", "is not a task"),
        ("upstream_sensors: [{name: s, task: a/b/c}]", "has nothing to launch"),
        ("catalog: {partitions: {type: daily}}", "Needed is start_date"),
        ("catalog: {partitions: {type: static, name: x}}", "Needed is partition_keys"),
        (
            "catalog: {partitions: {type: static, partition_keys: [a], end_offset: 1}}",
            "there may be: partition_keys",
        ),
        ("catalog: {variables: {month: {}}}", "is given by partition_format or partition_key"),
        ("hashes: [{task: a/b/c, reproduced: false}]", "No check is asked for"),
        ("health: [{tasks: pay/*/*}]", "names no asset that its check could stand on"),
        ("store: receipts\nhealth: [{tasks: a/b/c}]", "is a relative path"),
        ("store: postgers://db/x\nhealth: [{tasks: a/b/c}]", "known for 'postgers://'"),
        ("catalog: {since: eternity}", "not a length of time"),
        (
            "missed_windows: [{name: s, task: a/b/c, job: j, catchup: all, partitions: null}]",
            "has no partitions",
        ),
    ],
)
def test_a_value_that_cannot_be_is_refused(load: Load, attributes: str, why: str) -> None:
    with pytest.raises(Exception) as raised:  # noqa: PT011  # Dagster wraps some of them
        load(attributes)
    assert why in why_of(raised.value)


def test_keys_may_be_those_of_dimensions_or_lists(load: Load) -> None:
    component, _ = load("""
        catalog:
          partitions: {type: static, partition_keys: [eu, za]}
          variables: {region: {partition_key: true}, mode: full, version: 2}
        """)
    assert component.catalog is not None
    assert component.catalog.partitions == dg.StaticPartitionsDefinition(["eu", "za"])
    variables = dict(component.catalog.variables or {})
    assert variables.pop("region") is not None
    assert variables == {"mode": "full", "version": 2}


def test_a_password_in_the_stores_url_is_not_shown(
    load: Load, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SECRET_RECEIPTS", "postgresql://pay:hunter2@db/receipts")
    component, defs = load("""
        store: "{{ env.SECRET_RECEIPTS }}"
        health: [{tasks: pay/monthly/calc}]
        catalog: {}
        """)
    assert component.store == "postgresql://pay:hunter2@db/receipts"
    (check,), (sensor,) = defs.asset_checks or (), defs.sensors or ()
    shown = f"{component!r} {component} {check.metadata_by_key} {sensor.metadata!r}"
    assert "receipts_to_catalog" in shown
    assert "hunter2" not in shown


def test_dagsters_own_command_line_finds_the_component() -> None:
    from dagster.components.core.package_entry import get_package_objects_in_module

    named = entry_points(group="dagster_dg_cli.registry_modules")
    (ours,) = [each for each in named if each.name == "ubunye_dagster"]
    found = [name for name, _ in get_package_objects_in_module(ours.load())]
    assert found == ["ReceiptGatesComponent"]
