"""The suites that must run, as tests/suites.toml lists them, and what a report says of them."""

from __future__ import annotations

import tomllib
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from pathlib import Path

from tests.javas import java_homes

SUITES_FILE = Path(__file__).with_name("suites.toml")

# What pytest can say of one test. Only the first two mean that it was executed to a verdict.
PASSED, FAILED, ERROR, SKIPPED, XFAILED = "passed", "failed", "error", "skipped", "xfailed"


@dataclass(frozen=True, kw_only=True)
class Suite:
    name: str
    paths: tuple[str, ...]
    required_when: str | None = None
    planned: str | None = None


@dataclass(frozen=True, kw_only=True)
class AllowedSkip:
    test: str
    reason: str


@dataclass(frozen=True, kw_only=True)
class Suites:
    suites: tuple[Suite, ...]
    allowed_skips: tuple[AllowedSkip, ...]

    def of(self, test: str) -> Suite | None:
        """The suite whose path fits the test's file closest."""
        file = test.split("::", 1)[0]
        fitting = [
            (len(path), suite)
            for suite in self.suites
            for path in suite.paths
            if file == path or file.startswith(path.rstrip("/") + "/")
        ]
        return max(fitting, key=lambda pair: pair[0])[1] if fitting else None


@dataclass(frozen=True, kw_only=True)
class Outcome:
    test: str
    outcome: str
    reason: str = ""


@dataclass
class Verdict:
    problems: list[str] = field(default_factory=list)
    not_run: list[str] = field(default_factory=list)
    counts: dict[str, Counter[str]] = field(default_factory=dict)


def read_suites(file: Path = SUITES_FILE) -> Suites:
    """Read the list; a wrong key or a missing reason is an error, for the list guards all else."""
    document = tomllib.loads(file.read_text(encoding="utf-8"))
    suites = tuple(
        Suite(name=name, **{**entry, "paths": tuple(entry["paths"])})
        for name, entry in document.pop("suites").items()
    )
    allowed = tuple(AllowedSkip(**entry) for entry in document.pop("allowed_skips", ()))
    if document:
        raise ValueError(f"{file.name}: unknown tables: {', '.join(document)}")
    for suite in suites:
        if suite.required_when is not None and suite.required_when not in CONDITIONS:
            raise ValueError(f"{file.name}: {suite.name}: no condition '{suite.required_when}'")
    for skip in allowed:
        if not skip.reason.strip():
            raise ValueError(f"{file.name}: the skip of {skip.test} has no reason")
    return Suites(suites=suites, allowed_skips=allowed)


def judge(
    suites: Suites,
    outcomes: Iterable[Outcome],
    *,
    holds: Callable[[str], bool] | None = None,
) -> Verdict:
    """Say what is wrong with a run of everything: nothing, when it counts.

    ``holds`` tells whether a suite's condition is met on this machine.
    """
    holds = holds or condition_holds
    verdict = Verdict(counts={suite.name: Counter() for suite in suites.suites})
    unused = {skip.test for skip in suites.allowed_skips}
    for outcome in outcomes:
        suite = suites.of(outcome.test)
        if suite is None:
            verdict.problems.append(f"{outcome.test} belongs to no suite of {SUITES_FILE.name}.")
            continue
        verdict.counts[suite.name][outcome.outcome] += 1
        if outcome.outcome in (FAILED, ERROR):
            verdict.problems.append(f"{outcome.test}: {outcome.outcome}.")
        elif outcome.outcome in (SKIPPED, XFAILED):
            allowing = [s for s in suites.allowed_skips if fnmatchcase(outcome.test, s.test)]
            unused -= {skip.test for skip in allowing}
            if not allowing and _required(suite, holds):
                why = outcome.reason or "no reason given"
                verdict.problems.append(f"{outcome.test} was {outcome.outcome} ({why}).")
    verdict.problems += [
        f"No test was skipped that fits '{test}': take it off allowed_skips."
        for test in sorted(unused)
    ]
    for suite in suites.suites:
        _judge_suite(suite, verdict, holds)
    return verdict


def _required(suite: Suite, holds: Callable[[str], bool]) -> bool:
    return suite.required_when is None or holds(suite.required_when)


def _judge_suite(suite: Suite, verdict: Verdict, holds: Callable[[str], bool]) -> None:
    counts = verdict.counts[suite.name]
    executed = counts[PASSED] + counts[FAILED]
    if suite.planned is not None:
        if counts.total():
            verdict.problems.append(f"{suite.name} has tests now: it is no longer planned.")
        verdict.not_run.append(f"{suite.name}: planned, comes with {suite.planned}")
    elif executed:
        return
    elif not _required(suite, holds):
        verdict.not_run.append(f"{suite.name}: this machine has no {suite.required_when}")
    else:
        verdict.problems.append(f"{suite.name}: no test was executed ({', '.join(suite.paths)}).")


# --- conditions of suites that only some machines can run ---


def _has_java_25() -> bool:
    return any(version >= 25 for version in java_homes())


CONDITIONS: Mapping[str, Callable[[], bool]] = {
    "java-25": _has_java_25,
}


def condition_holds(name: str) -> bool:
    return CONDITIONS[name]()
