"""How many there are of something, in words."""

from __future__ import annotations

import pytest

from ubunye_core.counted import count


@pytest.mark.parametrize(
    ("number", "text"),
    [(0, "0 windows"), (1, "1 window"), (2, "2 windows"), (2_000, "2,000 windows")],
)
def test_one_thing_is_named_alone_and_more_have_an_s(number: int, text: str) -> None:
    assert count(number, "window") == text


def test_a_word_may_have_another_form_for_several() -> None:
    assert count(1, "entry", "entries") == "1 entry"
    assert count(2, "entry", "entries") == "2 entries"
