"""Whose files a folder holds, where folders are named as tasks are: usecase/package/task_name."""

from __future__ import annotations

import os
from pathlib import Path

from ubunye_core.config import path_given
from ubunye_core.errors import ConfigError
from ubunye_core.names import is_task

_PARTS = 3


def check_folder_of(path: str | Path, task: str) -> None:
    """Refuse the files of another task where the one that is named has a folder of its own.

    A gate that stands in its own folder would not hold. What is in any other folder may be of any
    task: tasks may share a schedule.

    Args:
        path: A task's folder, or a file in it. What does not exist is for its reader to tell.
        task: The task.

    Raises:
        ConfigError: it is the folder of another task, and this task has one beside it.
    """
    given = path_given(path)
    if not given.exists():
        return
    folder = given if given.is_dir() else given.parent
    places = (Path(os.path.abspath(folder)), folder.resolve())  # as it is called, and is
    names = ["/".join(place.parts[-_PARTS:]) for place in places]
    if task in names:
        return
    for place, name in zip(places, names, strict=True):
        own = Path(*place.parts[:-_PARTS], task)
        if is_task(name) and own.is_dir():
            raise ConfigError(
                f"{folder} is the folder of {name}, not of {task}.",
                hint=f"Name {own}, or the task {name}.",
            )
