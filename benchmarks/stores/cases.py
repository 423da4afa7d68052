"""What is asked, in which state of the folder, and what must hold."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from benchmarks.stores import asking
from benchmarks.stores.data import Folder

MOST_MEGABYTES = 150
MOST_GROWTH = 2.0
BARE, HINTS, FOREIGN = STATES = "no hints", "hints", "foreign write"
FULL = 100_000
"""The receipts of a task for which the bars of ratios are meant."""


@dataclass(frozen=True, kw_only=True)
class Case:
    """One question, and its bars."""

    name: str
    request: dict[str, Any]
    expected: Any
    """The answer of the first call; None where it is not compared."""
    peer: str | None = None
    """The name of what the peer is asked instead."""
    state: str = HINTS
    calls: int = 2
    rounds: int = 5
    first: float | None = None
    """How many times faster than the peer the first call must be."""
    second: float | None = None
    grows: bool = False
    """Whether its time may grow at most twofold from a tenth of the receipts."""
    opens: int | None = None
    later_opens: int | None = None
    between: str | None = None
    """What another process saves between the calls: ``ours`` or ``peer``."""
    megabytes: float = MOST_MEGABYTES


@dataclass(frozen=True)
class Missed:
    """A bar that was not kept."""

    kind: str
    """``answer``, ``ratio``, ``growth``, ``opens`` or ``memory``."""
    bar: str

    def __str__(self) -> str:
        return self.bar


@dataclass(kw_only=True)
class Figures:
    """What was measured for a case."""

    case: Case
    ours: asking.Timed
    counts: list[asking.Counts]
    peer: asking.Timed | None = None
    growth: float | None = None
    missed: list[Missed] = field(default_factory=list)

    def ratio(self, call: int) -> float | None:
        """How many times the peer takes of our CPU time.

        Everything is in memory, so at rest this is the ratio of the times; and it stays what it
        is where others use the machine.
        """
        return (
            None if self.peer is None else self.peer.cpu_median(call) / self.ours.cpu_median(call)
        )


def judge(it: Figures) -> list[Missed]:
    """The bars that a case missed."""
    case, missed = it.case, []
    if case.expected is not None and it.ours.answers[0] != case.expected:
        missed.append(Missed("answer", f"WRONG ANSWER {str(it.ours.answers[0])[:120]}"))
    for call, least in enumerate((case.first, case.second)):
        ratio = it.ratio(call)
        if least is not None and ratio is not None and ratio < least:
            missed.append(Missed("ratio", f"{('first', 'second')[call]} call {least:g}x"))
    if case.grows and it.growth is not None and it.growth > MOST_GROWTH:
        missed.append(Missed("growth", f"growth {MOST_GROWTH:g}x"))
    if case.opens is not None and it.counts[0].opens > case.opens:
        missed.append(Missed("opens", f"{case.opens:,} opens"))
    if case.later_opens is not None:
        worst = max(count.opens for count in it.counts[1:])
        if worst > case.later_opens:
            missed.append(Missed("opens", f"{case.later_opens} opens later"))
    if it.ours.peak > case.megabytes:
        missed.append(Missed("memory", f"{case.megabytes:g} MB"))
    return missed


def peer_requests(one: Folder, many: Folder) -> dict[str, tuple[Folder, dict[str, Any], int]]:
    """What the peer is asked: where, what, and in how many processes."""
    task = one.facts["tasks"][0]
    middle = one.facts["batches"]["middle"]["batch"]
    return {
        "newest 50": (one, {"question": "list", "task": task, "n": 50}, 3),
        "batch": (one, {"question": "upstream", "task": task, "batch": middle}, 1),
        "since": (one, {"question": "since", "task": task, "since": one.facts["since"]}, 1),
        "load": (one, {"question": "load", "task": task, "run_id": one.facts["a_run"]}, 3),
        "since, all": (many, {"question": "since", "since": many.facts["since"]}, 1),
        "health": (many, {"question": "health", "tasks": many.facts["tasks"]}, 3),
    }


def of_one_task(one: Folder, state: str, foreign: str | None) -> list[Case]:
    """The questions about one task with many runs."""
    task, facts = one.facts["tasks"][0], one.facts
    share = facts["receipts"] / FULL
    newest = [run for run in (foreign, *facts["newest"]) if run]
    extra = 0 if foreign is None else 1
    cases = [
        Case(
            name="newest 50",
            request={"question": "list", "task": task, "n": 50},
            expected=newest[:50],
            peer="newest 50",
            first=15 * share,
            grows=state == HINTS,
        ),
        Case(
            name="since, the last 100",
            request={"question": "since", "task": task, "since": facts["since"]},
            expected=sorted(newest[: 100 + extra]),
            peer="since",
            first=100 * share,
            second=20 * share,
            grows=state == HINTS,
        ),
    ]
    for title, named in (("all named", ["dt", "region", "month"]), ("whole", None)):
        bars: dict[str, Any] = {"first": 1000 * share, "grows": True, "opens": 3 + extra}
        cases.append(
            _upstream(one, "middle", named, f"success of a batch, {title}")
            if state == BARE
            else _upstream(one, "middle", named, f"success of a batch, {title}", **bars)
        )
    if state == FOREIGN and foreign is not None:
        cases.append(
            Case(
                name="success of a batch that the peer just wrote",
                request=_asked(one, "foreign", None),
                expected=["PASS", foreign],
                peer="batch",
                first=1000 * share,
                opens=3 + extra,
            )
        )
    if state == HINTS:
        cases += _more(one, share)
    if state == BARE:
        cases = [
            case if case.first else Case(**{**vars(case), "rounds": 1, "grows": False})
            for case in cases
        ]
        cases += _polls(one, ("absent",))
    return [Case(**{**vars(case), "state": state}) for case in cases]


def _asked(one: Folder, title: str, named: list[str] | None) -> dict[str, Any]:
    batch = one.facts["batches"][title]["batch"]
    return {
        "question": "upstream",
        "task": one.facts["tasks"][0],
        "named": named,
        "batch": {"mode": "PROD", **batch},
    }


def _upstream(one: Folder, title: str, named: list[str] | None, name: str, **bars: Any) -> Case:
    success = one.facts["batches"][title]["success"]
    return Case(
        name=name,
        request=_asked(one, title, named),
        expected=["PASS" if success else "FAIL", success],
        peer="batch",
        **bars,
    )


def _more(one: Folder, share: float) -> list[Case]:
    """What is asked with hints only."""
    task, facts = one.facts["tasks"][0], one.facts
    cases = [
        _upstream(
            one,
            "newest",
            None,
            "success of the newest batch",
            first=1000 * share,
            grows=True,
            opens=3,
        )
    ]
    for title, told in facts["batches"].items():
        if title.startswith("middle "):
            cases.append(
                _upstream(
                    one,
                    title,
                    sorted(told["batch"]),
                    f"success by {title.removeprefix('middle ')}, {told['fitting']:,} runs fit",
                    opens=told["agreeing_any"],
                )
            )
    cases += _polls(one, ("absent", "running", "failed"))
    cases += [
        Case(
            name="load a run by its id",
            request={"question": "load", "task": task, "run_id": facts["a_run"]},
            expected=facts["a_run"],
            peer="load",
        ),
        Case(
            name="health of the task",
            request={"question": "health", "tasks": [task]},
            expected=None,
            grows=True,
        ),
        Case(
            name="search for errors",
            request={"question": "errors", "task": task},
            expected=None,
            rounds=1,
        ),
    ]
    return cases


def while_saving(one: Folder) -> list[Case]:
    """Polls, while other processes save runs of other batches; the folder then holds more."""
    cases = []
    for side, who in (("ours", "we save"), ("peer", "the peer saves")):
        (poll,) = _polls(one, ("absent",))
        name = f"{poll.name}, {who} between"
        told = {"name": name, "between": side, "later_opens": None}  # new runs must be opened
        cases.append(Case(**{**vars(poll), **told}))
    return cases


def _polls(one: Folder, titles: tuple[str, ...]) -> list[Case]:
    return [
        Case(
            name=f"poll for a batch that is {title}",
            request=_asked(one, title, ["dt", "region", "month"]),
            expected=["FAIL", None],
            calls=4,
            rounds=1,
            later_opens=5,
        )
        for title in titles
    ]


def of_many_tasks(many: Folder, state: str, foreign: str | None) -> list[Case]:
    """The questions about many tasks."""
    facts = many.facts
    share = facts["receipts"] / FULL
    newest = [run for run in (foreign, *facts["newest"]) if run]
    count = len(facts["tasks"])
    five = None if state == BARE else 5.0  # the newest 50 of each are read then, not one
    return [
        Case(
            name=f"health of {count:,} tasks",
            request={"question": "health", "tasks": facts["tasks"]},
            expected=["FAIL", count],
            peer="health",
            first=five,
            second=five,
            state=state,
        ),
        Case(
            name=f"health of a pattern of {count:,}",
            request={"question": "health", "tasks": ["bench/*/*"]},
            expected=["FAIL", count],
            peer="health",
            first=five,
            second=five,
            state=state,
        ),
        Case(
            name=f"since in {count:,} tasks, the last 100",
            request={"question": "since", "since": facts["since"]},
            expected=sorted(newest[: 100 + (foreign is not None)]),
            peer="since, all",
            first=100 * share,
            second=20 * share,
            state=state,
        ),
    ]
