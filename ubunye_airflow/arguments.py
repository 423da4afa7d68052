"""Arguments of a DAG: what cannot be right is refused when the DAG is read.

A template, and what another task returns, is known only when the task runs, and is checked then.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, TypeVar

from ubunye_airflow.compat import ResolveMixin
from ubunye_airflow.schemes import check_scheme
from ubunye_airflow.variables import is_template
from ubunye_core import (
    Batch,
    ConfigError,
    Requirement,
    check_whole_path,
    duration,
    instant_or_ago,
    is_pattern,
)

Word = TypeVar("Word", bound=StrEnum)
A_TASK = "A task is 'usecase/package/task_name'."


def comes_later(given: object) -> bool:
    """Whether a value is known only when the task runs."""
    return is_template(given) if isinstance(given, str) else isinstance(given, ResolveMixin)


def holds_later(given: object) -> bool:
    """Whether a value, or any part of it, is known only when the task runs."""
    if isinstance(given, Mapping):
        return any(map(holds_later, [*given, *given.values()]))
    if isinstance(given, list | tuple | set | frozenset):
        return any(map(holds_later, given))
    return comes_later(given)


def word(kind: type[Word], given: object, what: str) -> Word:
    """A word of an option.

    Raises:
        ConfigError: there is no such word.
    """
    try:
        return kind(given)  # type: ignore[arg-type]  # whatever it is, it is a word or none
    except ValueError as error:
        words = ", ".join(each.value for each in kind)
        raise ConfigError(f"{what} is {given!r}.", hint=f"Use one of: {words}.") from error


def word_as_written(kind: type[Word], given: Any, what: str) -> Any:
    """A word of an option, or what will give one.

    Raises:
        ConfigError: there is no such word.
    """
    return given if comes_later(given) else word(kind, given, what).value


def number(given: object, what: str, *, at_least: int | None = None) -> int:
    """A whole number.

    Raises:
        ConfigError: it is none, or is too small.
    """
    try:
        found = int(str(given))
    except ValueError as error:
        raise ConfigError(f"{what} is {given!r}.", hint="Use a whole number.") from error
    if at_least is not None and found < at_least:
        raise ConfigError(f"{what} is {given!r}.", hint=f"Use {at_least} or more.")
    return found


def number_or_none(given: object, what: str) -> int | None:
    """A whole number; None where a template finds nothing.

    Raises:
        ConfigError: it is no number.
    """
    return None if given in (None, "", "None") else number(given, what)


def check_number(given: object, what: str, *, at_least: int) -> None:
    """Check a whole number.

    Raises:
        ConfigError: it is none, or is too small.
    """
    if not comes_later(given):
        number(given, what, at_least=at_least)


def check_length(given: Any, what: str) -> None:
    """Check a length of time; None is none.

    Raises:
        ConfigError: it is no ``timedelta``, nor a text such as ``2h``.
    """
    if given is not None and not comes_later(given):
        duration(given, what=what)


def check_instant_or_ago(given: Any, what: str) -> None:
    """Check an instant, or how long ago it is.

    Raises:
        ConfigError: it is neither.
    """
    if not comes_later(given):
        instant_or_ago(given, datetime.now(UTC), what=what)


def check_text(given: object, what: str, *, such_as: str) -> None:
    """Check a text that is not empty; None is none.

    Raises:
        ConfigError: it is no text, or an empty one.
    """
    if given is None or comes_later(given) or (isinstance(given, str) and given.strip()):
        return
    if isinstance(given, str):
        raise ConfigError(
            f"The argument '{what}' is empty.",
            hint=f"Leave it out, or write such as {what}={such_as!r}.",
        )
    raise ConfigError(f"{what} is {given!r}.", hint=f"Write text, such as {what}={such_as!r}.")


def check_path(given: object, what: str, *, such_as: str) -> None:
    """Check a file or folder; None is none.

    Raises:
        ConfigError: it is no path, or an empty one.
    """
    if not isinstance(given, os.PathLike):
        check_text(given, what, such_as=such_as)


def check_true_or_false(given: object, what: str) -> None:
    """Check what cannot be a template.

    Raises:
        ConfigError: it is neither true nor false.
    """
    if not isinstance(given, bool):
        raise ConfigError(f"{what} is {given!r}.", hint="Write True or False; it is no template.")


def check_store(store: object, store_conn_id: object, *, prefix: str = "") -> None:
    """Check what names a store; whether there is one, only its worker can tell.

    Raises:
        ConfigError: it is no text, a path that depends on where a worker was started, or a URL
            whose scheme is misspelt.
    """
    check_path(store, f"{prefix}store", such_as="s3://bucket/receipts")
    if store is not None and not comes_later(store):
        check_whole_path(str(store))
        check_scheme(str(store))
    if store_conn_id != "":  # no connection is to be looked at
        check_text(store_conn_id, f"{prefix}store_conn_id", such_as="ubunye_receipts_default")


def check_one_task(given: object, what: str) -> None:
    """Check the name of one task.

    Raises:
        ConfigError: it is no name of one task.
    """
    if comes_later(given):
        return
    if not isinstance(given, str):
        raise ConfigError(f"{what} is {given!r}.", hint=A_TASK)
    if is_pattern(given):
        raise ConfigError(f"{what} is {given!r}, a pattern.", hint="Name one task.")
    Requirement(given)


def check_tasks(given: object, what: str) -> None:
    """Check the names of tasks and patterns, of which there must be one.

    Raises:
        ConfigError: there is none, or one is no name.
    """
    if comes_later(given):
        return
    several = [given] if isinstance(given, str) else given
    if not isinstance(several, Iterable) or isinstance(several, Mapping | bytes):
        raise ConfigError(f"{what} is {given!r}.", hint=f"Write a list of names. {A_TASK}")
    names = list(several)
    if not names:
        raise ConfigError(f"{what} is empty.", hint="Name a task, or a pattern such as pay/*/*.")
    for name in names:
        if not comes_later(name):
            Requirement(name)


def check_variables(given: object, what: str = "variables") -> None:
    """Check the names and values of variables; None is none.

    Raises:
        ConfigError: they are no map, or one is no single value.
    """
    if given is None or comes_later(given):
        return
    if not isinstance(given, Mapping):
        raise ConfigError(
            f"'{what}' is {given!r}.", hint="Use names and values: {'month': '2026-10'}."
        )
    for name in given:
        if not isinstance(name, str):
            raise ConfigError(f"'{what}' has the name {name!r}.", hint="Names are texts.")
    Batch.of({name: "" if comes_later(value) else value for name, value in given.items()})


def check_function(given: object, decorator: str, argument: str) -> None:
    """Check what a decorator is written on.

    Raises:
        ConfigError: it is no function, but an argument without its name.
    """
    if given is not None and not callable(given):
        raise ConfigError(
            f"{decorator} is given {given!r} without the name of an argument.",
            hint=f"Write {decorator}({argument}={given!r}).",
        )
