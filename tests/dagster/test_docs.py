"""The code of the how-to page runs."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

import dagster as dg
import pytest

from tests.dagster.conftest import Put
from ubunye_core import ReceiptStore

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "dagster.md"


@pytest.fixture
def page(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, url: str) -> Any:
    """The page's code blocks as one module."""
    monkeypatch.setenv("UBUNYE_STORE", url)
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.DOTALL)
    file = tmp_path / "page.py"
    file.write_text("\n\n".join(blocks))
    module = ModuleType("dagster_page")
    monkeypatch.setitem(sys.modules, "dagster_page", module)
    exec(compile(file.read_text(), str(file), "exec"), module.__dict__)
    return module


def test_the_pages_job_is_refused_and_then_runs(
    page: Any, store: ReceiptStore, put: Put, instance: dg.DagsterInstance
) -> None:
    dg.Definitions.validate_loadable(page.defs)
    job = page.defs.resolve_job_def("pay_send")
    key = "2026-10-01"
    assert not job.execute_in_process(partition_key=key, raise_on_error=False).success
    put(month="2026-10")
    assert job.execute_in_process(partition_key=key, raise_on_error=False).success
    (receipt,) = store.list_runs("pay/monthly/send")
    assert receipt.counts is not None
    context = dg.build_sensor_context(
        instance=instance,
        repository_def=page.defs.get_repository_def(),
        resources=page.resources,
        sensor_name="pay_send_when_calculated",
    )
    tick = page.sensor.evaluate_tick(context)
    assert [request.partition_key for request in tick.run_requests] == [key]
