"""What waits for a gate in Airflow's triggerer, so that no worker has to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent

from ubunye_airflow.gate import Gate, Outcome
from ubunye_airflow.shared_looks import looks_of_this_loop


class UpstreamReceiptTrigger(BaseTrigger):
    """Looks at a gate until it opens, is refused, or its time is up.

    All gates of one triggerer that ask the same store look at it together; see ``shared_looks``.

    Its arguments are kept in Airflow's database, so they hold no secret: the store is named by a
    connection, or by a URL without a password. The deadlines stand still when a triggerer dies
    and another takes over, for ``since`` is an instant.
    """

    def __init__(
        self,
        *,
        requires: list[dict[str, Any]],
        variables: dict[str, Any],
        store: str | None,
        store_conn_id: str | None,
        since: str,
        poll: float,
        asker: str | None = None,
        window: dict[str, Any] | None = None,
    ) -> None:
        super().__init__()  # type: ignore[no-untyped-call]  # Airflow types it so
        self.gate = Gate.of(
            {
                "requires": requires,
                "variables": variables,
                "store": store,
                "store_conn_id": store_conn_id,
                "since": since,
                "poll": poll,
                "asker": asker,
                "window": window,
            }
        )

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """The path of this class, and its arguments."""
        return f"{type(self).__module__}.{type(self).__qualname__}", self.gate.fields()

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield one event: how the gate stands when waiting is over."""
        looks, said = looks_of_this_loop(), ""
        while True:
            seen = await looks.look(self.gate)
            if seen.outcome is not Outcome.WAIT:
                yield TriggerEvent(seen.fields())
                return
            if seen.message != said:  # a line for each look of a thousand gates blocks their loop
                said = seen.message
                self.log.info("%s Looks again every %s.", said, seen.every)
            await asyncio.sleep(looks.pause(self.gate, seen))
