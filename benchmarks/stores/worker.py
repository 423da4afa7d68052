"""One question, asked in a fresh process of either side.

The request comes as JSON on standard input, the figures go as JSON to standard output. Of each
call: the time, the answer in short, and what was opened, looked at and listed below the root.
Runs in both environments, so it imports neither library before it knows its side.
"""

from __future__ import annotations

import contextlib
import json
import os
import re
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

Request = dict[str, Any]
MARK = "/stores-benchmark-mark"


class Hook:
    """Counts what Python opens and lists; it cannot see stat calls."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.opens = self.lists = 0
        self.on = False
        sys.addaudithook(self._see)

    def _see(self, event: str, arguments: tuple[Any, ...]) -> None:
        if not self.on or event not in ("open", "os.listdir", "os.scandir"):
            return
        place = arguments[0]
        if isinstance(place, (str, os.PathLike, bytes)):
            path = os.fsdecode(place)
            if path.startswith("/") and not path.startswith(self.root):
                return
        elif event == "open":  # a file object for a descriptor that is open already
            return
        if event == "open":
            is_folder = len(arguments) > 2 and arguments[2] & getattr(os, "O_DIRECTORY", 0)
            self.lists, self.opens = self.lists + bool(is_folder), self.opens + (not is_folder)
        else:
            self.lists += not isinstance(place, int)


def ours(request: Request) -> Callable[[], Any]:
    """A question to our store; the store is opened by the first call, and imported before it."""
    import ubunye_core.stores.files  # noqa: F401  # as the peer is; imports are measured apart
    from ubunye_core import Requirement, check_upstream, job_health, open_store
    from ubunye_core.receipt import Receipt, Status

    opened: list[Any] = []

    def store() -> Any:
        if not opened:
            opened.append(open_store(Path(request["root"]).as_uri()))
        return opened[0]

    task = request.get("task")

    def upstream() -> Any:
        needs = Requirement(task, request.get("named"))
        answer = check_upstream(needs, variables=request["batch"], store=store())
        return [str(answer.verdict), answer.requirements[0].satisfied_by]

    def health() -> Any:
        answer = job_health(request["tasks"], store=store())
        return [str(answer.verdict), len(answer.tasks)]

    def since() -> Any:
        moment = datetime.fromisoformat(request["since"])
        return sorted(run.run_id for run in store().search(task, since=moment))

    def errors() -> Any:
        return len(store().search(task, Status.ERROR))

    def scan() -> Any:
        count = 0
        for each in store().scan(task):
            count += isinstance(each, Receipt)
        return count

    def repair() -> Any:
        return store().repair().hints

    questions: dict[str, Callable[[], Any]] = {
        "list": lambda: [run.run_id for run in store().list_runs(task, request["n"])],
        "load": lambda: store().load(task, request["run_id"]).run_id,
        "upstream": upstream,
        "health": health,
        "since": since,
        "errors": errors,
        "scan": scan,
        "repair": repair,
        "save": lambda: _save_ours(request, store()),
    }
    return questions[request["question"]]


def _save_ours(request: Request, store: Any) -> str:
    """Another run of the task, for another batch."""
    from ubunye_core.receipt import Receipt, Status
    from ubunye_core.runids import new_run_id

    now = datetime.now(UTC)
    batch = request["batch"]
    run_id = new_run_id(now)
    run = Receipt(
        task=request["task"],
        run_id=run_id,
        status=Status.RUNNING,
        started_at=now,
        variables=batch,
    )
    store.save(run)
    return run_id


def peer(request: Request) -> Callable[[], Any]:
    """The same question to ubunye-engine's store, by its methods as they are."""
    from ubunye.lineage.storage import FileSystemLineageStore

    opened: list[Any] = []

    def store() -> Any:
        if not opened:
            opened.append(FileSystemLineageStore(request["root"]))
        return opened[0]

    task = request.get("task")

    def upstream() -> Any:
        wanted = request["batch"].items()
        for run in store().search(task, status="success"):
            if wanted <= (run.variables or {}).items():
                return ["PASS", run.run_id]
        return ["FAIL", None]

    questions: dict[str, Callable[[], Any]] = {
        "list": lambda: [run.run_id for run in store().list_runs(task, request["n"])],
        "load": lambda: store().load(task, request["run_id"]).run_id,
        "upstream": upstream,
        "health": lambda: sum(len(store().list_runs(each, 1)) for each in request["tasks"]),
        "since": lambda: sorted(run.run_id for run in store().search(task, since=request["since"])),
        "errors": lambda: len(store().search(task, status="error")),
        "save": lambda: _save_peer(request, store()),
    }
    return questions[request["question"]]


def _save_peer(request: Request, store: Any) -> str:
    """A success as ubunye-engine records it."""
    import uuid

    from ubunye.lineage.context import RunContext

    task = request["task"]
    usecase, package, name = task.split("/")
    now = datetime.now(UTC).isoformat()
    run = RunContext(
        run_id=str(uuid.uuid4()),
        task_path=task,
        usecase=usecase,
        package=package,
        task_name=name,
        profile="PROD",
        model="etl",
        version="0.1.0",
        config_hash="sha256:" + "0" * 64,
        started_at=now,
        ended_at=now,
        duration_sec=0.0,
        status="success",
        variables={"mode": "PROD", **request["batch"]},
    )
    store.save(run)
    return run.run_id


def peak_megabytes() -> float:
    """The most memory this process has had."""
    status = Path("/proc/self/status")
    if status.exists():
        found = re.search(r"VmHWM:\s+(\d+) kB", status.read_text())
        assert found
        return int(found[1]) / 1024
    import resource

    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20


def mark(what: str) -> None:
    """A line in the trace of a process that is traced."""
    with contextlib.suppress(OSError):
        os.stat(f"{MARK}/{what}")


def main() -> None:
    """Answer the request."""
    request: Request = json.load(sys.stdin)
    ask = (ours if request["side"] == "ours" else peer)(request)
    hook = Hook(request["root"]) if request.get("hook") else None
    calls = []
    for number in range(request.get("calls", 1)):
        for command in request.get("between", []) if number else []:
            subprocess.run(command["run"], input=command["input"], text=True, check=True,
                           capture_output=True)  # fmt: skip
        if hook:
            hook.on, hook.opens, hook.lists = True, 0, 0
        if request.get("traced"):
            mark(f"begin/{number}")
        start, cpu = time.perf_counter(), time.process_time()
        answer = ask()
        spent, used = time.perf_counter() - start, time.process_time() - cpu
        if request.get("traced"):
            mark(f"end/{number}")
        call = {"ms": spent * 1000, "cpu": used * 1000, "answer": answer, "peak": peak_megabytes()}
        if hook:
            hook.on = False
            call |= {"opens": hook.opens, "lists": hook.lists}
        calls.append(call)
    print(json.dumps(calls))


if __name__ == "__main__":
    main()
