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
from datetime import timedelta
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import Any, Literal, TypeVar, Unpack

from ubunye_core.batch import texts_of
from ubunye_core.errors import ConfigError, NoParenthesesError, ReceiptConflictError, UbunyeError
from ubunye_core.masking import error_text, secrets_of
from ubunye_core.names import check_run_id, check_task
from ubunye_core.questions.requirements import RequirementLike, requirements_of
from ubunye_core.questions.upstream import check_requirements
from ubunye_core.receipt import (
    Orchestrator,
    Override,
    Receipt,
    Status,
    TriggeredBy,
    TriggerKind,
    Window,
)
from ubunye_core.recording.beginning import Arguments, begun
from ubunye_core.recording.circumstances import with_actor
from ubunye_core.recording.databricks import databricks_job, is_scheduled_by_databricks
from ubunye_core.recording.ending import ending_of
from ubunye_core.recording.guarding import Guard, check_reason
from ubunye_core.recording.heartbeat import Heartbeat, heartbeat_of
from ubunye_core.recording.overriding import checked
from ubunye_core.recording.run import Run
from ubunye_core.recording.termination import Termination
from ubunye_core.recording.terms import GuardTerms, PolicyLike, terms_of
from ubunye_core.stores import ReceiptStore, open_store
from ubunye_core.times import duration

log = logging.getLogger("ubunye_core.recording")
TRIES_TO_SAVE_AN_END = 3

_PATH = (str, os.PathLike)
Given = TypeVar("Given")
Function = TypeVar("Function", bound=Callable[..., Any])
Variables = Mapping[str, object] | Callable[..., Mapping[str, object]]


