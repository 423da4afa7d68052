"""The fast rules of text against the plain definition, value by value on many random values."""

from __future__ import annotations

import numpy as np
import pytest

from tests.core.hashing.random_values import RULES
from ubunye_core.hashing.columns import writer
from ubunye_core.hashing.fast.texts import Texts

TEXTS = Texts()
AT_A_TIME = 50_000


def _compare(rule: str, count: int, seed: int) -> None:
    chance = np.random.default_rng(seed)
    for start in range(0, count, AT_A_TIME):
        array = RULES[rule](chance, min(AT_A_TIME, count - start))
        written = TEXTS.array(array).to_pylist()
        expected = writer(array.type)(array)
        assert written == expected


@pytest.mark.slow
@pytest.mark.parametrize("rule", RULES)
def test_a_hundred_thousand_values_have_the_text_of_the_plain_definition(rule: str) -> None:
    _compare(rule, 100_000, seed=1)


@pytest.mark.soak
@pytest.mark.parametrize("rule", RULES)
def test_a_million_values_have_it(rule: str) -> None:
    _compare(rule, 1_000_000, seed=3)
