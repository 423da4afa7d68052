"""Telling names apart, many at once as the pattern tells each."""

from __future__ import annotations

import uuid

from hypothesis import given, settings
from hypothesis import strategies as st

from ubunye_core.stores.files.listing import Listing, shows_start, told_apart

OURS = b"0199d2a4-5c00-7000-8000-000000000000.json"


def a_name(number: int) -> bytes:
    return OURS.replace(b"000000000000.json", b"%012x.json" % number)


MANY = [a_name((1 << 41) + number) for number in range(5_000)]
"""More than are looked at in one step."""


@st.composite
def an_altered_name(draw: st.DrawFn) -> bytes:
    """A name of ours with one letter changed."""
    at = draw(st.integers(0, len(OURS) - 1))
    letter = draw(st.sampled_from("0123456789abcdefgABF.-/h_\xff"))
    return OURS[:at] + letter.encode("latin-1") + OURS[at + 1 :]


names = st.one_of(
    st.integers(0, 1 << 40).map(a_name),
    an_altered_name(),
    st.uuids(version=4).map(lambda each: f"{each}.json".encode()),
    st.sampled_from(
        [b".hints", b".tmp", b"run-1.json", b".hidden.json", b"notes.txt", b"\xff.json"]
    ),
)


@settings(derandomize=True, max_examples=100)
@given(st.lists(names, unique=True, max_size=30), st.booleans())
def test_many_names_are_told_apart_as_each_alone(entries: list[bytes], among_many: bool) -> None:
    alone = [told_apart([each]) for each in entries]
    ours = MANY if among_many else []
    listing = told_apart([*ours, *entries])
    assert set(listing.showing) == {*ours, *(name for each in alone for name in each.showing)}
    assert listing.others == sorted(name for each in alone for name in each.others)


def test_only_an_id_of_version_7_in_small_letters_shows_a_start() -> None:
    assert shows_start(OURS.decode())
    wrong = [
        OURS.replace(b"-7", b"-4"),
        OURS.replace(b"-8", b"-c"),
        OURS.replace(b"d2a4", b"D2A4"),
        OURS.replace(b"-", b"0", 1),
        OURS.replace(b".json", b".jsoN"),
        OURS[1:],
        b"0" + OURS,
        f"{uuid.UUID(int=0)}.json".encode(),
    ]
    assert not any(shows_start(name.decode()) for name in wrong)
    assert told_apart([OURS, *wrong]).showing == [OURS]


def test_what_is_no_receipt_is_neither() -> None:
    entries = [b".hints", b".x.json", b"a.txt", b"json", b"b\xff.json"]
    assert told_apart(entries) == Listing([], ["b\udcff.json"])
