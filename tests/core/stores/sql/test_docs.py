"""The SQL of the page on this store is run as it stands."""

from __future__ import annotations

import re
from pathlib import Path

from tests.core.stores.sql.server import PostgresServer
from tests.core.stores.sql.stores import opened
from ubunye_core.receipt import Status
from ubunye_core.stores.url import _BUILT_IN
from ubunye_core.testing import A_TASK, a_receipt

PAGE = (Path(__file__).parents[4] / "docs" / "how-to" / "sql-store.md").read_text("utf-8")
BLOCKS = re.findall(r"^```sql\n(.*?)^```", PAGE, re.S | re.M)


def test_the_sql_of_the_page_does_what_the_page_says(postgres: PostgresServer) -> None:
    rights, report, insert = BLOCKS
    with postgres.connect() as connection:
        connection.execute("CREATE DATABASE docs")
        for role in ("jobs", "readers"):
            connection.execute(f"CREATE ROLE {role} LOGIN")
    store = opened(postgres.url("receipts", database="docs"))
    store.save(a_receipt(run_id="first"))
    with postgres.connect("docs") as connection:
        connection.execute(rights)
        ((task, status, count, newest),) = connection.execute(report).fetchall()
        assert (task, status, count) == (A_TASK, "success", 1)
        assert newest == a_receipt().started_at
        connection.execute(insert)
    assert store.load(A_TASK, "run-1").status is Status.SUCCESS
    assert len(store.search(A_TASK, batch={"month": "2026-10"})) == 2
    assert store.repair().hints == 1
    job = opened(store.url.replace("postgres@", "jobs@"))
    job.save(a_receipt(run_id="second"))
    assert job.remove(A_TASK, ["second"]) == 1
    (write,) = (finding for finding in job.examine() if finding.what == "write")
    assert write.good
    for each in (store, job):
        each.close()


def test_the_page_names_every_scheme_of_this_store() -> None:
    schemes = [name for name, place in _BUILT_IN.items() if ".stores.sql." in place]
    assert schemes
    assert all(f"`{scheme}://" in PAGE for scheme in schemes)
