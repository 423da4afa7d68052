"""Arguments of ``ExternalTaskSensor`` and the like: understood where they mean something here."""

from __future__ import annotations

from collections.abc import Iterable, MutableMapping
from datetime import timedelta
from typing import Any

from ubunye_core import ConfigError

_FAILED = frozenset({"failed", "upstream_failed", "error", "interrupted", "skipped"})
_INSTEAD = {
    "external_dag_id": "Name the receipt's task, wherever it runs: "
    "required_task='usecase/package/task_name'.",
    "execution_delta": "Say which batch it is for, whatever the date: "
    "variables={'month': '2026-10'}; its values are templates.",
    "skipped_states": "A run skipped by decision is a refusal, which fails the task; with "
    "soft_fail=True it skips the task.",
}
_INSTEAD |= dict.fromkeys(
    ("external_task_id", "external_task_ids", "external_task_group_id", "task", "receipt_task"),
    _INSTEAD["external_dag_id"],
)
_INSTEAD |= dict.fromkeys(("execution_date_fn", "logical_date_fn"), _INSTEAD["execution_delta"])


def understood(kwargs: MutableMapping[str, Any]) -> dict[str, Any]:
    """Take the names of ``ExternalTaskSensor`` out of these arguments, in words of ours.

    ``failed_states=["failed"]`` is ``on_failed="fail"``, ``poll_interval=30`` is ``poll="30s"``,
    and ``check_existence=False`` is ``allow_unknown=True``. ``allowed_states=["success"]``,
    ``check_existence=True`` and an empty list of states say what holds anyway.

    Raises:
        ConfigError: one of them has no meaning here; names what does.
    """
    ours: dict[str, Any] = {}
    for name, instead in _INSTEAD.items():
        given = kwargs.pop(name, None)
        if given is not None and given != []:
            raise ConfigError(f"'{name}' means nothing to a gate on receipts.", hint=instead)
    allowed = kwargs.pop("allowed_states", None)
    if allowed is not None and _words(allowed, "allowed_states") != {"success"}:
        raise ConfigError(
            f"'allowed_states' is {allowed!r}, and only a success opens a gate.",
            hint="Leave it out; optional=True passes whatever the upstream did.",
        )
    failed = _words(kwargs.pop("failed_states", None) or (), "failed_states")
    if not failed <= _FAILED:
        raise ConfigError(
            f"'failed_states' names {min(failed - _FAILED)!r}, which is no failure of a run.",
            hint="on_failed='fail' refuses once the newest run has finally failed.",
        )
    if failed - {"skipped"}:  # a run that was skipped by decision refuses in any case
        ours["on_failed"] = "fail"
    if (seconds := kwargs.pop("poll_interval", None)) is not None:
        ours["poll"] = _seconds(seconds)
    existence = kwargs.pop("check_existence", None)
    if existence not in (None, True, False):
        raise ConfigError(f"'check_existence' is {existence!r}.", hint="Write True or False.")
    if existence is False:
        ours["allow_unknown"] = True
    return ours


def agreed(name: str, given: Any, usual: Any, ours: MutableMapping[str, Any]) -> Any:
    """An argument that may be given by our name or by the other, and not by both.

    Raises:
        ConfigError: it is given by both.
    """
    other = ours.pop(name, None)
    if other is None:
        return given
    if given not in (usual, other):
        raise ConfigError(f"'{name}' is {given!r}, and another argument says {other!r}.")
    return other


def _seconds(given: Any) -> timedelta:
    """A pause that is given as a number of seconds."""
    try:
        return given if isinstance(given, timedelta) else timedelta(seconds=float(given))
    except (TypeError, ValueError, OverflowError) as error:
        raise ConfigError(
            f"'poll_interval' is {given!r}.", hint="Write seconds, or poll='30s'."
        ) from error


def _words(states: Iterable[object] | str, what: str) -> set[str]:
    if not isinstance(states, Iterable):
        raise ConfigError(f"'{what}' is {states!r}.", hint=f"Write a list: {what}=['success'].")
    each = [states] if isinstance(states, str) else states
    return {str(getattr(state, "value", state)) for state in each}
