"""Marks on the long tests, also in a project that does not know them.

``slow`` is more than a few seconds; ``soak`` is minutes. A project that registers the marker can
choose by it. Where ``soak`` is not registered, its tests are skipped.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable
from typing import Any

import pytest

Mark = Callable[[Any], Any]


def _known(name: str) -> pytest.MarkDecorator | None:
    """The mark of this name; None where the project does not know it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", pytest.PytestUnknownMarkWarning)
            mark: pytest.MarkDecorator = getattr(pytest.mark, name)
            return mark
    except (pytest.PytestUnknownMarkWarning, pytest.fail.Exception):
        return None


def _or_nothing(mark: pytest.MarkDecorator | None) -> Mark:
    return mark or (lambda test: test)


slow: Mark = _or_nothing(_known("slow"))
soak: Mark = _known("soak") or pytest.mark.skip(
    reason="it takes minutes: register the marker 'soak' to choose it"
)


def within(seconds: float) -> Mark:
    """A longer time limit, where pytest-timeout keeps one."""
    timeout = _known("timeout")
    return _or_nothing(timeout and timeout(seconds))
