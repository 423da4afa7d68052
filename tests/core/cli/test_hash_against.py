"""``hash --against``: the same rows or not, which columns, and honest when it cannot be told."""

from __future__ import annotations

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.core.cli.conftest import json_of
from ubunye_core import Step, record_run
from ubunye_core.hashing import fingerprint

TASK = "pay/monthly/calc"
PEOPLE = pa.table({"id": [1, 2, 3], "name": ["ann", "bob", "cy"], "age": [30, 40, 50]})


@pytest.fixture
def recorded(folder, store):
    """Record a run that wrote a table; its id, and the file."""

    def record(table=PEOPLE, **said):
        file = folder / "people.parquet"
        pq.write_table(table, file)
        with record_run(TASK, store=store) as run:
            run.wrote("people", file, **said)
        return run.run_id

    return record


def test_the_same_rows_are_exit_0_in_any_order(ask, recorded, folder):
    run = recorded()
    pq.write_table(PEOPLE.take([2, 0, 1]).select(["age", "name", "id"]), folder / "people.parquet")
    answer = ask("hash", "people.parquet", "--against", run)
    assert answer.code == 0
    assert answer.out.startswith("PASS  people.parquet holds the rows of the output 'people' of ")
    found = json_of(ask("hash", "people.parquet", "--against", run, "--json"), 0)
    assert found["verdict"] == "PASS"
    assert found["against"]["same"] is True
    assert (found["against"]["run_id"], found["against"]["step"]) == (run, "people")


def test_other_rows_are_exit_1_and_the_column_that_moved_is_named(ask, recorded, folder):
    run = recorded(per_column=True)
    other = PEOPLE.set_column(2, "age", pa.array([30, 40, 51]))
    pq.write_table(other, folder / "people.parquet")
    answer = ask("hash", "people.parquet", "--against", run)
    assert answer.code == 1
    assert "Changed: age." in answer.out
    found = json_of(ask("hash", "people.parquet", "--against", run, "--json"), 1)
    assert found["verdict"] == "FAIL"
    assert found["against"]["columns"] == {"changed": ["age"], "added": [], "gone": []}
    assert found["hashes"][0]["data_hash"] == fingerprint(other).data_hash


def test_columns_that_came_and_went_are_named(ask, recorded, folder):
    run = recorded(per_column=True)
    pq.write_table(PEOPLE.rename_columns(["id", "full", "age"]), folder / "people.parquet")
    found = ask("hash", "people.parquet", "--against", run, "--json").document
    assert found["against"]["columns"] == {"changed": [], "added": ["full"], "gone": ["name"]}
    assert "New: full. Gone: name." in found["reason"]


def test_values_paired_otherwise_are_no_changed_column(ask, recorded, folder):
    run = recorded(per_column=True)
    pq.write_table(PEOPLE.set_column(2, "age", pa.array([50, 40, 30])), folder / "people.parquet")
    answer = ask("hash", "people.parquet", "--against", run)
    assert answer.code == 1
    assert "Each column holds the values it held, in other rows together." in answer.out


def test_columns_recorded_alone_can_be_compared_alone(ask, recorded):
    run = recorded(columns=["id"], per_column=True)
    answer = ask("hash", "people.parquet", "--against", run)
    assert answer.code == 1
    assert "New: age, name. With --columns" in answer.out
    assert ask("hash", "people.parquet", "--against", run, "--columns", "id").code == 0


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (PEOPLE.slice(1), "There are 2 rows, and 3 on record."),
        (PEOPLE.slice(2), "There is 1 row, and 3 on record."),
        (PEOPLE.drop_columns(["age"]), "Names or types of columns differ."),
        (PEOPLE.set_column(0, "id", pa.array([1, 2, 4])), "so values differ."),
    ],
)
def test_without_hashes_of_columns_what_is_known_is_told(ask, recorded, folder, other, told):
    run = recorded()
    pq.write_table(other, folder / "people.parquet")
    answer = ask("hash", "people.parquet", "--against", run)
    assert answer.code == 1
    assert told in answer.out
    assert "per_column=True" in answer.out
    assert "which may be why" not in answer.out


