"""What the end of a recorded block means for its receipt."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from ubunye_core.masking import error_text
from ubunye_core.questions.guard import RunRefusedError
from ubunye_core.questions.upstream import UpstreamNotMetError
from ubunye_core.receipt import Status
from ubunye_core.recording.beginning import Arguments
from ubunye_core.recording.run import Run
from ubunye_core.recording.termination import Terminated

log = logging.getLogger("ubunye_core.recording")


@dataclass(frozen=True)
class Ending:
    """How a run ended. ``running`` means that it only pauses."""

    status: Status
    outcome: str | None = None
    error: str | None = None
    """Why it did not succeed, or did not run."""


def ending_of(run: Run, error: BaseException | None, given: Arguments) -> Ending:
    """How a run ended whose block was left by this exception, or by none."""
    of_another = isinstance(error, RunRefusedError) and error.answer.task != run.task
    if isinstance(error, UpstreamNotMetError | RunRefusedError) and not of_another:
        return Ending(Status.SKIPPED, "refused", run.clean(error.answer.reason))
    status = Status.SUCCESS if error is None else _meaning(error, given)
    if status is Status.SUCCESS:
        skipped = run.skip_reason is not None
        return Ending(Status.SKIPPED if skipped else status, None, run.skip_reason)
    assert error is not None
    text = error_text(error, with_message=given.with_message, secrets=run.secrets)
    return Ending(status, None, text)


def _meaning(error: BaseException, given: Arguments) -> Status:
    try:
        meant = None if given.how_it_ended is None else given.how_it_ended(error)
    except Exception:
        log.exception("What %s means could not be told.", type(error).__name__)
        meant = None
    return _ordinary_meaning(error) if meant is None else Status(meant)


def _ordinary_meaning(error: BaseException) -> Status:
    if isinstance(error, Terminated):
        return Status.INTERRUPTED
    if isinstance(error, SystemExit):
        is_good = error.code is None or (isinstance(error.code, int) and error.code == 0)
        return Status.SUCCESS if is_good else Status.ERROR  # 0.0 ends a process with 1
    return Status.ERROR if isinstance(error, Exception) else Status.INTERRUPTED
