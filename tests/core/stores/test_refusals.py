"""What every store refuses in the same words."""

from __future__ import annotations

from pathlib import Path

import pytest

from ubunye_core.errors import AmbiguousRunError, ReceiptConflictError, ReceiptNotFoundError
from ubunye_core.stores.refusals import only_run, printable, raise_if_refused

ASKED = {"task": "pay/monthly/calc", "url": "memory://here"}


def test_a_whole_id_stands_before_those_that_it_begins() -> None:
    assert only_run(["r-1", "r-10"], "r-1", **ASKED) == "r-1"


def test_a_beginning_that_fits_one_run_is_that_run() -> None:
    assert only_run(["r-10"], "r-1", **ASKED) == "r-10"


def test_a_beginning_that_fits_several_runs_is_refused_and_names_them() -> None:
    with pytest.raises(AmbiguousRunError) as refused:
        only_run(["r-10", "r-11"], "r-1", **ASKED)
    assert refused.value.run_ids == ("r-10", "r-11")


def test_what_fits_no_run_names_the_store_the_run_and_the_task() -> None:
    with pytest.raises(ReceiptNotFoundError, match="memory://here holds no run 'r-1' of pay/mon"):
        only_run([], "r-1", **ASKED)


def test_of_many_that_were_refused_the_first_and_the_number_are_named() -> None:
    raise_if_refused([])
    with pytest.raises(ReceiptConflictError, match=r"2 of the receipts. The first: one") as refused:
        raise_if_refused([ReceiptConflictError("one"), ReceiptConflictError("two")])
    assert str(refused.value.__cause__) == "one"


def test_a_place_is_shown_on_one_line_also_where_its_name_is_not_text() -> None:
    assert printable(Path("/srv/a\nb")) == r"/srv/a\nb"
    assert printable("/srv/\udcff") == r"/srv/\xff"
    assert printable("/srv/café") == "/srv/café"
