"""A pytest plugin: `--suite-report=FILE` writes what became of each test, for check_suites.py."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.suites import ERROR, FAILED, PASSED, SKIPPED, XFAILED

_RECORDER = "suite-report"


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--suite-report", metavar="FILE", help="write each test's outcome to FILE")


def pytest_configure(config: pytest.Config) -> None:
    file = config.getoption("--suite-report")
    if file and not hasattr(config, "workerinput"):  # workers tell the one who started them
        config.pluginmanager.register(_Recorder(config.rootpath / file), _RECORDER)


class _Recorder:
    def __init__(self, file: Path) -> None:
        self.file = file
        self.outcomes: dict[str, tuple[str, str]] = {}
        self.file.unlink(missing_ok=True)  # a killed run leaves no report, rather than an old one

    def pytest_collectreport(self, report: pytest.CollectReport) -> None:
        # A file that cannot be collected, or skips itself whole, has no tests to report later.
        if report.failed:
            self.outcomes[report.nodeid] = (ERROR, "could not be collected")
        elif report.skipped:
            self.outcomes[report.nodeid] = (SKIPPED, _reason(report))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        if report.when == "call" or report.outcome != "passed":
            outcome = report.outcome
            if hasattr(report, "wasxfail") and report.skipped:
                outcome = XFAILED
            elif report.failed:
                outcome = FAILED if report.when == "call" else ERROR
            earlier = self.outcomes.get(report.nodeid, (PASSED, ""))[0]
            if earlier == PASSED:
                self.outcomes[report.nodeid] = (outcome, _reason(report))

    def pytest_sessionfinish(self, exitstatus: int) -> None:
        self.file.parent.mkdir(parents=True, exist_ok=True)
        tests = [
            {"test": test, "outcome": outcome, "reason": reason}
            for test, (outcome, reason) in self.outcomes.items()
        ]
        document = {"exit_status": int(exitstatus), "tests": tests}
        self.file.write_text(json.dumps(document, indent=1), encoding="utf-8")


def _reason(report: pytest.CollectReport | pytest.TestReport) -> str:
    if getattr(report, "wasxfail", ""):
        return str(report.wasxfail)
    if report.skipped and isinstance(report.longrepr, tuple):
        return str(report.longrepr[2]).removeprefix("Skipped: ")
    return ""
