"""Modules from texts: how our code arrives in a worker of Spark, where this text runs first.

Nothing of ours can be imported here.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from importlib.abc import InspectLoader, MetaPathFinder
from importlib.machinery import ModuleSpec
from importlib.util import spec_from_loader
from types import ModuleType

Texts = Mapping[str, tuple[bool, str]]
"""By the full name of a module: whether it is a package, and its text."""


class Modules(MetaPathFinder, InspectLoader):
    """Finds and loads modules that are at hand as texts."""

    def __init__(self, texts: Texts) -> None:
        self._texts = texts

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        return spec_from_loader(fullname, self) if fullname in self._texts else None

    def is_package(self, fullname: str) -> bool:
        return self._texts[fullname][0]

    def get_source(self, fullname: str) -> str:
        return self._texts[fullname][1]


def install(texts: Texts) -> None:
    """Make the modules importable, for as long as this process lives."""
    sys.meta_path.append(Modules(texts))
