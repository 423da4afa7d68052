"""What shows that somebody has changed the columns of a row."""

from __future__ import annotations

import hashlib

from hypothesis import given
from hypothesis import strategies as st

from ubunye_core.stores.sql.rows import SEALED, seal_of

NUMBERS = st.none() | st.integers(-(2**63), 2**63 - 1)
PAIRS = st.lists(st.integers(-(2**63), 2**63 - 1), max_size=3)
COLUMNS = st.tuples(
    st.from_regex(r"[a-z0-9_.-]{1,5}/[a-z]{1,5}/[a-z]{1,5}", fullmatch=True),
    st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,20}", fullmatch=True),
    st.sampled_from(["success", "error", "running"]),
    NUMBERS, NUMBERS, NUMBERS, NUMBERS,
    PAIRS.map(lambda some: " ".join(map(str, some))),
)  # fmt: skip
ANYTHING = (
    st.none()
    | st.integers()
    | st.text(max_size=30)
    | st.sampled_from(["', '", "None", "5"])
    | st.just("\ud800")
)


@given(COLUMNS | st.tuples(*[ANYTHING] * len(SEALED)), st.integers(0, 10**9))
def test_a_seal_is_made_of_the_columns_as_a_tuple_shows_them(columns, size) -> None:
    plain = hashlib.sha256(f"{columns} {size}".encode()).hexdigest()[:32]
    assert seal_of(size, *columns) == plain


@given(COLUMNS, st.integers(0, len(SEALED) - 1), ANYTHING)
def test_another_value_in_any_column_has_another_seal(columns, at, value) -> None:
    changed = (*columns[:at], value, *columns[at + 1 :])
    is_same = seal_of(5, *changed) == seal_of(5, *columns)
    assert is_same == (changed == columns)
