"""The grammar of identifiers."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ubunye_core import InvalidNameError
from ubunye_core.names import (
    check_run_id,
    check_task,
    check_task_or_pattern,
    fits,
    is_pattern,
    is_segment,
    near,
)
from ubunye_core.testing import HOSTILE_SEGMENTS


@pytest.mark.parametrize(
    "name", ["a", "A9", "_x", "9", "a.b", "a-b_c.d", "x" * 128, "0199-aa", "a."]
)
def test_letters_digits_and_three_signs_make_a_name(name: str) -> None:
    assert check_run_id(name) == name


@pytest.mark.parametrize("name", HOSTILE_SEGMENTS, ids=lambda name: ascii(name)[:20])
def test_anything_else_is_no_name(name: str) -> None:
    assert not is_segment(name)
    for check, text in (
        (check_run_id, name),
        (check_task, f"pay/monthly/{name}"),
        (check_task, f"{name}/monthly/calc"),
    ):
        with pytest.raises(InvalidNameError):
            check(text)


@pytest.mark.parametrize(
    "text",
    ["", "pay", "pay/calc", "pay/monthly/calc/x", "pay//calc", "/pay/monthly/calc",
     "pay/monthly/calc/", "pay/monthly/calc\n", "../monthly/calc", "pay/../calc", "pay/*/calc",
     f"a/b/{'c' * 125}", None, 7, b"pay/monthly/calc", ["pay/monthly/calc"]],
    ids=lambda text: ascii(text)[:30],
)  # fmt: skip
def test_a_task_has_three_names_and_at_most_128_bytes(text: object) -> None:
    with pytest.raises(InvalidNameError, match="usecase/package/task_name"):
        check_task(text)


def test_an_error_shows_a_long_name_cut() -> None:
    with pytest.raises(InvalidNameError) as refused:
        check_run_id("x" * 10_000)
    assert len(str(refused.value)) < 300


@given(st.text(max_size=12))
def test_a_name_that_is_allowed_is_safe_in_a_path(text: str) -> None:
    if is_segment(text):
        assert text.isascii()
        assert not set(text) & set("/\\\0\n *?:;'\"")
        assert text[0] not in ".-"


@pytest.mark.parametrize("text", ["*/*/*", "pay/*/*", "pay/monthly/c?lc", "pay/monthly/*.daily"])
def test_a_pattern_names_several_tasks(text: str) -> None:
    assert is_pattern(text)
    assert check_task_or_pattern(text) == text


@pytest.mark.parametrize(
    "text",
    ["*", "pay/*", "pay/**", "pay/*/*/*", "../*/*", "pay/[a-z]/*", "pay//*", "pay/*/ *", "*/*/-x"],
)
def test_a_pattern_has_three_segments_and_two_signs(text: str) -> None:
    with pytest.raises(InvalidNameError):
        check_task_or_pattern(text)


@pytest.mark.parametrize(
    ("task", "pattern", "does"),
    [
        ("pay/monthly/calc", "pay/monthly/calc", True),
        ("pay/monthly/calc", "pay/*/*", True),
        ("pay/monthly/calc", "*/*/c*c", True),
        ("pay/monthly/calc", "pay/monthly/ca?c", True),
        ("pay/monthly/calc", "pay/monthly/ca?", False),
        ("pay/monthly/calc", "PAY/*/*", False),
        ("pay/monthly/calc", "p*c/*/*", False),
        ("payroll/monthly/calc", "pay/*/*", False),
    ],
)
def test_a_star_stays_within_a_segment(task: str, pattern: str, does: bool) -> None:
    assert fits(task, pattern) is does


def test_near_names_are_those_that_may_have_been_meant() -> None:
    known = ["pay/monthly/calc", "pay/monthly/send", "etl/in/orders"]
    assert near("pay/monthly/clac", known) == ["pay/monthly/calc"]
    assert near("pay/montly/snd", known) == ["pay/monthly/send"]
    assert near("pay/monthly/report", known) == []
    assert near("something/else/entirely", known) == []
