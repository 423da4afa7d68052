from __future__ import annotations

from pathlib import Path

import pytest

from tests.pages import run_page


def test_the_page_on_ledgers_runs_as_it_stands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page("how-to/jsonl-ledger.md", tmp_path) == 2
