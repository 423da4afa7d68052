"""The addresses of the pages. Each begins where the app is mounted, and names no host."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import quote, urlencode


@dataclass(frozen=True)
class Links:
    """Where each page is."""

    root: str
    """The path at which the app is mounted; empty where it runs alone."""

    def home(self, **query: object) -> str:
        """The health of tasks."""
        return self._to("/", query)

    def task(self, task: str, **query: object) -> str:
        """The runs of a task."""
        return self._to(f"/task/{task}", query)

    def windows(self, task: str, **query: object) -> str:
        """The windows of a task."""
        return self._to(f"/task/{task}/windows", query)

    def run(self, task: str, run_id: str) -> str:
        """One receipt."""
        return self._to(f"/task/{task}/run/{run_id}", {})

    def compare(self, task: str, **query: object) -> str:
        """Two receipts side by side."""
        return self._to(f"/task/{task}/compare", query)

    def file(self, name: str) -> str:
        """A file that the pages need."""
        return self._to(f"/static/{name}", {})

    def _to(self, path: str, query: dict[str, object]) -> str:
        said = {name: value for name, value in query.items() if value not in (None, "")}
        return quote(self.root + path) + (f"?{urlencode(said, doseq=True)}" if said else "")
