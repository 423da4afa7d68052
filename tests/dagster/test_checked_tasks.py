"""Which tasks a check may be of, and what is said of those that it cannot be of."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import dagster as dg
import pytest

from ubunye_core import ConfigError
from ubunye_dagster import (
    build_freshness_checks,
    build_hash_checks,
    build_health_checks,
    build_row_count_checks,
    build_upstream_checks,
)

SALES = "sales/*/*"
MAPPED = "such as {'sales': 'sales/*/*'}; or name each task"
GIVEN = "such as asset='sales'; or name each task"
ONE = "is a pattern, and runs of several tasks cannot be compared. Name one task"
Build = Callable[[], Any]


@pytest.mark.parametrize(
    ("build", "says"),
    [
        (lambda: build_health_checks([SALES]), MAPPED),
        (lambda: build_health_checks(SALES), MAPPED),
        (lambda: build_health_checks(["pay/monthly/calc", SALES]), MAPPED),
        (lambda: build_freshness_checks([SALES], max_age="1d"), MAPPED),
        (lambda: build_upstream_checks(SALES), GIVEN),
        (lambda: build_row_count_checks([SALES], min_rows=1), ONE),
        (lambda: build_row_count_checks({"sales": SALES}, min_rows=1), ONE),
        (lambda: build_hash_checks(SALES), ONE),
        (lambda: build_hash_checks("sales/daily/c?lc", asset="sales"), ONE),
    ],
)
def test_a_pattern_that_names_no_asset_says_what_to_write_instead(build: Build, says: str) -> None:
    with pytest.raises(ConfigError, match=re.escape(says)):
        build()


@pytest.mark.parametrize(
    "build",
    [
        lambda: build_health_checks({"sales": SALES}),
        lambda: build_freshness_checks({"sales": SALES}, max_age="1d"),
        lambda: build_upstream_checks(SALES, asset="sales"),
    ],
)
def test_a_pattern_has_its_check_on_the_asset_that_stands_for_it(build: Build) -> None:
    (check,) = build()
    (key,) = check.check_keys
    assert key.asset_key == dg.AssetKey("sales")


@pytest.mark.parametrize(
    "build",
    [
        lambda: build_health_checks("sales"),
        lambda: build_health_checks({"sales/daily/load": "loaded"}),  # the other way round
        lambda: build_freshness_checks(["sales/daily"], max_age="1d"),
        lambda: build_row_count_checks([""], min_rows=1),
        lambda: build_hash_checks("sales/daily"),
        lambda: build_hash_checks(None),  # type: ignore[arg-type]
        lambda: build_health_checks(5),  # type: ignore[arg-type]
        lambda: build_health_checks(b"sales/daily/load"),  # type: ignore[arg-type]
        lambda: build_freshness_checks(None, max_age="1d"),  # type: ignore[arg-type]
        lambda: build_row_count_checks(lambda context: None, min_rows=1),  # type: ignore[arg-type]
    ],
)
def test_a_check_of_what_is_no_task_is_refused_when_it_is_made(build: Build) -> None:
    with pytest.raises(ConfigError, match=r"is not a task\. A task is 'usecase/package/"):
        build()
