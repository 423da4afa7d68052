"""Rows that are kept in columns, for there are tens of thousands of them.

What is made for each and kept has to be looked at by the garbage collector again and again, which
takes longer than all else. Whole numbers, texts and instants are not looked at.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from typing import TypeVar, overload

Row = TypeVar("Row")


class Columns(Sequence[Row]):
    """A sequence of rows, each made when it is asked for."""

    @abstractmethod
    def _row(self, at: int) -> Row:
        """The row at a place, which may be counted from the end."""

    @overload
    def __getitem__(self, index: int) -> Row: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[Row]: ...
    def __getitem__(self, index: int | slice) -> Row | Sequence[Row]:
        if isinstance(index, slice):
            return [self._row(at) for at in range(*index.indices(len(self)))]
        return self._row(index)
