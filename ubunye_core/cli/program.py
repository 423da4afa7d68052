"""Which file holds the code of a command, so that a receipt can carry its hash."""

from __future__ import annotations

import os
import re
from collections.abc import Sequence
from pathlib import Path

_INTERPRETERS = re.compile(
    r"(python|pypy)[\d.]*|(ba|da|z|k|fi)?sh|perl[\d.]*|ruby[\d.]*|node|Rscript|julia|lua[\d.]*"
)


def code_file(command: Sequence[str]) -> Path | None:
    """The script that a command runs: itself, or the file its interpreter is given.

    None where that can't be told: for a compiled program, a program found by its name alone, a
    module (``python -m``) or code on the command line (``sh -c``). Nothing is guessed from the
    other arguments: they may be data.
    """
    program = command[0]
    if _INTERPRETERS.fullmatch(os.path.basename(program)):
        script = next((word for word in command[1:] if not word.startswith("-")), None)
        options = command[1 : command.index(script)] if script is not None else ()
        if script is None or any(re.match(r"-\w*[cmeE]", option) for option in options):
            return None
        return _file(script)
    return _file(program) if os.sep in program and _is_script(program) else None


def _file(path: str) -> Path | None:
    return Path(path) if os.path.isfile(path) else None


def _is_script(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:
        return False
