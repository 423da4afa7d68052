"""How a run begins on record: a new receipt, or the one that this attempt has already."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from ubunye_core.batch import text_of
from ubunye_core.errors import ReceiptNotFoundError
from ubunye_core.masking import clean_text, masked_variables, secrets_of
from ubunye_core.questions.answer import CLOCK_SKEW
from ubunye_core.questions.requirements import Requirement
from ubunye_core.receipt import (
    Orchestrator,
    Override,
    Receipt,
    Status,
    TriggeredBy,
    TriggerKind,
    Window,
)
from ubunye_core.recording.circumstances import circumstances, with_actor
from ubunye_core.recording.heartbeat import is_recorded_here
from ubunye_core.recording.overriding import without
from ubunye_core.recording.terms import Terms
from ubunye_core.runids import new_run_id, run_id_of_attempt, time_in
from ubunye_core.stores.attempts import receipts_of_attempt
from ubunye_core.stores.protocol import ReceiptStore
from ubunye_core.times import utc_now

log = logging.getLogger("ubunye_core.recording")


@dataclass(frozen=True, kw_only=True)
class Arguments:
    """What ``record_run`` was given, checked."""

    task: str
    variables: Mapping[str, str] | Callable[..., Mapping[str, object]]
    """As text, secrets included; or a function of a decorated call's arguments."""
    store: ReceiptStore | None
    requires: tuple[Requirement, ...] | None
    window: Window | None
    triggered_by: TriggeredBy
    orchestrator: Orchestrator | None
    overrides: tuple[Override, ...]
    code: Path | None
    run_id: str | None
    heartbeat_every: timedelta | None
    with_message: bool
    """Whether the message of an exception is recorded."""
    terms: Terms
    """What must be so for the run to begin."""
    how_it_ended: Callable[[BaseException], Status | None] | None


def begun(
    given: Arguments,
    variables: Mapping[str, str],
    store: ReceiptStore,
    *,
    code: Path,
    every: timedelta,
) -> tuple[Receipt, bool]:
    """The first receipt of a run, and whether it continues one that is on record.

    Args:
        given: What the caller said.
        variables: The run's variables as text, secrets included.
        store: Where an earlier receipt of this attempt would be.
        code: The file or folder whose code is hashed.
        every: How often the run will show a sign of life.
    """
    now, masked = utc_now(), masked_variables(variables)
    secrets = secrets_of(variables)
    earlier = _earlier(given, store)
    ours = [run for run in earlier if not _is_of_other_data(run, masked, given.window)]
    if ours:
        if given.run_id is not None and ours[0].status.is_final:
            _warn_of_a_used_id(given, ours[0])
        known = ours[0]
        if is_recorded_here(known.task, known.run_id):
            known = _told_more(known, given, secrets, code)
        return _continued(known, now, every), True
    if earlier and given.run_id is not None:
        log.warning(
            "%s run %s is on record for other data, so this run gets an id of its own. "
            "A run id stands for one run.",
            given.task,
            given.run_id,
        )
    run_id = _given_id(given, now, taken=bool(earlier))
    started_at = now if run_id is None else time_in(run_id) or now
    trigger = given.triggered_by
    if trigger.kind is TriggerKind.MANUAL:
        trigger = with_actor(trigger)  # a scheduler may not know who started it
    receipt = Receipt(
        task=given.task,
        run_id=run_id or (new_run_id(now) if earlier else new_id(given.orchestrator, now)),
        status=Status.RUNNING,
        started_at=started_at,
        variables=masked,
        window=given.window,
        triggered_by=without_secrets_in(trigger, secrets),
        orchestrator=given.orchestrator,
        overrides=without(given.overrides, secrets),
        heartbeat_at=now,
        heartbeat_every=every,
        **circumstances(code),
    )
    return receipt, False


