"""Where in the catalog a receipt belongs: its asset, and its partition."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import dagster as dg

from ubunye_core import Receipt
from ubunye_dagster.compat.keys import is_before_the_first, is_known_key, keys_of_period
from ubunye_dagster.names import Key, asset_key_of
from ubunye_dagster.partitions.keys import KeyOf, key_by_variables
from ubunye_dagster.partitions.variables import usual_variables

MOST: Final = 800
"""A window with more partitions in it, of a month of hours, names none."""


@dataclass(frozen=True)
class Place:
    """The asset of a task."""

    key: dg.AssetKey
    definition: dg.PartitionsDefinition | None
    by_variables: KeyOf | None
    by_window: bool
    """Whether the window says which partition it is where the variables do not."""
    is_made_here: bool = False
    """Whether a step of this code location makes the asset."""

    def keys_of(self, receipt: Receipt) -> tuple[str | None, ...]:
        """The keys of a receipt's partitions: those that lie wholly inside of its window.

        None stands for an asset without partitions; nothing for a receipt that names none.
        """
        if self.definition is None or self.by_variables is None:
            return (None,)
        found = self._by_window(receipt) if self.by_window else ()
        if found:
            return found
        key = self.by_variables(receipt)
        return (key,) if key else ()

    def _by_window(self, receipt: Receipt) -> tuple[str, ...]:
        definition, window = self.definition, receipt.window
        if window is None or not isinstance(definition, dg.TimeWindowPartitionsDefinition):
            return ()
        return keys_of_period(definition, window.start, window.end, at_most=MOST)

    def has(self, partition: str | None, instance: Any) -> bool:
        """Whether the asset has this partition now."""
        if self.definition is None or partition is None:
            return True
        return is_known_key(self.definition, partition, instance)

    def never_has(self, partition: str | None) -> bool:
        """Whether the asset will never have it: it is before the first."""
        if self.definition is None or partition is None:
            return False
        return is_before_the_first(self.definition, partition)


@dataclass(frozen=True)
class Places:
    """The assets of all tasks."""

    definition: dg.PartitionsDefinition | None
    variables: Mapping[str, object] | None
    key_of: KeyOf | None
    asset_keys: Mapping[str, Key] | None

    def __post_init__(self) -> None:
        if self.definition is not None:
            self._keys(self.definition)  # complains of variables that do not fit

    def of(self, task: str, repository: Any) -> Place:
        """The asset of a task, as far as this code location has it."""
        key = asset_key_of(task, self.asset_keys)
        graph = None if repository is None else repository.asset_graph
        known = graph.get(key) if graph is not None and graph.has(key) else None
        definition = self.definition
        if definition is None and known is not None:
            definition = known.partitions_def
        return Place(
            key,
            definition,
            None if definition is None else self._keys(definition),
            by_window=self.variables is None and self.key_of is None,
            is_made_here=known is not None and known.is_materializable,
        )

    def _keys(self, definition: dg.PartitionsDefinition) -> KeyOf:
        if self.key_of is not None:
            return self.key_of
        return key_by_variables(self.variables or usual_variables(definition), definition)
