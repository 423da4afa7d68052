"""Libraries whose threads do not live on in a forked process: a question there would never end."""

from __future__ import annotations

import os

from ubunye_core.errors import StoreUnavailableError


class Runtime:
    """The threads of a library: they belong to the process that has used it first."""

    def __init__(self, what: str) -> None:
        self._what = what
        self._process: int | None = None

    def check(self) -> None:
        """Refuse to hang.

        Raises:
            StoreUnavailableError: this process was forked from one that has used the library.
        """
        if self._process not in (None, os.getpid()):
            raise StoreUnavailableError(
                f"{self._what} cannot be used in a process that was forked from one that has "
                f"used it.",
                hint="Start processes with the method 'spawn' or 'forkserver', or do not use the "
                "store before the fork.",
            )

    def use(self) -> None:
        """``check``, and from here on the threads are this process's."""
        self.check()
        self._process = os.getpid()
