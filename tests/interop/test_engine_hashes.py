"""Our hashes against those of the published ubunye-engine, run in its own environment.

Only what it hashes by the format is compared: its known faults (years before 1000 and after 9999,
Arrow layouts, date keys of maps, rows without columns, durations) are left out.
"""

from __future__ import annotations

import datetime
import json
import random
import subprocess
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from ubunye_core.hashing import (
    Environment,
    Fingerprint,
    code_hash,
    environment_hash,
    fingerprint,
)

HASH_WITH_ENGINE = """
import json, sys
import pyarrow as pa
from ubunye.lineage.content_hash import fingerprint, fingerprint_arrow
def short(got):
    return [got.schema_hash, got.data_hash, got.row_count, got.error]
answer = {}
for path in sys.argv[1:]:
    table = pa.ipc.open_stream(path).read_all()
    answer[path] = {
        "arrow": short(fingerprint_arrow(table)),
        "pandas": short(fingerprint(table.to_pandas())),
    }
print(json.dumps(answer))
"""

EVIDENCE_OF_ENGINE = """
import json, sys
from ubunye.lineage import evidence
here = evidence.environment()
print(json.dumps([evidence.code_hash(sys.argv[1]), here, evidence.environment_hash(here)]))
"""


def _run(engine_bin: Path, code: str, *arguments: str) -> Any:
    done = subprocess.run(
        [engine_bin / "python", "-c", code, *arguments],
        capture_output=True,
        text=True,
        timeout=110,
        env={"UBUNYE_HASH_WORKERS": "1"},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def _moments(chance: random.Random, count: int) -> list[int | None]:
    low, high = -30_610_224_000_000_000, 253_402_300_799_999_999  # years 1000 to 9999
    return [chance.choice([None, chance.randint(low, high)]) for _ in range(count)]


def _tables() -> dict[str, pa.Table]:
    chance = random.Random(8)
    count = 400
    cells = range(count)
    words = ["", "ann", "zoë", 'quote " \\', "\x1f\t\x7f", "\U0001f600\uffff", "日本", None]
    return {
        "integers": pa.table(
            {
                str(type_): pa.array([chance.randint(0, 127) for _ in cells], type_)
                for type_ in (pa.int8(), pa.int16(), pa.int32(), pa.int64(), pa.uint8())
            }
        ),
        "floats": pa.table(
            {
                "plain": pa.array([chance.uniform(-1e5, 1e5) for _ in cells]),
                "wide": pa.array(
                    [chance.uniform(1, 10) * 10 ** chance.randint(-99, 99) for _ in cells]
                ),
                "single": pa.array([chance.uniform(-1e7, 1e7) for _ in cells], pa.float32()),
                "odd": pa.array(
                    [chance.choice([None, -0.0, 0.0, 1e7, 1e-3, 5e-324, 1e16]) for _ in cells]
                ),
            }
        ),
        "texts": pa.table(
            {
                "z": pa.array([chance.choice(words) for _ in cells]),
                "é": pa.array([chance.choice([None, b"", b"\x00\xff"]) for _ in cells]),
                "A": pa.array([chance.choice([None, True, False]) for _ in cells]),
            }
        ),
        "times": pa.table(
            {
                "d": pa.array([chance.randint(-354_285, 2_932_896) for _ in cells], pa.date32()),
                "utc": pa.array(_moments(chance, count), pa.timestamp("us", "UTC")),
                "zoned": pa.array(_moments(chance, count), pa.timestamp("us", "Asia/Kolkata")),
                "naive": pa.array(_moments(chance, count), pa.timestamp("us")),
                "nanos": pa.array(
                    [chance.randint(-(10**18), 10**18) for _ in cells], pa.timestamp("ns")
                ),
            }
        ),
        "decimals": pa.table(
            {
                "money": pa.array(
                    [Decimal(chance.randint(-(10**9), 10**9)).scaleb(-2) for _ in cells],
                    pa.decimal128(12, 2),
                ),
                "tiny": pa.array(
                    [Decimal(chance.randint(-99, 99)).scaleb(-18) for _ in cells],
                    pa.decimal128(38, 18),
                ),
            }
        ),
        "nested": pa.table(
            {
                "l": pa.array([[1, None], [], None] * 4, pa.list_(pa.int64())),
                "s": pa.array([{"b": 1, "a": "x"}, {"b": None, "a": None}, None] * 4),
            }
        ),
        "maps": pa.table(
            {"m": pa.array([[("b", 1), ("a", None)]] * 3, pa.map_(pa.string(), pa.int8()))}
        ),
        "no rows": pa.table({"a": pa.array([], pa.int64()), "b": pa.array([], pa.string())}),
        "repeated rows": pa.table({"a": [7] * 300, "b": [datetime.date(2024, 2, 29)] * 300}),
    }


TABLES = _tables()


@pytest.fixture(scope="module")
def engine_hashes(engine_bin: Path, tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    folder = tmp_path_factory.mktemp("tables")
    paths = {}
    for at, (name, table) in enumerate(TABLES.items()):
        paths[name] = str(folder / str(at))
        with pa.ipc.new_stream(paths[name], table.schema) as stream:
            stream.write_table(table)
    answer = _run(engine_bin, HASH_WITH_ENGINE, *paths.values())
    return {name: answer[path] for name, path in paths.items()}


def _short(got: Fingerprint) -> list[Any]:
    return [got.schema_hash, got.data_hash, got.row_count, got.error]


@pytest.mark.parametrize("name", TABLES)
def test_an_arrow_table_has_the_hash_that_the_engine_gives_it(
    name: str, engine_hashes: dict[str, Any]
) -> None:
    assert _short(fingerprint(TABLES[name])) == engine_hashes[name]["arrow"]


@pytest.mark.parametrize("name", [name for name in TABLES if name != "maps"])  # both refuse
def test_a_pandas_frame_has_the_hash_that_the_engine_gives_it(
    name: str, engine_hashes: dict[str, Any]
) -> None:
    assert _short(fingerprint(TABLES[name].to_pandas())) == engine_hashes[name]["pandas"]


def test_code_and_environment_have_the_hashes_that_the_engine_gives_them(
    engine_bin: Path, tmp_path: Path
) -> None:
    for name in ("a-b.py", "a/b.py", "a.py", ".hidden.py", "__pycache__/c.py", "é.py", "x.txt"):
        path = tmp_path / name
        path.parent.mkdir(exist_ok=True)
        path.write_bytes(f"# {name}\r\n".encode())
    code, here, here_hash = _run(engine_bin, EVIDENCE_OF_ENGINE, str(tmp_path))
    assert code_hash(tmp_path) == code
    assert environment_hash(Environment(**here)) == here_hash
