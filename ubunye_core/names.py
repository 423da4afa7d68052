"""The grammar of identifiers. Each is checked here before it touches a path, a key or SQL."""

from __future__ import annotations

import fnmatch
import re
from collections.abc import Iterable
from difflib import SequenceMatcher, get_close_matches
from enum import StrEnum
from typing import TypeVar

from ubunye_core.errors import ConfigError, InvalidNameError

MAX_BYTES = 128
Words = TypeVar("Words", bound=StrEnum)
_SEGMENT = re.compile(r"[A-Za-z0-9_][A-Za-z0-9._-]*", re.ASCII)
_PATTERN_SEGMENT = re.compile(r"[A-Za-z0-9_*?][A-Za-z0-9._*?-]*", re.ASCII)
_SEGMENT_HINT = (
    "Use letters, digits, '_', '.' and '-', not beginning with '.' or '-', at most 128 bytes."
)
_TASK_HINT = f"A task is 'usecase/package/task_name'. {_SEGMENT_HINT}"


def is_segment(text: object) -> bool:
    """Whether ``text`` can be one part of a task, or a run id."""
    return isinstance(text, str) and len(text) <= MAX_BYTES and bool(_SEGMENT.fullmatch(text))


def check_run_id(text: object) -> str:
    """Return ``text`` if it can be a run id, else raise ``InvalidNameError``."""
    if not isinstance(text, str) or not is_segment(text):
        raise InvalidNameError("run id", text, hint=_SEGMENT_HINT)
    return text


def check_task(text: object) -> str:
    """Return ``text`` if it names one task, else raise ``InvalidNameError``."""
    if not isinstance(text, str) or len(text) > MAX_BYTES:
        raise InvalidNameError("task", text, hint=_TASK_HINT)
    segments = text.split("/")
    if len(segments) != 3 or not all(map(is_segment, segments)):
        raise InvalidNameError("task", text, hint=_TASK_HINT)
    return text


def is_task(text: object) -> bool:
    """Whether ``text`` names one task."""
    try:
        check_task(text)
    except InvalidNameError:
        return False
    return True


def is_pattern(text: str) -> bool:
    """Whether ``text`` names several tasks (it holds ``*`` or ``?``)."""
    return "*" in text or "?" in text


def check_task_or_pattern(text: object) -> str:
    """Return ``text`` if it names a task or is a pattern of tasks, such as ``pay/*/*``."""
    if not isinstance(text, str) or not is_pattern(text):
        return check_task(text)
    segments = text.split("/")
    good = len(text) <= MAX_BYTES and len(segments) == 3
    if not good or not all(_PATTERN_SEGMENT.fullmatch(part) for part in segments):
        raise InvalidNameError(
            "pattern of tasks",
            text,
            hint="A pattern has three segments; '*' stands for any text, '?' for one character.",
        )
    return text


def fits(task: str, pattern: str) -> bool:
    """Whether ``task`` is named by ``pattern``; ``*`` stays within a segment."""
    parts, wanted = task.split("/"), pattern.split("/")
    return len(parts) == len(wanted) and all(
        fnmatch.fnmatchcase(part, want) for part, want in zip(parts, wanted, strict=True)
    )


def near(name: str, known: Iterable[str]) -> list[str]:
    """The names among ``known`` that somebody who wrote ``name`` may have meant, best first.

    Each segment must be like its own: most names of a store begin alike.
    """
    parts = name.split("/")

    def is_like(other: str) -> bool:
        others = other.split("/")
        return len(others) != len(parts) or all(map(_are_alike, parts, others))

    return get_close_matches(name, filter(is_like, known), n=3, cutoff=0.6)


def _are_alike(one: str, other: str) -> bool:
    return SequenceMatcher(None, one, other).ratio() > 0.5


def one_of(kind: type[Words], value: object, what: str) -> Words:
    """The word of a set that an argument stands for.

    Raises:
        ConfigError: it is none of them; names them.
    """
    try:
        return kind(str(value))
    except ValueError as error:
        names = ", ".join(each.value for each in kind)
        raise ConfigError(f"{value!r} is nothing for '{what}'.", hint=f"Use {names}.") from error
