"""Where a folder store keeps what: paths, names, and what the system says of them."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import AnyStr

from ubunye_core.errors import ConfigError, StoreUnavailableError
from ubunye_core.names import check_run_id, check_task, is_segment, is_task

SUFFIX = ".json"
TEMPORARY = ".tmp"
LOCKS = ".locks"
HINTS = ".hints"
CLAIMS = ".claims"


class Place:
    """The folder of a store, and the folders of its tasks."""

    def __init__(self, root: Path) -> None:
        try:
            self.root = root.expanduser().absolute()
        except RuntimeError as error:  # ~nobody
            raise ConfigError(f"'{root}' names a home folder that does not exist.") from error
        except FileNotFoundError as error:
            raise ConfigError(
                f"'{root}' is a path below the current folder, which has been removed.",
                hint="Name the store by its whole path.",
            ) from error

    def folder(self, task: str) -> Path:
        """The folder of a task."""
        return Path(os.path.join(self.root, check_task(task)))

    def path(self, task: str, run_id: str) -> Path:
        """The file of a receipt."""
        return self.folder(task) / f"{check_run_id(run_id)}{SUFFIX}"

    def names(self, folder: Path) -> list[str]:
        """The file names of the receipts in a task's folder, ``.json`` included."""
        listed = self._listed(folder, str(folder))
        return [name for name in listed if name.endswith(SUFFIX) and name[0] != "."]

    def entries(self, folder: Path) -> list[bytes]:
        """The names of all that stands in a task's folder."""
        return self._listed(folder, os.fsencode(folder))

    def tasks(self) -> list[str]:
        """Every task with a receipt, in order."""
        return sorted(filter(self._has_receipts, self.folders()))

    def folders(self) -> list[str]:
        """Every task that has a folder, with a receipt in it or without."""
        named = [
            f"{usecase}/{package}/{task}"
            for usecase in self._folders(self.root)
            for package in self._folders(self.root / usecase)
            for task in self._folders(self.root / usecase / package)
        ]
        return list(filter(is_task, named))

    @contextlib.contextmanager
    def reading(self) -> Iterator[None]:
        """What the system refuses while a question is answered leaves no room for an answer."""
        with self._available("read"):
            yield

    @contextlib.contextmanager
    def writing(self) -> Iterator[None]:
        """What the system refuses to a writer."""
        with self._available("written"):
            yield

    @contextlib.contextmanager
    def _available(self, done: str) -> Iterator[None]:
        try:
            yield
        except StoreUnavailableError:
            raise
        except OSError as error:
            raise self.unavailable(done, error) from error

    def unavailable(self, done: str, error: OSError) -> StoreUnavailableError:
        """That the store could not be ``done``: listed, read or written."""
        why = error.strerror or type(error).__name__
        return StoreUnavailableError(f"The store {self.root} could not be {done}: {why}.")

    def _has_receipts(self, task: str) -> bool:
        """Whether a task has any. Stops at the first, for a folder may be large."""
        with self._scanned(self.folder(task)) as entries:
            return any(entry.name.endswith(SUFFIX) and entry.name[0] != "." for entry in entries)

    def _folders(self, folder: Path) -> list[str]:
        """The folders in a folder, and links that lead nowhere now; files are passed over."""
        with self._scanned(folder) as entries:
            return [
                entry.name
                for entry in entries
                if is_segment(entry.name) and _may_hold_receipts(entry)
            ]

    def _listed(self, folder: Path, path: AnyStr) -> list[AnyStr]:
        try:
            return os.listdir(path)
        except OSError as error:
            self._check(folder, error)
            return []

    @contextlib.contextmanager
    def _scanned(self, folder: Path) -> Iterator[Iterator[os.DirEntry[str]]]:
        try:
            entries = os.scandir(folder)
        except OSError as error:
            self._check(folder, error)
            yield iter(())
            return
        with entries:
            yield entries

    def _check(self, folder: Path, error: OSError) -> None:
        """Raise, unless a folder that could not be listed is one that nobody has made yet."""
        self.check_root()
        is_absent = isinstance(error, FileNotFoundError)
        if not is_absent or _is_link_to_nothing(folder, self.root):
            raise self.unavailable("listed", error) from error

    def check_root(self) -> None:
        """Raise where the store's own folder is missing: a share that is not mounted."""
        if self.root.is_dir():
            return
        if self.root.exists():
            raise StoreUnavailableError(f"The store {self.root} is not a folder.")
        raise StoreUnavailableError(
            f"The store folder {self.root} does not exist.",
            hint="Is its disk mounted? The first recorded run makes it.",
        )


def _may_hold_receipts(entry: os.DirEntry[str]) -> bool:
    """Whether something in a folder is a folder, or a link that leads nowhere now."""
    return entry.is_dir() or (entry.is_symlink() and not os.path.exists(entry.path))


def _is_link_to_nothing(folder: Path, root: Path) -> bool:
    """Whether a link on the way from the root to a folder leads nowhere now."""
    way = [folder, *folder.parents]
    return any(each.is_symlink() and not each.exists() for each in way[: way.index(root)])
