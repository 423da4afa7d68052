"""What is expected of tasks, as it stands in their files: one by one, or a folder of them."""

from __future__ import annotations

import os
from collections.abc import Collection, Iterator
from datetime import timedelta
from pathlib import Path

from ubunye_core.config import path_given
from ubunye_core.errors import ConfigError
from ubunye_core.names import is_task
from ubunye_core.questions.planned import ToCatchUp
from ubunye_core.questions.schedulefiles import read_schedule
from ubunye_core.questions.taskfiles import CONFIG_FILE, RECEIPTS_FILE, read_requirements

_FILES = (CONFIG_FILE, RECEIPTS_FILE)


def read_task(
    path: str | Path, task: str, *, retention: timedelta | str | None = None
) -> ToCatchUp:
    """What is expected of one task: its schedule, which may be none, and what it requires.

    Args:
        path: The task's folder, or its ``config.yaml`` or ``receipts.yaml``.
        task: Its name.
        retention: How long its source keeps its data; None: for ever.

    Raises:
        ConfigError: a file cannot be read, or something of it is wrong; names file and line.
    """
    return ToCatchUp(
        task=task,
        schedule=read_schedule(path),
        requires=read_requirements(path),
        retention=retention,
    )


def read_tasks(
    folder: str | Path, *, retention: timedelta | str | None = None
) -> tuple[ToCatchUp, ...]:
    """What is expected of the tasks of a folder, each in ``usecase/package/task_name`` below it.

    Args:
        folder: The folder.
        retention: How long their sources keep their data; None: for ever.

    Raises:
        ConfigError: it holds no task, a ``receipts.yaml`` stands where no task is, or something
            of a file is wrong.
    """
    top = path_given(folder)
    found: dict[str, Path] = {}
    for file in _files(top):
        task = file.parent.relative_to(top).as_posix()
        if is_task(task):
            found[task] = file.parent
        elif file.name == RECEIPTS_FILE:
            raise ConfigError(
                f"{file} stands in no folder of a task.",
                hint=f"Move it to {top}/usecase/package/task_name, or name its task and this file.",
            )
    if not found:
        raise ConfigError(
            f"{top} holds no task.",
            hint=f"A task's files stand in usecase/package/task_name: {' or '.join(_FILES)}.",
        )
    return tuple(read_task(found[task], task, retention=retention) for task in sorted(found))


def is_of_one_task(path: str | Path) -> bool:
    """Whether a path names the files of one task: a file, or the folder that holds it.

    Raises:
        ConfigError: there is nothing.
    """
    given = path_given(path)
    if not given.exists():
        raise ConfigError(f"{given} does not exist.", hint="Name a folder of tasks.")
    return not given.is_dir() or any((given / name).is_file() for name in _FILES)


def _files(top: Path) -> Iterator[Path]:
    """The files of tasks below a folder; what is hidden is none of them.

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


def _leads_back(folder: str, passed: Collection[str]) -> bool:
    """Whether a folder is one that was passed on the way to it, or holds one of them.

    However that way went: two folders may have links to each other.
    """
    return any(Path(each).is_relative_to(folder) for each in passed)
