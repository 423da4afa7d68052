"""``ubunye-runs serve --config`` where the file of one task is wrong."""

from __future__ import annotations

import pytest

from tests.core.web.conftest import CALC
from tests.core.web.test_serve import get, serve

__all__ = ["serve"]  # a fixture

BAD = "pay/monthly/bad"


@pytest.mark.slow
def test_one_wrong_file_hides_no_other_task_and_its_own_page_says_what_is_wrong(
    serve, keep, tmp_path
):
    for task, text in ((CALC, "{cron: '0 2 * * *'}"), (BAD, "{cron: 0 2 * *}")):
        keep(task=task)
        (tmp_path / "tasks" / task).mkdir(parents=True)
        (tmp_path / "tasks" / task / "receipts.yaml").write_text(f"schedule: {text}\n")
    process, port = serve("--config", str(tmp_path / "tasks"))
    assert (get(port, "/")[0], get(port, f"/task/{BAD}")[0]) == (200, 200)
    status, html = get(port, f"/task/{CALC}/windows")
    assert (status, "No schedule" in html) == (200, False)
    status, html = get(port, f"/task/{BAD}/windows")
    assert (status, "receipts.yaml, line 1: " in html, "is no cron expression" in html) == (
        400, True, True,
    )  # fmt: skip
    assert get(port, f"/task/{BAD}/windows?every=6h")[0] == 200
    process.terminate()
    warned = process.communicate(timeout=30)[1]
    assert warned.startswith(f"Warning: the windows of {BAD} are not shown: {tmp_path}/tasks/{BAD}")
