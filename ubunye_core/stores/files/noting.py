"""Writing hints, beside the receipts that are put in place. It never fails a save."""

from __future__ import annotations

import contextlib
import logging
import os
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from ubunye_core.names import is_segment
from ubunye_core.receipt import Receipt
from ubunye_core.runids import time_in
from ubunye_core.stores.atomic import lock
from ubunye_core.stores.files.documents import look
from ubunye_core.stores.files.hints import (
    MOST_OPEN,
    NAMES,
    NOTHING_KNOWN,
    Hints,
    Now,
    State,
    run_ids,
)
from ubunye_core.stores.files.lines import (
    Keys,
    begun_line,
    bodies,
    ended_line,
    running_line,
    sealed,
    start_of,
)
from ubunye_core.stores.files.place import LOCKS, SUFFIX
from ubunye_core.times import microseconds

log = logging.getLogger("ubunye_core.stores")

OURS = "ubunye-receipts"
"""The recorder that writes by this store's rules."""
HINTS_WITHIN_SECONDS = 0.05
"""How long a writer waits for its turn at the hints, which it can do without."""


@dataclass(frozen=True)
class Saved:
    """A receipt that has just been put in place."""

    receipt: Receipt
    before: Receipt | None
    """What was on record before."""
    found: os.stat_result
    """What the system says of its file."""

    @property
    def is_new(self) -> bool:
        return self.before is None


def lock_of_hints(folder: Path) -> Path:
    """The lock that writers of hints hold."""
    return folder / LOCKS / "hints"


class Noting:
    """The hints of one task, while a writer has its turn at them."""

    def __init__(self, hints: Hints, before: State, *, has_turn: bool) -> None:
        self._hints, self._before, self._has_turn = hints, before, has_turn
        self._date: int | None = None

    @classmethod
    @contextlib.contextmanager
    def of(cls, folder: Path) -> Iterator[Noting]:
        """A turn at the hints; where it cannot be had soon, it is done without.

        What is put in place meanwhile is then unknown to the hints, so ``seen`` goes: before, and
        after, for another writer may have brought it back in between.
        """
        hints = Hints(folder)
        with contextlib.ExitStack() as turn:
            has_turn = False
            with contextlib.suppress(OSError):
                turn.enter_context(lock(lock_of_hints(folder), within=HINTS_WITHIN_SECONDS))
                hints.begin()
                has_turn = True
            if not has_turn:
                with contextlib.suppress(OSError):
                    hints.forget_seen()
            before = hints.state() if has_turn else NOTHING_KNOWN
            yield cls(hints, before, has_turn=has_turn)

    def changed(self) -> None:
        """Say that we have just changed the folder: what changes it later is somebody else."""
        with contextlib.suppress(OSError):
            self._date = self._hints.task_date()

    def note(self, saved: Sequence[Saved]) -> None:
        """Write the hints of receipts that are in place now."""
        try:
            if not self._has_turn:
                self._hints.forget_seen()
                return
            are_whole = self._before.are_whole or self._anew()
            wrote = append(self._hints, saved)
            if self._before.open_runs is not None:
                self._hints.confirm(self._date)
            elif wrote:
                catch_up(self._hints, are_whole=are_whole)
        except (OSError, ValueError) as error:
            log.info("hints in %s could not be written: %s", self._hints.place, error)

    def _anew(self) -> bool:
        """Begin hints anew of which some are missing; if there are few receipts."""
        if self._hints.is_behind() or len(_present(self._hints)) > MOST_OPEN:
            return False
        self._hints.begin_anew()
        return True

    def removed(self, run_id: str) -> None:
        """Say that what has gone from the folder was taken away by us."""
        self.changed()
        with contextlib.suppress(OSError):
            if self._has_turn and _is_named(run_id, self._hints.now()):
                self._hints.write_now(self._hints.count_anew())
            if self._before.open_runs is not None:
                self._hints.confirm(self._date)
            elif not self._has_turn:
                self._hints.forget_seen()


