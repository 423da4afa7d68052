"""From a receipt to the partition that it is for: ``partition_format`` and its like, backwards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from datetime import datetime
from zoneinfo import ZoneInfo

import dagster as dg

from ubunye_core import ConfigError, Receipt
from ubunye_dagster.partitions.variables import PartitionText

KeyOf = Callable[[Receipt], str | None]
"""The key of the partition that a receipt is for; None where it is for none."""


def key_by_variables(variables: Mapping[str, object], definition: dg.PartitionsDefinition) -> KeyOf:
    """The partition whose variables a receipt has.

    Raises:
        ConfigError: the variables do not say which partition it is.
    """
    texts = {name: text for name, text in variables.items() if isinstance(text, PartitionText)}
    fixed = {name: str(value) for name, value in variables.items() if name not in texts}
    if isinstance(definition, dg.MultiPartitionsDefinition):
        return _by_dimensions(texts, fixed, definition)
    if len(texts) != 1:
        raise ConfigError(
            f"{len(texts)} variables are made of the partition; one is needed to find it.",
            hint="Give partition_format(...) or partition_key() for one, or a key_of function.",
        )
    ((name, text),) = texts.items()

    def key_of(receipt: Receipt) -> str | None:
        batch = receipt.batch.as_dict()
        if name not in batch or any(batch.get(each) != value for each, value in fixed.items()):
            return None
        return _key(text, batch[name], definition)

    return key_of


def _by_dimensions(
    texts: Mapping[str, PartitionText],
    fixed: Mapping[str, str],
    definition: dg.MultiPartitionsDefinition,
) -> KeyOf:
    time = definition.time_window_dimension.name if definition.has_time_window_dimension else None
    dimensions = {text.dimension or time: (name, text) for name, text in texts.items()}
    missing = [name for name in definition.partition_dimension_names if name not in dimensions]
    if missing:
        raise ConfigError(
            f"No variable says which '{missing[0]}' a partition is for.",
            hint=f"Give one of them partition_key({missing[0]!r}), or give a key_of function.",
        )

    def key_of(receipt: Receipt) -> str | None:
        batch = receipt.batch.as_dict()
        if any(batch.get(each) != value for each, value in fixed.items()):
            return None
        keys = {}
        for dimension in definition.partition_dimension_names:
            name, text = dimensions[dimension]
            part = definition.get_partitions_def_for_dimension(dimension)
            key = _key(text, batch[name], part) if name in batch else None
            if key is None:
                return None
            keys[dimension] = key
        return dg.MultiPartitionKey(keys)

    return key_of


def _key(text: PartitionText, value: str, definition: dg.PartitionsDefinition) -> str | None:
    """The key of the partition whose variable has this value; None where no time is written so."""
    if text.format is None:
        return value
    if not isinstance(definition, dg.TimeWindowPartitionsDefinition):
        raise ConfigError(
            f"{type(definition).__name__} has no times to be written as {text.format}.",
            hint="Use partition_key() for keys that are no times.",
        )
    try:
        zone = ZoneInfo(definition.timezone)
        moment = datetime.strptime(value, text.format).replace(tzinfo=zone)
    except ValueError:
        return None
    return moment.strftime(definition.fmt)
