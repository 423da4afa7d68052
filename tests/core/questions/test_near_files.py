"""Files of tasks with nearly the right name: what they say is not lost unsaid."""

from __future__ import annotations

from pathlib import Path

import pytest

from ubunye_core import ConfigError, Verdict, morning, plan_backfill, read_task, read_tasks
from ubunye_core.questions.misread import MisreadTask
from ubunye_core.stores import MemoryStore

SCHEDULE = "schedule: {cron: 0 2 * * *, window: day}\n"
NEAR = [
    ("receipts.yml", "receipts.yaml"),
    ("receipt.yaml", "receipts.yaml"),
    ("Receipts.yaml", "receipts.yaml"),
    ("RECEIPTS.YML", "receipts.yaml"),
    ("reciepts.yaml", "receipts.yaml"),
    ("config.yml", "config.yaml"),
    ("Config.yaml", "config.yaml"),
]
OTHERS = [
    "receipts.yaml~", "receipts.yaml.bak", ".receipts.yaml", "receipts.json", "recipes.yaml",
    "receipts_old.yaml", "configs.yaml", "config.json", "README.md", "receipts.yml/inside",
]  # fmt: skip


def write(folder: Path, name: str, text: str = SCHEDULE) -> Path:
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(text)
    return folder


@pytest.mark.parametrize(("name", "meant"), NEAR)
def test_a_task_whose_file_has_nearly_its_name_is_told_how_to_name_it(
    tmp_path: Path, name: str, meant: str
) -> None:
    place = write(tmp_path / "pay/monthly/calc", name)
    write(tmp_path / "pay/monthly/send", "receipts.yaml")
    calc, send = read_tasks(tmp_path)
    assert isinstance(calc, MisreadTask)
    assert (calc.task, len(send.versions)) == ("pay/monthly/calc", 1)
    said = f"{name} is not read under this name. Rename it {meant}."
    assert (calc.unreadable.where, calc.unreadable.why) == (str(place), said)
    store = MemoryStore(f"near-{name}")
    with pytest.raises(ConfigError, match="is not read under this name"):
        plan_backfill([calc], since="7d", store=store)
    with pytest.raises(ConfigError, match="is not read under this name"):
        read_task(place, "pay/monthly/calc")
    answer = morning(schedules=[calc, send], store=store, since="1d")
    assert answer.verdict is not Verdict.PASS
    (told,) = [each for each in answer.tasks if each.task == "pay/monthly/calc"]
    assert said in told.reason


def test_a_near_name_beside_a_config_is_told_too(tmp_path: Path) -> None:
    write(tmp_path / "pay/monthly/calc", "config.yaml", "CONFIG: {requires: [hr/out/people]}\n")
    write(tmp_path / "pay/monthly/calc", "receipts.yml")
    (calc,) = read_tasks(tmp_path)
    with pytest.raises(ConfigError, match=r"receipts\.yml is not .* Rename it receipts\.yaml\."):
        calc.versions  # noqa: B018


@pytest.mark.parametrize("name", [*(name for name, _ in NEAR), *OTHERS])
def test_what_stands_beside_a_receipts_yaml_is_nobody_s_business(tmp_path: Path, name: str) -> None:
    write(tmp_path / "pay/monthly/calc", name, "anything: [\n")
    write(tmp_path / "pay/monthly/calc", "receipts.yaml")
    (calc,) = read_tasks(tmp_path)
    assert len(calc.versions) == 1


@pytest.mark.parametrize("name", OTHERS)
def test_a_name_that_is_not_near_makes_no_task(tmp_path: Path, name: str) -> None:
    write(tmp_path / "pay/monthly/calc", name)
    write(tmp_path / "pay/monthly/send", "receipts.yaml")
    assert [each.task for each in read_tasks(tmp_path)] == ["pay/monthly/send"]


def test_where_nothing_else_is_the_near_file_is_named(tmp_path: Path) -> None:
    write(tmp_path / "load", "receipts.yml")
    for top in (tmp_path, tmp_path / "load"):
        with pytest.raises(ConfigError) as error:
            read_tasks(top)
        file = tmp_path / "load/receipts.yml"
        said = f"{file} is not read under this name. Rename it receipts.yaml."
        assert str(error.value) == said


def test_a_near_name_where_no_task_is_hides_no_task(tmp_path: Path) -> None:
    write(tmp_path, "config.yml", "anything: 1\n")
    write(tmp_path / "pay/monthly/calc", "receipts.yaml")
    assert [each.task for each in read_tasks(tmp_path)] == ["pay/monthly/calc"]


def test_a_file_that_is_named_itself_is_read_whatever_its_name(tmp_path: Path) -> None:
    write(tmp_path, "config.yml", "CONFIG: {requires: [hr/out/people]}\n")
    task = read_task(tmp_path / "config.yml", "pay/monthly/calc")
    assert [each.task for each in task.requirements] == ["hr/out/people"]
