"""What sensors and operators have in common that ask whether an upstream is done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ubunye_airflow.answers import requirement_fields
from ubunye_airflow.compat import hide
from ubunye_airflow.connections import secrets_in
from ubunye_airflow.every_window import requirement_read
from ubunye_airflow.files import beside_dag
from ubunye_airflow.variables import NOT_IN_BATCH, is_template
from ubunye_core import (
    ConfigError,
    Requirement,
    RequirementLike,
    read_requirements,
    requirements_of,
)

ANY_TASK = "any/task/at_all"
WAYS = ("required_task", "requires", "config")


class StoreURL:
    """An attribute for a store's URL, or a template of it, whose password no page and no log shows.

    Airflow sets the attribute once more when the template is filled in, also of a mapped task, and
    shows it before the task is executed.
    """

    def __set_name__(self, owner: type, name: str) -> None:
        self._key = f"_url_of_{name}"

    def __get__(self, task: Any, owner: type | None = None) -> str | None:
        found: str | None = None if task is None else vars(task).get(self._key)
        return found

    def __set__(self, task: Any, url: str | None) -> None:
        vars(task)[self._key] = url
        hide(secrets_in(str(url or "")))


class NamesStore:
    """A task that is told of a store."""

    store = StoreURL()


class AsksUpstream(NamesStore):
    """A task that asks whether its upstreams have succeeded. Its XCom holds what it pins."""

    required_task: str | None
    requires: Any
    config: str | None
    variables: Any
    match: list[str] | None
    store_conn_id: str | None
    asker: str | None
    task_id: str
    dag: Any

    def _ask(
        self,
        asked: Requirement,
        *,
        required_task: str | None,
        requires: RequirementLike | Iterable[RequirementLike] | None,
        config: str | Path | None,
        variables: Mapping[str, object] | None,
        match: Sequence[str] | None,
        store: str | None,
        store_conn_id: str | None,
        asker: str | None,
        may_be_empty: bool = False,
    ) -> None:
        """Take what is asked, and check what can be told before templates are filled in."""
        # A stand-in until then: a wrong option is an error of the DAG.
        self._asked = asked
        self.required_task, self.variables = required_task, variables
        self.requires = None if requires is None else as_written(requires)
        self.config = None if config is None else str(config)
        names = [match] if isinstance(match, str) else match
        self.match = None if names is None else list(names)
        self.store, self.store_conn_id, self.asker = store, store_conn_id, asker
        self._check(may_be_empty=may_be_empty)

    def _check(self, *, may_be_empty: bool = False) -> None:
        given = [name for name in WAYS if getattr(self, name) is not None]
        if not given and may_be_empty:
            return
        if len(given) != 1:
            raise ConfigError(
                f"The task '{self.task_id}' is given {' and '.join(given) or 'nothing to ask'}.",
                hint="Give one of required_task, requires and config.",
            )
        if given[0] != "required_task" and (
            self.match is not None
            or replace(self._asked, wait=None, poll=None) != Requirement(ANY_TASK)
        ):
            raise ConfigError(
                f"The task '{self.task_id}' has options of required_task beside {given[0]}.",
                hint="Say on_failed, max_age, optional and allow_unknown in each requirement.",
            )
        if isinstance(self.required_task, str) and not is_template(self.required_task):
            replace(self._asked, task=self.required_task)

    def _requirements(self) -> tuple[Requirement, ...]:
        """What is asked, once templates are filled in.

        Raises:
            ConfigError: it cannot be asked.
        """
        if self.required_task is not None:
            return (replace(self._asked, task=self.required_task, variables=self._names()),)
        if self.config is not None:
            return requirements_of(read_requirements(beside_dag(self.config, self)))
        given = self.requires
        several = [given] if isinstance(given, str | Mapping) else given
        return requirements_of(map(requirement_read, several))

    def _names(self) -> list[str] | None:
        if self.match is not None:
            return self.match
        return [name for name in self.variables or () if name not in NOT_IN_BATCH] or None

    def _asker(self) -> str | None:
        """The task that this one asks for: as given, else the one recorded directly behind it."""
        if self.asker:
            return self.asker
        behind = getattr(self, "downstream_list", ()) if self.has_dag() else ()  # type: ignore[attr-defined]
        named = {getattr(task, "receipt_task", None) for task in behind} - {None}
        found = named.pop() if len(named) == 1 else None
        return found if isinstance(found, str) and not is_template(found) else None


def as_written(requires: Any) -> Any:
    """Requirements in words that Airflow can fill in and keep."""
    if isinstance(requires, Requirement):
        return requirement_fields(requires)
    if isinstance(requires, str):
        return requires
    if isinstance(requires, Mapping):
        return dict(requires)
    if isinstance(requires, Iterable) and not isinstance(requires, bytes):
        return [as_written(each) for each in requires]
    requirements_of([requires])  # says that it is none
    return requires
