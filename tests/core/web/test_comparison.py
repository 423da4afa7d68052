"""Two runs side by side: field by field, and rows by their hashes."""

from __future__ import annotations

import pytest

from tests.core.web.conftest import CALC, HASH
from ubunye_core import Step
from ubunye_core.web.comparing import compare

BOTH = f"/task/{CALC}/compare?a=r-1&b=r-2"


def step(name: str = "people", **fields: object) -> Step:
    given = {
        "row_count": 10,
        "data_hash": HASH(1),
        "hash_method": "rows-v1",
        "schema_hash": HASH(9),
    }
    return Step(name=name, direction="input", **(given | fields))


@pytest.mark.parametrize(
    ("first", "second", "same", "why"),
    [
        ({}, {}, "same", "equal data hashes"),
        ({}, {"data_hash": HASH(2)}, "different", "other data hashes"),
        ({}, {"data_hash": HASH(2), "schema_hash": HASH(8)}, "different", "another schema"),
        ({}, {"row_count": 11, "data_hash": None}, "different", "another number of rows"),
        ({}, {"data_hash": None}, "cannot be told", "run B has no data hash"),
        ({"data_hash": None}, {"data_hash": None}, "cannot be told", "run A has no data hash"),
        ({}, {"hash_method": "rows-v2"}, "cannot be told", "hashed by two methods"),
    ],
)
def test_rows_are_the_same_only_by_equal_hashes(keep, first, second, same, why):
    found = compare(keep(inputs=(step(**first),)), keep(inputs=(step(**second),))).data
    assert [each.same for each in found] == [same]
    assert why in found[0].why


def test_an_input_of_one_run_alone_is_told(keep):
    found = compare(keep(inputs=(step("a"), step("b"))), keep(inputs=(step("b"), step("c")))).data
    told = [(each.name, each.same, each.why) for each in found]
    assert told == [
        ("a", "different", "only in run A"),
        ("b", "same", "equal data hashes"),
        ("c", "different", "only in run B"),
    ]


def test_inputs_of_one_name_are_compared_in_their_order(keep):
    one, other = step(), step(data_hash=HASH(2))
    found = compare(keep(inputs=(one, other)), keep(inputs=(one, one))).data
    assert [each.same for each in found] == ["same", "different"]


def test_every_field_is_compared_also_one_that_nobody_knows(look, keep):
    keep(variables={"month": "2026-09"}, extra={"weather": {"sky": "blue"}}, host="w-1")
    keep("error", error="ValueError: x", extra={"weather": {"sky": "grey"}}, host="w-1")
    seen = look(BOTH)
    assert seen.status == 200
    assert "variables.month different A" not in seen.text
    assert "variables.month different 2026-09 2026-10" in seen.text
    assert "weather.sky different blue grey" in seen.text
    assert "error different not there ValueError: x" in seen.text
    assert "host same w-1 w-1" in seen.text


def test_what_is_masked_in_both_is_not_said_to_be_the_same(look, keep):
    for _ in range(2):
        keep(variables={"month": "2026-10", "token": "abcdef"})
    assert "variables.token cannot be told *** ***" in look(BOTH).text


@pytest.mark.parametrize(
    ("query", "status"),
    [("", 400), ("a=r-1", 400), ("a=r-1&b=r-9", 404), ("a=..&b=r-1", 400), ("a=r-1&b=broken", 500)],
)
def test_two_runs_are_needed(look, keep, damage, query, status):
    keep()
    damage()
    assert look(f"/task/{CALC}/compare?{query}").status == status
