"""How fast the stores answer, beside the file store of ubunye-engine 0.8.0.

    python -m benchmarks.stores [--receipts 100000] [--tasks 1000] [--quick] [--check] [--json]

The same folders are read by both sides, each figure in fresh processes: a task with all the
receipts, and many tasks with 100 each. The peer (`make engine`) is asked while the folder holds
nothing but receipts; we are asked then, after ``repair`` has written the hints, and right after
the peer has saved a run. Everything is in the page cache. ``--quick`` takes a tenth; ``--place``
keeps the folders for the next time. ``--check`` fails where a bar is missed.
"""

from __future__ import annotations

import argparse
import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

from benchmarks.stores import asking, cases, data
from benchmarks.stores.cases import BARE, FOREIGN, HINTS, STATES, Case, Figures
from benchmarks.stores.data import Folder
from benchmarks.stores.report import line, tell


class Options(Protocol):
    """What of the command line decides what is measured."""

    only: str
    rounds: int
    states: list[str]


class Run:
    """One run of the benchmark over its folders."""

    def __init__(self, one: Folder, small: Folder, many: Folder, options: Options) -> None:
        self.one, self.small, self.many = one, small, many
        self.only, self.most_rounds, self.states = options.only, options.rounds, options.states
        self.peer: dict[str, asking.Timed] = {}
        self.peer_counts: dict[str, list[asking.Counts]] = {}
        self.repairs: dict[str, tuple[float, float]] = {}
        self.figures: list[Figures] = []

    def all(self) -> None:
        """Measure everything."""
        self._clean()
        has_peer = Path(asking.PYTHON["peer"]).exists()
        if has_peer:
            self._ask_peer()
        if BARE in self.states:
            self._state(BARE, None, None)
            self._clean()
        keeps_hints = self._repair()
        if keeps_hints and HINTS in self.states:
            self._state(HINTS, None, None)
        if keeps_hints and has_peer and HINTS in self.states:
            for case in cases.while_saving(self.one):
                self._case(case, self.one, {})
            data.clean(self.one)
            self._repair("one")
        if has_peer and FOREIGN in self.states:
            batch = self.one.facts["batches"]["foreign"]["batch"]
            self._state(FOREIGN, self._foreign(self.one, batch), self._foreign(self.many, batch))
        self._clean()

    def _clean(self) -> None:
        for folder in (self.one, self.small, self.many):
            data.clean(folder)

    def _ask_peer(self) -> None:
        listed = cases.of_one_task(self.one, FOREIGN, "") + cases.of_many_tasks(self.many, "", None)
        listed += cases.of_one_task(self.one, HINTS, None)
        needed = {case.peer for case in listed if self.only in case.name}
        for name, (folder, request, rounds) in cases.peer_requests(self.one, self.many).items():
            if name not in needed:
                continue
            said = request | {"side": "peer", "root": str(folder.root), "calls": 2}
            _progress(f"peer: {name}")
            self.peer[name] = asking.timed(said, rounds)
            if name in ("newest 50", "since", "health"):
                self.peer_counts[name] = asking.counted(said)

    def _repair(self, *names: str) -> bool:
        folders = {"one": self.one, "small": self.small, "many": self.many}
        for name in names or folders:
            folder = folders[name]
            _progress(f"repair: {name}")
            request = {"side": "ours", "root": str(folder.root), "question": "repair"}
            try:
                (call,) = asking.once(request)
            except RuntimeError as error:
                if "AttributeError" not in str(error):
                    raise
                _progress("this store keeps no hints")
                return False
            self.repairs.setdefault(name, (call["ms"], call["peak"]))
        return True

    def _foreign(self, folder: Folder, batch: dict[str, str]) -> str:
        """A success that the peer saves now."""
        task = folder.facts["tasks"][0]
        request = {"side": "peer", "root": str(folder.root), "question": "save"}
        (call,) = asking.once(request | {"task": task, "batch": batch})
        return str(call["answer"])

    def _state(self, state: str, in_one: str | None, in_many: str | None) -> None:
        small = {case.name: case for case in cases.of_one_task(self.small, state, None)}
        for folder, listed in (
            (self.one, cases.of_one_task(self.one, state, in_one)),
            (self.many, cases.of_many_tasks(self.many, state, in_many)),
        ):
            for case in listed:
                self._case(case, folder, small)

    def _case(self, case: Case, folder: Folder, small: dict[str, Case]) -> None:
        if self.only not in case.name:
            return
        _progress(f"{case.state}: {case.name}")
        figures = self._measure(case, folder)
        if case.grows and case.name in small and case.state == HINTS:
            tenth = self._timed(small[case.name], self.small)
            figures.growth = figures.ours.cpu_median(0) / tenth.cpu_median(0)
        figures.missed = cases.judge(figures)
        self.figures.append(figures)
        _progress(line(figures))

    def _measure(self, case: Case, folder: Folder) -> Figures:
        ours = self._timed(case, folder)
        with _prepared(case, folder):
            counts = asking.counted(self._request(case, folder))
        peer = self.peer.get(case.peer) if case.peer else None
        return Figures(case=case, ours=ours, counts=counts, peer=peer)

    def _timed(self, case: Case, folder: Folder) -> asking.Timed:
        rounds = min(case.rounds, self.most_rounds)
        prepare: Callable[[], None] | None = None
        if case.state == BARE:
            prepare = lambda: data.without_hints(folder.root)  # noqa: E731
        return asking.timed(self._request(case, folder), rounds, prepare=prepare)

    def _request(self, case: Case, folder: Folder) -> dict[str, Any]:
        request = {**case.request, "side": "ours", "root": str(folder.root), "calls": case.calls}
        if case.between:
            save = {
                "side": case.between,
                "root": str(folder.root),
                "question": "save",
                "task": case.request["task"],
                "batch": folder.facts["batches"]["another"]["batch"],
            }
            run = asking.command(case.between)
            request["between"] = [{"run": run, "input": json.dumps(save)}]
        return request


