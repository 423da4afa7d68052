"""Record a run: ``running`` is on record before the work begins, the final status after it."""

from __future__ import annotations

import contextlib
import inspect
import logging
import os
import sys
import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar

from ubunye_core.batch import texts_of
from ubunye_core.errors import ConfigError, ReceiptConflictError, ReceiptNotFoundError
from ubunye_core.masking import clean_text, error_text, masked_variables, secrets_of
from ubunye_core.names import check_run_id, check_task
from ubunye_core.questions.requirements import RequirementLike, requirements_of
from ubunye_core.questions.upstream import UpstreamNotMetError
from ubunye_core.receipt import Orchestrator, Receipt, Status, TriggeredBy, TriggerKind, Window
from ubunye_core.recording.circumstances import Circumstances, circumstances, os_user
from ubunye_core.recording.heartbeat import Heartbeat, heartbeat_of
from ubunye_core.recording.run import Run
from ubunye_core.recording.termination import Terminated, Termination
from ubunye_core.runids import new_run_id, run_id_of_attempt
from ubunye_core.stores import ReceiptStore, open_store
from ubunye_core.times import duration, utc_now

log = logging.getLogger("ubunye_core.recording")
TRIES_TO_SAVE_AN_END = 3

Function = TypeVar("Function", bound=Callable[..., Any])
Variables = Mapping[str, object] | Callable[..., Mapping[str, object]]


def record_run(
    task: str,
    *,
    variables: Variables | None = None,
    store: ReceiptStore | str | os.PathLike[str] | None = None,
    requires: RequirementLike | Iterable[RequirementLike] | None = None,
    window: Window | None = None,
    triggered_by: TriggeredBy | None = None,
    scheduled: bool = False,
    reason: str | None = None,
    orchestrator: Orchestrator | None = None,
    code: str | Path | None = None,
    run_id: str | None = None,
    heartbeat_every: timedelta | str | None = None,
    record_errors: Literal["message", "type"] = "message",
    how_it_ended: Callable[[BaseException], Status | None] | None = None,
) -> Recording:
    """Record what runs inside a ``with`` block, or a decorated function.

    ::

        with record_run("pay/monthly/calc", variables={"month": "2026-10"}) as run:
            run.read("people", people)
            ...
            run.wrote("adults", adults)

    Recording never breaks the run: a store that cannot be written is a loud warning in the log.

    Args:
        task: ``usecase/package/task_name``.
        variables: Which data this run is for; as a decorator, also a function of the call's
            arguments. Values of secret-looking names are masked.
        store: A store or its URL; by default the one that ``UBUNYE_STORE`` names when the run
            begins.
        requires: Upstreams that must have succeeded for this batch, else the block is not
            entered and ``UpstreamNotMetError`` is raised.
        window: The period of data this run is for.
        triggered_by: Who or what started it; by default the user of this process, by hand.
        scheduled: Whether a schedule started it, where ``triggered_by`` is not given.
        reason: Why it was started.
        orchestrator: The scheduler's names for this attempt. A recorder called again for the
            same attempt continues its receipt.
        code: The folder or file whose code is hashed; by default the file of the function or of
            the caller.
        run_id: An id of your own, for this run alone; by default a new UUID of version 7. Make
            one of version 7 when the run starts, for it is read as the time of the start.
        heartbeat_every: How often to show a sign of life; by default what the store asks for.
        record_errors: ``type`` keeps an exception's message out of the receipt.
        how_it_ended: What an exception means, for schedulers that skip or pause by raising.
            ``running`` leaves the run open; None is the ordinary meaning.

    Raises:
        ConfigError: a name or value is wrong, or no store is named.
    """
    if record_errors not in ("message", "type"):
        raise ConfigError(
            f"{record_errors!r} is no way to record errors.", hint="Say 'message' or 'type'."
        )
    caller = sys._getframe(1).f_code.co_filename
    return Recording(
        task=check_task(task),
        variables=variables or {},
        store=store,
        requires=None if requires is None else requirements_of(requires),
        window=window,
        triggered_by=triggered_by or _by_hand(scheduled, reason),
        orchestrator=orchestrator,
        code=None if code is None else Path(code),
        caller=Path(caller),
        run_id=None if run_id is None else check_run_id(run_id),
        heartbeat_every=None
        if heartbeat_every is None
        else duration(heartbeat_every, what="heartbeat_every"),
        with_message=record_errors == "message",
        how_it_ended=how_it_ended,
    )


