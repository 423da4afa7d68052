"""Has the upstream finished, for this very batch?"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import TYPE_CHECKING

from ubunye_core.batch import NOT_IN_BATCH, shown, texts_of
from ubunye_core.errors import ConfigError, StoreUnavailableError, UbunyeError
from ubunye_core.masking import MASK, comparable_value, is_secret_name, masked_variables
from ubunye_core.names import is_pattern
from ubunye_core.questions.answer import MEND, Moment, Verdict, named, together, unavailable
from ubunye_core.questions.evidence import Evidence, gather
from ubunye_core.questions.refusal import refusal, success_text
from ubunye_core.questions.requirements import (
    OnFailed,
    Requirement,
    RequirementLike,
    requirements_of,
)
from ubunye_core.questions.tasks import fitting_tasks
from ubunye_core.receipt import Pin, Receipt, Status, Window
from ubunye_core.stores.protocol import ReceiptStore, Unreadable
from ubunye_core.stores.url import StoreLike, store_of

if TYPE_CHECKING:
    from ubunye_core.schedules import ScheduledWindow


@dataclass(frozen=True, kw_only=True)
class RequirementAnswer:
    """Whether one upstream task has succeeded for the batch. True only when it passes."""

    task: str
    requirement: Requirement
    verdict: Verdict
    reason: str
    batch: Mapping[str, str] = field(default_factory=dict)
    """The variables that had to agree."""
    met: bool = False
    """Whether a success is on record. A missed optional requirement passes without."""
    decided: bool = False
    """Whether waiting cannot change it."""
    satisfied_by: str | None = None
    """The run that met it."""
    newest_run: str | None = None
    """The newest run of the batch, however it stands."""
    pin: Pin | None = None
    """Its output hashes."""
    pins: tuple[Pin, ...] = ()
    """Where every window was required: those of the runs that met it, the newest first."""
    missing: tuple[ScheduledWindow, ...] = ()
    """And where it is not met: the windows without a success."""
    unreadable: tuple[Unreadable, ...] = ()

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PASS


@dataclass(frozen=True, kw_only=True)
class UpstreamAnswer:
    """Whether a run may start, as far as its upstreams go. True only when it passes."""

    verdict: Verdict
    reason: str
    requirements: tuple[RequirementAnswer, ...]
    now: datetime

    def __bool__(self) -> bool:
        return self.verdict is Verdict.PASS

    @property
    def decided(self) -> bool:
        """Whether waiting cannot change the verdict."""
        if self.verdict is Verdict.PASS:
            return True
        return any(each.decided and each.verdict is Verdict.FAIL for each in self.requirements)

    @property
    def retryable(self) -> bool:
        """Whether asking again may give another verdict."""
        return not self.decided

    @property
    def pins(self) -> tuple[Pin, ...]:
        """What satisfied the requirements, for the receipt of the run that asked."""
        return tuple(
            pin for each in self.requirements for pin in each.pins or (each.pin,) if pin is not None
        )

    @property
    def unreadable(self) -> tuple[Unreadable, ...]:
        """What could not be read and could change the answer."""
        return tuple(bad for each in self.requirements for bad in each.unreadable)


class UpstreamNotMetError(UbunyeError, RuntimeError):
    """A run may not start: its upstream has not succeeded, or it cannot be told."""

    def __init__(self, answer: UpstreamAnswer) -> None:
        self.answer = answer
        super().__init__(answer.reason)

    def __reduce__(self) -> tuple[type[UpstreamNotMetError], tuple[UpstreamAnswer]]:
        return type(self), (self.answer,)


def check_upstream(
    requirements: RequirementLike | Iterable[RequirementLike],
    *,
    variables: Mapping[str, object] | None = None,
    store: StoreLike = None,
    asker: str | None = None,
    window: Window | None = None,
    now: datetime | str | None = None,
) -> UpstreamAnswer:
    """Whether every required upstream has succeeded for the batch of this run. Looks once.

    Args:
        requirements: One or several: a task's name, a mapping as in YAML, or a ``Requirement``.
        variables: The variables of the run that asks.
        store: Where the receipts are: a store or its URL; by default what ``UBUNYE_STORE`` names.
        asker: The task of the run that asks; a pattern does not name it.
        window: The window of the run that asks, for a requirement with ``windows: all``.
        now: The instant to answer for; None is the clock. In the past: as it looked then.

    Returns:
        ``PASS`` when all are met; ``FAIL`` when one is not; ``UNKNOWN`` when something that could
        not be read could change that. Never raises for a store that cannot answer.

    Raises:
        ConfigError: a requirement is wrong, or names a variable that this run does not have.
    """
    texts = texts_of(variables)
    mode = masked_variables(texts).get("mode")
    looking = _Looking(store_of(store), Moment.of(now), mode, asker, window)
    answers: list[RequirementAnswer] = []
    for requirement in requirements_of(requirements):
        wanted = _comparable(requirement, _wanted(requirement, texts))
        answers += _ask(requirement, wanted, looking)
    return UpstreamAnswer(
        verdict=together(answer.verdict for answer in answers),
        reason=_together(answers),
        requirements=tuple(answers),
        now=looking.moment.now,
    )


def check_requirements(
    requirements: Iterable[Requirement], variables: Mapping[str, str], window: Window | None
) -> None:
    """Complain of what a run with these variables and this window cannot ask; looks nowhere.

    Raises:
        ConfigError: a requirement names a variable that the run does not have, or needs a window.
    """
    for requirement in requirements:
        _comparable(requirement, _wanted(requirement, variables))
        if requirement.windows is not None:
            _window_of(requirement, window)


def require(
    requirements: RequirementLike | Iterable[RequirementLike],
    *,
    variables: Mapping[str, object] | None = None,
    store: StoreLike = None,
    asker: str | None = None,
    window: Window | None = None,
    now: datetime | str | None = None,
) -> UpstreamAnswer:
    """``check_upstream``, with the same arguments, for a script: raises unless the answer is yes.

    Raises:
        UpstreamNotMetError: the run may not start; ``.answer`` says why.
        ConfigError: a requirement is wrong.
    """
    answer = check_upstream(
        requirements, variables=variables, store=store, asker=asker, window=window, now=now
    )
    if answer.verdict is not Verdict.PASS:
        raise UpstreamNotMetError(answer)
    return answer


@dataclass(frozen=True)
class _Looking:
    """Where and when one look is made, and on whose behalf."""

    store: ReceiptStore
    moment: Moment
    mode: str | None
    """The ``mode`` of the run that asks."""
    asker: str | None
    window: Window | None


def _wanted(requirement: Requirement, texts: Mapping[str, str]) -> dict[str, str]:
    """The variables that must agree, by name."""
    asked = requirement.variables
    if isinstance(asked, Mapping):
        return {name: str(text) for name, text in asked.items()}
    if asked is None:
        batch = {
            name: text
            for name, text in texts.items()
            if name not in NOT_IN_BATCH and not is_secret_name(name)
        }
        if requirement.windows is not None and batch:
            raise ConfigError(
                f"The requirement on {requirement.task} is for every window, and does not say "
                "which variables must agree beside the window.",
                hint="Say 'variables: [region]', or 'variables: []' if there are none.",
            )
        if requirement.windows is None and not batch:
            raise ConfigError(
                f"The requirement on {requirement.task} names no variables and this run has none, "
                f"so any old success would do.",
                hint="Say 'variables: []' if that is meant, best with 'max_age'.",
            )
        return batch
    missing = [name for name in asked if name not in texts]
    if missing:
        raise ConfigError(
            f"The requirement on {requirement.task} names the variable '{missing[0]}', which this "
            f"run does not have.",
            hint=f"It has: {', '.join(sorted(texts)) or 'none'}.",
        )
    return {name: texts[name] for name in asked}


def _comparable(requirement: Requirement, wanted: Mapping[str, str]) -> dict[str, str]:
    """The variables that must agree, without the passwords of URLs."""
    texts = {name: comparable_value(text) for name, text in wanted.items()}
    hidden = [name for name, text in texts.items() if text == MASK != wanted[name]]
    if hidden:
        raise ConfigError(
            f"The requirement on {requirement.task} compares the variable '{hidden[0]}', which "
            f"holds more than the password of a URL that is masked in every receipt, so that "
            f"different values look the same.",
            hint="Say which variables must agree, and leave this one out.",
        )
    return texts


def _ask(
    requirement: Requirement,
    wanted: Mapping[str, str],
    looking: _Looking,
) -> list[RequirementAnswer]:
    """The answers to one requirement; a pattern has one for every task that fits."""
    store = looking.store
    unknown = RequirementAnswer(
        task=requirement.task,
        requirement=requirement,
        batch=wanted,
        verdict=Verdict.UNKNOWN,
        reason=f"No task in {store.url} fits {requirement.task}.",
    )
    tasks = [requirement.task]
    if is_pattern(requirement.task):
        try:
            tasks = fitting_tasks(requirement.task, store)
            tasks = [task for task in tasks if task != looking.asker]
        except StoreUnavailableError as error:
            bad = unavailable(store, error)
            return [replace(unknown, reason=bad.why, unreadable=(bad,))]
    return [_ask_task(replace(unknown, task=task), looking) for task in tasks] or [unknown]


def _ask_task(unknown: RequirementAnswer, looking: _Looking) -> RequirementAnswer:
    """What the store has on record about one task, in place of an answer that knows nothing."""
    if unknown.requirement.windows is not None:
        return _ask_every_window(unknown, looking)
    try:
        found = gather(
            unknown.requirement,
            unknown.task,
            unknown.batch,
            looking.store,
            looking.moment,
            asker=looking.asker,
        )
    except StoreUnavailableError as error:
        bad = unavailable(looking.store, error)
        return replace(unknown, reason=bad.why, unreadable=(bad,))
    newest = found.of_batch[0].run_id if found.of_batch else None
    if found.success is not None:
        return replace(
            unknown,
            verdict=Verdict.PASS,
            reason=success_text(found, looking.mode),
            met=True,
            decided=True,
            satisfied_by=found.success.run_id,
            newest_run=newest,
            pin=_pin(found.success),
        )
    if found.unreadable:
        return replace(
            unknown,
            reason=f"Whether {found.task} has succeeded for {shown(found.wanted)} cannot be told: "
            f"{named(found.unreadable)}. {MEND}",
            newest_run=newest,
            unreadable=found.unreadable,
        )
    optional = found.requirement.optional
    return replace(
        unknown,
        verdict=Verdict.PASS if optional else Verdict.FAIL,
        reason=f"Optional, so this passes: {refusal(found)}" if optional else refusal(found),
        decided=_is_decided(found),
        newest_run=newest,
    )


def _window_of(requirement: Requirement, window: Window | None) -> Window:
    """The window of the run that asks, which a requirement with ``windows: all`` needs."""
    if window is None:
        raise ConfigError(
            f"The requirement on {requirement.task} is for every window of it inside that of the "
            "run that asks, and this run has none.",
            hint="Give the run's window: record_run(window=...), or --window on the command line.",
        )
    return window


def _ask_every_window(unknown: RequirementAnswer, looking: _Looking) -> RequirementAnswer:
    # Not at the top: files of DAGs are read all day, and few of them require windows.
    from ubunye_core.questions.every_window import every_window

    requirement, window = unknown.requirement, _window_of(unknown.requirement, looking.window)
    try:
        found = every_window(
            requirement, unknown.task, unknown.batch, window, looking.store, looking.moment
        )
    except StoreUnavailableError as error:
        bad = unavailable(looking.store, error)
        return replace(unknown, reason=bad.why, unreadable=(bad,))
    passes = requirement.optional and found.verdict is Verdict.FAIL
    pins = tuple(map(_pin, found.successes))
    return replace(
        unknown,
        verdict=Verdict.PASS if passes else found.verdict,
        reason=f"Optional, so this passes: {found.reason}" if passes else found.reason,
        met=found.verdict is Verdict.PASS,
        decided=found.decided,
        satisfied_by=pins[0].run_id if pins else None,
        newest_run=None if found.newest is None else found.newest.run_id,
        pin=pins[0] if pins else None,
        pins=pins,
        missing=found.missing,
        unreadable=found.unreadable,
    )


def _is_decided(found: Evidence) -> bool:
    """Whether an unmet requirement will stay unmet, however long one waits."""
    if not found.of_task:
        return not found.requirement.allow_unknown
    if not found.of_batch:
        return False
    newest = found.of_batch[0]
    if newest.status is Status.SKIPPED:
        return not newest.was_refused
    failed = newest.status in (Status.ERROR, Status.INTERRUPTED) and not newest.has_tries_left
    return failed and found.requirement.on_failed is OnFailed.FAIL


def _pin(success: Receipt) -> Pin:
    return Pin(
        task=success.task,
        run_id=success.run_id,
        data_hashes={step.name: step.data_hash for step in success.outputs},
    )


def _together(answers: list[RequirementAnswer]) -> str:
    if len(answers) == 1:
        return answers[0].reason
    open_ones = [answer for answer in answers if answer.verdict is not Verdict.PASS]
    if not open_ones:
        return f"All {len(answers)} requirements pass. " + " ".join(each.reason for each in answers)
    are = "is" if len(open_ones) == 1 else "are"
    return f"{len(open_ones)} of {len(answers)} requirements {are} not met. " + " ".join(
        answer.reason for answer in open_ones
    )
