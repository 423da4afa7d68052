"""A PostgreSQL of our own: in a temporary folder, on a socket in it, gone with the process."""

from __future__ import annotations

import contextlib
import ctypes
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import quote

import psycopg

PORT = 5432
SETTINGS = {
    "listen_addresses": "",
    "fsync": "off",
    "max_connections": "150",
    "shared_buffers": "128MB",
    "unix_socket_permissions": "0777",
}


class PostgresServer:
    """A server that is running."""

    def __init__(self, folder: Path, process: subprocess.Popen[bytes]) -> None:
        self.folder, self.process = folder, process

    def url(self, schema: str | None = None, database: str = "postgres") -> str:
        """The URL of a store on this server."""
        more = "" if schema is None else f"&schema={schema}"
        return f"postgresql://postgres@/{database}?host={quote(str(self.folder))}{more}"

    def connect(self, database: str = "postgres") -> psycopg.Connection:
        """A connection of a test's own."""
        return psycopg.connect(
            host=str(self.folder), dbname=database, user="postgres", autocommit=True
        )


def binaries() -> Path:
    """The folder with ``initdb`` and ``postgres``; the newest version there is."""
    found = shutil.which("initdb")
    folders = sorted(
        Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name)
    )
    if found is None and not folders:
        raise RuntimeError("PostgreSQL is not installed: apt-get install postgresql")
    return folders[-1] if folders else Path(found or "").resolve().parent


@contextlib.contextmanager
def running_postgres(**settings: str) -> Iterator[PostgresServer]:
    """A server with an empty database, stopped at the end, and also when this process dies."""
    tools = binaries()
    folder = Path(tempfile.mkdtemp(prefix="ubunye-pg-"))
    as_user = _somebody_but_root(folder)
    try:
        subprocess.run(
            [tools / "initdb", "-D", folder / "data", "-U", "postgres", "-A", "trust",
             "-E", "UTF8", "--locale", "C.UTF-8", "--no-sync"],
            check=True, capture_output=True, cwd=folder, **as_user,
        )  # fmt: skip
        said = {**SETTINGS, **settings}
        options = [part for name, text in said.items() for part in ("-c", f"{name}={text}")]
        process = subprocess.Popen(
            [tools / "postgres", "-D", folder / "data", "-k", folder, *options],
            stdout=subprocess.DEVNULL, stderr=(folder / "log").open("wb"),
            cwd=folder, start_new_session=True, preexec_fn=_die_with_parent, **as_user,
        )  # fmt: skip
        server = PostgresServer(folder, process)
        try:
            _wait_for(server)
            yield server
        finally:
            process.send_signal(signal.SIGINT)  # a fast shutdown
            try:
                process.wait(20)
            except subprocess.TimeoutExpired:
                process.send_signal(signal.SIGQUIT)
                process.wait(20)
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _somebody_but_root(folder: Path) -> dict[str, object]:
    """PostgreSQL refuses to run as root."""
    if os.geteuid() != 0:
        return {}
    known = {user.pw_name: user for user in pwd.getpwall()}
    user = known.get("postgres") or known["nobody"]
    os.chown(folder, user.pw_uid, user.pw_gid)
    folder.chmod(0o755)
    return {"user": user.pw_uid, "group": user.pw_gid, "extra_groups": []}


def _die_with_parent() -> None:
    ctypes.CDLL(None).prctl(1, signal.SIGINT)  # PR_SET_PDEATHSIG


def _wait_for(server: PostgresServer) -> None:
    until = time.monotonic() + 60
    while True:
        try:
            server.connect().close()
            return
        except psycopg.OperationalError as error:
            if time.monotonic() > until or server.process.poll() is not None:
                log = (server.folder / "log").read_text(errors="replace")
                raise RuntimeError(f"PostgreSQL did not start: {error}\n{log}") from None
            time.sleep(0.05)
