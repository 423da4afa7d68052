"""Every question goes by an index: what the databases say that they would do."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import sqlalchemy as sa

from tests.core.stores.sql.server import PostgresServer
from tests.core.stores.sql.stores import opened
from ubunye_core.receipt import Status
from ubunye_core.stores.sql.queries import Asked, Queries, Wanted
from ubunye_core.stores.sql.rows import Stored, batch_key, micros, pair_of
from ubunye_core.stores.sql.store import SqlStore
from ubunye_core.testing import a_receipt, at

TASKS, RUNS = 40, 100
TASK = "pay/monthly/task_7"


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def full(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[SqlStore]:
    """A store of thousands of receipts, whose statistics are up to date."""
    url = f"sqlite:///{tmp_path_factory.mktemp('plans')}/receipts.db"
    if request.param == "postgresql":
        server: PostgresServer = request.getfixturevalue("postgres")
        url = server.url("plans")
    store = opened(url)
    store.save_many(
        a_receipt(
            task=f"pay/monthly/task_{task}",
            run_id=f"run-{task}-{run}",
            started_at=at(60 * run),
            status=Status.ERROR if run % 10 == 3 else Status.SUCCESS,
            variables={"hour": str(run), "region": f"r{run % 4}", "mode": "PROD"},
        )
        for task in range(TASKS)
        for run in range(RUNS)
    )
    store._database.read(lambda connection: connection.exec_driver_sql("ANALYZE") and None)
    yield store
    store.close()


def asked(queries: Queries) -> dict[str, Asked]:
    """Every statement that questions are asked by."""
    last = Stored(TASK, "run-7-50", "success", micros(at(3000)), None, b"")
    rare, common = pair_of("hour", "20"), pair_of("mode", "PROD")
    pages = {
        "a task": Wanted(task=TASK),
        "a status of a task": Wanted(task=TASK, status=Status.SUCCESS),
        "running runs of a task": Wanted(task=TASK, status=Status.RUNNING),
        "a task since": Wanted(task=TASK, since=micros(at(5000))),
        "a variable of a task": Wanted(task=TASK, pairs=(rare,)),
        "variables of a task": Wanted(task=TASK, pairs=(common, rare)),
        "successes by variables": Wanted(task=TASK, status=Status.SUCCESS, pairs=(rare, common)),
        "all": Wanted(),
        "all since": Wanted(since=micros(at(5000))),
        "running runs of all": Wanted(status=Status.RUNNING),
        "a variable of all": Wanted(pairs=(rare,)),
    }
    found = {name: queries.page(wanted, None, 20) for name, wanted in pages.items()}
    found |= {f"{name}, on": queries.page(wanted, last, 20) for name, wanted in pages.items()}
    return found | {
        "one": queries.one(TASK, "run-7-1"),
        "beginning": queries.beginning(TASK, "run-7-1"),
        "a page of a task": queries.of_task(TASK, "run-7-1", 20),
        "locked": queries.locked(TASK, ["run-7-1"]),
        "several": queries.several(TASK, ["run-7-1", "run-7-2"]),
        "several locked": queries.locked(TASK, ["run-7-1", "run-7-2"]),
        "whole rows": queries.whole_rows((TASK, "run-7-1"), 20),
        "attempt": queries.of_attempt(TASK, "k" * 64),
        "whole batch": queries.success(TASK, batch_key({"hour": "20"})),
        "in short": queries.in_short(TASK, micros(at(5000)), micros(at(9000))),
        "tasks": queries.tasks(),
        "settled": queries.settled([f"pay/monthly/task_{task}" for task in range(TASKS)]),
    }


def plan(store: SqlStore, question: Asked) -> list[str]:
    """The steps of the database's plan for a question."""

    def explain(connection: sa.Connection) -> list[str]:
        made = question.statement.compile(
            dialect=connection.dialect, compile_kwargs={"render_postcompile": True}
        )
        values = made.construct_params(question.values)
        if store.url.startswith("sqlite"):
            given = tuple(values[name] for name in made.positiontup or ())
            told = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {made}", given)
            return [row[3] for row in told]
        return [row[0] for row in connection.exec_driver_sql(f"EXPLAIN {made}", values)]

    return store._database.read(explain)


def test_every_question_goes_by_an_index(full: SqlStore) -> None:
    for name, question in asked(full._queries).items():
        steps = plan(full, question)
        for step in steps:
            reads_a_table = "Seq Scan" in step or (
                step.startswith("SCAN") and "ubunye_" in step and "INDEX" not in step
            )
            assert not reads_a_table, f"{name}:\n" + "\n".join(steps)


def test_the_newest_come_out_of_an_index_in_their_order(full: SqlStore) -> None:
    for name, question in asked(full._queries).items():
        if name in (
            "a task",
            "a task, on",
            "a status of a task",
            "all",
            "all, on",
            "a variable of a task",
        ):
            steps = plan(full, question)
            sorts = [step for step in steps if "Sort" in step or "TEMP B-TREE" in step]
            assert not sorts, f"{name}:\n" + "\n".join(steps)


def test_each_status_of_few_runs_has_an_index_of_its_own(full: SqlStore) -> None:
    steps = "\n".join(plan(full, asked(full._queries)["running runs of all"]))
    assert "ubunye_receipts_running" in steps
    steps = "\n".join(plan(full, asked(full._queries)["whole batch"]))
    assert "ubunye_receipts_success" in steps or "ubunye_receipts_of_batch" in steps


def test_runs_in_short_come_out_of_indexes_by_status_where_documents_lie_in_the_rows(
    full: SqlStore,
) -> None:
    steps = plan(full, asked(full._queries)["in short"])
    by = [step.split(" (")[0] for step in steps if "_receipts USING" in step]
    if full.url.startswith("sqlite"):
        search = "SEARCH ubunye_receipts USING INDEX ubunye_receipts"
        assert by == [f"{search}_in_short", *[f"{search}_of_status"] * 4]
