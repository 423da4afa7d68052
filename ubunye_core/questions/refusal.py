"""The words of a gate: what met it; or what is missing, for which batch, and what to try."""

from __future__ import annotations

from datetime import timedelta

from ubunye_core.batch import comparable, shown
from ubunye_core.questions.answer import how_it_stands, one_line
from ubunye_core.questions.evidence import Evidence
from ubunye_core.questions.symptoms import Limits
from ubunye_core.receipt import Receipt, Status
from ubunye_core.times import in_words, to_the_second


def success_text(found: Evidence, mode: str | None) -> str:
    """What met a requirement, and what a reader should know beside it."""
    success = found.success
    if success is None:
        raise ValueError("there is no success to speak of")
    text = (
        f"{found.task} succeeded for {_batch(found)}: run {success.run_id} "
        f"at {to_the_second(success.finished_at)}."
    )
    newest = found.of_batch[0]
    if newest.run_id != success.run_id:
        text += f" A later run of the batch, {how_it_stands(newest)}, does not undo that."
    theirs = comparable(success.variables).get("mode")
    if mode is not None and theirs is not None and theirs != mode:
        text += f" It ran with mode={theirs}; this run has mode={mode}."
    return text


def refusal(found: Evidence) -> str:
    """What is missing, for which batch, how the upstream's newest run stands, and what to try."""
    return " ".join((*_missing(found), _try(found)))


def _missing(found: Evidence) -> list[str]:
    if not found.of_task:
        near = f" Did you mean {' or '.join(found.near_names)}?" if found.near_names else ""
        return [f"{found.task} is unknown: the store has no run of it, for any batch.{near}"]
    age = found.requirement.max_age
    within = f" within the last {in_words(age)}" if isinstance(age, timedelta) else ""
    said = [
        f"{found.task} has not succeeded for {_batch(found)}{within}: {_newest_of_batch(found)}."
    ]
    newest = found.of_task[0]
    if not found.of_batch or found.of_batch[0].run_id != newest.run_id:
        batch = f" for {newest.batch}" if newest.batch else ""
        said.append(f"Its newest run of any batch is {how_it_stands(newest)}{batch}.")
    return said


def _newest_of_batch(found: Evidence) -> str:
    if not found.of_batch:
        return "it has no run of this batch"
    newest = found.of_batch[0]
    text = f"its newest run of this batch is {how_it_stands(newest)}"
    if newest.status is Status.SUCCESS and isinstance(found.requirement.max_age, timedelta):
        return f"{text}, which is too old"
    if newest.has_tries_left:
        return f"{text}, to be retried"
    if newest.status is not Status.RUNNING and newest.error:
        said = one_line(newest.error)
        return f"{text}: {said.partition('. ')[0] if newest.was_refused else said}"
    return text


def _try(found: Evidence) -> str:
    if not found.of_task:
        return (
            "Try: check the name and the store; 'allow_unknown: true' waits for a task "
            "that has never run."
        )
    if found.with_more:
        extra = sorted(found.with_more[0].batch.names - found.wanted.keys())
        names = ", ".join(sorted(found.wanted))
        return (
            f"Run {found.with_more[0].run_id} succeeded with the further "
            f"variable{'s' if len(extra) > 1 else ''} {', '.join(extra)}. Try: say which "
            f"variables must agree, 'variables: [{names}]'."
        )
    newest = found.of_batch[0] if found.of_batch else None
    return _named_otherwise(found) or _advice(found, newest)


def _named_otherwise(found: Evidence) -> str:
    """That the upstream does not name its batches by all of the wanted variables, if so."""
    theirs = found.of_task[0].batch.names
    lacking = sorted(found.wanted.keys() - theirs)
    if found.of_batch or not lacking:
        return ""
    has_none = f"That run has no variable {' and no variable '.join(lacking)}."
    shared = sorted(found.wanted.keys() & theirs)
    if shared:
        return (
            f"{has_none} Try: say which variables must agree, 'variables: [{', '.join(shared)}]'; "
            f"or record {found.task} with {', '.join(lacking)}."
        )
    if theirs:
        names = ", ".join(sorted(theirs))
        return f"{has_none} Try: name the batch as {found.task} does, by {names}."
    return (
        f"{has_none} Try: record {found.task} with {', '.join(lacking)}; 'variables: []' asks for "
        f"a success of any batch."
    )


def _advice(found: Evidence, newest: Receipt | None) -> str:
    batch = _batch(found)
    if newest is None:
        return f"Try: run {found.task} for {batch}, or wait for it ('wait: 2h')."
    silence = found.now - newest.last_sign_of_life
    if newest.status is Status.RUNNING and silence > Limits().silence_allowed(newest):
        return (
            f"It has been silent for {in_words(silence)}, and is probably dead. Try: 'ubunye-runs "
            f"close {newest.run_id} --reason ...', and run it again."
        )
    if newest.status is Status.RUNNING or newest.has_tries_left:
        return "Try: wait for it ('wait: 2h')."
    if newest.status is Status.SKIPPED and not newest.was_refused:
        return "It was skipped by decision. Try: run it if its data is needed after all."
    return (
        f"Try: run {found.task} again for {batch}; 'ubunye-runs show {newest.run_id}' tells more."
    )


def _batch(found: Evidence) -> str:
    return shown(found.wanted) if found.wanted else "any batch"
