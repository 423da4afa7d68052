"""What a request asks for, read and checked before anything is looked up."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from ubunye_core.errors import ConfigError, UbunyeError
from ubunye_core.names import check_task
from ubunye_core.receipt import Status
from ubunye_core.schedules import Schedule
from ubunye_core.stores import ReceiptStore
from ubunye_core.times import duration, instant
from ubunye_core.web.access import SeenStore
from ubunye_core.web.links import Links

LONGEST_VALUE = 300
FEW_RUNS, MOST_RUNS = 50, 1000
SCHEDULE_OPTIONS = ("cron", "every", "time_zone", "window", "of", "variable", "format")


class NotThereError(UbunyeError, LookupError):
    """There is no such page; nor is there one that may not be seen."""


@dataclass(frozen=True)
class Asked:
    """One request: what it names, and what it is answered from."""

    store: ReceiptStore
    path: Mapping[str, str]
    query: Mapping[str, Sequence[str]]
    now: datetime
    links: Links
    schedules: Mapping[str, Sequence[Schedule] | UbunyeError]

    @property
    def is_restricted(self) -> bool:
        """Whether there may be receipts that this request may not see."""
        return isinstance(self.store, SeenStore)

    @property
    def task(self) -> str:
        """The task that the address names.

        Raises:
            InvalidNameError: it can be none.
        """
        return check_task("/".join(self.path[name] for name in ("usecase", "package", "task_name")))

    def all(self, name: str) -> list[str]:
        """The values given for a name, less empty ones.

        Raises:
            ConfigError: one is longer than any can be.
        """
        found = [text.strip() for text in self.query.get(name, ())]
        if any(len(text) > LONGEST_VALUE for text in found):
            raise ConfigError(f"'{name}' is longer than {LONGEST_VALUE} characters.")
        return [text for text in found if text]

    def text(self, name: str) -> str | None:
        """The one value given for a name, or None.

        Raises:
            ConfigError: there are several.
        """
        found = self.all(name)
        if len(found) > 1:
            raise ConfigError(f"'{name}' is given {len(found)} times.", hint="Give it once.")
        return found[0] if found else None

    def number_of_runs(self) -> int:
        """How many runs to show.

        Raises:
            ConfigError: it is no number, or more than a page shows.
        """
        text = self.text("n")
        if text is None:
            return FEW_RUNS
        if not (text.isascii() and text.isdecimal() and 1 <= int(text[:9]) <= MOST_RUNS):
            raise ConfigError(f"'n' is {text!r}.", hint=f"Give a number from 1 to {MOST_RUNS}.")
        return int(text)

    def status(self) -> Status | None:
        """How the runs to show stand.

        Raises:
            ConfigError: there is no such status.
        """
        text = self.text("status")
        if text is None:
            return None
        try:
            return Status(text)
        except ValueError as error:
            names = ", ".join(each.value for each in Status)
            raise ConfigError(f"There is no status {text!r}.", hint=f"Use {names}.") from error

    def since(self) -> datetime | None:
        """From when on: an instant, a date (its beginning in UTC), or so long ago.

        Raises:
            ConfigError: it is none of these.
        """
        text = self.text("since")
        if text is None:
            return None
        try:
            return self.now - duration(text, what="since")
        except ConfigError:
            is_date = len(text) == len("2026-10-15") and "T" not in text
            return instant(f"{text}T00:00:00Z" if is_date else text, what="since")

    def schedule(self, task: str) -> Sequence[Schedule]:
        """The schedule that the request gives, else the one that is known; empty if neither is.

        Raises:
            UbunyeError: it is wrong.
        """
        given = {name: self.text(name) for name in SCHEDULE_OPTIONS}
        said = {name: text for name, text in given.items() if text is not None}
        if not said:
            known = self.schedules.get(task, ())
            if isinstance(known, UbunyeError):
                raise known.with_traceback(None)  # it is raised again for the next who asks
            return known
        if not said.keys() & {"cron", "every"}:
            raise ConfigError("No schedule is given.", hint="Give 'cron' or 'every'.")
        return (Schedule(**said),)  # type: ignore[arg-type]  # it reads texts itself
