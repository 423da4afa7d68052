"""Rules about files that no linter knows: `make check` runs them all."""

from __future__ import annotations

import re
import sys
import tomllib
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[1]
PACKAGES = ("ubunye_core", "ubunye_airflow", "ubunye_dagster")
MOST_LINES = 400

# A lock names packages, versions and hashes. Where they come from is the installing machine's
# choice, so nothing in it may be an address, a path or an option that leads to one.
_ADDRESS = re.compile(r"://|@\s*file:|^\s*-|(^|\s)--(index|extra-index|find-links|trusted)")
_HASH = re.compile(r"^\s+--hash=sha256:[0-9a-f]{64}( \\)?$")
_PIN = re.compile(r"^[A-Za-z0-9][A-Za-z0-9._-]*(\[[a-z,_-]+\])?==[^\s;]+( ; [^\\]+?)? \\$")
_JAR = re.compile(r"^[A-Za-z0-9._-]+(:[A-Za-z0-9._-]+){2} sha256:[0-9a-f]{64}$")


def locks_hold_no_addresses(root: Path) -> Iterator[str]:
    """Every line of a lock is a pinned name or a hash, and every name has a hash."""
    for lock in sorted((root / "requirements").glob("*.lock")):
        name = lock.relative_to(root)
        pinned = hashed = 0
        for number, line in enumerate(lock.read_text(encoding="utf-8").splitlines(), 1):
            if _HASH.match(line):
                hashed = number
            elif _PIN.match(line) or _JAR.match(line):
                if pinned and hashed < pinned:
                    yield f"{name}:{pinned}: a name without a hash"
                pinned = number
                hashed = number if _JAR.match(line) else hashed  # its hash stands beside it
            elif _ADDRESS.search(line):
                yield f"{name}:{number}: an address or an option in a lock: {line.strip()}"
            elif line.strip() and not line.lstrip().startswith("#"):
                yield f"{name}:{number}: neither a pinned name nor a hash: {line.strip()}"
        if hashed < pinned or not pinned:
            yield f"{name}:{pinned}: a name without a hash"


def locks_follow_pyproject(root: Path) -> Iterator[str]:
    """What pyproject.toml asks for is in the lock, in a version that it allows."""
    document = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    project, groups = document["project"], document["dependency-groups"]
    asked = {
        "dev.lock": [
            *project["dependencies"],
            *(name for extra in project["optional-dependencies"].values() for name in extra),
            *groups["dev"],
        ],
        "engine.lock": groups["engine"],
        "oldest.lock": [*project["dependencies"], *groups["oldest"]],
    }
    for lock, requirements in asked.items():
        text = (root / "requirements" / lock).read_text(encoding="utf-8")
        locked = defaultdict(list)
        for name, version in re.findall(r"^([\w.-]+)(?:\[[^]]*\])?==(\S+)", text, re.MULTILINE):
            locked[canonicalize_name(name)].append(version)
        for requirement in map(Requirement, requirements):
            name = canonicalize_name(requirement.name)
            if name == project["name"]:
                continue
            if not any(requirement.specifier.contains(version) for version in locked[name]):
                yield f"requirements/{lock}: has no {requirement}; run `make lock`"


def adr_numbers_are_used_once(root: Path) -> Iterator[str]:
    """An ADR is docs/adr/NNNN-title.md, its number is its own, and its title repeats it."""
    by_number = defaultdict(list)
    for adr in sorted((root / "docs" / "adr").glob("*.md")):
        if adr.name == "index.md":
            continue
        number = re.match(r"(\d{4})-[a-z0-9-]+\.md$", adr.name)
        if not number:
            yield f"docs/adr/{adr.name}: is not named like 0007-what-was-decided.md"
            continue
        by_number[number[1]].append(adr.name)
        if not adr.read_text(encoding="utf-8").startswith(f"# {int(number[1])}. "):
            yield f"docs/adr/{adr.name}: does not begin with '# {int(number[1])}. '"
    for number, names in by_number.items():
        if len(names) > 1:
            yield f"docs/adr: {number} is used {len(names)} times: {', '.join(names)}"


def adrs_are_listed(root: Path) -> Iterator[str]:
    """The list of decisions has a row for each, with its number, title and link."""
    folder = root / "docs" / "adr"
    rows = (folder / "index.md").read_text(encoding="utf-8").splitlines()
    for adr in sorted(folder.glob("[0-9]*.md")):
        title = re.match(r"# (\d+)\. (.+)", adr.read_text(encoding="utf-8"))
        if not title:
            continue  # adr_numbers_are_used_once says so
        row = f"| {title[1]} | [{title[2]}]({adr.name})"
        if not any(each.startswith(row) for each in rows):
            yield f"docs/adr/index.md: has no row '{row} |'"


def packages_say_they_are_typed(root: Path) -> Iterator[str]:
    """Without py.typed a type checker ignores our annotations."""
    for package in PACKAGES:
        if not (root / package / "py.typed").exists():
            yield f"{package}: has no py.typed"


def files_hold_one_idea(root: Path) -> Iterator[str]:
    """A module that has outgrown its limit is two modules."""
    for package in PACKAGES:
        for file in sorted((root / package).rglob("*.py")):
            lines = len(file.read_text(encoding="utf-8").splitlines())
            if lines > MOST_LINES:
                yield f"{file.relative_to(root)}: {lines} lines, at most {MOST_LINES}"


CHECKS = (
    locks_hold_no_addresses,
    locks_follow_pyproject,
    adr_numbers_are_used_once,
    adrs_are_listed,
    packages_say_they_are_typed,
    files_hold_one_idea,
)


def main(root: Path = ROOT) -> int:
    """Print every broken rule; 1 when there is one."""
    broken = [problem for check in CHECKS for problem in check(root)]
    for problem in broken:
        print(problem, file=sys.stderr)
    return 1 if broken else 0


if __name__ == "__main__":
    sys.exit(main())