def test_types_that_another_reader_gives_leave_it_untold(ask, store, folder):
    frame = pd.DataFrame({"at": pd.to_datetime(["2024-01-01"])})  # a timestamp, to pandas' rules
    frame.to_parquet(folder / "t.parquet")
    with record_run(TASK, store=store) as run:
        run.wrote("t", frame, location=folder / "t.parquet")
    answer = ask("hash", "t.parquet", "--against", run.run_id)
    assert answer.code == 3
    assert answer.out.startswith("UNKNOWN  Whether t.parquet holds the rows of the output 't' of ")
    assert "read as pandas, these as parquet" in answer.out
    assert answer.out.endswith('record the file itself, run.wrote("t", "t.parquet").\n')
    numbers = pd.DataFrame({"n": [1, 2]})
    numbers.to_parquet(folder / "n.parquet")
    with record_run(TASK, store=store) as run:
        run.wrote("n", numbers, location=folder / "n.parquet")
    assert ask("hash", "n.parquet", "--against", run.run_id).code == 0


def test_values_of_the_same_types_differ_whoever_read_them(ask, store, folder):
    frame = pd.DataFrame({"n": [1, 2]})
    with record_run(TASK, store=store) as run:
        run.wrote("n", frame)
    pd.DataFrame({"n": [1, 3]}).to_parquet(folder / "n.parquet")
    answer = ask("hash", "n.parquet", "--against", run.run_id)
    assert answer.code == 1
    assert "so values differ." in answer.out


@pytest.mark.parametrize("read", [{}, {"dtype": str}])
def test_a_csv_file_that_pandas_read_is_told_only_where_it_is_recorded_itself(
    ask, store, folder, read
):
    (folder / "people.csv").write_text("id,name\n1,ann\n2,\n")
    frame = pd.read_csv("people.csv", **read)
    with record_run(TASK, store=store) as run:
        run.read("people", frame, per_column=bool(read))
        run.read("itself", "people.csv")
    words = ("hash", "people.csv", "--against", run.run_id)
    found = json_of(ask(*words, "--step", "people", "--json"), 3)
    assert (found["verdict"], found["against"]["same"]) == ("UNKNOWN", None)
    assert 'Try: record the file itself, run.read("people", "people.csv").' in found["reason"]
    assert ("Columns with other hashes: name." in found["reason"]) == bool(read)
    assert ask(*words, "--step", "itself").code == 0
    (folder / "people.csv").write_text("id,name\n1,ann\n2,bob\n")
    assert ask(*words, "--step", "itself").code == 1


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("id,age\n1,30\n", "There is 1 row, and 2 on record."),
        ("id,years\n1,30\n2,40\n", "New: years. Gone: age."),
        ("id\n1\n2\n", "Gone: age."),
    ],
)
def test_other_names_columns_or_rows_are_exit_1_whoever_read_them(ask, store, folder, text, told):
    (folder / "people.csv").write_text(text)
    with record_run(TASK, store=store) as run:
        run.read("people", pd.DataFrame({"id": [1, 2], "age": [30, 40]}), per_column=True)
    answer = ask("hash", "people.csv", "--against", run.run_id)
    assert answer.code == 1
    assert told in answer.out


def test_a_file_on_record_is_to_be_compared_with_one_of_its_kind(ask, recorded, folder):
    run = recorded()
    (folder / "people.csv").write_text("id,name,age\n1,ann,30\n2,bob,40\n3,cy,50\n")
    answer = ask("hash", "people.csv", "--against", run)
    assert answer.code == 3
    assert "read as parquet, these as csv" in answer.out
    assert answer.out.endswith("Try: give a file of the kind on record.\n")


def _step(name, direction="input", **said):
    given = {"data_hash": fingerprint(PEOPLE).data_hash, "hash_method": "rows-v1"}
    return Step(name=name, direction=direction, **(given | said))


@pytest.fixture
def people(folder):
    pq.write_table(PEOPLE, folder / "people.parquet")
    return folder / "people.parquet"


