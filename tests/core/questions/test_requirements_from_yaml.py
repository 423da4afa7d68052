"""Requirements stand in a task's config.yaml, or in a receipts.yaml beside it."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path

import pytest

from tests.core.questions.builders import CALC, NOW, a_run, put
from ubunye_core import ConfigError, OnFailed, Requirement, check_upstream, read_requirements
from ubunye_core.stores import MemoryStore

ENGINE_CONFIG = """\
MODEL: "etl"
VERSION: "0.1.0"
CONFIG:
  inputs:
    people:
      format: s3
      path: "{{ task_dir }}/data/{{ month | default('2026-10') }}.csv"
      options: {header: "true"}
  transform: {}
  outputs:
    adults:
      path: s3://{{ bucket }}/adults
      partitions: [{{ month }}, {{ region }}]
      mode: {{ mode }}
"""


def config(tmp_path: Path, requires: str) -> Path:
    """A task's config.yaml, as the engine has it, with requirements."""
    path = tmp_path / "config.yaml"
    path.write_text(ENGINE_CONFIG + requires)
    return path


def receipts(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "receipts.yaml"
    path.write_text(text)
    return path


def test_every_key_is_read_from_config_yaml(tmp_path: Path) -> None:
    path = config(
        tmp_path,
        """\
  requires:
    - task: pay/monthly/calc
      variables: [month]
      wait: 2h
      poll: 30s
      max_age: 40d
      on_failed: fail
      optional: true
      allow_unknown: true
    - task: hr/*/*
""",
    )
    expected = (
        Requirement(
            "pay/monthly/calc",
            ["month"],
            wait="2h",
            poll="30s",
            max_age="40d",
            on_failed="fail",
            optional=True,
            allow_unknown=True,
        ),
        Requirement("hr/*/*"),
    )
    assert read_requirements(path) == expected == read_requirements(tmp_path)
    assert expected[0].length == timedelta(hours=2)
    assert expected[0].on_failed is OnFailed.FAIL


def test_they_are_read_from_receipts_yaml_too(tmp_path: Path) -> None:
    path = receipts(tmp_path, "owner: payroll\nrequires:\n  - pay/monthly/calc\n")
    assert read_requirements(path) == (Requirement("pay/monthly/calc"),)
    config(tmp_path, "")
    assert read_requirements(tmp_path) == read_requirements(path)
    assert read_requirements(tmp_path / "config.yaml") == read_requirements(path)


def test_both_files_at_once_are_an_error_that_names_both(tmp_path: Path) -> None:
    config(tmp_path, "  requires:\n    - task: pay/monthly/calc\n")
    receipts(tmp_path, "\nrequires: [pay/monthly/calc]\n")
    for given in (tmp_path, tmp_path / "config.yaml", tmp_path / "receipts.yaml"):
        with pytest.raises(ConfigError, match=r"receipts.yaml, line 2: .*config.yaml too"):
            read_requirements(given)


@pytest.mark.parametrize("scalar", ["2026-10", "010", "NO", "1.10", "1e3", "true", "2026-10-01"])
def test_values_are_compared_as_they_are_written(tmp_path: Path, scalar: str) -> None:
    path = receipts(
        tmp_path, f"requires:\n  - task: {CALC}\n    variables: {{month: {scalar}, 010: x}}\n"
    )
    (requirement,) = read_requirements(path)
    assert requirement.variables == {"month": scalar, "010": "x"}
    store = MemoryStore()
    put(store, a_run(variables={"month": scalar, "010": "x"}))
    assert check_upstream(requirement, store=store, now=NOW).verdict == "PASS"


def test_an_empty_list_of_variables_is_any_success(tmp_path: Path) -> None:
    path = receipts(tmp_path, f"requires:\n  - {{task: {CALC}, variables: [], max_age: 40d}}\n")
    assert read_requirements(path) == (Requirement(CALC, [], max_age="40d"),)


def test_anchors_and_merges_may_be_used(tmp_path: Path) -> None:
    path = config(
        tmp_path,
        """\
  requires:
    - &calc {task: pay/monthly/calc, variables: [month], wait: 2h}
    - {<<: *calc, task: pay/monthly/tax}
""",
    )
    calc, tax = read_requirements(path)
    assert (tax.task, tax.wait, tax.variables) == ("pay/monthly/tax", calc.wait, calc.variables)


def test_a_file_of_another_name_is_read_like_config_yaml(tmp_path: Path) -> None:
    other = config(tmp_path, f"  requires: [{CALC}]\n").rename(tmp_path / "send.yaml")
    assert read_requirements(other) == (Requirement(CALC),)


def test_a_task_that_requires_nothing_has_no_requirements(tmp_path: Path) -> None:
    assert read_requirements(config(tmp_path, "")) == ()


@pytest.mark.parametrize(
    ("requires", "said"),
    [
        ("  requires:\n", "line 15: 'requires' is not a list. Write a list, such as [pay/"),
        ("  requires: ~\n", "line 15: 'requires' is not a list. Write a list, such as [pay/"),
        ("  requires: {task: a/b/c}\n", "line 15: 'requires' is not a list. Write a list, such"),
        ("  requires: []\n", "line 15: 'requires' is empty"),
        (
            "  requires: pay/monthly/calc\n",
            "line 15: 'requires' is not a list. Write 'requires: [pay/monthly/calc]'.",
        ),
        ("  requires:\n    - \n", "line 16: 'task' is not a single value"),
        ("  requires:\n    - 7\n", "line 16: '7' is not a task"),
        ("  requires:\n    - [a/b/c]\n", "line 16: a requirement is not a map"),
        ("  requires:\n    - wait: 2h\n", "line 16: A requirement has no 'task'"),
        ("  requires:\n    - task: ../../etc\n", "line 16: '../../etc' is not a task"),
        ("  requires:\n    - task:\n", "line 16: 'task' is not a single value"),
        (
            "  requires:\n    - task: a/b/c\n      windows: all\n",
            "line 17: The requirement on a/b/c needs 'windows' and 'schedule'",
        ),
        ("  requires:\n    - task: a/b/c\n      evidence: outputs\n", "line 17: 'evidence' is no"),
        (
            "  requires:\n    - task: a/b/c\n      wiat: 2h\n",
            "line 17: 'wiat' is not a known key",
        ),
        ("  requires:\n    - task: a/b/c\n      wait: soon\n", "line 17: 'soon' is not a length"),
        ("  requires:\n    - task: a/b/c\n      wait: 7200\n", "line 17: '7200' is not a length"),
        ("  requires:\n    - task: a/b/c\n      wait:\n", "line 17: 'wait' is not a single value"),
        ("  requires:\n    - task: a/b/c\n      wait: [2h]\n", "line 17: 'wait' is not a single"),
        ("  requires:\n    - task: a/b/c\n      optional: yes\n", "line 17: 'optional' is 'yes'"),
        ("  requires:\n    - task: a/b/c\n      on_failed: skip\n", "line 17: 'on_failed' is 'sk"),
        ("  requires:\n    - task: a/b/c\n      variables:\n", "line 17: 'variables' is neither"),
        ("  requires:\n    - task: a/b/c\n      variables: month\n", "line 17: 'variables' is ne"),
        ("  requires:\n    - task: a/b/c\n      variables: [~]\n", "line 17: a variable's name i"),
        ("  requires:\n    - task: a/b/c\n      variables: [[m]]\n", "line 17: a variable's name"),
        ("  requires:\n    - task: a/b/c\n      variables: {m: }\n", "line 17: the variable 'm' i"),
        ("  requires:\n    - task: a/b/c\n      variables: {m: [1]}\n", "line 17: the variable 'm"),
        ("  requires:\n    - task: a/b/c\n      variables: [db_password]\n", "which is masked"),
        ("  requires:\n    - task: a/b/c\n      task: a/b/d\n", "line 17: 'task' stands twice"),
        ("  requires:\n    - task: '{{ upstream }}'\n", "line 16: 'task' is a template"),
        ("  requires:\n    - task: a/b/c\n      variables: {m: '{{ dt }}'}\n", "is a template"),
        ("  requires: [a/b/c]\n  requires: [a/b/d]\n", "line 16: 'requires' stands twice"),
        ("requires: [a/b/c]\n", "line 15: 'requires' stands outside of CONFIG"),
    ],
)
def test_what_is_wrong_is_named_with_its_file_and_line(
    tmp_path: Path, requires: str, said: str
) -> None:
    path = config(tmp_path, requires)
    with pytest.raises(ConfigError) as wrong:
        read_requirements(path)
    assert str(path) in str(wrong.value)
    assert said in str(wrong.value)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "line 1: it is empty"),
        ("- pay/monthly/calc\n", "line 1: receipts.yaml is not a map"),
        ("require: [a/b/c]\n", "line 1: 'require' is not a known key of receipts.yaml"),
        ("owner: x\nCONFIG: {requires: [a/b/c]}\n", "line 2: 'CONFIG' is not a known key"),
    ],
)
def test_receipts_yaml_is_read_strictly(tmp_path: Path, text: str, said: str) -> None:
    path = receipts(tmp_path, text)
    with pytest.raises(ConfigError) as wrong:
        read_requirements(tmp_path)
    assert f"{path}, {said}" in str(wrong.value)


