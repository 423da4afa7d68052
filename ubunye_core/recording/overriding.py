"""Which arguments of a run are not what its spec or its schedule says."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import replace

from ubunye_core.batch import text_of
from ubunye_core.errors import ConfigError
from ubunye_core.masking import MASK, clean_text, is_secret_name, masked_value, told
from ubunye_core.receipt import Override


def overrides_of(usual: Mapping[str, object], given: Mapping[str, object]) -> tuple[Override, ...]:
    """The arguments that differ from what is usual, in the order of their names.

    Compared and kept as text, as variables are; lists and maps as JSON. Of secret-looking names
    only that they differ is kept.

    Args:
        usual: What the spec or the schedule says.
        given: What the run was given. What is not among it is as usual.
    """
    found = []
    for name in sorted(given, key=str):
        before, now = _text(usual.get(name)), _text(given[name])
        if before != now:
            found.append(
                Override(
                    name=masked_value(str(name)),
                    usual=_masked(str(name), before),
                    given=_masked(str(name), now),
                )
            )
    return tuple(found)


def without(overrides: Iterable[Override], secrets: Iterable[str]) -> tuple[Override, ...]:
    """Overrides as they may be recorded: without the secrets of their run."""
    known = tuple(secrets)
    return tuple(
        replace(
            each,
            name=masked_value(each.name),
            usual=_masked(each.name, each.usual, known),
            given=_masked(each.name, each.given, known),
        )
        for each in overrides
    )


def checked(overrides: Iterable[Override]) -> tuple[Override, ...]:
    """What ``record_run`` was given for overrides.

    Raises:
        ConfigError: it is something else.
    """
    found = tuple(overrides)
    for each in found:
        if not isinstance(each, Override) or not isinstance(each.name, str):
            raise ConfigError(
                f"'overrides' holds a {type(each).__name__} that is none.",
                hint="Give overrides_of(what is usual, what is given).",
            )
    return found


def _text(value: object) -> str | None:
    try:
        return text_of(value)
    except ConfigError:  # a list, a map, or an object
        try:
            return json.dumps(value, sort_keys=True, default=told)
        except (TypeError, ValueError):  # keys of several types, or a map in itself
            return told(value)


def _masked(name: str, text: str | None, secrets: tuple[str, ...] = ()) -> str | None:
    if text is None:
        return None
    return MASK if is_secret_name(name) else clean_text(text, secrets)
