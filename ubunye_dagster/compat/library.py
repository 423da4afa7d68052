"""This library among those that Dagster names."""

from __future__ import annotations

import contextlib


def register_library() -> None:
    """Let Dagster name this library and its version among those of a code location.

    The registry has no public place in ``dagster`` itself.
    """
    from importlib.metadata import PackageNotFoundError, version

    from dagster_shared.libraries import DagsterLibraryRegistry

    with contextlib.suppress(PackageNotFoundError):
        DagsterLibraryRegistry.register(
            "ubunye-receipts", version("ubunye-receipts"), is_dagster_package=False
        )
