"""How ``exec`` guards a run: its options, on top of the policy in the task's YAML."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any, TypedDict

import click

from ubunye_core.cli.options import length
from ubunye_core.errors import ConfigError
from ubunye_core.questions import IfHeld, Policy
from ubunye_core.questions.policyfiles import read_policy
from ubunye_core.recording.terms import GuardTerms
from ubunye_core.stores.claims import SHORTEST_LEASE

_OPTIONS = (
    click.option("--guard", is_flag=True, help="Run only if nobody else runs this batch, or did."),
    click.option(
        "--rerun", is_flag=True, help="With --guard: a batch that has succeeded may run again."
    ),
    click.option(
        "--if-held",
        type=click.Choice([each.value for each in IfHeld]),
        help="With --guard, while another run holds the batch: fail (unless given), skip (exit "
        "code 0), or wait, for --wait or until --deadline; an hour unless given.",
    ),
    click.option(
        "--ordered",
        is_flag=True,
        help="With --guard and --config: not before the window before it has succeeded.",
    ),
    click.option(
        "--lease",
        callback=length(least=SHORTEST_LEASE, limits="a second is the shortest"),
        metavar="TIME",
        help="With --guard: how long this may be silent; 15m unless given.",
    ),
)


class GuardOptions(TypedDict):
    """What the options said."""

    guard: bool
    rerun: bool
    if_held: str | None
    ordered: bool
    lease: timedelta | None


def takes_guard(command: Callable[..., Any]) -> Callable[..., Any]:
    """Give a command the options of a guard."""
    for option in reversed(_OPTIONS):
        command = option(command)
    return command


def policy_in(config: Path | None) -> Policy:
    """The policy in a task's YAML; an empty one where none is named.

    Raises:
        ConfigError: something is wrong in it.
    """
    return Policy() if config is None else read_policy(config)


def waits(given: GuardOptions, policy: Policy) -> bool:
    """Whether the run waits while its batch is held."""
    return (given["if_held"] or policy.if_held) == IfHeld.WAIT


def terms(
    given: GuardOptions,
    policy: Policy,
    *,
    wait: timedelta | None,
    deadline: str | None,
    poll: timedelta | None,
) -> GuardTerms:
    """How to guard, as ``record_run`` takes it.

    Raises:
        ConfigError: the options say how to guard, and nothing guards.
    """
    said = [
        name
        for name in ("rerun", "if_held", "ordered", "lease")
        if given[name] not in (None, False)
    ]
    if said and not given["guard"] and not policy.guards:
        names = " and ".join(f"--{name.replace('_', '-')}" for name in said)
        say = "says" if len(said) == 1 else "say"
        raise ConfigError(f"{names} {say} how to guard.", hint="Give --guard, too.")
    found = GuardTerms(
        rerun=given["rerun"],
        if_held=given["if_held"],
        ordered=given["ordered"],
        lease=given["lease"],
    )
    if waits(given, policy):
        found |= GuardTerms(wait=wait, deadline=deadline, poll=poll)
    return found
