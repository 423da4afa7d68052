"""A task whose files cannot be read: it hides no other, and is never taken for one without them."""

from __future__ import annotations

from pathlib import Path
from typing import NoReturn

from ubunye_core.errors import UbunyeError
from ubunye_core.questions.planned import ToCatchUp
from ubunye_core.stores.protocol import Unreadable


class MisreadTask(ToCatchUp):
    """A task whose files cannot be read.

    Whoever asks what they expect of it is told what is wrong, by the error itself. So nothing can
    plan such a task, or find that it has no schedule.
    """

    place: Path
    """Where its files are."""
    error: UbunyeError
    """What is wrong with them."""

    def __init__(self, task: str, place: Path, error: UbunyeError) -> None:
        # By the way round that a frozen class leaves: its own __init__ wants a schedule.
        object.__setattr__(self, "task", task)
        object.__setattr__(self, "place", place)
        object.__setattr__(self, "error", error)

    @property
    def unreadable(self) -> Unreadable:
        """Its files, as a place that cannot be read."""
        why = str(self.error).removeprefix(f"{self.place}/")
        return Unreadable(where=str(self.place), why=why, task=self.task)

    @property
    def versions(self) -> NoReturn:
        raise self.error.with_traceback(None)

    @property
    def requirements(self) -> NoReturn:
        raise self.error.with_traceback(None)

    @property
    def owners(self) -> NoReturn:
        raise self.error.with_traceback(None)

    def __eq__(self, other: object) -> bool:
        return self is other

    def __hash__(self) -> int:
        return id(self)

    def __repr__(self) -> str:
        return f"MisreadTask({self.task!r}, {str(self.error)!r})"
