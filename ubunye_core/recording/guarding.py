"""A run that holds the right to its batch: taken before it begins, renewed with its heartbeat."""

from __future__ import annotations

import logging
import threading
from datetime import timedelta
from functools import partial
from typing import cast

from ubunye_core.errors import ClaimLostError
from ubunye_core.masking import error_text
from ubunye_core.questions.answer import Verdict
from ubunye_core.questions.guard import (
    RunAnswer,
    RunRefusedError,
    RunSkippedError,
    claim,
    gives_claims,
    key_of,
    order_of,
)
from ubunye_core.questions.policy import IfHeld
from ubunye_core.questions.waitclaim import wait_for_claim
from ubunye_core.receipt import TriggerKind
from ubunye_core.recording.run import Run
from ubunye_core.recording.terms import Guarding
from ubunye_core.stores.capabilities import GivesClaims
from ubunye_core.stores.claims import Claim
from ubunye_core.times import in_words, to_the_second, utc_now

log = logging.getLogger("ubunye_core.recording")
RENEWALS_IN_A_LEASE = 3


def check_reason(run: Run) -> None:
    """Refuse a run that is started by hand, and does not say why.

    Raises:
        RunRefusedError: it is one.
    """
    by = run.receipt.triggered_by
    is_manual = by is None or by.kind is TriggerKind.MANUAL
    if not is_manual or (by is not None and by.reason and by.reason.strip()):
        return
    who = f" by {by.actor}" if by is not None and by.actor else ""
    raise RunRefusedError(
        RunAnswer(
            task=run.task,
            key=key_of(run.task, run.variables),
            verdict=Verdict.FAIL,
            reason=f"{run.task} is started by hand{who}, and its policy wants a reason. "
            "Try: reason='...' (in a shell --reason '...'), or scheduled=True (--scheduled) if a "
            "schedule starts it.",
            now=utc_now(),
        )
    )


class Guard:
    """The claim of a run, from the beginning of its block to its end; none without ``guarding``."""

    def __init__(self, run: Run, guarding: Guarding | None) -> None:
        self._run, self._guarding = run, guarding
        self._claim: Claim | None = None
        self._stopped = threading.Event()
        self._thread = threading.Thread(
            target=self._keep, name=f"claim of {run.run_id}", daemon=True
        )

    def check(self) -> None:
        """Complain of what cannot be guarded so, before anything is on record.

        Raises:
            ConfigError: the store gives no claims; or the run does not say its window, and must.
        """
        if self._guarding is None:
            return
        gives_claims(self._run.store)
        schedule = self._guarding.schedule
        order = order_of(schedule is not None, schedule, self._run.receipt.window)
        if order is not None:
            order.check(key_of(self._run.task, self._run.variables))

    def take(self) -> None:
        """Take the claim, waiting for it if the run is to, and begin to renew it.

        Raises:
            RunRefusedError: the batch is finished, is being run, or it cannot be told; or the
                window before it has not succeeded.
            RunSkippedError: it is being run, and is to be skipped then.
            ConfigError: the store gives no claims; or the run does not say its window, and must.
        """
        if self._guarding is None:
            return
        taken = self._taken(self._guarding)
        if isinstance(taken, RunAnswer):
            skips = self._guarding.if_held is IfHeld.SKIP and taken.holder is not None
            raise (RunSkippedError if skips else RunRefusedError)(taken)
        self._claim = taken
        self._thread.start()

    def _taken(self, guarding: Guarding) -> Claim | RunAnswer:
        run = self._run
        take = partial(
            claim,
            run.task,
            run.variables,
            run_id=run.run_id,
            store=run.store,
            lease=guarding.lease,
            rerun=guarding.rerun,
            ordered=guarding.schedule is not None,
            schedule=guarding.schedule,
            window=run.receipt.window,
        )
        if guarding.if_held is not IfHeld.WAIT:
            return take()
        until = guarding.until(run.started_at)
        told: list[str] = []

        def tell(answer: RunAnswer, _: timedelta) -> None:
            if not told:
                told.append(answer.reason)
                log.warning("%s Waiting until %s.", answer.reason, to_the_second(until))

        with run.timed("wait for the claim"):
            return wait_for_claim(take, until=until, poll=guarding.poll, on_look=tell)

    def stop(self) -> None:
        """Renew no more; waits a moment for a renewal that is under way."""
        self._stopped.set()
        if self._thread.is_alive() and self._thread is not threading.current_thread():
            self._thread.join(timeout=5)

    def check_not_lost(self) -> None:
        """Tell a run whose end does not stand whether it lost its claim.

        Raises:
            ClaimLostError: it held one.
        """
        if self._claim is not None:
            raise ClaimLostError(
                f"Run {self._run.run_id} of {self._run.task} has lost its claim: it was silent for "
                f"longer than its lease of {in_words(self._claim.lease)}, and another run took "
                f"over. Its success is not recorded."
            )

    def give_back(self) -> None:
        """Let the claim go. What cannot be given back now runs out."""
        if self._claim is None:
            return
        try:
            self._store.release(self._claim)
        except Exception as error:
            what = "The claim of run %s on %s is not given back, and runs out by itself: %s"
            log.warning(what, self._run.run_id, self._run.task, error_text(error))

    @property
    def _store(self) -> GivesClaims:
        return cast(GivesClaims, self._run.store)

    def _keep(self) -> None:
        """Renew the claim, three times in each lease."""
        taken = self._claim
        if taken is None:
            return
        pause = taken.lease.total_seconds() / RENEWALS_IN_A_LEASE
        while not self._stopped.wait(pause):
            try:
                self._store.renew(taken)
            except ClaimLostError as error:
                log.error("%s Its success will not be recorded.", error)
                return
            except Exception as error:  # tried again at the next renewal
                log.warning("A claim could not be renewed: %s", error_text(error))
