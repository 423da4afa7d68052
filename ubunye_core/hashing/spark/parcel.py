"""Our own code, packed to go with a job, for a worker of Spark may have none of it.

It travels inside the function that Spark sends to its workers. So nothing is left behind in the
session, nobody needs the right to add files to it, and it works the same through Spark Connect.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from typing import Any

_OURS = "ubunye_core"
_IMPORT = re.compile(rf"^(\s*(?:from|import)\s+){_OURS}\b", re.MULTILINE)

Work = Callable[[Iterator[Any]], Iterator[Any]]
"""What ``mapInArrow`` is given."""


def work(names: Sequence[str], choices: Sequence[Sequence[str]]) -> Work:
    """The function that answers for one partition, with all it needs inside."""
    package, loader, texts = _parcel()
    names, choices = list(names), [list(choice) for choice in choices]

    def answer_for_partition(batches: Iterator[Any]) -> Iterator[Any]:
        # Pickled by value, since it is no module's own: it must import all that it uses.
        import importlib
        import json
        import sys
        import zlib

        if package not in sys.modules:
            space: dict[str, Any] = {"__name__": f"{package}_loader"}
            exec(loader, space)
            space["install"](json.loads(zlib.decompress(texts)))
        worker = importlib.import_module(f"{package}.hashing.spark.worker")
        yield worker.answer(batches, names, choices)

    return answer_for_partition


@cache
def _parcel() -> tuple[str, str, bytes]:
    """The name our package has in a worker, the loader's text, and the packed texts.

    The name is not ours, and says which code it is. So it neither meets nor hides a version that
    the worker has installed, or that another session sent.
    """
    ours = resources.files(_OURS)
    found = {
        _OURS: (True, ""),  # the front door opens to more than a worker has
        f"{_OURS}.errors": (False, (ours / "errors.py").read_text(encoding="utf-8")),
        **dict(_modules(ours / "hashing", f"{_OURS}.hashing")),
    }
    digest = hashlib.sha256(json.dumps(found, sort_keys=True).encode()).hexdigest()
    package = f"{_OURS}_{digest[:16]}"
    renamed = {
        f"{package}{name.removeprefix(_OURS)}": (is_package, _IMPORT.sub(rf"\1{package}", text))
        for name, (is_package, text) in found.items()
    }
    loader = found[f"{_OURS}.hashing.spark.loader"][1]
    return package, loader, zlib.compress(json.dumps(renamed).encode())


def _modules(folder: Traversable, package: str) -> Iterator[tuple[str, tuple[bool, str]]]:
    for entry in folder.iterdir():
        if entry.name == "__init__.py":
            yield package, (True, entry.read_text(encoding="utf-8"))
        elif entry.name.endswith(".py"):
            name = entry.name.removesuffix(".py")
            yield f"{package}.{name}", (False, entry.read_text(encoding="utf-8"))
        elif entry.is_dir() and entry.name != "__pycache__":
            yield from _modules(entry, f"{package}.{entry.name}")
