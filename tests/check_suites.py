"""Fail when a suite that must run did not: `python tests/check_suites.py REPORT...`"""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from tests.suites import (
    ERROR,
    FAILED,
    PASSED,
    SKIPPED,
    SUITES_FILE,
    XFAILED,
    Outcome,
    judge,
    read_suites,
)

# pytest: 0 all passed, 1 some failed (told test by test below), 5 nothing was selected.
_TOLD_BELOW = {0, 1, 5}


def main(arguments: Sequence[str], suites_file: Path = SUITES_FILE) -> int:
    """Print the table, then what is wrong; 0 when nothing is, 2 without reports to read."""
    if not arguments:
        print("usage: python tests/check_suites.py REPORT...", file=sys.stderr)
        return 2
    outcomes: list[Outcome] = []
    broken: list[str] = []
    for name in arguments:
        try:
            document = json.loads(Path(name).read_text(encoding="utf-8"))
        except FileNotFoundError:
            broken.append(f"{name} is missing: that run of pytest did not come to its end.")
            continue
        if document["exit_status"] not in _TOLD_BELOW:
            broken.append(f"{name}: pytest ended with exit status {document['exit_status']}.")
        outcomes += [Outcome(**test) for test in document["tests"]]

    verdict = judge(read_suites(suites_file), outcomes)
    print(f"{'suite':<19}{'passed':>8}{'failed':>8}{'skipped':>9}")
    for suite, counts in verdict.counts.items():
        failed, skipped = counts[FAILED] + counts[ERROR], counts[SKIPPED] + counts[XFAILED]
        print(f"{suite:<19}{counts[PASSED]:>8}{failed:>8}{skipped:>9}")
    for line in verdict.not_run:
        print(f"NOT RUN  {line}")
    for line in broken + verdict.problems:
        print(f"PROBLEM  {line}")
    total = sum(verdict.counts.values(), Counter[str]())
    failed, skipped = total[FAILED] + total[ERROR], total[SKIPPED] + total[XFAILED]
    print(f"total: {total[PASSED]} passed, {failed} failed, {skipped} skipped")
    return 1 if broken or verdict.problems else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
