"""What Databricks says of the notebook or job that this process runs.

It stands in the context of the notebook, which MLflow's ``databricks_utils`` reads in the same way.
Its tags are named as Delta Lake's ``JobInfo.fromContext`` names them: ``jobId``, ``runId``,
``multitaskParentRunId`` (the run of the whole job, of which ``runId`` is one task) and
``jobTriggerType``. That one is ``manual`` where somebody started the run; the Jobs API calls what a
cron schedule starts ``PERIODIC``. Databricks promises none of it: whatever cannot be read, or says
something else, is as if this were no job.
"""

from __future__ import annotations

import logging
import os
import sys
from typing import Any

from ubunye_core.receipt import Orchestrator

log = logging.getLogger("ubunye_core.recording")
_BY_SCHEDULE = ("periodic", "cron")
LONGEST_NAME = 256


def databricks_user() -> str | None:
    """The user as whom a notebook or a job of Databricks runs; None anywhere else."""
    try:
        context = _context()
        return None if context is None else _name(context.userName().get())
    except Exception as error:  # an older runtime, a worker: the system's user remains
        log.info("The user of Databricks cannot be told: %s", type(error).__name__)
        return None


def databricks_job() -> Orchestrator | None:
    """The run of a job of Databricks that this is; None anywhere else."""
    job, run = _tag("jobId"), _tag("runId")
    if job is None or run is None:
        return None
    ids = {"job_id": job, "run_id": _tag("multitaskParentRunId") or run, "task_run_id": run}
    return Orchestrator(name="databricks", ids=ids)


def is_scheduled_by_databricks() -> bool:
    """Whether this is the run of a job of Databricks that its schedule has started."""
    return _tag("jobId") is not None and (_tag("jobTriggerType") or "").lower() in _BY_SCHEDULE


def _context() -> Any:
    """The context of a notebook, as Java holds it; None where this is none."""
    shell = sys.modules.get("IPython")
    if shell is None or "DATABRICKS_RUNTIME_VERSION" not in os.environ:
        return None
    tools = shell.get_ipython().user_ns["dbutils"]
    return tools.notebook.entry_point.getDbutils().notebook().getContext()


def _tag(name: str) -> str | None:
    """One tag of the context; None where it has none such."""
    try:
        context = _context()
        found = None if context is None else context.tags().get(name)
        return _name(found.get()) if found is not None and found.isDefined() else None
    except Exception as error:  # an older runtime, a worker, a user without the right to it
        log.info("The job of Databricks cannot be told: %s", type(error).__name__)
        return None


def _name(given: Any) -> str | None:
    """A name or an id; None where it is none, and might fill a receipt until no store takes it."""
    text = str(given)
    return text if text and len(text) <= LONGEST_NAME and text.isprintable() else None