def test_the_step_is_found_by_its_name_its_location_or_as_the_only_one(ask, keep, people):
    other = {"data_hash": "sha256:" + "0" * 64}
    keep(run_id="alone", inputs=(_step("a"), _step("b", data_hash=None, hash_method=None)))
    keep(run_id="place", inputs=(_step("a", **other), _step("b", location=people.as_uri())))
    keep(
        run_id="both",
        inputs=(_step("a", location=str(people), **other),),
        outputs=(_step("b", "output", location=str(people)),),
    )
    keep(run_id="many", inputs=(_step("a"), _step("b", **other)))
    for run in ("alone", "place", "both"):
        assert ask("hash", "people.parquet", "--against", run).code == 0, run
    assert ask("hash", "people.parquet", "--against", "both", "--step", "a").code == 1
    assert ask("hash", "people.parquet", "--against", "many", "--step", "a").code == 0
    assert ask("hash", "people.parquet", "--against", "many", "--step", "b").code == 1
    assert (
        ask("hash", "people.parquet", "--against", "man", "--task", TASK, "--step", "a").code == 0
    )
    answer = ask("hash", "people.parquet", "--against", "many")
    assert answer.code == 2
    assert "--step and its name: a, b." in answer.err
    answer = ask("hash", "people.parquet", "--against", "many", "--step", "c")
    assert answer.code == 2
    assert "It has: a, b." in answer.err


def test_what_cannot_be_told_is_exit_3(ask, keep, people):
    keep(run_id="none")
    keep(run_id="failed", inputs=(_step("a", data_hash=None, hash_error="it was damaged"),))
    keep(run_id="method", inputs=(_step("a", hash_method="rows-v9"),))
    keep(run_id="good", inputs=(_step("a"),))
    for run, path, told in (
        ("none", "people.parquet", "nothing on record that it read or wrote"),
        ("failed", "people.parquet", "no data hash"),
        ("method", "people.parquet", "'rows-v9', which is not rows-v1"),
        ("nobody", "people.parquet", "holds no run 'nobody'"),
        ("good", "nowhere.parquet", "could not be hashed: There is no file"),
    ):
        answer = ask("hash", path, "--against", run)
        assert answer.code == 3, run
        assert answer.out.startswith("UNKNOWN  ")
        assert told in answer.out
        found = json_of(ask("hash", path, "--against", run, "--json"), 3)
        assert found["verdict"] == "UNKNOWN"
    answer = ask("hash", "people.parquet", "--against", "failed", "--step", "a")
    assert "it was damaged" in answer.out


def test_a_store_that_cannot_be_read_is_exit_3(ask, people, tmp_path):
    gone = tmp_path / "gone"
    assert ask("hash", "people.parquet", "--against", "x", "--store", gone).code == 3


@pytest.mark.parametrize(
    "words",
    [
        ("a", "b", "--against", "r"),
        ("a", "--task", TASK),
        ("a", "--step", "s"),
        ("a", "--store", "memory://x"),
    ],
)
def test_options_that_do_not_go_together_are_exit_2(ask, store, words):
    assert ask("hash", *words).code == 2


def test_without_a_store_a_comparison_is_exit_2(ask, people, monkeypatch):
    monkeypatch.delenv("UBUNYE_STORE", raising=False)
    assert ask("hash", "people.parquet", "--against", "r").code == 2


def test_a_record_that_names_no_route_may_differ_for_that(ask, keep, people):
    keep(run_id="old", inputs=(_step("a", data_hash="sha256:" + "0" * 64),))
    answer = ask("hash", "people.parquet", "--against", "old")
    assert answer.code == 1
    assert "does not say how its rows were read" in answer.out
    other = {"data_hash": "sha256:" + "0" * 64, "schema_hash": "sha256:" + "1" * 64}
    keep(run_id="types", inputs=(_step("a", **other),))
    answer = ask("hash", "people.parquet", "--against", "types")
    assert answer.code == 3
    assert "the record does not say how its rows were read" in answer.out
