"""Files that are named nearly as those of a task, so that what they say would be lost unsaid."""

from __future__ import annotations

import os
from collections.abc import Collection
from difflib import SequenceMatcher
from pathlib import Path

from ubunye_core.errors import ConfigError
from ubunye_core.questions.taskfiles import CONFIG_FILE, RECEIPTS_FILE

_ENDINGS = (".yaml", ".yml")
_ALIKE = 0.85
"""How like ``receipts`` a name is that was meant so: ``reciepts`` is, ``recipes`` is not."""


def meant_by(name: str, beside: Collection[str]) -> str | None:
    """The name that a file of a folder was to have; None where it is right, or nobody's business.

    ``config.yaml`` is a name that other programs use too: it is taken for meant only where nothing
    but the case or the ending differs, and no file of a task is beside it.

    Args:
        name: The name of the file.
        beside: The names in its folder.
    """
    stem, ending = os.path.splitext(name.lower())
    if ending not in _ENDINGS or RECEIPTS_FILE in beside:
        return None
    if stem == Path(CONFIG_FILE).stem:
        return None if CONFIG_FILE in beside else CONFIG_FILE
    is_like = SequenceMatcher(None, stem, Path(RECEIPTS_FILE).stem).ratio() >= _ALIKE
    return RECEIPTS_FILE if is_like and not stem.startswith(".") else None


def refuse_near_files(folder: Path) -> None:
    """Refuse a folder with a file that is named nearly as one of a task.

    Args:
        folder: The folder. What is none, or cannot be read, is for the reader of its files to tell.

    Raises:
        ConfigError: there is one; names it, and how to name it.
    """
    try:
        names = [each.name for each in folder.iterdir() if each.is_file()]
    except OSError:
        return
    for name in sorted(names):
        meant = meant_by(name, names)
        if meant is not None:
            raise ConfigError(
                f"{folder / name} is not read under this name.", hint=f"Rename it {meant}."
            )