def record_run(
    task: str,
    *,
    variables: Variables | None = None,
    store: ReceiptStore | str | os.PathLike[str] | None = None,
    requires: RequirementLike | Iterable[RequirementLike] | None = None,
    guard: bool = False,
    policy: PolicyLike | None = None,
    window: Window | None = None,
    triggered_by: TriggeredBy | None = None,
    scheduled: bool = False,
    reason: str | None = None,
    orchestrator: Orchestrator | None = None,
    overrides: Iterable[Override] = (),
    code: str | Path | None = None,
    run_id: str | None = None,
    heartbeat_every: timedelta | str | None = None,
    record_errors: Literal["message", "type"] = "message",
    how_it_ended: Callable[[BaseException], Status | None] | None = None,
    **how_to_guard: Unpack[GuardTerms],
) -> Recording:
    """Record what runs inside a ``with`` block, or a decorated function.

    ::

        with record_run("pay/monthly/calc", variables={"month": "2026-10"}) as run:
            run.read("people", people)
            ...
            run.wrote("adults", adults)

    Recording never breaks the run: a store that cannot be written is a loud warning in the log.
    What a decorated function leaves to others, such as a thread or a future, is not waited for.

    Args:
        task: ``usecase/package/task_name``.
        variables: Which data this run is for; as a decorator, also a function of the call's
            arguments. Values of secret-looking names are masked.
        store: A store or its URL; by default the one that ``UBUNYE_STORE`` names when the run
            begins.
        requires: Upstreams that must have succeeded for this batch, else the block is not
            entered and ``UpstreamNotMetError`` is raised.
        guard: Whether this run must have its batch to itself: it takes the claim on it, or the
            block is not entered and ``RunRefusedError`` is raised. If another run takes the claim
            over, the success of this one is not recorded, and ``ClaimLostError`` ends the block.
        policy: On what terms the task may be run; or a task's folder or YAML, where they stand.
            A run that it refuses does not enter the block: ``RunRefusedError``.
        window: The period of data this run is for.
        triggered_by: Who or what started it; by default the user of this process, by hand.
        scheduled: Whether a schedule started it, where ``triggered_by`` is not given. A job of
            Databricks that its schedule has started is known to be one.
        reason: Why it was started; a reason in ``triggered_by`` wins.
        orchestrator: The scheduler's names for this attempt. A recorder called again for the
            same attempt and data continues its receipt. By default none, and in a job of
            Databricks the job and its run.
        overrides: The arguments that are not what the spec or the schedule says, as
            ``overrides_of`` finds them.
        code: The folder or file whose code is hashed; by default the file of the function or of
            the caller.
        run_id: An id of your own, for this run alone; by default a new UUID of version 7. Make
            one of version 7 when the run starts, for it is read as the time of the start.
        heartbeat_every: How often to show a sign of life; by default what the store asks for.
        record_errors: ``type`` keeps an exception's message out of the receipt.
        how_it_ended: What an exception means, for schedulers that skip or pause by raising.
            ``running`` leaves the run open; None is the ordinary meaning.
        how_to_guard: With ``guard``, or a policy that guards: ``rerun=True`` runs a batch that has
            succeeded again; ``if_held`` says what to do while another run holds the batch:
            ``fail``; ``skip`` (``RunSkippedError``, and a decorated call returns None); ``wait``,
            for as long as ``wait`` says or until the ``deadline``, with a ``poll`` between two
            looks; ``lease`` is how long this run may be silent before another takes over;
            ``ordered=True`` refuses a window before the one before it in the ``schedule`` has
            succeeded.

    Raises:
        ConfigError: a name or value is wrong, or no store is named.
    """
    if callable(task):
        raise NoParenthesesError(task)
    if record_errors not in ("message", "type"):
        raise ConfigError(
            f"{record_errors!r} is no way to record errors.", hint="Say 'message' or 'type'."
        )
    arguments = Arguments(
        task=check_task(task),
        variables=variables if callable(variables) else texts_of(variables),
        store=_store(store),
        requires=None if requires is None else requirements_of(requires),
        window=_of_type(window, "window", Window, "a Window"),
        triggered_by=_started_by(triggered_by, scheduled, reason),
        orchestrator=_of_type(orchestrator, "orchestrator", Orchestrator, "an Orchestrator"),
        overrides=checked(_of_type(overrides, "overrides", Iterable, "overrides_of(...)")),
        code=None if code is None else Path(_of_type(code, "code", _PATH, "a path")),
        run_id=None if run_id is None else check_run_id(run_id),
        heartbeat_every=None
        if heartbeat_every is None
        else duration(heartbeat_every, what="heartbeat_every"),
        with_message=record_errors == "message",
        terms=terms_of(guard, policy, how_to_guard),
        how_it_ended=_of_type(how_it_ended, "how_it_ended", Callable, "a function"),
    )
    return Recording(arguments, caller=Path(sys._getframe(1).f_code.co_filename))


def _store(given: ReceiptStore | str | os.PathLike[str] | None) -> ReceiptStore | None:
    store = open_store(given) if isinstance(given, str | os.PathLike) else given
    if store is not None and not callable(getattr(store, "save", None)):
        raise ConfigError(f"A {type(given).__name__} is no store.", hint="Give a store or its URL.")
    return store


def _of_type(given: Given, name: str, type_: Any, wanted: str) -> Given:
    """An argument that is of a type, or not given."""
    if given is not None and not isinstance(given, type_):
        raise ConfigError(f"'{name}' is of type {type(given).__name__}.", hint=f"Give {wanted}.")
    return given


def _started_by(given: TriggeredBy | None, scheduled: bool, reason: str | None) -> TriggeredBy:
    """Who or what started a run: as it is told, else the user of this process."""
    _of_type(given, "triggered_by", TriggeredBy, "a TriggeredBy")
    if scheduled is not None and not isinstance(scheduled, bool):  # "no" would be a yes
        raise ConfigError(f"'scheduled' is {scheduled!r}, not true or false.")
    _of_type(reason, "reason", str, "text")
    if given is not None:
        return given if given.reason else replace(given, reason=reason)
    by_schedule = scheduled or is_scheduled_by_databricks()
    kind = TriggerKind.SCHEDULE if by_schedule else TriggerKind.MANUAL
    return with_actor(TriggeredBy(kind=kind, reason=reason))


