"""``ubunye-runs exec``: any program gets a receipt, and a gate if it needs one."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Unpack

import click

from ubunye_core.cli import options
from ubunye_core.cli.asked import Terms, from_file, from_options
from ubunye_core.cli.child import (
    Child,
    CommandFailedError,
    CommandInterruptedError,
    CommandNotStartedError,
)
from ubunye_core.cli.exits import ExitCode, code_of
from ubunye_core.cli.guarding import GuardOptions, policy_in, takes_guard, terms, waits
from ubunye_core.cli.output import note, wrong
from ubunye_core.cli.place import Place, takes_store
from ubunye_core.cli.program import code_file
from ubunye_core.cli.waiting import ask_and_wait
from ubunye_core.errors import ClaimLostError, ConfigError
from ubunye_core.masking import masked_text
from ubunye_core.questions import (
    Policy,
    Requirement,
    RunRefusedError,
    RunSkippedError,
    UpstreamNotMetError,
    Verdict,
    read_requirements,
)
from ubunye_core.questions.foldernames import check_folder_of
from ubunye_core.questions.taskfiles import RECEIPTS_FILE, files_of
from ubunye_core.questions.upstream import check_requirements
from ubunye_core.receipt import Window
from ubunye_core.recording import Recording, Run, record_run
from ubunye_core.stores.url import STORE_VARIABLE
from ubunye_core.times import in_iso, utc_now

_COMMAND = "ubunye_core.cli.command"
NO_CODE = os.devnull
"""A file without code in it, so that the receipt has no hash of any."""


class _Exec(click.Command):
    """Leaves what follows ``--`` alone: it is the command, whatever its options are called."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        if "--" in args:
            at = args.index("--")
            args, ctx.meta[_COMMAND] = args[:at], tuple(args[at + 1 :])
        asks_for_help = not set(args).isdisjoint(ctx.help_option_names)
        if not any(ctx.meta.get(_COMMAND, ())[:1]) and not asks_for_help:
            raise click.UsageError("Write the command after '--': exec TASK -- CMD...", ctx)
        more = super().parse_args(ctx, args)
        words = [ctx.params.get("task") or "", *more]
        variables = [f"--var {word}" for word in words if "=" in word]
        if variables:
            raise click.UsageError(f"Write a variable as {' '.join(variables)}.", ctx)
        if more:
            raise click.UsageError(f"exec takes one task, and no {' '.join(more)} beside it.", ctx)
        return more

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:
        return [*super().collect_usage_pieces(ctx), "--", "CMD..."]


@click.command("exec", cls=_Exec, context_settings={"allow_extra_args": True})
@click.argument("task", required=False, metavar="TASK")
@click.option("--task", "named_task", metavar="TASK", help="The task, another way to give it.")
@options.variables
@click.option(
    "--require",
    "required",
    multiple=True,
    metavar="TASK|PATTERN",
    help="Run only if this task has succeeded for the same batch, the whole of it; repeatable.",
)
@options.config
@options.run_window
@options.wait
@options.deadline
@options.poll
@takes_guard
@click.option("--scheduled", is_flag=True, help="A schedule started this, not a person.")
@click.option("--reason", metavar="TEXT", help="Why this was started.")
@takes_store
@click.pass_context
def execute(
    context: click.Context,
    task: str | None,
    place: Place,
    named_task: str | None,
    variables: tuple[str, ...],
    required: tuple[str, ...],
    config: Path | None,
    window: str | None,
    wait: timedelta | None,
    deadline: str | None,
    poll: timedelta | None,
    scheduled: bool,
    reason: str | None,
    **guard: Unpack[GuardOptions],
) -> int:
    r"""Run a command as a task: it leaves a receipt, and ends with its own exit code.

    \b
    Examples:
      ubunye-runs exec pay/monthly/send --var month=2026-10 -- ./send.sh 2026-10
      ubunye-runs exec pay/monthly/send --var month=2026-10 --require pay/monthly/calc \
          --wait 2h --scheduled -- python send.py

    With a requirement that is not met, or a batch that --guard refuses, the command is not run:
    exit code 1, or 3 if that cannot be told. With --config, the requirements and the policy in the
    task's YAML hold. The command finds UBUNYE_STORE, UBUNYE_TASK and
    UBUNYE_RUN_ID in its environment.
    """
    if place.was_found:
        raise ConfigError(
            f"exec writes a receipt, so its store must be named; {place.shown} was only found.",
            hint="Give --store URL, or set UBUNYE_STORE.",
        )
    command: tuple[str, ...] = context.meta[_COMMAND]
    texts = options.read_variables(variables)
    named = _task(task, named_task)
    if config is not None:
        check_folder_of(config, named)
    policy = policy_in(config)
    for_more = policy != Policy() or guard["ordered"]
    requirements = _requirements(required, config, texts, for_more=for_more)
    both_wait = waits(guard, policy) and bool(requirements)
    if both_wait and wait is not None and deadline is None:  # one end, whatever is waited for
        deadline, wait = in_iso(utc_now() + wait), None
    period = options.read_window(window)
    gate = _Gate(requirements, texts, period, place, wait, deadline, poll)
    says_how = any(each is not None for each in (wait, deadline, poll))
    if says_how and not requirements and not waits(guard, policy):
        raise ConfigError(
            "There is nothing to wait for.", hint="Give --require, --config or --if-held wait."
        )
    if guard["ordered"] and config is None:
        raise ConfigError(
            "--ordered goes by the schedule in the task's YAML.", hint="Name it with --config."
        )
    recording = record_run(
        named,
        variables=texts,
        window=period,
        store=place.store,
        guard=guard["guard"],
        policy=config,
        scheduled=scheduled,
        reason=None if reason is None else masked_text(reason),
        code=code_file(command) or NO_CODE,
        **terms(guard, policy, wait=wait, deadline=deadline, poll=poll),
    )
    if config is not None and not requirements and not for_more:
        note(f"Note: {config} requires nothing, so this run has no gate.")
    place.note_if_absent(named)
    return _run(recording, command, place, gate)