@contextmanager
def _prepared(case: Case, folder: Folder) -> Iterator[None]:
    if case.state == BARE:
        data.without_hints(folder.root)
    yield


def _progress(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr, flush=True)


def main() -> int:
    """Make the folders, measure, print."""
    parser = argparse.ArgumentParser(description=__doc__, prog="benchmarks.stores")
    parser.add_argument("--receipts", type=int, default=100_000, help="of one task")
    parser.add_argument("--tasks", type=int, default=1_000, help="with 100 receipts each")
    parser.add_argument("--quick", action="store_true", help="a tenth of both")
    parser.add_argument("--rounds", type=int, default=5, help="at most so many fresh processes")
    parser.add_argument("--only", default="", help="questions whose name has this in it")
    parser.add_argument("--states", type=lambda text: text.split(","), default=list(STATES))
    parser.add_argument("--place", type=Path, help="keeps the folders of receipts")
    parser.add_argument("--check", action="store_true", help="fail where a bar is missed")
    parser.add_argument("--json", action="store_true")
    options = parser.parse_args()
    tenth = 10 if options.quick else 1
    place = options.place or Path(tempfile.mkdtemp(prefix="stores-"))
    try:
        run = _run(place, options.receipts // tenth, options.tasks // tenth, options)
    finally:
        if options.place is None:
            shutil.rmtree(place, ignore_errors=True)
    if options.json:
        print(json.dumps([asdict(it) for it in run.figures]))
    else:
        tell(run)
    return 1 if options.check and any(it.missed for it in run.figures) else 0


def _run(place: Path, receipts: int, tasks: int, options: argparse.Namespace) -> Run:
    folders = []
    for number, count in ((1, receipts), (1, receipts // 10), (tasks, 100)):
        _progress(f"{number:,} x {count:,} receipts")
        folders.append(data.folder(place, number, count))
        data.warm(folders[-1].root)
    run = Run(*folders, options)
    run.all()
    return run


if __name__ == "__main__":
    sys.exit(main())
