"""The code of the how-to page runs."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import dagster as dg
import pytest

from tests.dagster.conftest import Put
from ubunye_core import ConfigError, ReceiptStore
from ubunye_dagster import build_upstream_checks, define_gated_job

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "dagster.md"


@pytest.fixture
def page(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str, capsys: pytest.CaptureFixture[str]
) -> Any:
    """The page's blocks of code, each as the file that its first line names."""
    monkeypatch.setenv("UBUNYE_STORE", url)
    text = PAGE.read_text(encoding="utf-8")
    files = dict(re.findall(r"```python\n# (\w+)\.py\n(.*?)```", text, re.DOTALL))
    assert len(files) == text.count("```python")
    for name, code in files.items():
        (tmp_path / f"{name}.py").write_text(code, encoding="utf-8")
        monkeypatch.delitem(sys.modules, name, raising=False)
    monkeypatch.syspath_prepend(tmp_path)
    made = SimpleNamespace(**{name: importlib.import_module(name) for name in files})
    made.printed = capsys.readouterr().out.splitlines()
    yield made
    for name in files:
        sys.modules.pop(name, None)


def test_each_file_of_the_page_has_at_most_one_set_of_definitions(page: Any) -> None:
    """Dagster loads a file only if it holds one."""
    found = {
        name: [each for each in vars(module).values() if isinstance(each, dg.Definitions)]
        for name, module in vars(page).items()
        if name != "printed"
    }
    assert sorted(name for name, each in found.items() if each) == [
        "dead_runs",
        "news",
        "news_catch_up",
        "pay",
        "try_it",
    ]
    for each in found.values():
        assert len(each) <= 1
        for defs in each:
            dg.Definitions.validate_loadable(defs)


def test_the_pages_job_is_refused_and_then_runs(
    page: Any, store: ReceiptStore, put: Put, instance: dg.DagsterInstance
) -> None:
    dg.Definitions.validate_loadable(page.pay.defs)
    job = page.pay.defs.resolve_job_def("pay_send")
    key = "2026-10-01"
    assert not job.execute_in_process(partition_key=key, raise_on_error=False).success
    put(month="2026-10")
    assert job.execute_in_process(partition_key=key, raise_on_error=False).success
    october, september = store.list_runs("pay/monthly/send")
    assert october.variables["month"] == "2026-10"
    assert october.counts is not None
    assert september.variables["month"] == "2026-09"
    context = dg.build_sensor_context(
        instance=instance,
        repository_def=page.pay.defs.get_repository_def(),
        resources=page.receipts.resources,
        sensor_name="pay_send_when_calculated",
    )
    tick = page.pay.sensor.evaluate_tick(context)
    assert [request.partition_key for request in tick.run_requests] == ["2026-09-01", key]


def test_the_pages_sensor_for_missed_windows_requests_the_oldest_two(
    page: Any, instance: dg.DagsterInstance
) -> None:
    dg.Definitions.validate_loadable(page.news_catch_up.defs)
    context = dg.build_sensor_context(
        instance=instance,
        repository_def=page.news_catch_up.defs.get_repository_def(),
        resources=page.receipts.resources,
        sensor_name="news_catch_up",
    )
    first, second = page.news_catch_up.catch_up.evaluate_tick(context).run_requests
    assert first.partition_key < second.partition_key
    assert first.run_key == f"{first.partition_key}:0"


def test_what_the_page_tries_ends_as_it_says(page: Any) -> None:
    requested, september, passed, october, failed = page.printed
    assert requested == "['2026-09-01']"
    assert september == "2026-09-01 True"
    assert passed.startswith("True pay/monthly/calc succeeded for month=2026-09")
    assert october == "2026-10-01 False"
    assert failed.startswith("False pay/monthly/calc has not succeeded for month=2026-10")


def test_the_pages_check_on_an_asset_of_another_name_stops_what_depends_on_it(
    page: Any, put: Put
) -> None:
    dg.Definitions.validate_loadable(page.news.defs)
    job = page.news.defs.resolve_job_def("news_publish")

    def run() -> Any:
        return job.execute_in_process(partition_key="2026-10-01", raise_on_error=False)

    stopped = run()
    assert not stopped.success
    assert stopped.get_asset_materialization_events() == []
    put(task="news/daily/load", day="2026-10-01")
    assert [each.asset_key for each in run().get_asset_materialization_events()] == [
        dg.AssetKey("publish")
    ]
    with pytest.raises(ConfigError, match="would stop nothing"):
        define_gated_job("j", [page.news.publish], build_upstream_checks("news/daily/load"))
