"""Ask about upstreams once or until a time, and tell people on standard error how it goes."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import timedelta
from typing import TYPE_CHECKING

from ubunye_core.cli.output import clean, is_terminal, moment, note
from ubunye_core.questions import Requirement, UpstreamAnswer, Verdict, wait_for_upstream
from ubunye_core.questions.wait import POLL
from ubunye_core.receipt import Window
from ubunye_core.stores import ReceiptStore
from ubunye_core.times import in_words

if TYPE_CHECKING:
    from rich.status import Status


def ask_and_wait(
    requirements: Sequence[Requirement],
    *,
    variables: Mapping[str, str],
    store: ReceiptStore,
    wait: timedelta | None,
    deadline: str | None,
    poll: timedelta | None,
    window: Window | None = None,
    asker: str | None = None,
) -> UpstreamAnswer:
    """The answer about these upstreams, waited for where the options or requirements say so."""
    with _spinner() as spinner:
        return wait_for_upstream(
            requirements,
            variables=variables,
            store=store,
            asker=asker,
            window=window,
            wait=wait,
            deadline=deadline,
            poll=POLL if poll is None else poll,
            on_look=_Progress(spinner, wait, deadline),
        )


class _Progress:
    """Tells people of a look that found something new; on a terminal also that it goes on."""

    def __init__(
        self, spinner: Status | None, wait: timedelta | None, deadline: str | None
    ) -> None:
        self._spinner = spinner
        self._up_to = "" if wait is None else f" up to {in_words(wait)}"
        self._deadline = deadline
        self._told: tuple[Verdict, str] | None = None

    def __call__(self, answer: UpstreamAnswer, pause: timedelta | None) -> None:
        if pause is None:
            return
        if self._told is None and self._deadline is None:
            note(
                f"Waiting{self._up_to}, from the start of this process: a restart waits anew. "
                f"--deadline names a fixed end."
            )
        if self._told != (answer.verdict, answer.reason):
            self._told = (answer.verdict, answer.reason)
            note(f"{moment(answer.now)} not yet: {answer.reason}")
        if self._spinner is not None:
            self._spinner.update(
                clean(f"Looked at {moment(answer.now)}, looking again in {in_words(pause)}.")
            )


@contextmanager
def _spinner() -> Iterator[Status | None]:
    if not is_terminal(sys.stderr):
        yield None
        return
    from rich.console import Console

    with Console(stderr=True, highlight=False).status("Looking.") as status:
        yield status
