"""Whose files a folder holds, where it is named as a task is."""

from __future__ import annotations

from pathlib import Path

import pytest

from ubunye_core import ConfigError, read_task
from ubunye_core.questions.foldernames import check_folder_of

CALC, SEND = "pay/monthly/calc", "pay/monthly/send"


def made(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "receipts.yaml").write_text("owner: nina\n")
    return folder


@pytest.mark.parametrize("other", [CALC, "pay/daily/send", "tax/daily/load"])
def test_the_folder_of_another_task_is_refused_to_one_that_has_its_own(
    tmp_path: Path, other: str
) -> None:
    folder, own = made(tmp_path / other), made(tmp_path / SEND)
    for path in (folder, folder / "receipts.yaml", folder / ".." / folder.name):
        with pytest.raises(ConfigError, match=f"is the folder of {other}, not of {SEND}") as told:
            read_task(path, SEND)
        assert told.value.hint == f"Name {own}, or the task {other}."


@pytest.mark.parametrize(
    "name",
    [SEND, CALC, "example_dags/tasks/calc", "calc", "pay/calc", "pay/monthly/.files"],
)
def test_any_other_folder_may_hold_the_files_of_a_task(tmp_path: Path, name: str) -> None:
    folder = made(tmp_path / name)
    assert read_task(folder, SEND).owners == {SEND: "nina"}


def test_a_link_is_the_folder_that_it_is_called_and_the_one_that_it_leads_to(
    tmp_path: Path,
) -> None:
    calc = made(tmp_path / CALC)
    (tmp_path / SEND).symlink_to(calc)
    (tmp_path / "here").symlink_to(calc)
    check_folder_of(tmp_path / SEND, SEND)
    check_folder_of(tmp_path / SEND, CALC)
    with pytest.raises(ConfigError, match=f"here is the folder of {CALC}, not of {SEND}"):
        check_folder_of(tmp_path / "here", SEND)


def test_what_is_not_there_is_for_its_reader_to_tell(tmp_path: Path) -> None:
    made(tmp_path / CALC)
    check_folder_of(tmp_path / CALC / "nowhere.yaml", SEND)
    with pytest.raises(ConfigError, match="does not exist"):
        read_task(tmp_path / CALC / "nowhere.yaml", SEND)
