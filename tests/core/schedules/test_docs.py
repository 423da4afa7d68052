"""The page on windows runs as it stands."""

from __future__ import annotations

from pathlib import Path

from tests.pages import run_page


def test_the_page_on_windows_runs(tmp_path: Path) -> None:
    assert run_page("how-to/windows.md", tmp_path) == 2
