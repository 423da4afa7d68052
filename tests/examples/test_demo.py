"""The demo's story, told on real files by a real Airflow, a real Dagster, a shell and a script."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="module")
def story(tmp_path_factory: pytest.TempPathFactory) -> str:
    folder = tmp_path_factory.mktemp("demo") / "demo"
    done = subprocess.run(
        [sys.executable, "-m", "example_dags.demo", str(folder)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return " ".join(done.stdout.replace("|", " ").split())


pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_the_calculation_leaves_a_receipt_with_the_hashes_of_what_it_read_and_wrote(
    story: str,
) -> None:
    assert re.search(r"people 20 sha256:[0-9a-f]{64}", story)
    assert re.search(r"due 17 sha256:[0-9a-f]{64}", story)


def test_the_gate_opens_for_the_month_that_was_calculated(story: str) -> None:
    assert "pay/monthly/calc succeeded for month=2026-08: run " in story


def test_the_refusal_says_what_is_missing_the_newest_run_and_what_to_try(story: str) -> None:
    assert re.search(
        r"pay/monthly/calc has not succeeded for month=2026-09: it has no run of this batch\. "
        r"Its newest run of any batch is [0-9a-f-]{36} \(success at [^)]+\) for month=2026-08\. "
        r"Try: run pay/monthly/calc for month=2026-09, or wait for it",
        story,
    )


def test_the_unchanged_gate_opens_once_dagster_has_made_the_month(story: str) -> None:
    _, moved = story.split("The calculation moves to Dagster", 1)
    assert "pay/monthly/calc succeeded for month=2026-09: run " in moved


def test_the_shell_gives_the_same_answer_and_its_exit_code(story: str) -> None:
    assert "wait-for pay/monthly/calc --var month=2026-09 PASS pay/monthly/calc succeeded" in story
    assert "health 'pay/*/*'" in story


def test_the_script_is_refused_in_the_same_words(story: str) -> None:
    _, script = story.split("A plain script", 1)
    assert re.search(r"pay/monthly/calc has not succeeded for month=2026-10: .* Try: run ", script)
    assert "(exit code 1)" in script
