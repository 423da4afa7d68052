"""The code of the how-to page is run as it stands."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import pytest

from ubunye_core import fingerprint, open_store

pytestmark = [pytest.mark.slow, pytest.mark.timeout(300)]

PAGE = (Path(__file__).parents[2] / "docs" / "how-to" / "spark.md").read_text(encoding="utf-8")
CODE = re.findall(r"^```python\n(.*?)^```", PAGE, re.S | re.M)
OUTPUT = re.findall(r"^```text\n(.*?)^```", PAGE, re.S | re.M)


def test_the_code_of_the_page_runs_and_prints_what_it_says(
    spark: Any,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    # The JVM has a working folder of its own.
    page = "".join(re.sub(r'parquet\("', f'parquet("{tmp_path}/', block) for block in CODE)
    exec(compile(page, "spark.md", "exec"), {"spark": spark})
    assert capsys.readouterr().out == "".join(OUTPUT)
    (receipt,) = open_store(f"{tmp_path}/receipts").search("pay/monthly/calc")
    read, wrote = (*receipt.inputs, *receipt.outputs)
    assert read.data_hash == fingerprint(f"{tmp_path}/people").data_hash
    assert wrote.data_hash == fingerprint(f"{tmp_path}/adults").data_hash
    assert (read.row_count, wrote.row_count) == (4, 3)
