"""Other processes of a test: each opens the store and does what it is told."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

PROGRAM = Path(__file__).with_name("worker.py")


class Child:
    """A process that runs ``worker.py`` on a store. It sees the packages that this one sees."""

    def __init__(self, url: str) -> None:
        paths = [os.path.abspath(path) for path in sys.path]
        self.process = subprocess.Popen(
            [sys.executable, "-P", str(PROGRAM), url],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONPATH": os.pathsep.join(paths)},
        )

    def tell(self, do: str, *, at: float | None = None, **arguments: Any) -> None:
        """Have it do something, at an instant if one is given."""
        assert self.process.stdin is not None
        self.process.stdin.write(json.dumps({"do": do, "at": at, **arguments}) + "\n")
        self.process.stdin.flush()

    def answer(self) -> Any:
        """What it says next. It fails the test where the process failed."""
        assert self.process.stdout is not None
        line = self.process.stdout.readline()
        assert line, f"a process of the test ended with {self.process.wait()}"
        answer = json.loads(line)
        assert not (isinstance(answer, Mapping) and "error" in answer), answer
        return answer

    def ask(self, do: str, **arguments: Any) -> Any:
        """Have it do something, and wait for what it says."""
        self.tell(do, **arguments)
        return self.answer()

    def kill(self) -> None:
        """End it at once, whatever it does, as ``kill -9`` would."""
        self.process.kill()
        self.process.wait()
        for end in (self.process.stdin, self.process.stdout):
            if end is not None:
                end.close()


@contextmanager
def child(url: str) -> Iterator[Child]:
    """One process that is ready."""
    with children(url, 1) as (only,):
        yield only


@contextmanager
def children(url: str, count: int) -> Iterator[list[Child]]:
    """So many processes that are ready; killed at the end."""
    with ExitStack() as stack:
        every = []
        for _ in range(count):
            every.append(Child(url))
            stack.callback(every[-1].kill)
        for each in every:
            assert each.answer() == "ready"
        yield every


def all_at_once(every: list[Child], do: str, arguments: Sequence[Mapping[str, Any]]) -> list[Any]:
    """Have each process do the same at one instant; their answers."""
    at = time.time() + 0.02 + 0.002 * len(every)
    for each, own in zip(every, arguments, strict=True):
        each.tell(do, at=at, **own)
    return [each.answer() for each in every]
