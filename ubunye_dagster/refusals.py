"""A gate's no, in Dagster's words."""

from __future__ import annotations

import dagster as dg

from ubunye_core import RunAnswer, UpstreamAnswer, Verdict
from ubunye_dagster.metadata import metadata_of


def refused(answer: UpstreamAnswer) -> dg.Failure:
    """The failure of a step that may not run. A plain no is not tried again."""
    return dg.Failure(
        description=answer.reason,
        metadata=metadata_of(answer.verdict, answer.reason, answer.requirements),
        allow_retries=answer.verdict is not Verdict.FAIL and answer.retryable,
    )


def may_not_run(answer: RunAnswer) -> dg.Failure:
    """The failure of a step whose batch is finished, is being run, or may not be run so.

    It is tried again where that may help: another run holds the batch, or it cannot be told.
    """
    return dg.Failure(
        description=answer.reason,
        metadata=metadata_of(answer.verdict, answer.reason, ()),
        allow_retries=answer.holder is not None or answer.verdict is Verdict.UNKNOWN,
    )
