"""The policy that stands in a task's YAML."""

from __future__ import annotations

from dataclasses import fields
from pathlib import Path

from ubunye_core.config import Written
from ubunye_core.errors import ConfigError
from ubunye_core.questions.policy import IfHeld, Policy
from ubunye_core.questions.taskfiles import entry_of

KEYS = tuple(field.name for field in fields(Policy))
_TRUE_OR_FALSE = ("require_reason", "guard", "ordered")


def read_policy(path: str | Path) -> Policy:
    """The policy of a task's files; an empty one where neither has any.

    Args:
        path: A task's folder, or its ``config.yaml`` (``CONFIG.policy``) or ``receipts.yaml``
            (``policy``). The other file beside it is read too.

    Raises:
        ConfigError: a file cannot be read, both have ``policy``, or an entry is wrong; names file
            and line.
    """
    written = entry_of(path, "policy")
    if written is None:
        return Policy()
    entries = written.entries("a policy", known=KEYS)
    if not entries:
        raise written.wrong("'policy' is empty.", hint="Leave it out if there is none.")
    values = {key: _value(key, entry) for key, entry in entries.items()}
    if values.get("if_held") != IfHeld.WAIT:
        for key in ("wait", "poll"):
            if key in entries:
                raise entries[key].wrong(
                    f"'{key}' says how to wait for a batch that is held.",
                    hint="Write 'if_held: wait', too.",
                )
    return Policy(**values)  # type: ignore[arg-type]


def _value(key: str, entry: Written) -> bool | str:
    """The value of one key, tried by itself, so that an error names its line."""
    value: bool | str = (
        entry.boolean(f"'{key}'") if key in _TRUE_OR_FALSE else entry.text(f"'{key}'")
    )
    try:
        Policy(**{key: value})  # type: ignore[arg-type]
    except ConfigError as error:
        raise entry.wrong(error.message, hint=error.hint) from error
    return value
