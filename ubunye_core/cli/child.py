"""A command that runs under ours: its streams are ours, and signals to us are for it."""

from __future__ import annotations

import os
import shlex
import signal
import subprocess
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from queue import Empty, SimpleQueue
from types import FrameType, TracebackType
from typing import Any

GRACE_SECONDS = 5.0
"""How long a command that was told to stop may take, before its receipt says so without it.
Half of the ten seconds that container platforms commonly leave before SIGKILL."""
_FORWARDED = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
_ENDED = 0
_NOT_FOUND, _NOT_EXECUTABLE = 127, 126  # as in a shell


class CommandFailedError(Exception):
    """The command ended with a code other than 0."""


class CommandInterruptedError(BaseException):
    """The command was killed by a signal, or was asked to stop.

    Like ``KeyboardInterrupt`` no ``Exception``: to a recording it is an interruption.
    """


class CommandNotStartedError(Exception):
    """There is no such command, or it cannot be executed."""

    def __init__(self, message: str, code: int, *, hint: str = "") -> None:
        self.code = code
        self.told = f"{message}. {hint}" if hint else message
        """What a person reads; the message alone has nothing of the command but its name."""
        super().__init__(message)


class Child:
    """One command. While it is entered, SIGTERM, SIGINT and SIGHUP go to the command.

    Ctrl-C in a terminal reaches the command by itself, and is not sent twice. A signal that was
    ignored when we were started (``nohup``, a background job) stays ignored. Signals reach the
    command itself, not what it has started.
    """

    def __init__(self, command: Sequence[str]) -> None:
        self._command = list(command)
        self._events: SimpleQueue[int] = SimpleQueue()
        self._process: subprocess.Popen[bytes] | None = None
        self._asked: int | None = None
        self._before: dict[int, Callable[[int, FrameType | None], Any] | int | None] = {}

    def __enter__(self) -> Child:
        self._before = {number: signal.getsignal(number) for number in _FORWARDED}
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        for number, handler in self._before.items():
            if handler is not None:  # None is a handler that is not Python's
                signal.signal(number, handler)

    def start(self, environment: Mapping[str, str]) -> None:
        """Start the command. From here on, signals are its own.

        Raises:
            CommandNotStartedError: it cannot be started.
        """
        for number, handler in self._before.items():
            if handler is not signal.SIG_IGN:
                signal.signal(number, lambda given, _: self._events.put(given))
        # Where it is ignored, the system forgets how a child ended, and every end looks like 0.
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        name = _name_of(self._command[0])
        try:
            self._process = subprocess.Popen(
                self._command,
                env=dict(environment),
                close_fds=False,  # what a shell opened for it (3>file) is for it
            )
        except FileNotFoundError as error:
            raise CommandNotStartedError(f"{name}: command not found", _NOT_FOUND) from error
        except OSError as error:
            why = error.strerror or type(error).__name__
            message = f"{name}: cannot be executed: {why}"
            hint = _how_to_execute(self._command[0])
            raise CommandNotStartedError(message, _NOT_EXECUTABLE, hint=hint) from error
        threading.Thread(target=self._await_end, name="end of the command", daemon=True).start()

    def follow(self) -> None:
        """Wait until the command has ended well.

        Raises:
            CommandFailedError: it ended with another code than 0.
            CommandInterruptedError: it was killed, or it was asked to stop, whether or not it
                has done so in time.
        """
        if not self._ends_in_time():
            raise CommandInterruptedError(
                f"asked to stop ({_name(self._asked)}), and still running {GRACE_SECONDS:g} s later"
            )
        if self._asked is not None:
            raise CommandInterruptedError(f"asked to stop ({_name(self._asked)})")
        code = self._started.returncode
        if code < 0:
            raise CommandInterruptedError(f"killed by {_name(-code)}")
        if code > 0:
            raise CommandFailedError(f"exit code {code}")

    def code(self) -> int:
        """The command's own exit code, once it has ended; 128 and the signal that killed it."""
        while self._started.poll() is None:
            number = self._events.get()
            if number != _ENDED:
                self._forward(number)
        code = self._started.returncode
        return code if code >= 0 else 128 - code

    @property
    def _started(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            raise RuntimeError("the command has not been started")
        return self._process

    def _await_end(self) -> None:
        self._started.wait()
        self._events.put(_ENDED)

    def _ends_in_time(self) -> bool:
        """Forward signals until the command ends; False if it outlives its grace."""
        until: float | None = None
        while True:
            try:
                left = None if until is None else max(0.0, until - time.monotonic())
                number = self._events.get(timeout=left)
            except Empty:
                return False
            if number == _ENDED:
                return True
            self._asked = self._asked or number
            until = until or time.monotonic() + GRACE_SECONDS
            self._forward(number)

    def _forward(self, number: int) -> None:
        if number != signal.SIGINT or not _terminal_sends_to_us():
            self._started.send_signal(number)


def _name_of(program: str) -> str:
    """A program by its name alone, for a folder may be called like a secret."""
    name = os.path.basename(program)
    return program if program == f"./{name}" else name


def _how_to_execute(program: str) -> str:
    """What to try with a script that cannot be executed as it is; empty if it is no file."""
    if not os.path.isfile(program):
        return ""
    interpreter = "python" if program.endswith(".py") else "sh"
    file = shlex.quote(program.removeprefix("./"))
    return f"Write '{interpreter} {file}' after '--', or run 'chmod +x {file}' first."


def _terminal_sends_to_us() -> bool:
    """Whether Ctrl-C in our terminal reaches our process group, and so the command as well."""
    try:
        terminal = os.open("/dev/tty", os.O_RDONLY | os.O_NOCTTY)
    except OSError:
        return False
    try:
        return os.tcgetpgrp(terminal) == os.getpgrp()
    except OSError:
        return False
    finally:
        os.close(terminal)


def _name(number: int | None) -> str:
    try:
        return signal.Signals(number or 0).name
    except ValueError:
        return f"signal {number}"
