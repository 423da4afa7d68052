"""What commands print: one JSON document for programs, text and tables for people."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import TextIO

import click

from ubunye_core.masking import masked_text
from ubunye_core.questions import Verdict
from ubunye_core.stores import Unreadable
from ubunye_core.times import in_iso

_COLOURS = {Verdict.PASS: "green", Verdict.FAIL: "red", Verdict.UNKNOWN: "yellow"}
_SHOWN, _SHOWN_UNREADABLE = 20, 10


def document(
    *,
    verdict: Verdict | None,
    exit_code: int,
    reason: str,
    now: datetime | None = None,
    store: str | None = None,
    unreadable: Iterable[Unreadable] = (),
    **more: object,
) -> None:
    """Print the one JSON document of a command, to standard output."""
    content = {
        "verdict": None if verdict is None else verdict.value,
        "exit_code": int(exit_code),
        "reason": reason,
        "now": None if now is None else in_iso(now),
        "store": store,
        "unreadable": [{"where": bad.where, "why": bad.why} for bad in unreadable],
        **more,
    }
    json_text(content)


def json_text(content: Mapping[str, object]) -> None:
    """Print one JSON document."""
    click.echo(json.dumps(content, indent=2))


def say(text: str) -> None:
    """Print text for people. What receipts hold cannot move the cursor or colour the screen."""
    click.echo(clean(text))


def note(text: str) -> None:
    """Print text beside the answer, to standard error. The answer stands if nobody can read it."""
    with contextlib.suppress(OSError):
        click.echo(clean(text), err=True)


def wrong(text: str) -> None:
    """Print an error, without secrets, to standard error."""
    note(f"Error: {masked_text(text)}")


def is_terminal(stream: TextIO | None) -> bool:
    """Whether somebody looks at a stream; one that was closed before we began is None."""
    return stream is not None and stream.isatty()


def say_verdict(verdict: Verdict, text: str) -> None:
    """Print a verdict and what it is about."""
    click.echo(f"{click.style(verdict.value, fg=_COLOURS[verdict], bold=True)}  {clean(text)}")


def say_unreadable(unreadable: Sequence[Unreadable], *, told: Sequence[str] = ()) -> None:
    """Print what could not be read, each once, to standard error.

    Args:
        unreadable: The places that could not be read.
        told: The reasons that have been printed; what one of them says is not said again.
    """
    texts = {
        f"{bad.where}: {bad.why}": None
        for bad in unreadable
        if not any(f"{bad.where}: {bad.why}" in text or bad.why == text for text in told)
    }
    for text in list(texts)[:_SHOWN_UNREADABLE]:
        note(f"Unreadable: {text}")
    if len(texts) > _SHOWN_UNREADABLE:
        note(f"... and {len(texts) - _SHOWN_UNREADABLE} more that are unreadable.")


def note_first(texts: Sequence[str]) -> None:
    """Tell people of the first of many on standard error, and how many more there are."""
    for text in texts[:_SHOWN]:
        note(text)
    if len(texts) > _SHOWN:
        note(f"... and {len(texts) - _SHOWN:,} more; --json names all.")


def clean(text: str) -> str:
    """Text without control characters; line ends and tabs stay."""
    if text.isprintable():
        return text
    return "".join(
        char if char.isprintable() or char in "\n\t" else repr(char)[1:-1] for char in text
    )


def moment(value: datetime | None) -> str:
    """An instant in a table, to the second; a dash for none."""
    return "-" if value is None else in_iso(value.replace(microsecond=0))
