"""The tasks of a folder, and what their files expect of them."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from datetime import timedelta
from pathlib import Path

import pytest

from tests.privileges import without_privileges
from ubunye_core import ConfigError, plan_backfill, read_tasks
from ubunye_core.questions.taskfiles import read_requirements
from ubunye_core.questions.taskfolders import is_of_one_task, read_task
from ubunye_core.stores import MemoryStore

SCHEDULE = "schedule: {cron: 0 2 * * *, window: day}\n"


def write(folder: Path, text: str, name: str = "receipts.yaml") -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(text)
    return folder


def test_each_task_of_a_folder_has_its_schedule_and_its_requirements(tmp_path: Path) -> None:
    write(tmp_path / "pay/monthly/send", SCHEDULE + "requires: [pay/monthly/calc]\n")
    write(tmp_path / "pay/monthly/calc", "owner: payments\n")
    write(tmp_path / "pay/in/people", "CONFIG: {requires: [hr/out/people]}\n", "config.yaml")
    people, calc, send = read_tasks(tmp_path, retention="30d")
    assert [each.task for each in (people, calc, send)] == [
        "pay/in/people", "pay/monthly/calc", "pay/monthly/send",
    ]  # fmt: skip
    assert (people.versions, calc.versions, len(send.versions)) == ((), (), 1)
    assert [each.task for each in send.requirements] == ["pay/monthly/calc"]
    assert [each.task for each in people.requirements] == ["hr/out/people"]
    assert send.retention == timedelta(days=30)


def test_what_is_hidden_and_a_config_of_something_else_is_no_task(tmp_path: Path) -> None:
    write(tmp_path / "pay/monthly/calc", SCHEDULE)
    write(tmp_path / ".old/monthly/calc", "nonsense: [\n")
    write(tmp_path / "pay/.old/receipts", "nonsense: [\n")
    write(tmp_path / "other", "anything: 1\n", "config.yaml")
    assert [each.task for each in read_tasks(tmp_path)] == ["pay/monthly/calc"]


def test_links_are_followed_and_never_in_a_circle(tmp_path: Path) -> None:
    top = tmp_path / "tasks"
    elsewhere = write(tmp_path / "elsewhere", SCHEDULE)
    (top / "pay/monthly").mkdir(parents=True)
    (top / "pay/monthly/calc").symlink_to(elsewhere)
    (top / "pay/monthly/again").symlink_to(elsewhere)
    (top / "pay/monthly/back").symlink_to(top)
    assert [each.task for each in read_tasks(top)] == ["pay/monthly/again", "pay/monthly/calc"]


def test_folders_with_several_links_to_each_other_are_passed_once_on_each_way(
    tmp_path: Path,
) -> None:
    top = tmp_path / "tasks"
    write(top / "pay/monthly/calc", SCHEDULE)
    for here, there in (("a", "b"), ("b", "a")):
        (top / here).mkdir()
        for number in range(3):
            (top / here / f"link{number}").symlink_to(top / there)
    assert [each.task for each in read_tasks(top)] == ["pay/monthly/calc"]


@pytest.mark.parametrize("place", ["pay/calc", "a/pay/monthly/calc", "pay/monthly/-calc"])
def test_receipts_yaml_where_no_task_is_is_never_left_out(tmp_path: Path, place: str) -> None:
    write(tmp_path / "pay/monthly/send", SCHEDULE)
    file = write(tmp_path / place, SCHEDULE) / "receipts.yaml"
    with pytest.raises(ConfigError, match="in no folder of a task") as error:
        read_tasks(tmp_path)
    assert str(file) in str(error.value)


def test_a_wrong_entry_is_named_with_its_file_to_whoever_asks_for_it(tmp_path: Path) -> None:
    write(tmp_path / "pay/monthly/calc", "schedule: {cron: 0 2 * *}\n")
    write(tmp_path / "pay/monthly/send", SCHEDULE + "requires: [pay/monthly/calc]\n")
    calc, send = read_tasks(tmp_path)
    assert (calc.task, len(send.versions)) == ("pay/monthly/calc", 1)
    assert "calc/receipts.yaml, line 1: " in repr(calc)
    for said in ("versions", "requirements", "owners"):
        with pytest.raises(ConfigError, match=r"calc/receipts\.yaml, line 1: '0 2 \* \*' is no c"):
            getattr(calc, said)
    with pytest.raises(ConfigError, match=r"calc/receipts\.yaml, line 1: "):
        plan_backfill([send, calc], since="7d", store=MemoryStore("wrong-entry"))


def test_a_wrong_retention_of_the_caller_is_no_fault_of_a_task(tmp_path: Path) -> None:
    write(tmp_path / "pay/monthly/calc", SCHEDULE)
    with pytest.raises(ConfigError, match=r"^'soon' is not a length of time for retention"):
        read_tasks(tmp_path, retention="soon")


def test_a_folder_without_a_task_and_none_at_all_are_refused(tmp_path: Path) -> None:
    for place in (tmp_path, tmp_path / "nowhere"):
        with pytest.raises(ConfigError):
            read_tasks(place)


def test_a_folder_that_cannot_be_read_is_refused() -> None:
    with tempfile.TemporaryDirectory() as place:
        top = Path(place)
        top.chmod(0o755)
        write(top / "pay/monthly/calc", SCHEDULE)
        closed = write(top / "pay/weekly", "")
        closed.chmod(0)

        def ask() -> None:
            with pytest.raises(ConfigError, match=r"weekly cannot be read"):
                read_tasks(top)

        without_privileges(ask)
        closed.chmod(0o700)


def test_a_task_whose_folder_nobody_may_enter_hides_no_other() -> None:
    with tempfile.TemporaryDirectory() as place:
        top = Path(place)
        top.chmod(0o755)
        for task in ("pay/monthly/calc", "pay/monthly/closed"):
            write(top / task, SCHEDULE)
        write(top / "pay/monthly/send", SCHEDULE + "requires: [pay/monthly/closed]\n")
        (closed := top / "pay/monthly/closed").chmod(0o444)

        def ask() -> None:
            calc, wrong, send = read_tasks(top)
            assert (len(calc.versions), len(send.versions), send.owners) == (1, 1, {})
            for of_closed in (lambda: wrong.versions, lambda: is_of_one_task(closed)):
                with pytest.raises(ConfigError, match=r"yaml cannot be read: Permission denied"):
                    of_closed()

        without_privileges(ask)
        closed.chmod(0o700)


def test_a_folder_that_comes_and_goes_is_told_as_what_is_wrong(tmp_path: Path) -> None:
    folder = tmp_path / "load"
    program = "import os, sys\nwhile True: os.mkdir(sys.argv[1]); os.rmdir(sys.argv[1])"
    with subprocess.Popen([sys.executable, "-c", program, folder]) as comes_and_goes:
        try:
            for _ in range(10_000):
                with pytest.raises(ConfigError):
                    read_requirements(folder)
        finally:
            comes_and_goes.kill()


def test_one_task_is_read_from_its_file_or_its_folder(tmp_path: Path) -> None:
    folder = write(tmp_path / "load", SCHEDULE)
    for place in (folder, folder / "receipts.yaml"):
        assert is_of_one_task(place)
        assert len(read_task(place, "pay/monthly/calc").versions) == 1
    assert not is_of_one_task(tmp_path)
