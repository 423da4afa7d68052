"""Which of many tasks are plainly well, told from their names and what is known of their files."""

from __future__ import annotations

import os

from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.capabilities import Settled
from ubunye_core.stores.files.documents import look
from ubunye_core.stores.files.facts import Facts
from ubunye_core.stores.files.hints import Hints
from ubunye_core.stores.files.lines import OF_STATUS, Fact, fact_of
from ubunye_core.stores.files.names import shows_start
from ubunye_core.stores.files.place import SUFFIX, Place

NEWEST = 50
"""Health looks at so many runs of a task."""
_MOST_OPENED = 20
"""With more that is not known, health's own look costs no more."""
_SUCCESS = OF_STATUS[Status.SUCCESS]


def settled(task: str, place: Place, facts: Facts) -> Settled | None:
    """The newest run of a task, if it is a success and no other needs a look.

    Those whose names show no start are looked at however many they are, for any of them may be
    the newest, or damaged.
    """
    hints = Hints(place.folder(task))
    names = place.names(hints.folder)
    showing = shows_start(names)
    wanted = sorted(showing)[-NEWEST:]
    if len(showing) < len(names):
        wanted += set(names).difference(showing)
    known = facts.of(task, hints)
    known.load(2)
    folder, opened = f"{hints.folder}/", 0
    newest: tuple[tuple[int, str], Fact] | None = None
    for name in wanted:
        run_id, path = name[: -len(SUFFIX)], folder + name
        fact = known.get(run_id)
        try:
            is_known = fact is not None and fact.is_of(os.stat(path))
        except OSError:
            return None
        if fact is None or not is_known:
            opened += 1
            receipt, found = look(path, task)
            if opened > _MOST_OPENED or not isinstance(receipt, Receipt) or found is None:
                return None
            if not receipt.status.is_final:
                return None
            known.learn(receipt, found)
            fact = fact_of(receipt, found)
        order = (fact.started, run_id)
        if newest is None or order > newest[0]:
            newest = (order, fact)
    if newest is None or newest[1].status != _SUCCESS:
        return None
    return newest[1].settled(newest[0][1])
