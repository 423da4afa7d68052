"""What stands in the YAML of the component, and is empty: an environment variable was not set."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import BaseModel

from ubunye_core import ConfigError


def check_given(value: object, name: str = "") -> None:
    """Refuse a value that is given and is empty: it would be as if nobody had asked for it.

    Args:
        value: The component, a part of it, or a value there.
        name: Where it stands.

    Raises:
        ConfigError: it, or something in it, is empty.
    """
    if value is None:
        raise ConfigError(
            f"{name} is given and is empty.",
            hint="Set the environment variable that it names, or leave it out.",
        )
    inside: Mapping[object, object] = {}
    if isinstance(value, BaseModel):
        # No environment variable is a map; and who needs partitions says that there are none.
        given = sorted(value.model_fields_set - {"partitions"})
        inside = {each: getattr(value, each) for each in given}
    elif isinstance(value, Mapping):
        inside = value
    elif isinstance(value, list | tuple) and type(value) in (list, tuple):
        inside = dict(enumerate(value))  # partitions of Dagster are tuples that cannot be read
    for each, held in inside.items():
        at = f"[{each}]" if isinstance(each, int) else f".{each}"
        check_given(held, f"{name}{at}".removeprefix("."))
