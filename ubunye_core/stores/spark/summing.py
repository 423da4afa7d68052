"""Questions that Spark answers without a document: what it tells of many runs in one row."""

from __future__ import annotations

from typing import Any

from pyspark.sql import functions as F  # noqa: N812

from ubunye_core.stores.spark.reading import DAMAGED

FIRST_OF_TASK = ("run_id", "status", "started_at", "ended_at", "window_end")
"""What ``newest_of_each`` tells of the newest run."""
_IN_ORDER = (
    "row_number() OVER (PARTITION BY task ORDER BY started_at DESC NULLS FIRST, run_id DESC)"
)


def newest_and_success(standing: Any) -> Any:
    """One row: the events of the newest run and of the newest success, and any doubt about them."""
    run = F.struct("started_at", "run_id", "event")
    return standing.agg(
        F.max(run).alias("run"),
        F.max(F.when(F.col("status") == "success", run)).alias("success"),
        F.max(F.expr(f"CASE WHEN {DAMAGED} THEN 1 ELSE 0 END")).alias("in_doubt"),
    ).selectExpr("run.event AS newest", "success.event AS success", "in_doubt")


def newest_of_each(standing: Any, *, looked_at: int) -> Any:
    """A row a task: its newest run, and whether anything speaks against believing it."""
    in_doubt = f"{DAMAGED} OR (nth <= {looked_at} AND status = 'running')"
    return (
        standing.selectExpr("*", f"{_IN_ORDER} AS nth")
        .groupBy("task")
        .agg(
            *(F.max(F.when(F.col("nth") == 1, F.col(name))).alias(name) for name in FIRST_OF_TASK),
            F.max(F.expr(f"CASE WHEN {in_doubt} THEN 1 ELSE 0 END")).alias("in_doubt"),
        )
    )
