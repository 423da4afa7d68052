"""What a door shows can be used and is explained."""

from __future__ import annotations

import importlib
import inspect

import pytest

DOORS = (
    *("ubunye_core", "ubunye_core.stores", "ubunye_core.testing", "ubunye_core.web"),
    *("ubunye_airflow", "ubunye_dagster"),
)


@pytest.mark.parametrize("door", DOORS)
def test_every_name_a_door_shows_exists(door: str) -> None:
    module = importlib.import_module(door)
    names = list(getattr(module, "__all__", ()))
    assert len(names) == len(set(names))
    assert [name for name in names if not hasattr(module, name)] == []


@pytest.mark.parametrize("door", DOORS)
def test_every_public_class_and_function_says_what_a_caller_must_know(door: str) -> None:
    module = importlib.import_module(door)
    shown = {name: getattr(module, name) for name in getattr(module, "__all__", ())}
    silent = [
        name
        for name, thing in shown.items()
        if (inspect.isclass(thing) or inspect.isroutine(thing)) and not _own_docstring(thing)
    ]
    assert silent == []


def _own_docstring(thing: object) -> bool:
    text = vars(thing).get("__doc__") if inspect.isclass(thing) else thing.__doc__
    # A dataclass without one is given its signature.
    return bool(text) and not str(text).startswith(f"{getattr(thing, '__name__', '')}(")
