"""What puts the page "Receipts" into Airflow's own web UI.

Airflow imports this in every process that reads plugins, a worker's before each task: so nothing
of a web app is imported here until a request comes, which is in the api-server alone.
"""

from __future__ import annotations

from typing import Any

from airflow.sdk.plugins_manager import AirflowPlugin

from ubunye_airflow.page import PREFIX


class ReceiptsPage:
    """The web app, made by the first request. An ASGI app, as Airflow mounts one."""

    def __init__(self) -> None:
        self._app: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer a request."""
        if self._app is None:
            from anyio import to_thread

            self._app = await to_thread.run_sync(_made)  # imports take a while
        await self._app(scope, receive, send)


def _made() -> Any:
    from ubunye_airflow.page.app import page

    return page()


class ReceiptsPagePlugin(AirflowPlugin):
    """Puts the page into Airflow's navigation, under Browse."""

    name = "ubunye_receipts_page"
    fastapi_apps = [  # noqa: RUF012
        {"app": ReceiptsPage(), "url_prefix": PREFIX, "name": "Ubunye receipts"}
    ]
    # Relative, so that it is found where Airflow itself is under a path of its own.
    external_views = [  # noqa: RUF012
        {
            "name": "Receipts",
            "href": f"{PREFIX.lstrip('/')}/",
            "destination": "nav",
            "category": "browse",
            "url_route": "receipts",
        }
    ]
