"""From the tasks and patterns that a question names to tasks."""

from __future__ import annotations

from collections.abc import Iterable

from ubunye_core.errors import ConfigError, StoreUnavailableError
from ubunye_core.names import check_task_or_pattern, fits, is_pattern, near
from ubunye_core.stores.protocol import ReceiptStore
from ubunye_core.stores.url import StoreLike, store_of


def known_tasks(store: ReceiptStore) -> list[str] | None:
    """The tasks a store holds; None when it cannot list them.

    Raises:
        StoreUnavailableError: it could not be listed now.
    """
    lister = getattr(store, "tasks", None)
    return None if lister is None else list(lister())


def fitting_tasks(pattern: str, store: ReceiptStore) -> list[str]:
    """The tasks of a store that a pattern names.

    Raises:
        ConfigError: this store cannot list its tasks.
    """
    known = known_tasks(store)
    if known is None:
        raise ConfigError(
            f"{store.url} cannot list its tasks, so the pattern {pattern} names none.",
            hint="Name each task.",
        )
    return [task for task in known if fits(task, pattern)]


def tasks_named(
    names: str | Iterable[str], *, store: StoreLike = None, among: Iterable[str] | None = None
) -> tuple[str, ...]:
    """The tasks that names and patterns stand for, each once, in the order in which they are given.

    A name stands for itself, also where nobody has ever seen it; a pattern for the tasks that fit,
    which may be none.

    Args:
        names: A task, a pattern such as ``pay/*/*``, or several.
        store: A store or its URL, whose tasks may fit; by default what ``UBUNYE_STORE`` names.
        among: The tasks that may fit, instead of those of a store.

    Raises:
        ConfigError: a name is none, or there is a pattern and the store cannot list its tasks.
        StoreUnavailableError: the store could not be listed now.
    """
    given = [names] if isinstance(names, str) else list(names)
    checked = [check_task_or_pattern(each) for each in given]
    if among is None:
        opened = store_of(store)
        known = {each: fitting_tasks(each, opened) for each in checked if is_pattern(each)}
    else:
        tasks = list(among)
        known = {each: [task for task in tasks if fits(task, each)] for each in checked}
    named: dict[str, None] = {}
    for each in checked:
        named |= dict.fromkeys(known[each] if is_pattern(each) else [each])
    return tuple(named)


def did_you_mean(task: str, store: ReceiptStore) -> str:
    """A question to put behind a sentence: which task of the store may be meant; empty if none.

    Raises:
        StoreUnavailableError: its tasks could not be listed now.
    """
    close = near(task, known_tasks(store) or ())
    return f" Did you mean {' or '.join(close)}?" if close else ""


def never_ran(name: str, store: ReceiptStore) -> str:
    """A sentence about a task or pattern of which the store has no run; empty if it has one.

    Raises:
        ConfigError: it is a pattern, and this store cannot list its tasks.
        StoreUnavailableError: the store cannot answer now.
    """
    if is_pattern(name):
        return "" if fitting_tasks(name, store) else f"No task in {store.url} fits {name}."
    newest = store.list_runs(name, 1)
    if newest or newest.unreadable:
        return ""
    return f"{name} has never run, as far as the store knows.{did_you_mean(name, store)}"


def if_it_never_ran(name: str, store: ReceiptStore) -> str:
    """``never_ran`` with a space before it, for the end of an answer that stands without it.

    Empty, too, where the store cannot tell.
    """
    try:
        said = never_ran(name, store)
    except (ConfigError, StoreUnavailableError):
        return ""
    return f" {said}" if said else ""