class Recording:
    """What ``record_run`` returns: a context manager, and a decorator."""

    def __init__(self, arguments: Arguments, *, caller: Path) -> None:
        self._arguments, self._caller = arguments, caller
        self._run: Run | None = None

    def __enter__(self) -> Run:
        given, variables = self._arguments, self._arguments.variables
        if callable(variables):
            raise ConfigError("'variables' is a function, which only a decorated call can use.")
        if self._run is not None:
            raise ConfigError("This recording is in use; call record_run again.")
        store = open_store() if given.store is None else given.store
        every = given.heartbeat_every or heartbeat_of(store)
        self._began, self._pid = time.monotonic(), os.getpid()
        receipt, self._is_continued = begun(
            given, variables, store, code=given.code or self._caller, every=every
        )
        if not self._is_continued and receipt.orchestrator is None:
            # Told, and no more: a cell may record several runs of one task, which are no attempts.
            receipt = replace(receipt, orchestrator=databricks_job())
        run = Run(receipt, store, variables, secrets_of(variables))
        self._heartbeat = Heartbeat(run, every, partial(_save, store))
        self._termination = Termination()
        self._guard = Guard(run, given.terms.guarding)
        if not self._is_continued:  # what is on record already must get an end
            self._guard.check()
            check_requirements(given.requires or (), variables, receipt.window)
        self._run = run
        try:
            self._termination.watch()
            _save(store, receipt)
            self._heartbeat.start()
            if given.terms.require_reason:
                check_reason(run)
            self._guard.take()
            if given.requires is not None:
                run.require(given.requires)
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
                    stands = self._finish(run, error)
                except KeyboardInterrupt:  # a second Ctrl-C; without an end the run looks stuck
                    self._finish(run, error)
                    raise
                if error is None and not stands:
                    self._guard.check_not_lost()
        finally:
            self._termination.unwatch()

    def _finish(self, run: Run, error: BaseException | None) -> bool:
        """Write the run's end, or leave it open where it only pauses. False if it may not end."""
        self._heartbeat.stop()
        self._guard.stop()
        ending = ending_of(run, error, self._arguments)
        if ending.status.is_final:
            seconds = None if self._is_continued else time.monotonic() - self._began
            end = run.ended(
                ending.status, seconds=seconds, error=ending.error, outcome=ending.outcome
            )
            stands = _save(run.store, end, tries=TRIES_TO_SAVE_AN_END)
            self._guard.give_back()
            return stands
        return _save(run.store, replace(run.beat(), heartbeat_every=None))

    def __call__(self, function: Function) -> Function:
        """Record every call of a function. One that has a parameter ``run`` is given the run."""
        from ubunye_core.recording.decorate import recorded_calls

        return recorded_calls(function, self._of_call)

    def _of_call(self, function: Callable[..., Any], args: Any, kwargs: Any) -> Recording:
        """A recording of one call of a decorated function."""
        given, caller = self._arguments, self._caller
        if callable(given.variables):
            given = replace(given, variables=texts_of(given.variables(*args, **kwargs)))
        with contextlib.suppress(TypeError, OSError):
            caller = Path(inspect.getfile(inspect.unwrap(function)))
        return Recording(given, caller=caller)


def _is_its_own_fault(error: Exception) -> bool:
    """Whether a receipt could not be written for what it holds: no JSON, or far too much."""
    return isinstance(error, TypeError | ValueError) and not isinstance(error, UbunyeError)


def _save(store: ReceiptStore, receipt: Receipt, tries: int = 1) -> bool:
    """Keep the receipt. Never raises: what is lost is logged, the run stands.

    Returns:
        False if the store has another end on record, which stands.
    """
    for left in reversed(range(tries)):
        try:
            store.save(receipt)
            return True
        except ReceiptConflictError as error:
            log.warning("%s", error)
            return False
        except Exception as error:
            if _is_its_own_fault(error) and receipt != receipt.essentials:
                what = "The details of %s run %s are not recorded: %s"
                log.warning(what, receipt.task, receipt.run_id, error_text(error))
                return _save(store, receipt.essentials, tries)
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
    return True
