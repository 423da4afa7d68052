"""What sensors and operators have in common that ask whether an upstream is done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from ubunye_airflow.answers import requirement_fields
from ubunye_airflow.arguments import (
    check_one_task,
    check_path,
    check_store,
    check_variables,
    comes_later,
    holds_later,
)
from ubunye_airflow.compat import hide
from ubunye_airflow.connections import secrets_in
from ubunye_airflow.every_window import requirement_read
from ubunye_airflow.files import beside_dag
from ubunye_airflow.variables import NOT_IN_BATCH, given_variables
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
        check_store(store, store_conn_id)
        check_path(config, "config", such_as="receipts.yaml")
        if asker:
            check_one_task(asker, "asker")
        # A stand-in until then: a wrong option is an error of the DAG.
        self._asked = asked
        self.required_task, self.variables = required_task, variables
        self.requires = None if requires is None else as_written(requires)
        self.config = None if config is None else str(config)
        self.match = None if match is None else _names(match)
        self.store, self.store_conn_id, self.asker = store, store_conn_id, asker
        self._check(may_be_empty=may_be_empty)

    def _check(self, *, may_be_empty: bool = False) -> None:
        if not comes_later(self.variables):
            check_variables(self.variables)
            given_variables(self.variables)
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
        if self.requires is not None:
            _check_requires(self.requires)
        if self.required_task is not None:
            task = ANY_TASK if comes_later(self.required_task) else self.required_task
            replace(self._asked, task=task, variables=self._names())
            if not may_be_empty and not comes_later(self.variables):
                self._check_batch()

    def _check_batch(self) -> None:
        """Check that what must agree is there to be compared."""
        missing = [name for name in self.match or () if name not in (self.variables or {})]
        if missing:
            raise ConfigError(
                f"'match' of the task '{self.task_id}' names '{missing[0]}', which is not among "
                f"its variables.",
                hint=f"Give its value: variables={{{missing[0]!r}: '...'}}.",
            )
        if self._names() is None:
            raise ConfigError(
                f"The task '{self.task_id}' has no variables, so any old success would do.",
                hint="Give them: variables={'month': '...'}; or match=[] if that is meant, best "
                "with max_age.",
            )

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
        given = self.variables if isinstance(self.variables, Mapping) else {}
        return [name for name in given if name not in NOT_IN_BATCH] or None

    def _asker(self) -> str | None:
        """The task that this one asks for: as given, else the one recorded directly behind it."""
        if self.asker:
            return self.asker
        behind = getattr(self, "downstream_list", ()) if self.has_dag() else ()  # type: ignore[attr-defined]
        named = {getattr(task, "receipt_task", None) for task in behind} - {None}
        found = named.pop() if len(named) == 1 else None
        return found if isinstance(found, str) and not comes_later(found) else None


def _names(match: Sequence[str] | str) -> list[str]:
    names = [match] if isinstance(match, str) else match
    if not isinstance(names, Iterable) or isinstance(names, Mapping):
        raise ConfigError(
            f"'match' is {match!r}.", hint="Write the names that must agree: match=['month']."
        )
    return list(names)


def _check_requires(requires: Any) -> None:
    """Check each requirement, as far as it holds no template."""
    if comes_later(requires):
        return
    several = [requires] if isinstance(requires, str | Mapping) else list(requires)
    requirements_of(
        [ANY_TASK if comes_later(each) else requirement_read(_known(each)) for each in several]
    )


def _known(requirement: Any) -> Any:
    """What of a requirement is known when the DAG is read."""
    if not isinstance(requirement, Mapping):
        return requirement
    later = {name for name, value in requirement.items() if holds_later(value)}
    if later & {"windows", "schedule"}:
        later |= {"windows", "schedule"}
    known = {name: value for name, value in requirement.items() if name not in later}
    return {**known, "task": ANY_TASK} if "task" in later else known


def as_written(requires: Any) -> Any:
    """Requirements in words that Airflow can fill in and keep."""
    if comes_later(requires):
        return requires
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
