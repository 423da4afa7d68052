"""The page about the Delta store is run as it stands."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import run_page


def test_the_page_runs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page("how-to/delta-store.md", tmp_path) == 3