def _by_hand(scheduled: bool, reason: str | None) -> TriggeredBy:
    kind = TriggerKind.SCHEDULE if scheduled else TriggerKind.MANUAL
    return TriggeredBy(kind=kind, actor=os_user(), asserted_by="os-user", reason=reason)


class Recording:
    """What ``record_run`` returns: a context manager, and a decorator."""

    def __init__(
        self,
        *,
        task: str,
        variables: Variables,
        store: ReceiptStore | str | os.PathLike[str] | None,
        requires: tuple[RequirementLike, ...] | None,
        window: Window | None,
        triggered_by: TriggeredBy,
        orchestrator: Orchestrator | None,
        code: Path | None,
        caller: Path,
        run_id: str | None,
        heartbeat_every: timedelta | None,
        with_message: bool,
        how_it_ended: Callable[[BaseException], Status | None] | None,
    ) -> None:
        self._task, self._variables, self._requires = task, variables, requires
        self._store = open_store(store) if isinstance(store, str | os.PathLike) else store
        if self._store is not None and not callable(getattr(self._store, "save", None)):
            raise ConfigError(
                f"A {type(store).__name__} is no store.", hint="Give a store or its URL."
            )
        self._window, self._triggered_by, self._orchestrator = window, triggered_by, orchestrator
        self._code, self._caller, self._run_id = code, caller, run_id
        self._heartbeat_every = heartbeat_every
        self._with_message, self._how_it_ended = with_message, how_it_ended
        self._texts = {} if callable(variables) else texts_of(variables)
        self._run: Run | None = None

    def __enter__(self) -> Run:
        if callable(self._variables):
            raise ConfigError("'variables' is a function, which only a decorated call can use.")
        if self._run is not None:
            raise ConfigError("This recording is in use; call record_run again.")
        store = open_store() if self._store is None else self._store
        every = self._heartbeat_every or heartbeat_of(store)
        self._began, self._pid = time.monotonic(), os.getpid()
        run = self._run = Run(
            self._first_receipt(store, every), store, self._texts, secrets_of(self._texts)
        )
        self._heartbeat = Heartbeat(run, every, self._saved_to(store))
        self._termination = Termination()
        try:
            self._termination.watch()
            self._save(store, run.receipt)
            self._heartbeat.start()
            if self._requires is not None:
                run.require(self._requires)
        except BaseException:
            self.__exit__(*sys.exc_info())
            raise
        return run

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            with Termination.postponed():
                run, self._run = self._run, None
                if run is None or os.getpid() != self._pid:  # a forked child is not the run
                    return
                try:
                    self._finish(run, error)
                except KeyboardInterrupt:  # a second Ctrl-C; without an end the run looks stuck
                    self._finish(run, error)
                    raise
        finally:
            self._termination.unwatch()

    def _finish(self, run: Run, error: BaseException | None) -> None:
        """Write the run's end, or leave it open where it only pauses."""
        self._heartbeat.stop()
        status, outcome, text = self._ending(run, error)
        if status.is_final:
            seconds = None if self._is_continued else time.monotonic() - self._began
            end = run.ended(status, seconds=seconds, error=text, outcome=outcome)
            self._save(run.store, end, tries=TRIES_TO_SAVE_AN_END)
        else:
            self._save(run.store, replace(run.beat(), heartbeat_every=None))

    def __call__(self, function: Function) -> Function:
        """Record every call of a function. One that has a parameter ``run`` is given the run."""
        from ubunye_core.recording.decorate import recorded_calls

        return recorded_calls(function, self._of_call)

    def _of_call(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Recording:
        """A recording of one call of a decorated function."""
        call = Recording.__new__(Recording)
        call.__dict__ |= self.__dict__
        call._run = None
        if callable(self._variables):
            call._variables = self._variables(*args, **kwargs)
            call._texts = texts_of(call._variables)
        with contextlib.suppress(TypeError, OSError):
            call._caller = Path(inspect.getfile(inspect.unwrap(function)))
        return call

    def _first_receipt(self, store: ReceiptStore, every: timedelta) -> Receipt:
        now = utc_now()
        known = self._known(store)
        self._is_continued = known is not None
        here = circumstances(self._code or self._caller)
        if known is not None:
            return known if known.status.is_final else _continued(known, now, every, here)
        return Receipt(
            task=self._task,
            run_id=self._run_id or self._new_id(now),
            status=Status.RUNNING,
            started_at=now,
            variables=masked_variables(self._texts),
            window=self._window,
            triggered_by=_without_secrets(self._triggered_by, secrets_of(self._texts)),
            orchestrator=self._orchestrator,
            heartbeat_at=now,
            heartbeat_every=every,
            **here,
        )

    def _new_id(self, now: datetime) -> str:
        attempt = self._orchestrator
        if attempt is None or not attempt.ids:
            return new_run_id(now)
        ids = {**attempt.ids, "attempt": str(attempt.attempt)}
        return run_id_of_attempt(now, attempt.name, ids)

    def _known(self, store: ReceiptStore) -> Receipt | None:
        """The receipt of this attempt, where another recorder, or an earlier call, began it."""
        attempt = self._orchestrator
        try:
            if self._run_id is not None:
                return self._known_by_id(store, self._run_id)
            if attempt is not None and attempt.ids:
                return next(
                    (
                        receipt
                        for receipt in store.search(self._task)
                        if attempt.is_same_attempt(receipt.orchestrator)
                    ),
                    None,
                )
        except Exception as error:  # if it matters, saving will say so loudly
            log.info("%s: earlier receipts could not be read: %s", self._task, error)
        return None

    def _known_by_id(self, store: ReceiptStore, run_id: str) -> Receipt | None:
        try:
            known = store.load(self._task, run_id)
        except ReceiptNotFoundError:
            return None
        if known.run_id != run_id:  # it only begins like this
            return None
        same = self._orchestrator and self._orchestrator.is_same_attempt(known.orchestrator)
        if known.status.is_final and not same:
            log.warning(
                "%s run %s has ended already (%s), so nothing of this run is recorded. "
                "A run id stands for one run.",
                self._task,
                run_id,
                known.status,
            )
        return known

    def _ending(
        self, run: Run, error: BaseException | None
    ) -> tuple[Status, str | None, str | None]:
        """The status, the finer outcome, and the reason, of an end."""
        if isinstance(error, UpstreamNotMetError):
            return Status.SKIPPED, "refused", run.clean(error.answer.reason)
        status = self._meaning(error)
        if status is Status.SUCCESS:
            skipped = run.skip_reason is not None
            return Status.SKIPPED if skipped else status, None, run.skip_reason
        assert error is not None
        text = error_text(error, with_message=self._with_message, secrets=run.secrets)
        return status, None, text

    def _meaning(self, error: BaseException | None) -> Status:
        if error is None:
            return Status.SUCCESS
        try:
            meant = None if self._how_it_ended is None else self._how_it_ended(error)
        except Exception:
            log.exception("What %s means could not be told.", type(error).__name__)
            meant = None
        return _ordinary_meaning(error) if meant is None else Status(meant)

    def _saved_to(self, store: ReceiptStore) -> Callable[[Receipt], None]:
        return lambda receipt: self._save(store, receipt)

    def _save(self, store: ReceiptStore, receipt: Receipt, tries: int = 1) -> None:
        """Keep the receipt. Never raises: what is lost is logged, the run stands."""
        for left in reversed(range(tries)):
            try:
                store.save(receipt)
                return
            except ReceiptConflictError as error:
                log.warning("%s", error)
                return
            except Exception as error:
                if left:
                    time.sleep(0.2)
                    continue
                log.warning(
                    "The receipt of %s run %s (%s) could not be saved, so no gate or health "
                    "check will see it: %s",
                    receipt.task,
                    receipt.run_id,
                    receipt.status,
                    error_text(error),
                )


def _continued(known: Receipt, now: datetime, every: timedelta, here: Circumstances) -> Receipt:
    """A running receipt that this process goes on with."""
    return replace(
        known,
        heartbeat_at=now,
        heartbeat_every=every,
        host=here.get("host"),
        pid=here.get("pid"),
    )


def _without_secrets(trigger: TriggeredBy, secrets: Iterable[str]) -> TriggeredBy:
    if trigger.reason is None:
        return trigger
    return replace(trigger, reason=clean_text(trigger.reason, secrets))


def _ordinary_meaning(error: BaseException) -> Status:
    if isinstance(error, Terminated):
        return Status.INTERRUPTED
    if isinstance(error, SystemExit):
        return Status.ERROR if error.code not in (None, 0) else Status.SUCCESS
    return Status.ERROR if isinstance(error, Exception) else Status.INTERRUPTED
