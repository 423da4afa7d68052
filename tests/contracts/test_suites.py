"""The list of suites does what it is for: no suite goes missing quietly."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests import suites as module
from tests.check_suites import main
from tests.suites import AllowedSkip, Outcome, Suite, Suites, judge, read_suites

ROOT = Path(__file__).parents[2]
CORE = Suite(name="core", paths=("tests/core",))
HASHING = Suite(name="hashing", paths=("tests/core/hashing",))
JAVA = Suite(name="java-25", paths=("tests/java",), required_when="java-25")


def ran(*tests: str, outcome: str = "passed") -> list[Outcome]:
    return [Outcome(test=test, outcome=outcome) for test in tests]


def of(*suites: Suite, allowed: tuple[AllowedSkip, ...] = ()) -> Suites:
    return Suites(suites=suites, allowed_skips=allowed)


def test_a_run_of_every_suite_has_no_problem() -> None:
    verdict = judge(
        of(CORE, HASHING), ran("tests/core/test_a.py::t", "tests/core/hashing/test_b.py::t")
    )
    assert verdict.problems == []
    assert verdict.counts["core"]["passed"] == verdict.counts["hashing"]["passed"] == 1


def test_a_suite_without_a_test_is_a_problem() -> None:
    verdict = judge(of(CORE, HASHING), ran("tests/core/test_a.py::t"))
    assert verdict.problems == ["hashing: no test was executed (tests/core/hashing)."]


def test_a_suite_whose_tests_were_all_skipped_did_not_run() -> None:
    allowed = AllowedSkip(test="tests/core/*", reason="for this test")
    verdict = judge(of(CORE, allowed=(allowed,)), ran("tests/core/a.py::t", outcome="skipped"))
    assert verdict.problems == ["core: no test was executed (tests/core)."]


def test_a_folder_whose_name_only_begins_alike_is_another_suite() -> None:
    assert of(CORE).of("tests/core_more/test_a.py::t") is None
    assert of(CORE).of("tests/core/test_a.py::t") is CORE


def test_a_test_of_no_suite_is_a_problem() -> None:
    verdict = judge(of(CORE), ran("tests/core/a.py::t", "tests/new/test_a.py::t"))
    assert verdict.problems == ["tests/new/test_a.py::t belongs to no suite of suites.toml."]


@pytest.mark.parametrize("outcome", ["failed", "error"])
def test_a_failed_test_is_a_problem(outcome: str) -> None:
    tests = ran("tests/core/a.py::t") + ran("tests/core/a.py::u", outcome=outcome)
    assert judge(of(CORE), tests).problems == [f"tests/core/a.py::u: {outcome}."]


@pytest.mark.parametrize("outcome", ["skipped", "xfailed"])
def test_a_skip_that_is_not_allowed_is_a_problem(outcome: str) -> None:
    tests = [
        *ran("tests/core/a.py::t"),
        Outcome(test="tests/core/a.py::u", outcome=outcome, reason="no time"),
    ]
    assert judge(of(CORE), tests).problems == [f"tests/core/a.py::u was {outcome} (no time)."]


def test_an_allowed_skip_is_none_and_an_unused_one_goes() -> None:
    tests = ran("tests/core/a.py::t") + ran("tests/core/a.py::u[1]", outcome="skipped")
    used = AllowedSkip(test="tests/core/a.py::u*", reason="for this test")
    stale = AllowedSkip(test="tests/core/gone.py::*", reason="for this test")
    assert judge(of(CORE, allowed=(used,)), tests).problems == []
    assert judge(of(CORE, allowed=(used, stale)), tests).problems == [
        "No test was skipped that fits 'tests/core/gone.py::*': take it off allowed_skips."
    ]


def test_a_conditional_suite_is_required_exactly_where_its_condition_holds() -> None:
    here = judge(of(JAVA), [], holds=lambda _: True)
    assert here.problems == ["java-25: no test was executed (tests/java)."]
    elsewhere = judge(of(JAVA), [], holds=lambda _: False)
    assert elsewhere.problems == []
    assert elsewhere.not_run == ["java-25: this machine has no java-25"]


def test_a_conditional_suite_may_skip_itself_where_its_condition_does_not_hold() -> None:
    skipped = ran("tests/java/test_a.py::t", outcome="skipped")
    assert judge(of(JAVA), skipped, holds=lambda _: False).problems == []
    assert len(judge(of(JAVA), skipped, holds=lambda _: True).problems) == 2


def test_a_planned_suite_is_said_aloud_and_ends_with_its_first_test() -> None:
    planned = Suite(name="delta", paths=("tests/delta",), planned="the Delta store")
    verdict = judge(of(planned), [])
    assert verdict.problems == []
    assert verdict.not_run == ["delta: planned, comes with the Delta store"]
    verdict = judge(of(planned), ran("tests/delta/test_a.py::t"))
    assert verdict.problems == ["delta has tests now: it is no longer planned."]


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ('[suites.a]\npaths = ["a"]\nrequired_when = "moon"', "no condition 'moon'"),
        ('[suites.a]\npaths = ["a"]\n[[allowed_skips]]\ntest = "t"\nreason = " "', "no reason"),
        ('[suites.a]\npaths = ["a"]\n[allowed]', "unknown tables: allowed"),
    ],
)
def test_a_wrong_list_is_an_error(tmp_path: Path, text: str, complaint: str) -> None:
    file = tmp_path / "suites.toml"
    file.write_text(text)
    with pytest.raises(ValueError, match=complaint):
        read_suites(file)


def test_every_condition_can_be_asked_here() -> None:
    for holds in module.CONDITIONS.values():
        assert holds() in (True, False)


SAMPLE = """
import pytest

