"""The suite that every hash engine passes: the golden vectors of rows-v1, and what follows.

A vector never changes. Another value is another method, with another name.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from typing import Any, ClassVar, Protocol

import pytest

from ubunye_core.hashing import rows_v1


class HashAnswer(Protocol):
    """What an engine says of a table; ``ubunye_core.Fingerprint`` is one."""

    @property
    def data_hash(self) -> str | None: ...
    @property
    def schema_hash(self) -> str | None: ...
    @property
    def row_count(self) -> int | None: ...
    @property
    def error(self) -> str | None: ...


HashEngine = Callable[[Any], HashAnswer]
"""Hashes a ``pyarrow.Table``, by way of the frame the engine is for."""


@dataclass(frozen=True, kw_only=True)
class HashVector:
    """A table and what rows-v1 makes of it."""

    name: str
    tags: frozenset[str]
    notes: str
    rows: int
    schema: tuple[tuple[str, str], ...]
    lines: tuple[str, ...]
    """The canonical line of each row; none where there must be no hash."""
    data_hash: str | None
    schema_hash: str | None
    ipc: bytes = field(repr=False)
    """The table as an Arrow stream."""

    @property
    def is_hashable(self) -> bool:
        """Whether the table has a hash. Where it has none, an engine says why."""
        return self.data_hash is not None

    @property
    def table(self) -> Any:
        """The table, a ``pyarrow.Table``."""
        import pyarrow as pa

        with pa.ipc.open_stream(pa.py_buffer(self.ipc)) as reader:
            return reader.read_all()


@cache
def hash_vectors() -> tuple[HashVector, ...]:
    """All golden vectors."""
    path = resources.files("ubunye_core.testing") / "data" / "rows-v1.json"
    return tuple(map(_vector, json.loads(path.read_text(encoding="utf-8"))))


def _vector(fields: dict[str, Any]) -> HashVector:
    # Where rows-v1 leaves the text open ("any"), this project refuses the table.
    hashable = fields["expect"] == "hash"
    return HashVector(
        name=fields["name"],
        tags=frozenset(fields["tags"]),
        notes=fields["notes"],
        rows=fields["rows"],
        schema=tuple((name, type_) for name, type_ in fields["canonical_schema"] or ()),
        lines=tuple(fields["lines"] or ()) if hashable else (),
        data_hash=fields["data_hash"] if hashable else None,
        schema_hash=fields["schema_hash"] if hashable else None,
        ipc=base64.b64decode(fields["arrow_ipc_base64"]),
    )


class HashConformance:
    """Tests of a hash engine: subclass it, and give a fixture ``fingerprint``.

    An engine without some types names the vectors it can't be given in ``leaves_out``. Only what
    the engine has no type for belongs there: a table it reads and hashes otherwise is a fault.
    """

    leaves_out: ClassVar[frozenset[str]] = frozenset()
    """Names or tags of vectors."""

    @pytest.fixture
    def fingerprint(self) -> HashEngine:
        """The engine: a function of a ``pyarrow.Table``."""
        raise NotImplementedError("give a fixture 'fingerprint' with the engine")

    def pytest_generate_tests(self, metafunc: pytest.Metafunc) -> None:
        """Run the tests of a vector once for each that the engine can be given."""
        kinds = {"vector": True, "unhashable": False}
        for argument, hashable in kinds.items():
            if argument in metafunc.fixturenames:
                chosen = [v for v in self._given() if v.is_hashable is hashable]
                metafunc.parametrize(argument, chosen, ids=[v.name for v in chosen])

    def _given(self) -> Iterable[HashVector]:
        known = {v.name for v in hash_vectors()}.union(*(v.tags for v in hash_vectors()))
        if unknown := self.leaves_out - known:
            raise ValueError(f"leaves_out names no vector and no tag: {sorted(unknown)}")
        return [v for v in hash_vectors() if not self.leaves_out & {v.name, *v.tags}]

    def test_a_table_has_the_hash_of_its_vector(
        self, fingerprint: HashEngine, vector: HashVector
    ) -> None:
        got = fingerprint(vector.table)
        assert got.error is None
        assert got.schema_hash == vector.schema_hash
        assert got.row_count == vector.rows
        assert got.data_hash == vector.data_hash

    def test_rows_and_columns_can_come_in_any_order(
        self, fingerprint: HashEngine, vector: HashVector
    ) -> None:
        table = vector.table
        if table.num_columns:  # a selection of no columns forgets its rows
            turned = _last_row_first(table.select(list(reversed(table.column_names))))
            assert fingerprint(turned).data_hash == vector.data_hash

    def test_a_table_of_many_rows_counts_each_of_them(
        self, fingerprint: HashEngine, vector: HashVector
    ) -> None:
        import pyarrow as pa

        times = 1_000 // max(vector.rows, 1)
        if times > 1 and vector.schema:
            sums = rows_v1.Sums()
            sums.add(vector.lines * times)
            got = fingerprint(pa.concat_tables([vector.table] * times))
            assert got.row_count == vector.rows * times
            assert got.data_hash == rows_v1.data_hash(vector.schema, sums)

    def test_a_table_without_a_hash_says_why(
        self, fingerprint: HashEngine, unhashable: HashVector
    ) -> None:
        got = fingerprint(unhashable.table)
        assert got.data_hash is None
        assert got.error

    def test_null_nan_and_the_two_zeros_are_four_values(self, fingerprint: HashEngine) -> None:
        import pyarrow as pa

        cells = [None, float("nan"), 0.0, -0.0]
        tables = [pa.table({"a": pa.array([cell], pa.float64())}) for cell in cells]
        assert len({fingerprint(table).data_hash for table in tables}) == len(cells)

    def test_a_repeated_row_a_name_and_a_type_change_the_hash(
        self, fingerprint: HashEngine
    ) -> None:
        import pyarrow as pa

        cells = [1, 2]
        tables = [
            pa.table({"a": pa.array(cells, pa.int64())}),
            pa.table({"a": pa.array([*cells, 2], pa.int64())}),
            pa.table({"b": pa.array(cells, pa.int64())}),
            pa.table({"a": pa.array(cells, pa.int32())}),
        ]
        assert len({fingerprint(table).data_hash for table in tables}) == len(tables)


def _last_row_first(table: Any) -> Any:
    import pyarrow as pa

    rows = range(table.num_rows - 1, -1, -1)
    try:
        return table.take(pa.array(rows, pa.int64()))
    except pa.ArrowNotImplementedError:  # not of every layout
        return pa.concat_tables([table.slice(0, 0), *(table.slice(at, 1) for at in rows)])
