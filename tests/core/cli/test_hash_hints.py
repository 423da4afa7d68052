"""``hash``: of a file that cannot be hashed, what is wrong with it, and what to do."""

from __future__ import annotations

import gzip

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.core.cli.conftest import json_of

LATIN = "id,name\n1,José\n".encode("latin-1")


@pytest.fixture
def people(folder):
    """A table, as CSV and as Parquet."""
    (folder / "people.csv").write_text("id,name\n1,ann\n")
    pq.write_table(pa.table({"id": [1], "name": ["ann"]}), folder / "ages.parquet")
    return folder


def error_of(ask, *words):
    (found,) = json_of(ask("hash", *words, "--json"), 3)["hashes"]
    return found["hash_error"]


def test_a_csv_file_in_latin_1_is_told_with_its_line(ask, folder):
    (folder / "latin.csv").write_bytes(LATIN)
    (folder / "latin.csv.gz").write_bytes(gzip.compress(LATIN))
    (folder / "head.csv").write_bytes("id,née\n1,ann\n".encode("latin-1"))
    (folder / "below").mkdir()
    (folder / "below" / "long.csv").write_bytes(b"id,name\n" + b"1,ann\n" * 200_000 + b"2,\xe9\n")
    for path, file, line in (
        ("latin.csv", "latin.csv", "2"),
        ("latin.csv.gz", "latin.csv.gz", "2"),
        ("head.csv", "head.csv", "1"),
        ("below", "below/long.csv", "200,002"),
    ):
        said = f"'{file}' is not UTF-8 (line {line}). Try: save it as UTF-8."
        assert error_of(ask, path) == said
    answer = ask("hash", "latin.csv")
    assert answer.code == 3
    assert "is not UTF-8" in answer.err


def test_a_file_that_ends_within_a_letter_is_not_utf_8(ask, folder):
    (folder / "cut.csv").write_bytes("id,name\n1,é".encode()[:-1])
    assert "'cut.csv' is not UTF-8 (line 2)." in error_of(ask, "cut.csv")


def test_an_empty_file_is_said_to_be_empty(ask, folder):
    (folder / "none.csv").touch()
    (folder / "none.parquet").touch()
    again = "Try: write it again."
    assert error_of(ask, "none.csv") == f"'none.csv' is empty: not even a header line. {again}"
    assert error_of(ask, "none.parquet") == f"'none.parquet' is empty. {again}"


@pytest.mark.parametrize("path", ["people.csv", "ages.parquet"])
def test_columns_that_are_not_there_are_named_with_those_that_are(ask, people, path):
    assert error_of(ask, path, "--columns", "id,nme") == (
        "There is no column 'nme' to hash. Did you mean 'name'? There are: 'id', 'name'."
    )
    assert error_of(ask, path, "--columns", "zzz,nme") == (
        "There are no columns 'zzz' and 'nme' to hash. Did you mean 'name'? "
        "There are: 'id', 'name'."
    )
    assert error_of(ask, path, "--columns", "id,id").startswith("There is more than one column")


def test_of_very_many_columns_some_are_named(ask, folder):
    (folder / "wide.csv").write_text(",".join(f"c{at}" for at in range(1_000)) + "\n")
    error = error_of(ask, "wide.csv", "--columns", "amount")
    assert error.endswith("'c18', 'c19' and 980 more.")


def test_a_misspelt_file_is_offered_from_its_folder(ask, people):
    (people / "below").mkdir()
    (people / "below" / "adults.parquet").touch()
    told = "There is no file or folder"
    assert error_of(ask, "peple.csv") == f"{told} 'peple.csv'. Did you mean 'people.csv'?"
    assert error_of(ask, "below/adult.parquet") == (
        f"{told} 'below/adult.parquet'. Did you mean 'adults.parquet'?"
    )
    assert error_of(ask, "zzz.csv.gz") == f"{told} 'zzz.csv.gz'."
    assert error_of(ask, "nowhere/people.csv") == f"{told} 'nowhere/people.csv'."


def test_what_is_wrong_with_the_rows_alone_is_told_as_ever(ask, folder):
    (folder / "odd.csv").write_text("a,b\n1\n")
    assert "row 2 has 1 cells for 2 columns" in error_of(ask, "odd.csv")


def test_a_comparison_says_so_too(ask, folder, keep):
    from ubunye_core import Step

    step = Step(name="a", direction="input", data_hash="sha256:" + "0" * 64, hash_method="rows-v1")
    keep(run_id="good", inputs=(step,))
    (folder / "latin.csv").write_bytes(LATIN)
    answer = ask("hash", "latin.csv", "--against", "good")
    assert answer.code == 3
    assert "could not be hashed: 'latin.csv' is not UTF-8 (line 2)." in answer.out
