"""Ask again until the answer is yes, or can no longer become yes. The only part that waits."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta

from ubunye_core.errors import ConfigError
from ubunye_core.questions.answer import Verdict
from ubunye_core.questions.requirements import Requirement, RequirementLike, requirements_of
from ubunye_core.questions.upstream import RequirementAnswer, UpstreamAnswer, check_upstream
from ubunye_core.receipt import Window
from ubunye_core.stores.url import StoreLike, store_of
from ubunye_core.times import duration, in_words, instant, to_the_second, utc_now

POLL = timedelta(seconds=60)


@dataclass(frozen=True)
class Patience:
    """Until when each requirement is waited for: absolute, so that a restart does not move it."""

    started_at: datetime
    wait: timedelta | None = None
    """How long to wait for every requirement; None leaves each its own."""
    deadline: datetime | None = None
    """Until when to wait for every requirement, whenever the wait began."""

    def until(self, requirement: Requirement) -> datetime:
        """When waiting for this requirement ends."""
        if self.deadline is not None:
            return self.deadline
        return self.started_at + (requirement.length if self.wait is None else self.wait)

    def next_look(
        self, answer: UpstreamAnswer, now: datetime, poll: timedelta = POLL
    ) -> timedelta | None:
        """How long to pause before the next look; None when another look is of no use."""
        waiting = [each for each in answer.requirements if not each.met and not each.decided]
        lost = answer.decided and answer.verdict is Verdict.FAIL
        if lost or any(self._ran_out(each, now) for each in waiting):
            return None
        ends = [self.until(each.requirement) for each in waiting]
        ends = [end for end in ends if end > now]
        if not ends:
            return None
        own = (each.requirement.poll for each in waiting)
        pause = min(each if isinstance(each, timedelta) else poll for each in own)
        return min(pause, min(ends) - now)

    def _ran_out(self, answer: RequirementAnswer, now: datetime) -> bool:
        late = self.until(answer.requirement) <= now
        return late and answer.verdict is not Verdict.PASS


def wait_for_upstream(
    requirements: RequirementLike | Iterable[RequirementLike],
    *,
    variables: Mapping[str, object] | None = None,
    store: StoreLike = None,
    asker: str | None = None,
    window: Window | None = None,
    wait: timedelta | str | None = None,
    deadline: datetime | str | None = None,
    poll: timedelta | str = POLL,
    on_look: Callable[[UpstreamAnswer, timedelta | None], None] | None = None,
    clock: Callable[[], datetime] = utc_now,
    sleep: Callable[[float], None] = time.sleep,
) -> UpstreamAnswer:
    """``check_upstream``, again and again until it passes, is decided, or the time is up.

    Args:
        requirements: As for ``check_upstream``.
        variables: The variables of the run that asks.
        store: Where the receipts are: a store or its URL; by default what ``UBUNYE_STORE`` names.
        asker: The task of the run that asks; a pattern does not name it.
        window: The window of the run that asks, for a requirement with ``windows: all``.
        wait: How long to wait, counted from now; None leaves each requirement its own ``wait``.
        deadline: An instant at which waiting ends; wins over ``wait``.
        poll: The pause between two looks, where a requirement does not say.
        on_look: Told each answer and the pause that follows; None when it is the last.
        clock: Tells the time.
        sleep: Pauses, for so many seconds.

    Returns:
        The last answer. A wait that ran out keeps the verdict of its last look.

    Raises:
        ConfigError: a requirement is wrong.
    """
    asked, opened = requirements_of(requirements), store_of(store)
    pause = duration(poll, what="poll")
    if not pause:
        raise ConfigError("'poll' is zero; two looks need a pause.")
    patience = Patience(
        clock(),
        None if wait is None else duration(wait, what="wait"),
        None if deadline is None else instant(deadline, what="deadline"),
    )
    while True:
        now = clock()
        answer = check_upstream(
            asked, variables=variables, store=opened, asker=asker, window=window, now=now
        )
        left = patience.next_look(answer, now, pause)
        if left is None:
            answer = _with_wait(answer, patience, now)
        if on_look is not None:
            on_look(answer, left)
        if left is None:
            return answer
        sleep(left.total_seconds())


def _with_wait(answer: UpstreamAnswer, patience: Patience, now: datetime) -> UpstreamAnswer:
    """The answer, with how long was waited where that is what ended it."""
    if answer.decided or now - patience.started_at < timedelta(seconds=1):
        return answer
    waited = f"Waited {in_words(now - patience.started_at)}"
    until = (
        "counted from the start of this wait"
        if patience.deadline is None
        else f"until the deadline {to_the_second(patience.deadline)}"
    )
    return replace(answer, reason=f"{answer.reason} {waited}, {until}.")
