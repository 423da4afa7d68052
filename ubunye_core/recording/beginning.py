"""How a run begins on record: a new receipt, or the one that this attempt has already."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from pathlib import Path

from ubunye_core.errors import ReceiptNotFoundError
from ubunye_core.masking import clean_text, masked_variables, secrets_of
from ubunye_core.questions.requirements import Requirement
from ubunye_core.receipt import Orchestrator, Receipt, Status, TriggeredBy, Window
from ubunye_core.recording.circumstances import circumstances
from ubunye_core.runids import new_run_id, run_id_of_attempt
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
    code: Path | None
    run_id: str | None
    heartbeat_every: timedelta | None
    with_message: bool
    """Whether the message of an exception is recorded."""
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
    now = utc_now()
    known = _known(given, store)
    if known is not None:
        return _continued(known, now, every), True
    secrets = secrets_of(variables)
    trigger = given.triggered_by
    if trigger.reason is not None:
        trigger = replace(trigger, reason=clean_text(trigger.reason, secrets))
    receipt = Receipt(
        task=given.task,
        run_id=given.run_id or _new_id(given.orchestrator, now),
        status=Status.RUNNING,
        started_at=now,
        variables=masked_variables(variables),
        window=given.window,
        triggered_by=trigger,
        orchestrator=given.orchestrator,
        heartbeat_at=now,
        heartbeat_every=every,
        **circumstances(code),
    )
    return receipt, False


def _new_id(attempt: Orchestrator | None, now: datetime) -> str:
    if attempt is None or not attempt.ids:
        return new_run_id(now)
    ids = {**attempt.ids, "attempt": str(attempt.attempt)}
    return run_id_of_attempt(now, attempt.name, ids)


def _known(given: Arguments, store: ReceiptStore) -> Receipt | None:
    """The receipt of this attempt, where another recorder, or an earlier call, began it."""
    attempt = given.orchestrator
    try:
        if given.run_id is not None:
            return _known_by_id(given, store, given.run_id)
        if attempt is not None and attempt.ids:
            return next(
                (
                    receipt
                    for receipt in store.search(given.task)
                    if attempt.is_same_attempt(receipt.orchestrator)
                ),
                None,
            )
    except Exception as error:  # if it matters, saving will say so loudly
        log.info("%s: earlier receipts could not be read: %s", given.task, error)
    return None


def _known_by_id(given: Arguments, store: ReceiptStore, run_id: str) -> Receipt | None:
    try:
        known = store.load(given.task, run_id)
    except ReceiptNotFoundError:
        return None
    if known.run_id != run_id:  # it only begins like this
        return None
    same = given.orchestrator and given.orchestrator.is_same_attempt(known.orchestrator)
    if known.status.is_final and not same:
        log.warning(
            "%s run %s has ended already (%s), so nothing of this run is recorded. "
            "A run id stands for one run.",
            given.task,
            run_id,
            known.status,
        )
    return known


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
