"""What waits for a gate in Airflow's triggerer, so that no worker has to."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from typing import Any

from airflow.triggers.base import BaseTrigger, TriggerEvent
from asgiref.sync import sync_to_async

from ubunye_airflow.gate import Gate, Outcome

SHORTEST_PAUSE = 1.0


class UpstreamReceiptTrigger(BaseTrigger):
    """Looks at a gate until it opens, is refused, or its time is up.

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
            }
        )

    def serialize(self) -> tuple[str, dict[str, Any]]:
        """The path of this class, and its arguments."""
        return f"{type(self).__module__}.{type(self).__qualname__}", self.gate.fields()

    async def run(self) -> AsyncIterator[TriggerEvent]:
        """Yield one event: how the gate stands when waiting is over."""
        # The connection, the store and the question are one blocking call: in a thread, whose
        # calls to Airflow find their way back to this loop only through sync_to_async.
        look = sync_to_async(self.gate.look, thread_sensitive=False)
        while True:
            seen = await look()
            if seen.outcome is not Outcome.WAIT:
                yield TriggerEvent(seen.fields())
                return
            self.log.info("%s Looks again in %s.", seen.message, seen.pause)
            await asyncio.sleep(max(seen.pause.total_seconds(), SHORTEST_PAUSE))
