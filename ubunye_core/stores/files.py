"""``file:///folder`` or a plain path: one JSON file a run, in ubunye-engine's layout.

A receipt is ``<usecase>/<package>/<task>/<run_id>.json``. Beside the receipts, ``.lock`` is held
by a writer while it applies the rules about ends, ``.tmp`` holds files that are being written,
and ``<run_id>.json.<id>.damaged`` is a damaged receipt whose run wrote its end again. Nothing that
does not end in ``.json``, or begins with a dot, is looked at.
"""

from __future__ import annotations

import contextlib
import os
import stat
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ubunye_core.codec import MAX_RECEIPT_BYTES, decode, encode
from ubunye_core.errors import (
    AmbiguousRunError,
    BadReceiptError,
    ConfigError,
    ReceiptNotFoundError,
    StoreUnavailableError,
)
from ubunye_core.masking import masked_url
from ubunye_core.names import check_run_id, check_task, is_segment
from ubunye_core.receipt import Receipt, Status
from ubunye_core.runids import time_in
from ubunye_core.stores.atomic import lock, make_folder, read_regular, replace_durably
from ubunye_core.stores.ends import standing
from ubunye_core.stores.protocol import Found, Unreadable
from ubunye_core.stores.select import select

SUFFIX = ".json"
TEMPORARY = ".tmp"


