"""From a task that the listener records to its receipt, in Airflow's UI."""

from __future__ import annotations

from typing import Any

from airflow.sdk import BaseOperatorLink

from ubunye_airflow.links import ReceiptLink, attempt_page
from ubunye_airflow.listener.rules import RefusedError, named


class ListenedLink(BaseOperatorLink):
    """The button of a task that has none of its own, where its runs leave receipts.

    The API server makes it, from the DAG as Airflow keeps it and from its own configuration, which
    must name receipts as that of the workers does. A task without a receipt has no button.
    """

    name = ReceiptLink.name

    def get_link(self, operator: Any, *, ti_key: Any) -> str:
        """The address of the page with the receipt of this attempt; else nothing."""
        try:
            found = named(ti_key.dag_id, ti_key.task_id, operator)
        except RefusedError:  # the listener has said why, where the task ran
            return ""
        return "" if found is None else attempt_page(found.task, ti_key)
