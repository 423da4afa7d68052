"""The variables of a run as a DAG's author gives them: a map whose values are templates."""

from __future__ import annotations

import logging
from collections.abc import Mapping

from ubunye_core import Batch, ConfigError

log = logging.getLogger(__name__)
NOT_IN_BATCH = ("mode", "dtf")
"""These say how a run works, not which data it is for."""
FOUND_NOTHING = ("", "None")
"""What a template becomes that finds nothing, such as ``conf.get('month')``."""


def is_template(text: str) -> bool:
    """Whether a text is still to be filled in by Airflow."""
    return "{{" in text or "{%" in text


def yes_or_no(value: object, what: str) -> bool:
    """A yes or no, which a template gives as text; one that finds nothing says no.

    Raises:
        ConfigError: it is neither.
    """
    text = str(value).strip().lower()
    if text not in ("true", "false", "", "none"):
        raise ConfigError(f"{what} is {value!r}.", hint="Say true or false.")
    return text == "true"


def given_variables(variables: object) -> dict[str, object]:
    """The variables of a run that asks.

    Raises:
        ConfigError: they are no map, or one is empty: its template found nothing, and what is
            for no month must not be met by what was for no month.
    """
    if variables is None:
        return {}
    if not isinstance(variables, Mapping):
        raise ConfigError(
            f"'variables' is {variables!r}.", hint="Use names and values: {'month': '2026-10'}."
        )
    for name, value in variables.items():
        if _is_empty(value):
            raise ConfigError(
                f"The variable '{name}' is empty.",
                hint="Is it missing in the conf with which this run was triggered?",
            )
    return dict(variables)


def recorded_variables(variables: object) -> dict[str, object]:
    """The variables of a run that is recorded: what is empty is left out, with a warning.

    Raises:
        ConfigError: they are no map.
    """
    if variables is None:
        return {}
    if not isinstance(variables, Mapping):
        raise ConfigError(
            f"'variables' is {variables!r}.", hint="Use names and values: {'month': '2026-10'}."
        )
    empty = [str(name) for name, value in variables.items() if _is_empty(value)]
    if empty:
        log.warning("Without a value, and so not recorded: %s.", ", ".join(empty))
    return {name: value for name, value in variables.items() if not _is_empty(value)}


def comparable_texts(variables: Mapping[str, object]) -> dict[str, str]:
    """The variables that a requirement can compare, as text; so without those that look secret."""
    found = {name: str(variables[name]) for name in NOT_IN_BATCH if name in variables}
    return {**Batch.of(variables).as_dict(), **found}  # type: ignore[arg-type]


def _is_empty(value: object) -> bool:
    # An undefined Jinja value is falsy and no text; in a map it survives native rendering.
    return (
        value is None
        or (isinstance(value, str) and value.strip() in FOUND_NOTHING)
        or type(value).__module__.startswith("jinja2")
    )