class FileStore:
    """Receipts in a folder that several machines may share.

    Saves are atomic and durable: a reader sees the old receipt or the new one, also after a
    crash. Nothing is remembered between two questions. A folder that does not exist is
    ``StoreUnavailableError`` to a reader (a share that is not mounted looks like this); a
    writer makes it.
    """

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
        self.url = self.root.as_uri()

    def save(self, receipt: Receipt) -> None:
        """Keep a receipt, by the rules about ends. Writers of one task take turns."""
        folder = self._folder(receipt.task)
        path = self._path(receipt.task, receipt.run_id)
        try:
            make_folder(folder)
            with lock(folder / ".lock"):
                stands = standing(self._current(path, receipt), receipt)
                if stands is not None:
                    replace_durably(path, encode(stands), temporary=folder / TEMPORARY)
        except OSError as error:
            if isinstance(error, StoreUnavailableError):
                raise
            raise self._unavailable("written", error) from error

    def load(self, task: str, run_id: str) -> Receipt:
        """The receipt of one run, by its whole id or a beginning that fits one run only."""
        check_task(task)
        check_run_id(run_id)
        with self._reading():
            return self._load(task, run_id)

    def _load(self, task: str, run_id: str) -> Receipt:
        with contextlib.suppress(FileNotFoundError):
            return self._read(self._path(task, run_id))
        fitting = sorted(name for name in self._names(task) if name.startswith(run_id))
        if len(fitting) > 1:
            raise AmbiguousRunError(run_id, [printable(name) for name in fitting])
        for name in fitting:
            with contextlib.suppress(FileNotFoundError):
                return self._read(self._folder(task) / f"{name}{SUFFIX}")
        raise ReceiptNotFoundError(f"{self.url} holds no run '{run_id}' of {task}.")

    def list_runs(self, task: str, n: int = 20) -> Found:
        """The newest ``n`` readable receipts of a task."""
        return self.search(task, limit=n)

    def search(
        self,
        task: str | None = None,
        status: Status | None = None,
        since: datetime | None = None,
        *,
        batch: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> Found:
        """The receipts that fit everything given."""
        receipts: list[Receipt] = []
        unreadable: list[Unreadable] = []
        with self._reading():
            for each in self.tasks() if task is None else [check_task(task)]:
                for name in self._names(each):
                    found = self._look(each, name)
                    if isinstance(found, Receipt):
                        receipts.append(found)
                    elif found is not None:
                        unreadable.append(found)
        return select(receipts, unreadable, status=status, since=since, batch=batch, limit=limit)

    def tasks(self) -> list[str]:
        """Every task with a receipt, in order."""
        with self._reading():
            named = [
                f"{usecase}/{package}/{task}"
                for usecase in self._folders(self.root)
                for package in self._folders(self.root / usecase)
                for task in self._folders(self.root / usecase / package)
            ]
            return sorted(task for task in named if is_task(task) and self._names(task))

    @contextlib.contextmanager
    def _reading(self) -> Iterator[None]:
        """What the system refuses while a question is answered leaves no room for an answer."""
        try:
            yield
        except StoreUnavailableError:
            raise
        except OSError as error:
            raise self._unavailable("read", error) from error

    def _folder(self, task: str) -> Path:
        return self.root.joinpath(*check_task(task).split("/"))

    def _path(self, task: str, run_id: str) -> Path:
        return self._folder(task) / f"{check_run_id(run_id)}{SUFFIX}"

    def _names(self, task: str) -> list[str]:
        """The file names of a task's receipts, without their suffix."""
        return [
            name.removesuffix(SUFFIX)
            for name in self._listed(self._folder(task))
            if name.endswith(SUFFIX) and not name.startswith(".")
        ]

    def _folders(self, folder: Path) -> Iterator[str]:
        """The folders in a folder, and links that lead nowhere now; files are passed over."""
        for name in self._listed(folder):
            if is_segment(name) and _may_hold_receipts(folder / name):
                yield name

    def _listed(self, folder: Path) -> list[str]:
        try:
            return os.listdir(folder)
        except FileNotFoundError as error:
            self._check_root()
            if _is_link_to_nothing(folder, self.root):
                raise self._unavailable("listed", error) from error
            return []
        except OSError as error:
            self._check_root()
            raise self._unavailable("listed", error) from error

    def _look(self, task: str, name: str) -> Receipt | Unreadable | None:
        """One receipt, or why it cannot be read; None if it has gone since it was listed."""
        try:
            return self._read(self._folder(task) / f"{name}{SUFFIX}")
        except FileNotFoundError:
            return None
        except BadReceiptError as error:
            return Unreadable(where=error.where, why=error.why, task=task, started_at=time_in(name))

    def _read(self, path: Path) -> Receipt:
        """The receipt in a file.

        Raises:
            FileNotFoundError: there is none.
            BadReceiptError: it cannot be read, or is not the receipt that its place says.
        """
        try:
            document = read_regular(path, at_most=MAX_RECEIPT_BYTES)
        except (FileNotFoundError, NotADirectoryError) as error:
            if path.is_symlink():
                raise BadReceiptError(printable(path), "it is a link to nothing") from None
            raise FileNotFoundError(error.errno, error.strerror) from error
        except OSError as error:
            why = error.strerror or type(error).__name__
            raise BadReceiptError(printable(path), why) from error
        return self._decode(document, path)

    def _decode(self, document: bytes, path: Path) -> Receipt:
        receipt = decode(document, where=printable(path))
        if receipt.run_id != path.name.removesuffix(SUFFIX):
            raise BadReceiptError(printable(path), "its name is not the run id that stands in it")
        if path.parent != self._folder(receipt.task):
            raise BadReceiptError(printable(path), "its folder is not the task that stands in it")
        return receipt

    def _current(self, path: Path, offered: Receipt) -> Receipt | None:
        """What stands for a run.

        A run that says its end writes over a damaged record of its own, and a copy of the damage
        is kept. A record that only cannot be read now is no damage: the ``OSError`` is raised.
        """
        try:
            document = read_regular(path, at_most=MAX_RECEIPT_BYTES)
        except FileNotFoundError:
            if path.is_symlink():
                raise
            return None
        try:
            return self._decode(document, path)
        except BadReceiptError:
            if not offered.status.is_final:
                raise
            aside = path.with_name(f"{path.name}.{os.urandom(4).hex()}.damaged")
            replace_durably(aside, document, temporary=path.parent / TEMPORARY)
            return None

    def _check_root(self) -> None:
        if self.root.is_dir():
            return
        if self.root.exists():
            raise StoreUnavailableError(f"The store {self.root} is not a folder.")
        raise StoreUnavailableError(
            f"The store folder {self.root} does not exist.",
            hint="Is its disk mounted? The first recorded run makes it.",
        )

    def _unavailable(self, done: str, error: OSError) -> StoreUnavailableError:
        why = error.strerror or type(error).__name__
        return StoreUnavailableError(f"The store {self.root} could not be {done}: {why}.")


def printable(place: Path | str) -> str:
    """A place for people and JSON, on one line, also where its name is not text."""
    text = os.fsencode(place).decode("utf-8", "backslashreplace")
    if text.isprintable():
        return text
    return "".join(char if char.isprintable() else repr(char)[1:-1] for char in text)


def _may_hold_receipts(place: Path) -> bool:
    """Whether a place is a folder, or a link that leads nowhere now.

    ``Path.is_dir`` says no, depending on the version of Python, where nobody may look.
    """
    try:
        return stat.S_ISDIR(os.stat(place).st_mode)
    except FileNotFoundError:
        return place.is_symlink()


def _is_link_to_nothing(folder: Path, root: Path) -> bool:
    """Whether a link on the way from the root to a folder leads nowhere now."""
    way = [folder, *folder.parents]
    return any(each.is_symlink() and not each.exists() for each in way[: way.index(root)])


def is_task(text: str) -> bool:
    """Whether three folders make a task."""
    try:
        check_task(text)
    except ValueError:
        return False
    return True


def open_files(url: str) -> FileStore:
    """The store at a ``file:`` URL or a plain path."""
    if "://" not in url:
        return FileStore(Path(url))
    parts = urlsplit(url)
    if parts.netloc not in ("", "localhost"):
        raise ConfigError(
            f"'{masked_url(url)}' names a machine.",
            hint="A folder's URL has three slashes: file:///srv/receipts.",
        )
    if parts.query or parts.fragment:
        raise ConfigError(f"'{masked_url(url)}' has options; a folder takes none.")
    path = unquote(parts.path)
    if not path.startswith("/") or "\0" in path:
        raise ConfigError(f"'{url}' names no folder.", hint="Write file:///srv/receipts.")
    return FileStore(Path(path))
