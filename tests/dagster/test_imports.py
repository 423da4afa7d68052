"""Importing this library costs a code location next to nothing beside Dagster itself."""

from __future__ import annotations

import subprocess
import sys

MEASURE = """
import gc, sys, time
import dagster
gc.disable()  # a collection that falls due here would walk through all of Dagster
before, start = set(sys.modules), time.process_time()
import ubunye_dagster
took = time.process_time() - start
new = {name.split('.')[0] for name in set(sys.modules) - before}
heavy = new & {'pandas', 'numpy', 'pyarrow', 'pyspark', 'sqlalchemy', 'airflow', 'ubunye_core'}
print(took, ','.join(sorted(heavy)))
"""


def test_it_adds_under_a_tenth_of_a_second_and_nothing_heavy() -> None:
    times = []
    for _ in range(3):  # a busy machine may stall one of them
        done = subprocess.run(
            [sys.executable, "-c", MEASURE], capture_output=True, text=True, check=True
        )
        took, heavy = done.stdout.rstrip("\n").split(" ")
        assert heavy == ""
        times.append(float(took))
        if min(times) < 0.1:
            return
    raise AssertionError(f"importing ubunye_dagster took {min(times):.3f} s")


def test_dagster_names_the_library_among_those_of_a_code_location() -> None:
    from dagster_shared.libraries import DagsterLibraryRegistry

    import ubunye_dagster  # noqa: F401

    assert "ubunye-receipts" in DagsterLibraryRegistry.get()


def test_every_name_of_the_front_door_is_there_when_it_is_asked_for() -> None:
    import ubunye_dagster

    for name in ubunye_dagster.__all__:
        assert getattr(ubunye_dagster, name).__name__ == name
    asked_for = [name for names in ubunye_dagster._LATER.values() for name in names]
    assert sorted(asked_for) == sorted(ubunye_dagster.__all__)
