"""The golden vectors through Spark, where its own text of floats is another one."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.javas import java_homes
from tests.spark.programs import report_of
from tests.spark.vectors import ALL_SETTINGS, ONE_BY_ONE, VECTORS

pytestmark = [pytest.mark.slow, pytest.mark.timeout(900)]


def test_every_vector_has_its_hash_on_java_before_25_under_all_settings(tmp_path: Path) -> None:
    homes = {version: home for version, home in java_homes().items() if version < 25}
    assert homes, "Spark's tests need Java 17"
    for version, home in homes.items():
        report = report_of("vectors", tmp_path, java_home=home)
        assert report["mismatches"] == []
        assert report["java"].startswith(str(version))
        assert report["seen"] > len(VECTORS) * len(ONE_BY_ONE) + 80 * len(ALL_SETTINGS)
