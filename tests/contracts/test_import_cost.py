"""Schedulers import DAG files all day: every door stays light."""

from __future__ import annotations

import pytest

from benchmarks import imports


def test_importing_core_brings_no_heavy_library() -> None:
    assert imports.heavy_imports() == []


@pytest.mark.slow
@pytest.mark.alone
@pytest.mark.parametrize("name", imports.installed())
def test_an_import_keeps_its_budget(name: str) -> None:
    (cost,) = imports.measure([name], runs=5)
    assert cost.is_within_budget, cost
