"""Every test of the smoke suite passes on the oldest Dagster that is supported."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.oldest.inside import AT_MOST, Failures, names_of_tests, run_inside

pytestmark = [pytest.mark.slow, pytest.mark.timeout(AT_MOST + 20)]
SUITE = Path(__file__).with_name("dagster_smoke.py")


@pytest.fixture(scope="module")
def failures(tmp_path_factory: pytest.TempPathFactory) -> Failures:
    return run_inside(SUITE, tmp_path_factory.mktemp("oldest"))


@pytest.mark.parametrize("test", names_of_tests(SUITE))
def test_on_the_oldest_dagster(test: str, failures: Failures) -> None:
    assert failures[test] == []