def append(hints: Hints, saved: Sequence[Saved]) -> bool:
    """Add the lines of these receipts. Their names come last: who is named has its other lines.

    Returns:
        Whether there was something to add.
    """
    by_file: dict[str, list[bytes]] = defaultdict(list)
    facts, new = [], []
    for each in saved:
        receipt, keys = each.receipt, Keys.of(each.receipt)
        known = None if each.before is None else Keys.of(each.before)
        if receipt.status.is_final:
            line = ended_line(receipt, keys, each.found)
            facts.append(line)
        elif known == keys:
            continue
        else:
            line = running_line(receipt, keys)
            if each.is_new:  # also after a run of this id ended, and was removed
                facts.append(begun_line(receipt))
        found_by = {hints.file_of("b", keys.batch)}
        found_by.update(hints.file_of("v", key) for key in keys.variables)
        if keys.attempt is not None and (known is None or known.attempt != keys.attempt):
            found_by.add(hints.file_of("a", keys.attempt))
        for name in found_by:
            by_file[name].append(line)
        if each.is_new:
            new.append(receipt)
    for name, lines in sorted(by_file.items()):
        hints.append(name, lines)
    if facts:
        hints.append_facts(facts)
    _note_now(hints, saved)
    if new:
        hints.append(NAMES, _name_lines(hints, new))
    return bool(by_file)


def _note_now(hints: Hints, saved: Sequence[Saved]) -> None:
    """Keep up with how the runs stand, if that is known."""
    before = hints.now()
    if before is None:
        return
    running, newest = set(before.running), before.newest
    for each in saved:
        if not each.receipt.status.is_final:
            running.add(each.receipt.run_id)
            continue
        running.discard(each.receipt.run_id)
        line = ended_line(each.receipt, Keys.of(each.receipt), each.found).rpartition(b" ")[0]
        if newest is None or start_of(line) >= start_of(newest):
            newest = line
    now = Now(frozenset(running), newest)
    if now != before:
        hints.write_now(now)


def _is_named(run_id: str, now: Now | None) -> bool:
    name = run_id.encode()
    is_newest = now is not None and now.newest is not None and now.newest.split(b" ")[1] == name
    return is_newest or (now is not None and run_id in now.running)


def _name_lines(hints: Hints, receipts: Sequence[Receipt]) -> list[bytes]:
    """The lines that name runs: each tells how new the newest before it is."""
    newest, mark = _newest_named(hints)
    lines = []
    for receipt in receipts:
        shown = time_in(receipt.run_id)
        if shown is None:
            mark = "f"
        lines.append(sealed(f"N {receipt.run_id} {newest} {mark}"))
        if shown is not None:
            newest = max(newest, microseconds(shown) // 1_000)
    return lines


def _newest_named(hints: Hints) -> tuple[int, str]:
    """How new the newest run is that is named, and whether the names of some show nothing."""
    size = hints.size(NAMES)
    if not size:
        return 0, "-"
    last = list(bodies(hints.tail(NAMES, size, 1_024)))[-1:]
    if not last or last[0] is None:
        return 0, "f"  # who reads the tail lists the folder
    _, run_id, before, mark = last[0].decode("ascii").split(" ")
    shown = time_in(run_id)
    return max(int(before), 0 if shown is None else microseconds(shown) // 1_000), mark


def catch_up(hints: Hints, *, are_whole: bool) -> None:
    """Get to know the receipts that others have put in the folder; if they are few."""
    if hints.is_behind():
        return
    before = hints.task_date()
    unknown = _present(hints) - hints.known_names() if are_whole else set()
    if not are_whole or len(unknown) > MOST_OPEN or not all(map(is_segment, unknown)):
        hints.write_seen(None)
        return
    left_open = append_unknown(hints, sorted(unknown))
    hints.write_now(hints.count_anew())
    hints.write_seen(left_open)
    hints.confirm(before)


def _present(hints: Hints) -> set[str]:
    """The runs whose receipts are in the folder."""
    return run_ids(
        name
        for name in os.listdir(hints.folder)
        if name.endswith(SUFFIX) and not name.startswith(".")
    )


def append_unknown(hints: Hints, run_ids: Sequence[str]) -> list[str]:
    """Add the lines of receipts that the hints do not know yet.

    Returns:
        Those that every reader must look at itself: what cannot be read, and what others may
        still change where it stands.
    """
    task = "/".join(hints.folder.parts[-3:])
    left_open, known = [], []
    for run_id in run_ids:
        receipt, found = look(f"{hints.folder}/{run_id}{SUFFIX}", task)
        if isinstance(receipt, Receipt) and found is not None and _stays(receipt):
            known.append(Saved(receipt, None, found))
        elif receipt is not None:
            left_open.append(run_id)
    append(hints, known)
    return left_open


def _stays(receipt: Receipt) -> bool:
    """Whether what a run is for can be relied on: it has ended, or we write it."""
    by = receipt.recorder
    return receipt.status.is_final or (by is not None and by.name == OURS)
