"""A gate's no, in Dagster's words."""

from __future__ import annotations

import dagster as dg

from ubunye_core import RequirementAnswer, RunAnswer, UpstreamAnswer, Verdict


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


def metadata_of(
    verdict: Verdict, reason: str, requirements: tuple[RequirementAnswer, ...]
) -> dict[str, dg.MetadataValue]:
    """What a gate was asked and found, for Dagster's web page."""
    shown: dict[str, dg.MetadataValue] = {
        "verdict": dg.MetadataValue.text(verdict.value),
        "reason": dg.MetadataValue.text(reason),
    }
    if requirements:
        shown["requirements"] = dg.MetadataValue.table(
            [dg.TableRecord(_row(each)) for each in requirements],
            schema=dg.TableSchema([dg.TableColumn(name) for name in COLUMNS]),
        )
    return shown


COLUMNS = ("task", "batch", "verdict", "satisfied_by", "newest_run")


def _row(answer: RequirementAnswer) -> dict[str, str]:
    return {
        "task": answer.task,
        "batch": ", ".join(f"{name}={text}" for name, text in sorted(answer.batch.items())),
        "verdict": answer.verdict.value,
        "satisfied_by": answer.satisfied_by or "",
        "newest_run": answer.newest_run or "",
    }
