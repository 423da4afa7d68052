"""What a task is called in Dagster: the key of its asset, and the names of groups and checks."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import dagster as dg

Key = dg.AssetKey | str | Sequence[str]
Asset = Key | dg.AssetsDefinition | dg.AssetSpec


def asset_key_of(task: str, asset_keys: Mapping[str, Key] | None = None) -> dg.AssetKey:
    """The asset of a task: the one that is given for it, else its three segments."""
    given = (asset_keys or {}).get(task)
    if given is None:
        return dg.AssetKey(task.split("/"))
    if isinstance(given, dg.AssetKey):
        return given
    return dg.AssetKey.from_user_string(given) if isinstance(given, str) else dg.AssetKey(given)


def as_name(text: str) -> str:
    """A name as Dagster allows it for groups, checks and jobs."""
    return re.sub(r"\W", "_", text, flags=re.ASCII)


def names_of(wanted: Sequence[str]) -> list[str]:
    """Names as Dagster allows them, each used once; the same for the same requirements."""
    names: list[str] = []
    for text in wanted:
        name = as_name(text)
        same = sum(each == name or each.startswith(f"{name}__") for each in names)
        names.append(f"{name}__{same + 1}" if same else name)
    return names