def test_passes(): pass
def test_fails(): assert False
def test_skips(): pytest.skip("no moon")
@pytest.mark.xfail(reason="known", strict=True)
def test_known(): assert False
@pytest.fixture
def broken(): raise RuntimeError
def test_breaks(broken): pass
@pytest.fixture
def left_open():
    yield
    raise RuntimeError
def test_breaks_late(left_open): pass
"""


@pytest.fixture(scope="module", params=["0", "2"], ids=["one process", "two workers"])
def report(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the plugin wrote of a small run with every kind of outcome."""
    folder = tmp_path_factory.mktemp("sample")
    (folder / "test_sample.py").write_text(SAMPLE)
    (folder / "test_whole.py").write_text("import pytest\npytest.importorskip('no_such_module')\n")
    (folder / "test_syntax.py").write_text("def :\n")
    file = folder / "out" / "report.json"
    options = "-q -p tests.suite_report -p no:cacheprovider --continue-on-collection-errors -n"
    where = [f"--rootdir={folder}", "-c", os.devnull, f"--suite-report={file}", str(folder)]
    subprocess.run(
        [sys.executable, "-m", "pytest", *options.split(), request.param, *where],
        cwd=ROOT,
        check=False,
        capture_output=True,
    )
    return file


@pytest.mark.slow
def test_the_report_tells_each_outcome_with_its_reason(report: Path) -> None:
    tests = {entry["test"]: entry for entry in json.loads(report.read_text())["tests"]}
    outcomes = {name.split("::")[-1]: entry["outcome"] for name, entry in tests.items()}
    assert outcomes == {
        "test_passes": "passed",
        "test_fails": "failed",
        "test_skips": "skipped",
        "test_known": "xfailed",
        "test_breaks": "error",
        "test_breaks_late": "error",
        "test_whole.py": "skipped",
        "test_syntax.py": "error",
    }
    assert tests["test_sample.py::test_skips"]["reason"] == "no moon"
    assert tests["test_sample.py::test_known"]["reason"] == "known"
    assert "no_such_module" in tests["test_whole.py"]["reason"]


def test_the_check_fails_on_a_run_with_problems(
    report: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = tmp_path / "suites.toml"
    listed.write_text('[suites.sample]\npaths = ["test_sample.py"]\n')
    assert main([str(report)], listed) == 1
    said = capsys.readouterr().out
    assert "PROBLEM  test_sample.py::test_skips was skipped (no moon)." in said
    assert "PROBLEM  test_whole.py belongs to no suite" in said


def test_the_check_fails_when_a_report_is_missing_or_broken_off(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    listed = tmp_path / "suites.toml"
    listed.write_text('[suites.core]\npaths = ["tests/core"]\n')
    broken_off = tmp_path / "report.json"
    entry = {"test": "tests/core/a.py::t", "outcome": "passed", "reason": ""}
    broken_off.write_text(json.dumps({"exit_status": 2, "tests": [entry]}))
    assert main([str(broken_off), str(tmp_path / "none.json")], listed) == 1
    said = capsys.readouterr().out
    assert "exit status 2" in said
    assert "none.json is missing" in said
    assert main([], listed) == 2


def test_the_check_passes_a_whole_run(tmp_path: Path) -> None:
    listed = tmp_path / "suites.toml"
    listed.write_text('[suites.core]\npaths = ["tests/core"]\n')
    whole = tmp_path / "report.json"
    entry = {"test": "tests/core/a.py::t", "outcome": "passed", "reason": ""}
    whole.write_text(json.dumps({"exit_status": 0, "tests": [entry]}))
    assert main([str(whole)], listed) == 0
