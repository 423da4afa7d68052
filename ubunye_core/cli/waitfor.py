"""``ubunye-runs wait-for``: has the upstream finished, for this very batch?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from pathlib import Path

import click

from ubunye_core.cli import options
from ubunye_core.cli.asked import Terms, from_file, from_options
from ubunye_core.cli.documents import document_of
from ubunye_core.cli.exits import ExitCode, code_of
from ubunye_core.cli.output import say_unreadable, say_verdict
from ubunye_core.cli.place import Place, say_beside, takes_store
from ubunye_core.cli.waiting import ask_and_wait
from ubunye_core.errors import ConfigError
from ubunye_core.questions import (
    OnFailed,
    Requirement,
    RequirementAnswer,
    UpstreamAnswer,
    check_upstream,
)


@click.command("wait-for")
@click.argument("tasks", nargs=-1, metavar="[TASK|PATTERN...]")
@options.variables
@click.option(
    "--whole-batch", is_flag=True, help="The upstream's batch must have no other variables."
)
@click.option("--any-batch", is_flag=True, help="Any success will do; best with --max-age.")
@options.config
@options.window
@options.wait
@options.deadline
@options.poll
@click.option(
    "--max-age",
    callback=options.LENGTH,
    metavar="TIME",
    help="How old the success may be, such as 40d.",
)
@click.option(
    "--on-failed",
    type=click.Choice([each.value for each in OnFailed]),
    help="Whether to wait (so unless given) or fail once the batch's newest run has failed.",
)
@click.option("--allow-unknown", is_flag=True, help="Wait for a task the store has never seen.")
@takes_store
@options.now
@options.as_json
def wait_for(
    tasks: tuple[str, ...],
    place: Place,
    variables: tuple[str, ...],
    whole_batch: bool,
    any_batch: bool,
    config: Path | None,
    window: str | None,
    wait: timedelta | None,
    deadline: str | None,
    poll: timedelta | None,
    max_age: timedelta | None,
    on_failed: str | None,
    allow_unknown: bool,
    now: datetime | None,
    as_json: bool,
) -> ExitCode:
    r"""Say whether upstream tasks have succeeded for a batch; wait for it with --wait.

    The batch matches on the names given by --var: the upstream may have other variables too.

    \b
    Examples:
      ubunye-runs wait-for pay/monthly/calc --var month=2026-10
      ubunye-runs wait-for pay/monthly/calc --var month=2026-10 --wait 2h --on-failed fail
      ubunye-runs wait-for --config tasks/send/config.yaml --var month=2026-10
      ubunye-runs wait-for --config tasks/day/receipts.yaml --window 2026-10-14/2026-10-15
    """
    options.check_waiting(now=now, wait=wait, deadline=deadline)
    if window is not None and config is None:
        raise ConfigError("--window is for the requirements in a file.", hint="Give --config.")
    texts = options.read_variables(variables)
    terms = Terms(
        max_age=max_age,
        on_failed=on_failed,
        allow_unknown=allow_unknown,
        whole_batch=whole_batch,
        any_batch=any_batch,
    )
    requirements = _asked(tasks, texts, config, terms)
    if now is not None:
        answer = check_upstream(
            requirements,
            variables=texts,
            store=place.store,
            window=options.read_window(window),
            now=now,
        )
    else:
        answer = ask_and_wait(
            requirements,
            variables=texts,
            store=place.store,
            window=options.read_window(window),
            wait=wait,
            deadline=deadline,
            poll=poll,
        )
    if as_json:
        _print_json(answer, place)
    else:
        _show(answer, place, now)
    return code_of(answer.verdict)


def _asked(
    tasks: Sequence[str], texts: Mapping[str, str], config: Path | None, terms: Terms
) -> tuple[Requirement, ...]:
    if config is not None:
        return from_file(config, beside=[*tasks, *terms.given])
    if not tasks:
        raise ConfigError("No task is named.", hint="Name a task, or give --config FILE.")
    return from_options(tasks, texts, terms, if_any="--any-batch, best with --max-age")


def _print_json(answer: UpstreamAnswer, place: Place) -> None:
    document_of(
        answer,
        place,
        requirements=[_as_json(each) for each in answer.requirements],
    )


def _as_json(answer: RequirementAnswer) -> dict[str, object]:
    return {
        "task": answer.task,
        "batch": dict(answer.batch),
        "verdict": answer.verdict.value,
        "reason": answer.reason,
        "satisfied_by": answer.satisfied_by,
        "newest_run": answer.newest_run,
    }


def _show(answer: UpstreamAnswer, place: Place, now: datetime | None) -> None:
    if len(answer.requirements) == 1:
        say_verdict(answer.verdict, answer.reason)
    else:
        for each in answer.requirements:
            say_verdict(each.verdict, each.reason)
    say_beside(place, now)
    say_unreadable(answer.unreadable, told=[each.reason for each in answer.requirements])
