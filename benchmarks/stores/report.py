"""Print what was measured, as Markdown that can be kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from benchmarks.stores.asking import Timed
from benchmarks.stores.cases import Case, Figures

if TYPE_CHECKING:
    from benchmarks.stores.__main__ import Run


def tell(run: Run) -> None:
    """Print the peer's figures, and then ours with their bars."""
    print(
        "| ubunye-engine 0.8.0 | first ms | CPU | second ms | CPU | opens / stats / lists | second "
        "| MB |"
    )
    print("|---|--:|--:|--:|--:|--:|--:|--:|")
    for name, it in run.peer.items():
        counts = run.peer_counts.get(name)
        told = [str(each) for each in counts] if counts else ["", ""]
        times = " | ".join(f"{_ms(it, call)} | {it.cpu_median(call):,.1f}" for call in (0, 1))
        print(f"| {name} | {times} | {told[0]} | {told[1]} | {it.peak:,.0f} |")
    print()
    for name, (spent, peak) in run.repairs.items():
        print(f"repair of {name}: {spent / 1000:.1f} s, {peak:.0f} MB")
    print()
    print(
        "| question | state | first ms | CPU | later ms | CPU | first | second "
        "| opens / stats / lists | later | MB | growth | bars |"
    )
    print("|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|---|")
    for each in run.figures:
        print(line(each))
    missed = [it for it in run.figures if it.missed]
    print()
    print(f"{len(run.figures) - len(missed)} of {len(run.figures)} keep their bars.")


def line(it: Figures) -> str:
    """One question's figures, and its bars."""
    growth = "" if it.growth is None else f"{it.growth:.1f}x"
    bars = f"MISSED {'; '.join(map(str, it.missed))}" if it.missed else _bars(it.case)
    last = it.case.calls - 1
    return (
        f"| {it.case.name} | {it.case.state} | {_ms(it.ours, 0)} | {it.ours.cpu_median(0):,.1f} "
        f"| {_ms(it.ours, last)} | {it.ours.cpu_median(last):,.1f} "
        f"| {_ratio(it.ratio(0))} | {_ratio(it.ratio(1))} | {it.counts[0]} | {it.counts[last]} "
        f"| {it.ours.peak:.0f} | {growth} | {bars} |"
    )


def _bars(case: Case) -> str:
    """The bars of a case, all of them kept."""
    bars = [f"{least:g}x" for least in (case.first, case.second) if least is not None]
    if case.opens is not None:
        bars.append(f"{case.opens:,} opens")
    if case.later_opens is not None:
        bars.append(f"{case.later_opens} opens later")
    return f"{', '.join(bars)} kept" if bars else ""


def _ms(it: Timed, call: int) -> str:
    least, most = it.spread(call)
    shown = f"{it.median(call):,.1f}"
    return shown if len(it.rounds) == 1 else f"{shown} ({least:,.1f}-{most:,.1f})"


def _ratio(ratio: float | None) -> str:
    return "" if ratio is None else f"{ratio:,.0f}x" if ratio >= 10 else f"{ratio:.1f}x"
