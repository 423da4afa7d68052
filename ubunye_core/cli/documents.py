"""The JSON document of a question: what each begins with, and then its own fields."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Protocol

from ubunye_core.cli.exits import code_of
from ubunye_core.cli.output import document
from ubunye_core.cli.place import Place
from ubunye_core.questions import Verdict
from ubunye_core.stores import Unreadable


class Answer(Protocol):
    """What every answer of a question has."""

    @property
    def verdict(self) -> Verdict:
        """Whether it is so."""

    @property
    def reason(self) -> str:
        """Why, in a sentence."""

    @property
    def now(self) -> datetime:
        """The instant that it holds for."""

    @property
    def unreadable(self) -> Sequence[Unreadable]:
        """What could not be read and could change it."""


def document_of(answer: Answer, place: Place, **more: object) -> None:
    """Print the document of an answer about a store, with the fields of its question."""
    document(
        verdict=answer.verdict,
        exit_code=code_of(answer.verdict),
        reason=place.with_remark(answer.reason),
        now=answer.now,
        store=place.shown,
        unreadable=answer.unreadable,
        **more,
    )
