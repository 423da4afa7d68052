"""What Airflow finds by the entry point ``airflow.plugins``: the listener, where it is on.

With it comes the button that leads from a task to what the listener wrote.
"""

from __future__ import annotations

from airflow.sdk.configuration import conf
from airflow.sdk.plugins_manager import AirflowPlugin

from ubunye_airflow.options import SECTION


class ReceiptListenerPlugin(AirflowPlugin):
    """Registers the listener if ``[ubunye_receipts] listener`` says so, else nothing.

    A listener that is registered makes every DAG with ``end_from_trigger=True`` fail to import.
    """

    name = "ubunye_receipts_listener"

    def __init__(self) -> None:
        self.listeners, self.global_operator_extra_links = [], []
        if conf.getboolean(SECTION, "listener", fallback=False):
            from ubunye_airflow.listener import dagruns, hooks
            from ubunye_airflow.listener.link import ListenedLink

            self.listeners = [hooks, dagruns]
            self.global_operator_extra_links = [ListenedLink()]