@dataclass(frozen=True)
class _Gate:
    """What must be met before the command may run."""

    requirements: tuple[Requirement, ...]
    variables: Mapping[str, str]
    window: Window | None
    place: Place
    wait: timedelta | None
    deadline: str | None
    poll: timedelta | None

    def __post_init__(self) -> None:
        options.check_waiting(wait=self.wait, deadline=self.deadline)
        of_windows = [each.task for each in self.requirements if each.windows is not None]
        if of_windows and self.window is None:  # before the run is on record
            raise ConfigError(
                f"Every window of {of_windows[0]} is required that the window of this run needs, "
                f"and it has none.",
                hint="Give --window START/END.",
            )
        check_requirements(self.requirements, self.variables, self.window)

    def let_pass(self, run: Run) -> None:
        """Return when all is met, and pin what met it into the run's receipt.

        Raises:
            UpstreamNotMetError: the command may not run.
        """
        if not self.requirements:
            return
        with run.timed("wait for upstreams"):
            answer = ask_and_wait(
                self.requirements,
                variables=self.variables,
                store=self.place.store,
                window=self.window,
                wait=self.wait,
                deadline=self.deadline,
                poll=self.poll,
                asker=run.task,
            )
        run.pin(answer)
        if answer.verdict is not Verdict.PASS:
            raise UpstreamNotMetError(answer)


def _run(recording: Recording, command: Sequence[str], place: Place, gate: _Gate) -> int:
    """Run the command, recorded, and return what to end with."""
    with Child(command) as child:
        try:
            with recording as run:
                gate.let_pass(run)
                with run.timed(os.path.basename(command[0])):
                    child.start(_environment(run, place))
                    child.follow()
        except UpstreamNotMetError as refused:
            answer = refused.answer
            note(f"{answer.verdict}  {place.with_remark(answer.reason)}")
            note(f"{run.task} run {run.run_id} was not started.")
            return code_of(answer.verdict)
        except RunSkippedError as refused:
            note(f"{place.with_remark(refused.answer.reason)} This run is skipped.")
            return ExitCode.YES
        except RunRefusedError as refused:
            note(f"{refused.answer.verdict}  {place.with_remark(refused.answer.reason)}")
            note(f"This run of {refused.answer.task} was not started.")
            return code_of(refused.answer.verdict)
        except ClaimLostError as error:
            wrong(str(error))
            return ExitCode.NO
        except CommandNotStartedError as error:
            wrong(error.told)
            return error.code
        except (CommandFailedError, CommandInterruptedError):
            pass  # its receipt says so, and its exit code does
        return child.code()


def _environment(run: Run, place: Place) -> dict[str, str]:
    return {
        **os.environ,
        STORE_VARIABLE: place.named,
        "UBUNYE_TASK": run.task,
        "UBUNYE_RUN_ID": run.run_id,
    }


def _task(given: str | None, named: str | None) -> str:
    if given is not None and named is not None and given != named:
        raise ConfigError(f"Two tasks are named: {given} and {named}.")
    task = given or named
    if task is None:
        raise ConfigError("No task is named.", hint="Write exec TASK -- CMD...")
    return task


def _requirements(
    required: Sequence[str], config: Path | None, texts: Mapping[str, str], *, for_more: bool
) -> tuple[Requirement, ...]:
    """What must be met: what a file requires, or the options where it requires nothing.

    A file may be given for more than its requirements. One that is given for nothing else must be
    a ``receipts.yaml``, of which every key is known: elsewhere ``requires`` may be misspelt.
    """
    if config is not None and read_requirements(config):
        return from_file(config, beside=[f"--require {task}" for task in required])
    if required:
        return from_options(
            required,
            texts,
            Terms(whole_batch=True),  # --var is all of this run's batch, as it is for record_run
            if_any="write 'variables: []' into a file for --config",
        )
    if config is None or for_more or RECEIPTS_FILE in [file.name for file in files_of(config)]:
        return ()
    return from_file(config)  # complains
