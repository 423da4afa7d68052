"""Arguments that may be templates, which give text: numbers, and words of a kind."""

from __future__ import annotations

from enum import StrEnum
from typing import TypeVar

from ubunye_airflow.variables import is_template
from ubunye_core import ConfigError

Word = TypeVar("Word", bound=StrEnum)


def word(kind: type[Word], given: str, what: str) -> Word:
    """A word of an option.

    Raises:
        ConfigError: there is no such word.
    """
    try:
        return kind(given)
    except ValueError as error:
        words = ", ".join(each.value for each in kind)
        raise ConfigError(f"{what} is {given!r}.", hint=f"Use one of: {words}.") from error


def word_as_written(kind: type[Word], given: str, what: str) -> str:
    """A word of an option, or the template that will give one.

    Raises:
        ConfigError: there is no such word.
    """
    return str(given) if is_template(given) else word(kind, given, what).value


def number(given: object, what: str) -> int:
    """A whole number.

    Raises:
        ConfigError: it is none.
    """
    try:
        return int(str(given))
    except ValueError as error:
        raise ConfigError(f"{what} is {given!r}.", hint="Use a whole number.") from error


def number_or_none(given: object, what: str) -> int | None:
    """A whole number; None where a template finds nothing.

    Raises:
        ConfigError: it is no number.
    """
    return None if given in (None, "", "None") else number(given, what)
