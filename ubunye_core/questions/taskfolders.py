"""What is expected of tasks, as it stands in their files: one by one, or a folder of them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator
from datetime import timedelta
from pathlib import Path

from ubunye_core.config import path_given
from ubunye_core.errors import ConfigError, MissingExtraError
from ubunye_core.names import is_pattern, is_task
from ubunye_core.questions.foldernames import check_folder_of
from ubunye_core.questions.misread import MisreadTask
from ubunye_core.questions.nearfiles import meant_by, refuse_near_files
from ubunye_core.questions.planned import ToCatchUp
from ubunye_core.questions.requirements import Requirement
from ubunye_core.questions.schedulefiles import read_schedule
from ubunye_core.questions.taskfiles import (
    CONFIG_FILE,
    RECEIPTS_FILE,
    entry_of,
    read_requirements,
    text_of,
)
from ubunye_core.times import duration

_FILES = (CONFIG_FILE, RECEIPTS_FILE)


def read_task(
    path: str | Path, task: str, *, retention: timedelta | str | None = None
) -> ToCatchUp:
    """What is expected of one task: its schedule, which may be none, and what it requires.

    Args:
        path: The task's folder, or its ``config.yaml`` or ``receipts.yaml``. Where that is
            ``usecase/package/task_name`` below a folder, the owners of the tasks that it requires
            are looked for below that folder too.
        task: Its name.
        retention: How long its source keeps its data; None: what its files say, else for ever.

    Raises:
        ConfigError: it is the folder of another task, a file cannot be read, or something of it is
            wrong; names file and line.
    """
    check_folder_of(path, task)
    refuse_near_files(path_given(path))
    requires = read_requirements(path)
    return ToCatchUp(
        task=task,
        schedule=read_schedule(path),
        requires=requires,
        retention=read_retention(path) if retention is None else retention,
        owners=dict(_owners(path_given(path), task, requires)),
    )


def read_retention(path: str | Path) -> timedelta | None:
    """How long the source of a task keeps its data, as its files say; None where they do not.

    Raises:
        ConfigError: a file cannot be read, or it is no length of time; names file and line.
    """
    text, written = text_of(path, "retention"), entry_of(path, "retention")
    if text is None or written is None:
        return None
    try:
        return duration(text, what="retention")
    except ConfigError as error:
        raise written.wrong(error.message, hint=error.hint) from error


def _owners(path: Path, task: str, requires: Iterable[Requirement]) -> Iterator[tuple[str, str]]:
    """Who owns a task and those that it requires, as far as files beside each other say."""
    folder = (path if path.is_dir() else path.parent).resolve()
    is_below = folder.parts[-3:] == tuple(task.split("/"))
    required = [each.task for each in requires if is_below and not is_pattern(each.task)]
    for other in dict.fromkeys((task, *required)):
        place = folder if other == task else folder.parents[2] / other
        owner = text_of(path, "owner") if other == task else _owner_of_another(place)
        if owner is not None:
            yield other, owner


def _owner_of_another(place: Path) -> str | None:
    """Who owns a task that is only required; unknown without files, and where they are wrong."""
    try:
        return text_of(place, "owner")
    except ConfigError:
        return None


def read_tasks(
    folder: str | Path, *, retention: timedelta | str | None = None
) -> tuple[ToCatchUp, ...]:
    """What is expected of the tasks of a folder, each in ``usecase/package/task_name`` below it.

    A task whose own files are wrong hides no other. It is among them, and whoever asks for its
    schedule or requirements is told what is wrong: a plan raises that, and ``morning`` says of this
    task alone that it cannot be told.

    Args:
        folder: The folder.
        retention: How long their sources keep their data; None: for ever.

    Raises:
        ConfigError: it holds no task, a ``receipts.yaml`` stands where no task is, or a folder
            cannot be read; or the retention is wrong.
    """
    if retention is not None:
        retention = duration(retention, what="retention")
    top = path_given(folder)
    found: dict[str, Path] = {}
    near: list[Path] = []
    for file in _files(top):
        task = file.parent.relative_to(top).as_posix()
        if is_task(task):
            found[task] = file.parent
        elif file.name not in _FILES:
            near.append(file)
        elif file.name == RECEIPTS_FILE:
            raise ConfigError(
                f"{file} stands in no folder of a task.",
                hint=f"Move it to {top}/usecase/package/task_name, or name its task and this file.",
            )
    if not found:
        for file in near:
            refuse_near_files(file.parent)
        raise ConfigError(
            f"{top} holds no task.",
            hint=f"A task's files stand in usecase/package/task_name: {' or '.join(_FILES)}.",
        )
    return tuple(_read_or_misread(found[task], task, retention) for task in sorted(found))


def _read_or_misread(place: Path, task: str, retention: timedelta | None) -> ToCatchUp:
    try:
        return read_task(place, task, retention=retention)
    except (ConfigError, MissingExtraError) as error:
        return MisreadTask(task, place, error)


def is_of_one_task(path: str | Path) -> bool:
    """Whether a path names the files of one task: a file, or the folder that holds it.

    Raises:
        ConfigError: there is nothing, or nobody may look.
    """
    given = path_given(path)
    if not given.exists():
        raise ConfigError(f"{given} does not exist.", hint="Name a folder of tasks.")
    return not given.is_dir() or any(path_given(given / name).is_file() for name in _FILES)


def _files(top: Path) -> Iterator[Path]:
    """The files of tasks below a folder, and those with nearly their names; none that is hidden.

    Raises:
        ConfigError: a folder cannot be read, so that tasks might be left out.
    """

    def refuse(error: OSError) -> None:
        raise ConfigError(f"{error.filename} cannot be read: {error.strerror}.") from error

    above = {f"{top}": frozenset((os.path.realpath(top),))}
    for folder, folders, names in os.walk(top, onerror=refuse, followlinks=True):
        passed, kept = above.pop(folder), []
        for name in sorted(each for each in folders if not each.startswith(".")):
            place = os.path.join(folder, name)
            real = os.path.realpath(place)
            if not _leads_back(real, passed):
                kept.append(name)
                above[place] = passed | {real}
        folders[:] = kept
        yield from (Path(folder, name) for name in _FILES if name in names)
        yield from (Path(folder, name) for name in sorted(names) if meant_by(name, names))


def _leads_back(folder: str, passed: Collection[str]) -> bool:
    """Whether a folder is one that was passed on the way to it, or holds one of them.

    However that way went: two folders may have links to each other.
    """
    return any(Path(each).is_relative_to(folder) for each in passed)
