"""One look at a store by many gates at once: what one of them has read, the others see."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Mapping, MutableMapping
from datetime import datetime
from typing import Any, TypeVar

from ubunye_core.batch import comparable
from ubunye_core.masking import comparable_value
from ubunye_core.names import fits, is_pattern
from ubunye_core.receipt import Receipt, Status
from ubunye_core.stores.protocol import Found, ReceiptStore
from ubunye_core.stores.select import select

RUNS_FOR_A_BATCH = 50
"""To look for one batch costs a store about as much as to read so many runs."""
MOST_RUNS = 2_000
"""So many runs of one task are read together at most."""
MOST_HELD = 20_000
"""So many receipts are held at most; what was read first is then let go, and read again."""

Read = TypeVar("Read")


class OneLook:
    """A store that many gates ask at the same instant, and that is asked once for all of them.

    It lives as long as one look: a gate that comes later needs another, or it would be answered
    from what was seen before it asked. The answers are those that the store gives by itself, also
    when it cannot be read: then it is asked once, and every gate hears the same.

    Where several batches of a task are asked for, its runs are read once, if it has not very many;
    else each batch is looked for once. For one thread.
    """

    def __init__(
        self,
        store: ReceiptStore,
        asked: Mapping[str, int] | None = None,
        *,
        too_many: MutableMapping[str, int] | None = None,
    ) -> None:
        """A look that has not begun.

        Args:
            store: Where the runs are.
            asked: How many batches of each task, or pattern, are asked for.
            too_many: The tasks that are known to have more runs than so many, which are then not
                read in vain: found out by this look, and good for the next.
        """
        self._store, self._asked = store, dict(asked or {})
        self._patterns = [name for name in self._asked if is_pattern(name)]
        self._too_many: MutableMapping[str, int] = {} if too_many is None else too_many
        self._read: OrderedDict[tuple[object, ...], object] = OrderedDict()
        self._held = 0

    def __getattr__(self, name: str) -> Any:
        """What else the store offers."""
        offered = getattr(self._store, name)
        if name == "tasks":
            return lambda: self._once((name,), offered)
        if name == "success_by_batch":
            return lambda task, batch, *, whole: self._success(offered, task, batch, whole=whole)
        return offered

    @property
    def url(self) -> str:
        """Where the store is."""
        return self._store.url

    def save(self, receipt: Receipt) -> None:
        """As the store does; the look does not see it."""
        self._store.save(receipt)

    def load(self, task: str, run_id: str) -> Receipt:
        """As the store does."""
        return self._store.load(task, run_id)

    def list_runs(self, task: str, n: int = 20) -> Found:
        """The newest runs."""
        runs = self._runs(task)
        if runs is not None:
            return select(runs.found, runs.found.unreadable, limit=n)
        return self._once(("newest", task, n), lambda: self._store.list_runs(task, n))

    def search(
        self,
        task: str | None = None,
        status: Status | None = None,
        since: datetime | None = None,
        *,
        batch: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> Found:
        """The runs that fit; what is asked otherwise than a gate does is asked of the store."""
        if task is None or status is not None or since is not None or limit is not None:
            return self._store.search(task, status, since, batch=batch, limit=limit)
        runs = self._runs(task)
        if runs is not None:
            return runs.of(batch or {})
        key = ("batch", task, *sorted((batch or {}).items()))
        return self._once(key, lambda: self._store.search(task, batch=batch))

    def _success(
        self, tell: Callable[..., Found | None], task: str, batch: Mapping[str, str], *, whole: bool
    ) -> Found | None:
        if self._runs(task) is not None:
            return None  # a search costs nothing here
        key = ("success", task, whole, *sorted(batch.items()))
        return self._once(key, lambda: tell(task, batch, whole=whole))

    def _runs(self, task: str) -> _Runs | None:
        """All runs of a task; None where each batch is looked for by itself."""
        batches = self._asked.get(task, 0)
        batches += sum(self._asked[each] for each in self._patterns if fits(task, each))
        most = min(MOST_RUNS, batches * RUNS_FOR_A_BATCH)
        if batches < 2 or self._too_many.get(task, -1) >= most:
            return None
        return self._once(("runs", task), lambda: self._all_of(task, most))

    def _all_of(self, task: str, most: int) -> _Runs | None:
        found = self._store.search(task, limit=most + 1)
        if len(found) > most:
            self._too_many[task] = most
            return None
        self._too_many.pop(task, None)
        return _Runs(found)

    def _once(self, key: tuple[object, ...], ask: Callable[[], Read]) -> Read:
        """What was read before in this look, or is read now: also that it could not be."""
        if key not in self._read:
            try:
                read: object = ask()
            except Exception as error:
                read = _Failed(error)
            self._read[key] = read
            self._held += _receipts_in(read)
            while self._held > MOST_HELD and len(self._read) > 1:
                self._held -= _receipts_in(self._read.popitem(last=False)[1])
        known = self._read[key]
        if isinstance(known, _Failed):
            raise known.error.with_traceback(None)
        return known  # type: ignore[return-value]  # it is what this key was asked for


class _Failed:
    """What a store could not answer."""

    def __init__(self, error: Exception) -> None:
        self.error = error


class _Runs:
    """All runs of a task, found by what they are for."""

    def __init__(self, found: Found) -> None:
        self.found = found
        self._by_text: dict[tuple[str, str], list[Receipt]] = {}
        for receipt in found:
            for pair in comparable(receipt.variables).items():
                self._by_text.setdefault(pair, []).append(receipt)

    def __len__(self) -> int:
        return len(self.found)

    def of(self, batch: Mapping[str, str]) -> Found:
        """As ``search`` does; only the runs that agree on one variable are looked at."""
        fewest = min(
            (self._by_text.get((name, comparable_value(text)), []) for name, text in batch.items()),
            key=len,
            default=self.found,
        )
        return select(fewest, self.found.unreadable, batch=batch)


def _receipts_in(read: object) -> int:
    return len(read) if isinstance(read, Found | _Runs) else 1
