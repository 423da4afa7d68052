"""The oldest versions that we claim are those that the smoke suites run on."""

from __future__ import annotations

import re
import tomllib
from pathlib import Path

import pytest
from packaging.requirements import Requirement

ROOT = Path(__file__).parents[2]
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
LOCK = (ROOT / "requirements" / "oldest.lock").read_text(encoding="utf-8")
SAID = {
    "airflow": ("docs/how-to/airflow.md", "README.md"),
    "dagster": ("docs/how-to/dagster.md", "README.md"),
}


def floor(extra: str) -> tuple[str, str]:
    """The scheduler's distribution, and the first release line that its extra allows."""
    (asked,) = map(Requirement, PROJECT["optional-dependencies"][extra])
    (lowest,) = [each.version for each in asked.specifier if each.operator == ">="]
    return asked.name, lowest


@pytest.mark.parametrize("extra", SAID)
def test_the_lock_has_the_first_release_that_pyproject_allows(extra: str) -> None:
    name, lowest = floor(extra)
    locked = dict(re.findall(r"^([\w.-]+)==(\S+)", LOCK, re.MULTILINE))
    assert locked[name] == f"{lowest}.0"


@pytest.mark.parametrize("extra", SAID)
def test_the_pages_say_the_same(extra: str) -> None:
    _, lowest = floor(extra)
    for page in SAID[extra]:
        text = (ROOT / page).read_text(encoding="utf-8")
        assert re.search(rf"\b{extra.title()} {re.escape(lowest)}\b", text), page
