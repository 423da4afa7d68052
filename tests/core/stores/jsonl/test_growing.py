"""A ledger that grows in the moment it is read."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from ubunye_core.stores.jsonl.events import MAX_LINE_BYTES, saved_line
from ubunye_core.stores.jsonl.index import Index, Rest
from ubunye_core.testing import A_TASK, a_receipt, at

FIRST = saved_line(a_receipt())
SECOND = saved_line(a_receipt(run_id="run-2", started_at=at(1)))
OVERLONG = b"x" * (MAX_LINE_BYTES + 5) + b"\n"


class Overtaken(Index):
    """An index whose reader has just met the end of the file when a writer adds the rest."""

    path: Path
    to_come = b""

    def _rest(self, line: bytes, length: int) -> Rest:
        rest = super()._rest(line, length)
        with open(self.path, "ab") as file:
            file.write(self.to_come)
        self.to_come = b""
        return rest


@pytest.mark.parametrize("kept", [1, 40, 200, -1])
@pytest.mark.parametrize("line", [SECOND, OVERLONG], ids=["a-line", "an-overlong-line"])
def test_the_rest_of_a_line_that_comes_while_it_is_read_is_no_line_of_its_own(
    tmp_path: Path, line: bytes, kept: int
) -> None:
    path = tmp_path / "ledger.jsonl"
    path.write_bytes(FIRST + line[:kept])
    index = Overtaken()
    index.path, index.to_come = path, line[kept:]
    descriptor = os.open(path, os.O_RDONLY)
    try:
        index.follow(descriptor)
        assert (index.lines, index.stray_count, list(index.runs[A_TASK])) == (1, 0, ["run-1"])
        assert index.rest is not None
        assert index.rest.offset == len(FIRST)
        assert index.fits(descriptor)
        index.follow(descriptor)
    finally:
        os.close(descriptor)
    assert (index.lines, index.rest) == (2, None)
    expected = [] if line is OVERLONG else ["run-2"]
    assert list(index.runs[A_TASK]) == ["run-1", *expected]
    assert index.stray_count == 1 - len(expected)
