"""Wait for a batch that another run holds."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from datetime import datetime, timedelta

from ubunye_core.questions.guard import RunAnswer
from ubunye_core.questions.wait import POLL
from ubunye_core.stores.claims import Claim
from ubunye_core.times import in_words, to_the_second, utc_now


def wait_for_claim(
    take: Callable[[], Claim | RunAnswer],
    *,
    until: datetime,
    poll: timedelta = POLL,
    on_look: Callable[[RunAnswer, timedelta], None] | None = None,
    clock: Callable[[], datetime] = utc_now,
    sleep: Callable[[float], None] = time.sleep,
) -> Claim | RunAnswer:
    """Try to take a claim until it is taken, is refused by the rules, or the time is up.

    Only a batch that is held, and a store that cannot answer, are waited for: a batch that has
    finished will not be free.

    Args:
        take: Tries once.
        until: When the last try is made.
        poll: The pause between two tries.
        on_look: Told each answer that is waited on, and the pause that follows.
        clock: Tells the time.
        sleep: Pauses, for so many seconds.

    Returns:
        The claim, or the last answer, which says how long was waited.
    """
    began = clock()
    while True:
        taken, now = take(), clock()
        if isinstance(taken, Claim) or not (taken.holder is not None or taken.retryable):
            return taken
        if now >= until:
            waited = f"Waited {in_words(now - began)}, until {to_the_second(until)}."
            return replace(taken, reason=f"{taken.reason.rstrip('.')}. {waited}")
        pause = min(poll, until - now)
        if on_look is not None:
            on_look(taken, pause)
        sleep(pause.total_seconds())
