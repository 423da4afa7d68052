"""What users ran into with history that one scheduler keeps. Numbers are of the cases."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.core.stores.objects.conftest import credentials, moto  # noqa: F401  # fixtures
from tests.core.stores.objects.s3_server import READER
from tests.core.upkeep.conftest import KINDS, postgres, url  # noqa: F401  # fixtures
from ubunye_core import Verdict, check_upstream, job_health, record_run

CALC, OCTOBER = "pay/monthly/calc", {"month": "2026-10"}
ASK = """
import json, sys
from ubunye_core import check_upstream, job_health
answer = check_upstream("pay/monthly/calc", variables={"month": sys.argv[1]})
found = answer.requirements[0]
health = job_health("pay/monthly/calc")
told = [answer.verdict, found.satisfied_by, answer.reason, health.verdict, health.reason]
print(json.dumps(told))
"""
RECORD = """
import sys
from ubunye_core import record_run
with record_run("pay/monthly/calc", variables={"month": sys.argv[1]}) as run:
    print(run.run_id)
"""

pytestmark = pytest.mark.usefixtures("credentials")
of_each_kind = pytest.mark.parametrize("kind", KINDS)


def elsewhere(program: str, url: str, month: str, home: Path, **more: str) -> str:  # noqa: F811
    """What a program says that shares nothing with this process but the store."""
    home.mkdir(exist_ok=True)
    kept = {name: text for name, text in os.environ.items() if name.startswith(("AWS_", "PATH"))}
    environment = {**kept, "HOME": str(home), "UBUNYE_STORE": url, **more}
    done = subprocess.run(
        [sys.executable, "-c", program, month],
        env=environment, cwd=Path(__file__).parents[3], capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout.strip().splitlines()[-1]


@of_each_kind
def test_7_a_month_is_seen_by_another_code_location(url: str, tmp_path: Path) -> None:  # noqa: F811
    run_id = elsewhere(RECORD, url, "2026-10", tmp_path / "one")
    answer = check_upstream(CALC, variables=OCTOBER, store=url)
    assert (answer.verdict, answer.requirements[0].satisfied_by) == (Verdict.PASS, run_id)
    november = check_upstream(CALC, variables={"month": "2026-11"}, store=url)
    assert november.verdict is Verdict.FAIL
    assert run_id in november.reason


@of_each_kind
def test_41_answers_stay_when_all_else_is_gone(url: str, tmp_path: Path) -> None:  # noqa: F811
    with record_run(CALC, variables=OCTOBER, store=url) as run:
        pass
    with pytest.raises(ZeroDivisionError), record_run(CALC, variables=OCTOBER, store=url):
        raise ZeroDivisionError
    answer = check_upstream(CALC, variables=OCTOBER, store=url)
    health = job_health(CALC, store=url)
    here = [answer.verdict, run.run_id, answer.reason, health.verdict, health.reason]
    for home in ("one", "two"):  # a scheduler's own database is in none of them
        assert json.loads(elsewhere(ASK, url, "2026-10", tmp_path / home)) == here


READ_ONLY = {
    "s3": {"AWS_ACCESS_KEY_ID": READER},
    "postgresql": {"PGOPTIONS": "-c default_transaction_read_only=on"},
}


@pytest.mark.parametrize("kind", READ_ONLY)
def test_9_a_gate_works_for_one_that_may_only_read(
    kind: str,
    url: str,  # noqa: F811
    tmp_path: Path,
) -> None:
    with record_run(CALC, variables=OCTOBER, store=url) as run:
        pass
    told = elsewhere(ASK, url, "2026-10", tmp_path / "other", **READ_ONLY[kind])
    assert json.loads(told)[:2] == [Verdict.PASS, run.run_id]
    assert json.loads(elsewhere(ASK, url, "2026-11", tmp_path / "other"))[0] == Verdict.FAIL
