"""Whose files a folder holds, where it is named as a task is: usecase/package/task_name."""

from __future__ import annotations

import os
from pathlib import Path

from ubunye_core.config import path_given
from ubunye_core.errors import ConfigError
from ubunye_core.names import is_task

_PARTS = 3


def check_folder_of(path: str | Path, task: str) -> None:
    """Refuse the files of another task than the one that is named.

    A folder is another task's where its last three parts name a task and differ from this one in
    one part. One that is named otherwise may hold the files of any task.

    Args:
        path: A task's folder, or a file in it. What does not exist is for its reader to tell.
        task: The task.

    Raises:
        ConfigError: it is the folder of another task.
    """
    given = path_given(path)
    if not given.exists():
        return
    folder = given if given.is_dir() else given.parent
    places = (Path(os.path.abspath(folder)), folder.resolve())  # as it is called, and is
    names = ["/".join(place.parts[-_PARTS:]) for place in places]
    if task in names:
        return
    for name in names:
        if is_task(name) and _parts_alike(name, task) == _PARTS - 1:
            raise ConfigError(
                f"{folder} is the folder of {name}, not of {task}.",
                hint=f"Name the folder of {task}, or the task {name}.",
            )


def _parts_alike(name: str, task: str) -> int:
    pairs = zip(name.split("/"), task.split("/"), strict=False)
    return sum(part == other for part, other in pairs)
