"""One look at a gate. Every mode of the sensor, and its trigger, ask here and nowhere else."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from enum import StrEnum
from typing import Any

from ubunye_airflow.answers import requirement_fields, upstream_fields
from ubunye_airflow.every_window import requirement_read, window_fields, window_read
from ubunye_airflow.hooks import ReceiptStoreHook
from ubunye_core import (
    ConfigError,
    MissingExtraError,
    Patience,
    ReceiptStore,
    Requirement,
    RequirementAnswer,
    StoreUnavailableError,
    UpstreamAnswer,
    Verdict,
    Window,
    check_upstream,
)

POLL = timedelta(seconds=60)


class Outcome(StrEnum):
    """What a look at a gate comes to."""

    OPEN = "open"
    WAIT = "wait"
    TIMED_OUT = "timed_out"
    """Not met in time, or it cannot be told."""
    REFUSED = "refused"
    """Decided: no waiting and no retry can open it."""


@dataclass(frozen=True, kw_only=True)
class Look:
    """One look at a gate, and what follows from it."""

    outcome: Outcome
    message: str
    answer: Mapping[str, Any] | None = None
    """The whole answer as JSON; None where the question could not be asked."""
    pause: timedelta = timedelta(0)
    """How long to pause before the next look."""
    next_end: timedelta = timedelta(0)
    """How long until the next deadline of a requirement."""
    left: timedelta = timedelta(0)
    """How long until the last one."""
    every: timedelta = timedelta(0)
    """How often it looks, where no deadline comes first."""

    def fields(self) -> dict[str, Any]:
        """This look as JSON, for the event of a trigger."""
        return {
            "outcome": self.outcome.value,
            "message": self.message,
            "answer": None if self.answer is None else dict(self.answer),
        }

    @classmethod
    def of(cls, event: object) -> Look:
        """The look that an event of a trigger tells. Whatever is no such event opens nothing."""
        try:
            fields: Mapping[str, Any] = dict(event)  # type: ignore[call-overload]
            outcome, answer = Outcome(fields["outcome"]), fields["answer"]
            met = isinstance(answer, Mapping) and answer["verdict"] == Verdict.PASS.value
            if outcome is Outcome.WAIT or (outcome is Outcome.OPEN and not met):
                raise ValueError(outcome)
            return cls(outcome=outcome, message=str(fields["message"]), answer=answer)
        except (TypeError, ValueError, KeyError):
            return cls(
                outcome=Outcome.REFUSED,
                message="The trigger of this gate ended without an answer that can be read.",
            )


@dataclass(frozen=True, kw_only=True)
class Gate:
    """What a gate asks, of which store, and since when it has been waited for."""

    requires: tuple[Requirement, ...]
    variables: Mapping[str, object]
    store: str | None
    store_conn_id: str | None
    since: datetime
    """When the wait began: its deadlines are absolute."""
    poll: timedelta = field(default=POLL)
    asker: str | None = None
    """The task that this gate is for; a pattern does not name it."""
    window: Window | None = None
    """The period of the run that asks, for a requirement of every window."""

    @property
    def hook(self) -> ReceiptStoreHook:
        """What opens the store."""
        return ReceiptStoreHook(self.store_conn_id, store=self.store)

    def look(self, opened: Callable[[], ReceiptStore] | None = None) -> Look:
        """Find the store and ask it, once. Blocks: a trigger does this in a thread.

        Never raises for a store that cannot answer, nor for a wrong setting.

        Args:
            opened: Gives the store, where several gates ask it at once.
        """
        url = None
        try:
            store = self.hook.get_conn() if opened is None else opened()
            url = store.url
            answer = check_upstream(
                self.requires,
                variables=self.variables,
                store=store,
                asker=self.asker,
                window=self.window,
            )
        except StoreUnavailableError as error:
            answer = self._unknown(str(error))
        except (ConfigError, MissingExtraError) as error:
            return Look(outcome=Outcome.REFUSED, message=str(error))
        return judge(answer, patience=Patience(self.since), poll=self.poll, now=_now(), store=url)

    def _unknown(self, reason: str) -> UpstreamAnswer:
        return UpstreamAnswer(
            verdict=Verdict.UNKNOWN,
            reason=reason,
            requirements=tuple(
                RequirementAnswer(
                    task=each.task, requirement=each, verdict=Verdict.UNKNOWN, reason=reason
                )
                for each in self.requires
            ),
            now=_now(),
        )

    def fields(self) -> dict[str, Any]:
        """This gate as JSON, for a trigger."""
        return {
            "requires": [requirement_fields(each) for each in self.requires],
            "variables": dict(self.variables),
            "store": self.store,
            "store_conn_id": self.store_conn_id,
            "since": self.since.isoformat(),
            "poll": self.poll.total_seconds(),
            "asker": self.asker,
            "window": window_fields(self.window),
        }

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Gate:
        """The gate that a trigger was given."""
        return cls(
            requires=tuple(map(requirement_read, fields["requires"])),
            variables=fields["variables"],
            store=fields["store"],
            store_conn_id=fields["store_conn_id"],
            since=datetime.fromisoformat(fields["since"]),
            poll=timedelta(seconds=fields["poll"]),
            asker=fields.get("asker"),
            window=window_read(fields.get("window")),
        )


def judge(
    answer: UpstreamAnswer,
    *,
    patience: Patience,
    poll: timedelta,
    now: datetime,
    store: str | None = None,
) -> Look:
    """What an answer means for a gate at this instant: open, wait, timed out or refused."""
    pause = patience.next_look(answer, now, poll)
    fields = upstream_fields(answer, store)
    waiting = [each.requirement for each in answer.requirements if not (each.met or each.decided)]
    ends = [patience.until(each) for each in waiting]
    if pause is not None:
        coming = [end - now for end in ends if end > now]
        return Look(
            outcome=Outcome.WAIT,
            message=answer.reason,
            answer=fields,
            pause=pause,
            next_end=min(coming),
            left=max(coming),
            every=min(each.poll if isinstance(each.poll, timedelta) else poll for each in waiting),
        )
    if answer.verdict is Verdict.PASS:
        return Look(outcome=Outcome.OPEN, message=answer.reason, answer=fields)
    if answer.decided:
        return Look(outcome=Outcome.REFUSED, message=answer.reason, answer=fields)
    waited = min((end - patience.started_at for end in ends if end <= now), default=timedelta(0))
    message = f"{answer.reason} Waited {waited}." if waited else answer.reason
    return Look(outcome=Outcome.TIMED_OUT, message=message, answer=fields)


def _now() -> datetime:
    return datetime.now(UTC)