def without_secrets_in(trigger: TriggeredBy, secrets: Sequence[str]) -> TriggeredBy:
    """Who started a run and why, fit to be written down: somebody may have named a URL."""

    def clean(text: str | None) -> str | None:
        return None if text is None else clean_text(text, secrets)

    return replace(
        trigger,
        actor=clean(trigger.actor),
        asserted_by=clean(trigger.asserted_by),
        reason=clean(trigger.reason),
    )


def _given_id(given: Arguments, now: datetime, *, taken: bool) -> str | None:
    """The id that the caller gave, if the run can have it.

    An id that shows a time (a UUID of version 7) shows the start of its run: the run then started
    when its id was made, unless that is long ago.
    """
    if given.run_id is None or taken:
        return None
    shown = time_in(given.run_id)
    if shown is None or abs(now - shown) <= CLOCK_SKEW:
        return given.run_id
    log.warning(
        "%s run %s is a UUID of version 7 from %s, which is not when this run started, so it gets "
        "an id of its own.",
        given.task,
        given.run_id,
        shown.isoformat(),
    )
    return None


def new_id(attempt: Orchestrator | None, now: datetime) -> str:
    """The id of a run that starts now: that of its attempt, where a scheduler makes it."""
    if attempt is None or not attempt.ids:
        return new_run_id(now)
    ids = {**attempt.ids, "attempt": str(attempt.attempt)}
    return run_id_of_attempt(now, attempt.name, ids)


def _earlier(given: Arguments, store: ReceiptStore) -> list[Receipt]:
    """The receipts that have this run's id, or stand for its scheduler's attempt."""
    attempt = given.orchestrator
    try:
        if given.run_id is not None:
            known = store.load(given.task, given.run_id)
            return [known] if known.run_id == given.run_id else []  # it may only begin like this
        if attempt is not None and attempt.ids:
            return list(receipts_of_attempt(attempt, given.task, store))
    except ReceiptNotFoundError:
        pass
    except Exception as error:  # if it matters, saving will say so loudly
        log.info("%s: earlier receipts could not be read: %s", given.task, error)
    return []


def _is_of_other_data(known: Receipt, variables: Mapping[str, str], window: Window | None) -> bool:
    """Whether a receipt is for other data than this run, where both say which.

    One id or one attempt may serve several batches, one after the other. A success for one of
    them must never be recorded as that of another.
    """
    texts = {name: text_of(value, name=name) for name, value in known.variables.items()}
    if variables and texts != variables:
        return True
    periods = [(each.start, each.end) for each in (known.window, window) if each is not None]
    return len(set(periods)) > 1


def _warn_of_a_used_id(given: Arguments, known: Receipt) -> None:
    if given.orchestrator is None or not given.orchestrator.is_same_attempt(known.orchestrator):
        log.warning(
            "%s run %s has ended already (%s), so nothing of this run is recorded. "
            "A run id stands for one run.",
            given.task,
            known.run_id,
            known.status,
        )


def _told_more(known: Receipt, given: Arguments, secrets: Sequence[str], code: Path) -> Receipt:
    """The receipt of a run that is recorded in this process already, by one who knows less.

    A recorder around a whole task knows what the scheduler says; the one inside it, the work.
    """
    if known.status.is_final:
        return known
    said, trigger = known.triggered_by, without_secrets_in(given.triggered_by, secrets)
    if said is not None and trigger.reason is not None:
        said = replace(said, reason=trigger.reason)
    return replace(
        known,
        window=known.window or given.window,
        triggered_by=said or trigger,
        overrides=known.overrides or without(given.overrides, secrets),
        code_hash=circumstances(code).get("code_hash") or known.code_hash,
    )


def _continued(known: Receipt, now: datetime, every: timedelta) -> Receipt:
    """The receipt that this process goes on with; one that has ended stays as it is."""
    if known.status.is_final:
        return known
    here = circumstances(None)
    return replace(
        known,
        heartbeat_at=now,
        heartbeat_every=every,
        host=here.get("host"),
        pid=here.get("pid"),
    )