def test_requirements_that_cannot_be_read_are_never_no_requirements(tmp_path: Path) -> None:
    config(tmp_path, "")
    (tmp_path / "receipts.yaml").symlink_to(tmp_path / "not-mounted")
    with pytest.raises(ConfigError, match=r"receipts\.yaml is not a file that can be read"):
        read_requirements(tmp_path)
    (tmp_path / "receipts.yaml").unlink()
    (tmp_path / "config.yaml").write_text("CONFIG: [1]\n")
    with pytest.raises(ConfigError, match="line 1: CONFIG is not a map"):
        read_requirements(tmp_path)


def test_a_missing_file_and_an_empty_folder_are_errors_that_name_them(tmp_path: Path) -> None:
    with pytest.raises(ConfigError, match=f"{tmp_path} holds neither config.yaml nor receipts"):
        read_requirements(tmp_path)
    for name in ("config.yaml", "nowhere", "nowhere/config.yaml"):
        with pytest.raises(ConfigError, match=f"{tmp_path / name} does not exist"):
            read_requirements(tmp_path / name)


def test_a_folder_of_tasks_leads_to_the_folder_of_one(tmp_path: Path) -> None:
    folder = tmp_path / "pay" / "monthly" / "calc"
    folder.mkdir(parents=True)
    (folder / "receipts.yaml").write_text("requires: [pay/monthly/tax]\n")
    with pytest.raises(ConfigError, match=f"Name the folder of one task: {folder}"):
        read_requirements(tmp_path)
