"""Ways in which a stored receipt may be damaged."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from ubunye_core.stores import FileStore


def change(**fields: object) -> Callable[[Path], None]:
    """Valid JSON that is no receipt: some fields have the wrong type."""

    def apply(path: Path) -> None:
        path.write_text(json.dumps(json.loads(path.read_bytes()) | fields))

    return apply


def as_a_folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def as_a_link_to_nothing(path: Path) -> None:
    path.unlink()
    path.symlink_to(path.parent / "nothing")


def as_another_tasks(path: Path) -> None:
    document = json.loads(path.read_bytes())
    document |= {"task_path": "pay/monthly/send", "task_name": "send"}
    path.write_text(json.dumps(document))


DAMAGES: dict[str, Callable[[Path], object]] = {
    "truncated": lambda path: path.write_bytes(path.read_bytes()[:-40]),
    "empty": lambda path: path.write_bytes(b""),
    "blank": lambda path: path.write_bytes(b" \n"),
    "zeros": lambda path: path.write_bytes(bytes(4096)),
    "not JSON": lambda path: path.write_bytes(b"<html>404</html>"),
    "not an object": lambda path: path.write_bytes(b'["success"]'),
    "not UTF-8": lambda path: path.write_bytes(path.read_bytes().replace(b"month", b"m\xff")),
    "UTF-16": lambda path: path.write_text(path.read_text(), encoding="utf-16"),
    "nested too deep": lambda path: path.write_text("[" * 100_000),
    "no status": change(status=None),
    "unknown status": change(status="succeeded"),
    "status of the wrong type": change(status=True),
    "no start": change(started_at=None),
    "start without a zone": change(started_at="2026-10-15T05:00:00"),
    "start of the wrong type": change(started_at=1_700_000_000),
    "variables of the wrong type": change(variables=["month"]),
    "a list as a variable": change(variables={"month": ["2026-10"]}),
    "an endless number": lambda path: path.write_text(
        path.read_text().replace('"2026-10"', "1e999")
    ),
    "another run id": change(run_id="another"),
    "a hostile run id": change(run_id="../../x"),
    "another task": as_another_tasks,
    "an unknown version": change(record_version=9),
    "a window that ends before it starts": change(
        window={"start": "2026-10-15T05:00:00Z", "end": "2026-10-14T05:00:00Z"}
    ),
    "from the future": change(started_at="2999-01-01T00:00:00+00:00", ended_at=None),
    "ends in the future": change(ended_at="2999-01-01T00:00:00+00:00"),
    "a folder": as_a_folder,
    "a link to nothing": as_a_link_to_nothing,
}


def path_of(store: FileStore, task: str, run_id: str) -> Path:
    """The file of one receipt."""
    return store.root / task / f"{run_id}.json"
