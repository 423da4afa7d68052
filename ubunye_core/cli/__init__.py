"""The command line, ``ubunye-runs``. Its exit code is the answer."""

from ubunye_core.cli.app import main

__all__ = ["main"]
