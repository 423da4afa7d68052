"""What the sensor of upstreams remembers between ticks. Losing it loses no run, repeats none."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from ubunye_core import Receipt
from ubunye_dagster.ticks import zoned


@dataclass(frozen=True)
class Cursor:
    """How far back to look, and what was requested since."""

    since: datetime | None = None
    """Runs that started earlier are not looked for; None looks for all."""
    requested: dict[str, datetime] = field(default_factory=dict)
    """The run keys that were requested, each with the newest start seen for it."""

    @classmethod
    def read(cls, text: str | None) -> Cursor:
        """What was remembered; nothing, where that cannot be read."""
        try:
            known = json.loads(text or "{}")
            since = known.get("since")
            return cls(
                None if since is None else zoned(since),
                {str(key): zoned(start) for key, start in known.get("requested", {}).items()},
            )
        except (ValueError, TypeError, AttributeError):
            return cls()

    def write(self) -> str:
        """As Dagster keeps it."""
        return json.dumps(
            {
                "since": None if self.since is None else self.since.isoformat(),
                "requested": {key: start.isoformat() for key, start in self.requested.items()},
            },
            separators=(",", ":"),
        )

    def moved(
        self,
        requested: dict[str, datetime],
        *,
        seen: Iterable[Receipt],
        left: Iterable[Receipt],
        lookback: timedelta,
        now: datetime,
    ) -> Cursor:
        """What to remember after a tick.

        Args:
            requested: The run keys requested now or before, with the newest start seen for each.
            seen: The receipts that were found.
            left: Those among them that may be requested later, so they must be found again.
            lookback: How much earlier than the newest one a run may have started that was not
                there to be seen yet: it was still running, or its receipt was on its way.
            now: The clock.
        """
        # A clock that is wrong must not carry us into the future, past all that is yet to come.
        starts = [each.started_at for each in seen if each.started_at <= now]
        if not starts:
            return self
        since = min([max(starts) - lookback, *(each.started_at for each in left)])
        if self.since is not None:
            since = max(since, self.since)
        kept = {key: start for key, start in requested.items() if start >= since}
        return Cursor(since, kept)
