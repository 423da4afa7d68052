"""The golden vectors of rows-v1, on every engine here and with every table on the fast rules."""

from __future__ import annotations

from collections.abc import Iterator

import duckdb
import polars as pl
import pyarrow as pa
import pytest

from ubunye_core.hashing import Fingerprint, canonical_lines, fingerprint, rows_v1
from ubunye_core.hashing.fast.engine import fast_sums
from ubunye_core.hashing.fast.texts import Texts
from ubunye_core.hashing.types import schema_of
from ubunye_core.testing import HashConformance, HashEngine, HashVector, hash_vectors

HASHABLE = [vector for vector in hash_vectors() if vector.is_hashable]


def test_every_vector_is_looked_at() -> None:
    assert len(hash_vectors()) == 107
    assert len(HASHABLE) == 104
    assert len({vector.name for vector in hash_vectors()}) == 107


@pytest.mark.parametrize("vector", HASHABLE, ids=lambda vector: vector.name)
def test_a_table_has_the_recorded_lines(vector: HashVector) -> None:
    assert tuple(canonical_lines(vector.table)) == vector.lines


class TestArrow(HashConformance):
    @pytest.fixture
    def fingerprint(self) -> HashEngine:
        return fingerprint


class TestPolars(HashConformance):
    # It has no such type, or turns it into another one.
    leaves_out = frozenset(
        {"ts_tz_fixed_p0530", "time64_us", "ree_string", "ext_uuid", "names_duplicate"}
    )

    @pytest.fixture
    def fingerprint(self) -> HashEngine:
        return lambda table: fingerprint(pl.from_arrow(table))


class TestDuckDB(HashConformance):
    # The same; and it renames columns whose names differ by case alone.
    leaves_out = frozenset(
        {
            *("f16_values", "duration_us", "ext_uuid", "zero_columns_three_rows"),
            *("names_case_differ", "names_duplicate"),
        }
    )

    @pytest.fixture
    def fingerprint(self) -> Iterator[HashEngine]:
        with duckdb.connect() as connection:
            yield lambda table: fingerprint(connection.from_arrow(table))


def _by_the_fast_rules_alone(table: pa.Table) -> Fingerprint:
    texts, sums = Texts(), rows_v1.Sums()
    try:
        schema = schema_of(table.schema)
        for batch in table.combine_chunks().to_batches():
            sums.merge(fast_sums(texts, batch, sorted(table.column_names)))
    except Exception as error:
        return Fingerprint(error=type(error).__name__)
    return Fingerprint(
        data_hash=rows_v1.data_hash(schema, sums),
        schema_hash=rows_v1.schema_hash(schema),
        row_count=sums.rows,
    )


class TestTheFastRulesAlone(HashConformance):
    # Rows without columns are never given to them.
    leaves_out = frozenset({"zero_columns_three_rows"})

    @pytest.fixture
    def fingerprint(self) -> HashEngine:
        return _by_the_fast_rules_alone
