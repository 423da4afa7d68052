"""Answers and tables as Dagster's metadata, for its web page."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import dagster as dg

from ubunye_core import RequirementAnswer, Verdict

COLUMNS = ("task", "batch", "verdict", "satisfied_by", "newest_run")


def metadata_of(
    verdict: Verdict, reason: str, requirements: tuple[RequirementAnswer, ...]
) -> dict[str, dg.MetadataValue]:
    """What a gate or a check was asked, and found."""
    shown: dict[str, dg.MetadataValue] = {
        "verdict": dg.MetadataValue.text(verdict.value),
        "reason": dg.MetadataValue.text(reason),
    }
    if requirements:
        shown["requirements"] = table_of(COLUMNS, [_row(each) for each in requirements])
    return shown


def table_of(columns: Sequence[str], rows: Sequence[Mapping[str, str]]) -> dg.TableMetadataValue:
    """A table whose cells are texts."""
    return dg.MetadataValue.table(
        [dg.TableRecord(dict(row)) for row in rows],
        schema=dg.TableSchema([dg.TableColumn(name) for name in columns]),
    )


def _row(answer: RequirementAnswer) -> dict[str, str]:
    return {
        "task": answer.task,
        "batch": ", ".join(f"{name}={text}" for name, text in sorted(answer.batch.items())),
        "verdict": answer.verdict.value,
        "satisfied_by": answer.satisfied_by or "",
        "newest_run": answer.newest_run or "",
    }
