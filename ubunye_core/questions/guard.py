"""May this batch be run now? The right to do so, for one run at a time."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, cast

from ubunye_core.batch import comparable, shown, texts_of
from ubunye_core.errors import ConfigError, StoreUnavailableError, UbunyeError
from ubunye_core.masking import masked_variables
from ubunye_core.names import check_task
from ubunye_core.questions.answer import MEND, Moment, Verdict, named, unavailable, view
from ubunye_core.questions.policy import LEASE
from ubunye_core.questions.tasks import if_it_never_ran
from ubunye_core.receipt import Receipt, Status, Window
from ubunye_core.stores.capabilities import GivesClaims
from ubunye_core.stores.claims import Claim, ClaimKey, Held
from ubunye_core.stores.protocol import ReceiptStore, Unreadable
from ubunye_core.stores.url import StoreLike, store_of
from ubunye_core.times import duration, to_the_second

if TYPE_CHECKING:
    from ubunye_core.questions.order import Order
    from ubunye_core.questions.window_state import WindowAnswer
    from ubunye_core.schedules import Schedule


@dataclass(frozen=True, kw_only=True)
class RunAnswer:
    """Whether a batch may be run now. True only when it may."""

    task: str
    key: ClaimKey
    verdict: Verdict
    reason: str
    now: datetime
    holder: Held | None = None
    """Who runs it."""
    finished_by: str | None = None
    """The run that has finished it."""
    before: WindowAnswer | None = None
    """The window that must succeed first, and how it stands; looked for where runs are ordered."""
    unreadable: tuple[Unreadable, ...] = ()
    retryable: bool = False
    """Whether asking again may help: the store could not answer."""

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PASS


class RunRefusedError(UbunyeError, RuntimeError):
    """A run may not start: its batch is finished, is being run, or it cannot be told."""

    def __init__(self, answer: RunAnswer) -> None:
        self.answer = answer
        super().__init__(answer.reason)

    def __reduce__(self) -> tuple[type[RunRefusedError], tuple[RunAnswer]]:
        return type(self), (self.answer,)


class RunSkippedError(RunRefusedError):
    """A run does not start, for another run holds its batch, and it was told to skip then."""


def may_run(
    task: str,
    variables: Mapping[str, object] | None = None,
    *,
    store: StoreLike = None,
    rerun: bool = False,
    ordered: bool = False,
    schedule: Schedule | Sequence[Schedule] | None = None,
    window: Window | None = None,
    now: datetime | str | None = None,
) -> RunAnswer:
    """Whether a batch of a task may be run now: it is not finished, and nobody holds its claim.

    It only looks: two that ask at once are both told yes. ``claim`` takes the right to run. A task
    that has never run may run, and so may a batch that is misspelt: the reason then says which
    tasks have names like it, or by which variables the newest run names its batch. Of a run without
    a guard, which holds no claim, it says that it is running.

    Args:
        task: The task.
        variables: The variables of the run; they name the batch, and ``mode`` beside it.
        store: Where the receipts are: a store or its URL; by default what ``UBUNYE_STORE`` names.
        rerun: Whether a finished batch may be run again.
        ordered: Whether the window before this one must have succeeded, by the schedule. What the
            calendar excludes, and what a run decided to skip, is passed over; the first window of
            the schedule has none before it.
        schedule: With ``ordered``, the schedule of the task, or its versions; with a ``start``.
        window: With ``ordered``, the window of the run; by default what the schedule's
            ``variable`` names.
        now: The instant to answer for; None is the clock.

    Returns:
        ``PASS``, ``FAIL``, or ``UNKNOWN`` when it cannot be told; never raises for a store that
        cannot answer.

    Raises:
        ConfigError: an argument is wrong, or this store gives no claims.
    """
    opened, moment = store_of(store), Moment.of(now)
    _check_yes_or_no(rerun, "rerun")
    key, order = key_of(task, variables), order_of(ordered, schedule, window)
    gives = gives_claims(opened)
    try:
        held = gives.holder(key)
    except StoreUnavailableError as error:
        return _unavailable(key, opened, error, moment)
    if held is not None:
        return _is_held(key, held, moment)
    answer = _unless_refused(key, opened, moment, rerun, order)
    if answer.verdict is not Verdict.PASS:
        return answer
    return replace(answer, reason=f"{answer.reason}{_worth_knowing(key, opened, moment)}")


def claim(
    task: str,
    variables: Mapping[str, object] | None = None,
    *,
    run_id: str,
    store: StoreLike = None,
    lease: timedelta | str = LEASE,
    rerun: bool = False,
    ordered: bool = False,
    schedule: Schedule | Sequence[Schedule] | None = None,
    window: Window | None = None,
) -> Claim | RunAnswer:
    """Take the right to run a batch, or learn why not: exactly one of any number takes it.

    Args:
        task: The task.
        variables: The variables of the run; they name the batch, and ``mode`` beside it.
        run_id: The run that asks.
        store: Where the receipts are: a store or its URL; by default what ``UBUNYE_STORE`` names.
        lease: How long the right lasts without a renewal; then another run may take it over.
        rerun: Whether a finished batch may be run again.
        ordered: As for ``may_run``, like the two that follow.
        schedule: The schedule of the task.
        window: The window of the run.

    Returns:
        A claim, which is true and has the fencing token; or an answer, which is false.

    Raises:
        ConfigError: an argument is wrong, or this store gives no claims.
    """
    opened, moment = store_of(store), Moment.of(None)
    _check_yes_or_no(rerun, "rerun")
    key, gives = key_of(task, variables), gives_claims(opened)
    order = order_of(ordered, schedule, window)
    try:
        taken = gives.claim(key, run_id=run_id, lease=duration(lease, what="lease"))
        if isinstance(taken, Held):
            return _is_held(key, taken, moment)
        # Only now: a run that finished a moment ago gave its claim back after its end was saved.
        try:
            answer = _unless_refused(key, opened, Moment.of(None), rerun, order)
        except BaseException:
            gives.release(taken)
            raise
        if answer.verdict is not Verdict.PASS:
            gives.release(taken)
            return answer
    except StoreUnavailableError as error:
        return _unavailable(key, opened, error, moment)
    return taken


def key_of(task: str, variables: Mapping[str, object] | None) -> ClaimKey:
    """What the claim of a run is for.

    Raises:
        ConfigError: a name or a value is wrong.
    """
    return ClaimKey.of(check_task(task), masked_variables(texts_of(variables)))


def _check_yes_or_no(value: object, what: str) -> None:
    if not isinstance(value, bool):  # a text such as "no" would count as a yes
        raise ConfigError(f"'{what}' is {value!r}, not true or false.")


def _worth_knowing(key: ClaimKey, store: ReceiptStore, moment: Moment) -> str:
    """What may make a yes a mistake, for the end of its reason; mostly nothing."""
    try:
        newest = next(iter(store.list_runs(key.task, 1)), None)
    except StoreUnavailableError:
        return ""
    if newest is None:
        return if_it_never_ran(key.task, store)
    if newest.started_at > moment.now:
        return ""
    if newest.status is Status.RUNNING and _is_of(newest, key):
        return f" But run {newest.run_id} of it says that it is running, and holds no claim."
    if newest.batch.names != key.batch.names:
        by = ", ".join(sorted(newest.batch.names)) or "no variable"
        return f" But the newest run of the task, {newest.run_id}, names its batch by {by}."
    return ""


def gives_claims(store: ReceiptStore) -> GivesClaims:
    """The store, as one that gives claims.

    Raises:
        ConfigError: it gives none.
    """
    if getattr(store, "claim", None) is None:
        raise ConfigError(
            f"{store.url} gives no claims: nothing in it elects one of two runs.",
            hint="Use a folder, a bucket, a SQL database, Delta without Spark, or a ledger.",
        )
    return cast(GivesClaims, store)


def order_of(
    ordered: bool, schedule: Schedule | Sequence[Schedule] | None, window: Window | None
) -> Order | None:
    """The order in which runs are wanted; None where any will do.

    Raises:
        ConfigError: an order is wanted, and there is no schedule with a first window; or a
            schedule is given, and no order is wanted.
    """
    _check_yes_or_no(ordered, "ordered")
    if not ordered:
        if schedule is not None:
            raise ConfigError("'schedule' says in which order.", hint="Give ordered=True, too.")
        return None
    from ubunye_core.questions.order import Order

    if schedule is None:
        return Order((), window)
    return Order(tuple(schedule) if isinstance(schedule, Sequence) else (schedule,), window)


def _unless_refused(
    key: ClaimKey, store: ReceiptStore, moment: Moment, rerun: bool, order: Order | None
) -> RunAnswer:
    """Yes, unless the batch is finished, or it is not its turn, or either cannot be told."""
    answer = _unless_finished(key, store, moment, rerun)
    if order is None or answer.verdict is not Verdict.PASS:
        return answer
    try:
        turn = order.turn(key, store, moment)
    except StoreUnavailableError as error:
        return _unavailable(key, store, error, moment)
    if turn.verdict is Verdict.PASS:
        return replace(answer, before=turn.before)
    return RunAnswer(
        task=key.task,
        key=key,
        verdict=turn.verdict,
        reason=turn.reason,
        now=moment.now,
        before=turn.before,
        unreadable=turn.unreadable,
    )


def _unless_finished(key: ClaimKey, store: ReceiptStore, moment: Moment, rerun: bool) -> RunAnswer:
    """Yes, unless a success of the batch is on record, or could be."""
    free = RunAnswer(
        task=key.task,
        key=key,
        verdict=Verdict.PASS,
        reason=f"{key.task} may run{_for(key)}.",
        now=moment.now,
    )
    if rerun or not key.batch:  # a batch that names nothing is never finished
        return free
    try:
        found = store.search(key.task, Status.SUCCESS, batch=key.batch.as_dict())
    except StoreUnavailableError as error:
        return _unavailable(key, store, error, moment)
    seen = view(found, found.unreadable, moment)
    finished = (run for run in seen.receipts if run.status is Status.SUCCESS)
    success = next((run for run in finished if _is_of(run, key)), None)
    if success is not None:
        return RunAnswer(
            task=key.task,
            key=key,
            verdict=Verdict.FAIL,
            reason=f"{key.task} has finished{_for(key)}: run {success.run_id} succeeded at "
            f"{to_the_second(success.finished_at)}. Try: rerun=True (in a shell --rerun), if it "
            "is to run again.",
            now=moment.now,
            finished_by=success.run_id,
        )
    if seen.unreadable:
        return RunAnswer(
            task=key.task,
            key=key,
            verdict=Verdict.UNKNOWN,
            reason=f"Whether {key.task} has finished{_for(key)} cannot be told: "
            f"{named(seen.unreadable)}. {MEND}",
            now=moment.now,
            unreadable=seen.unreadable,
        )
    return free


def _is_of(run: Receipt, key: ClaimKey) -> bool:
    """Whether a run was for this batch, in this mode."""
    same_mode = comparable(run.variables).get("mode") == key.mode
    return same_mode and run.batch.is_same(key.batch)


def _is_held(key: ClaimKey, held: Held, moment: Moment) -> RunAnswer:
    return RunAnswer(
        task=key.task,
        key=key,
        verdict=Verdict.FAIL,
        reason=f"{key.task} is being run{_for(key)}, by run {held.run_id}, whose lease lasts until "
        f"{to_the_second(held.until)} unless it is renewed.",
        now=moment.now,
        holder=held,
    )


def _unavailable(
    key: ClaimKey, store: ReceiptStore, error: StoreUnavailableError, moment: Moment
) -> RunAnswer:
    bad = unavailable(store, error)
    return RunAnswer(
        task=key.task, key=key, verdict=Verdict.UNKNOWN, reason=bad.why, now=moment.now,
        unreadable=(bad,), retryable=True,
    )  # fmt: skip


def _for(key: ClaimKey) -> str:
    mode = "" if key.mode is None else f" in mode {key.mode}"
    return f" for {shown(key.batch.as_dict())}{mode}" if key.batch else mode
