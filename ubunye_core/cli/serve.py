"""``ubunye-runs serve``: the receipts of a store in a browser."""

from __future__ import annotations

import contextlib
import ipaddress
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ubunye_core.cli.exits import ExitCode
from ubunye_core.cli.output import note, say
from ubunye_core.cli.place import Place, takes_store
from ubunye_core.errors import ConfigError, MissingExtraError, UbunyeError
from ubunye_core.masking import masked_text
from ubunye_core.questions.misread import MisreadTask
from ubunye_core.questions.taskfolders import is_of_one_task, read_tasks
from ubunye_core.web import create_app

if TYPE_CHECKING:
    from ubunye_core.schedules import Schedule

LOOPBACK, PORT = "127.0.0.1", 8787
_TIME_TO_END = 5


@click.command()
@click.option(
    "--host",
    default=LOOPBACK,
    metavar="HOST",
    help="Where to listen: 127.0.0.1, which only this machine reaches, unless given.",
)
@click.option(
    "--port",
    type=click.IntRange(0, 65535),
    default=PORT,
    metavar="N",
    help=f"On which port; {PORT} unless given, 0 takes a free one.",
)
@click.option(
    "--config",
    type=click.Path(path_type=Path),
    metavar="FOLDER",
    help="Take schedules from the files in usecase/package/task_name below this folder.",
)
@takes_store
def serve(host: str, port: int, config: Path | None, place: Place) -> ExitCode:
    r"""Show the receipts of a store in a browser, until Ctrl-C.

    The pages only read. Whoever can reach them sees every receipt: nobody is asked to log in.

    \b
    Examples:
      ubunye-runs serve --store file:///srv/receipts
      ubunye-runs serve --config tasks --port 9000
    """
    is_loopback = _is_loopback(host)
    app = create_app(
        place.store,
        schedules=_schedules(config),
        hosts={"localhost", "127.0.0.1", "::1", host} if is_loopback else None,
    )
    try:
        import uvicorn
    except ModuleNotFoundError as error:
        raise MissingExtraError(
            f"The page of receipts needs {error.name}, which is not installed.", "web"
        ) from error
    listening = _listen(host, port)
    server = uvicorn.Server(
        uvicorn.Config(
            app,
            log_level="warning",
            lifespan="off",
            server_header=False,
            timeout_graceful_shutdown=_TIME_TO_END,
        )
    )
    with listening:
        if not is_loopback:
            note(
                f"Warning: {host} is not this machine alone. Whoever reaches it sees every "
                f"receipt, without a login."
            )
        if place.remark:
            note(place.remark)
        say(f"Receipts of {place.shown}: http://{_address(host, listening)}/ (Ctrl-C ends it)")
        with contextlib.suppress(KeyboardInterrupt):
            server.run(sockets=[listening])
    return ExitCode.YES


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host.lower() == "localhost"


def _listen(host: str, port: int) -> socket.socket:
    """A socket that listens there.

    Raises:
        ConfigError: it cannot.
    """
    try:
        family, *_, place = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        return socket.create_server((place[0], port), family=family)
    except OSError as error:
        raise ConfigError(
            f"{host}, port {port}, cannot be listened on: {error.strerror or error}.",
            hint="Give another --host or --port; --port 0 takes a free one.",
        ) from error


def _address(host: str, listening: socket.socket) -> str:
    shown = f"[{host}]" if ":" in host else host
    return f"{shown}:{listening.getsockname()[1]}"


def _schedules(config: Path | None) -> Mapping[str, Sequence[Schedule] | UbunyeError]:
    """The schedules that stand in a folder of tasks, or what is wrong with the files of one.

    Raises:
        ConfigError: it is none, or holds what is of no task.
    """
    if config is None:
        return {}
    if is_of_one_task(config):
        raise ConfigError(
            f"{config} is of one task, and does not say which.",
            hint="Name the folder above usecase/package/task_name.",
        )
    found: dict[str, Sequence[Schedule] | UbunyeError] = {}
    for each in read_tasks(config):
        if isinstance(each, MisreadTask):
            note(masked_text(f"Warning: the windows of {each.task} are not shown: {each.error}"))
            found[each.task] = each.error
        elif each.versions:
            found[each.task] = each.versions
    return found
