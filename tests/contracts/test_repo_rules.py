"""The rules of tools/check_repo.py hold here, and each of them notices when it is broken."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).parents[2]
HASH = "    --hash=sha256:" + "0" * 64


def _load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("check_repo", ROOT / "tools" / "check_repo.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


rules = _load()


@pytest.mark.parametrize("check", rules.CHECKS, ids=lambda check: check.__name__)
def test_the_rule_holds_here(check: object) -> None:
    assert list(check(ROOT)) == []  # type: ignore[operator]


def lock(root: Path, text: str) -> list[str]:
    folder = root / "requirements"
    folder.mkdir(exist_ok=True)
    (folder / "dev.lock").write_text(text)
    return list(rules.locks_hold_no_addresses(root))


def test_a_lock_of_pins_and_hashes_is_fine(tmp_path: Path) -> None:
    text = f"a==1.0 \\\n{HASH} \\\n{HASH}\nb[x]==2 ; python_version < '3.12' \\\n{HASH}\n"
    assert lock(tmp_path, text) == []


def test_a_lock_of_jars_is_fine_and_each_has_its_hash_beside_it(tmp_path: Path) -> None:
    jar = f"io.delta:delta-storage:4.4.0 sha256:{'0' * 64}"
    assert lock(tmp_path, f"# jars\n{jar}\n{jar}\n") == []
    for wrong in (jar[:-1], jar.replace(":4.4.0", ""), jar.split()[0], f"a==1.0 \\\n{jar}"):
        assert lock(tmp_path, f"{jar}\n{wrong}\n") != []


@pytest.mark.parametrize(
    "line",
    [
        "--index-url https://example.org/simple",
        "-i https://example.org/simple",
        "--find-links wheels",
        "-e .",
        "a @ https://example.org/a.whl",
        "a @ file:///home/a",
        "# uv pip compile --index-url https://example.org",
        "a>=1.0",
        "./wheels/a-1.0.whl",
    ],
)
def test_a_lock_that_says_where_from_is_refused(tmp_path: Path, line: str) -> None:
    assert len(lock(tmp_path, f"z==1.0 \\\n{HASH}\n{line}\n")) == 1


@pytest.mark.parametrize("text", ["a==1.0\n", "", f"a==1.0 \\\nb==1.0 \\\n{HASH}\n", "a==1.0 \\\n"])
def test_a_lock_with_a_name_that_has_no_hash_is_refused(tmp_path: Path, text: str) -> None:
    assert lock(tmp_path, text) != []


def test_a_lock_that_lags_behind_pyproject_is_noticed(tmp_path: Path) -> None:
    (tmp_path / "pyproject.toml").write_text(
        '[project]\nname = "ours"\ndependencies = ["Py_YAML>=6", "rich>=14"]\n'
        '[project.optional-dependencies]\nall = ["ours[x]", "new>=1"]\n'
        "[dependency-groups]\ndev = []\nengine = []\noldest = []\n"
    )
    lock(tmp_path, f"py-yaml==6.0 \\\n{HASH}\nrich==13.0 \\\n{HASH}\n")
    (tmp_path / "requirements" / "engine.lock").write_text("")
    (tmp_path / "requirements" / "oldest.lock").write_text("Py.YAML==6.1\n")
    assert list(rules.locks_follow_pyproject(tmp_path)) == [
        "requirements/dev.lock: has no rich>=14; run `make lock`",
        "requirements/dev.lock: has no new>=1; run `make lock`",
        "requirements/oldest.lock: has no rich>=14; run `make lock`",
    ]


def test_a_number_of_an_adr_is_used_once(tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "adr"
    folder.mkdir(parents=True)
    (folder / "0001-first.md").write_text("# 1. First\n")
    assert list(rules.adr_numbers_are_used_once(tmp_path)) == []
    (folder / "0001-second.md").write_text("# 1. Second\n")
    (folder / "0002-third.md").write_text("# 3. Third\n")
    (folder / "fourth.md").write_text("# 4. Fourth\n")
    assert len(list(rules.adr_numbers_are_used_once(tmp_path))) == 3


def test_a_decision_that_is_not_listed_is_noticed(tmp_path: Path) -> None:
    folder = tmp_path / "docs" / "adr"
    folder.mkdir(parents=True)
    (folder / "0001-first.md").write_text("# 1. First\n")
    (folder / "0002-second.md").write_text("# 2. Second\n")
    (folder / "index.md").write_text("# Decisions\n\n| 1 | [First](0001-first.md) (replaced) |\n")
    assert list(rules.adrs_are_listed(tmp_path)) == [
        "docs/adr/index.md: has no row '| 2 | [Second](0002-second.md) |'"
    ]


def test_a_module_over_its_limit_and_an_untyped_package_are_noticed(tmp_path: Path) -> None:
    package = tmp_path / "ubunye_core"
    package.mkdir()
    (package / "long.py").write_text("x = 1\n" * 401)
    assert list(rules.files_hold_one_idea(tmp_path)) == [
        "ubunye_core/long.py: 401 lines, at most 400"
    ]
    assert len(list(rules.packages_say_they_are_typed(tmp_path))) == 3
