"""The main job on this machine: one gate, two schedulers, a shell and a script, one store.

python -m example_dags.demo [FOLDER]
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import subprocess
import sys
import textwrap
import time
from pathlib import Path

ROOT = Path(__file__).parents[1]
FOLDER = ROOT / ".demo"

MADE_BY = ".made-by-the-demo"
"""A folder that holds this file is the demo's own, and is emptied by the next."""

DAG_RUN = """
import sys
from example_dags.airflow.{module} import dag
run = dag.test(run_conf={{"month": "{month}"}})
sys.exit(0 if str(run.state) == "success" else 1)
"""
PARTITION = """
import sys
import dagster as dg
from example_dags.dagster_defs import calc, defs
made = dg.materialize([calc], partition_key="{partition}", resources=defs.resources)
sys.exit(0 if made.success else 1)
"""


class Story:
    """Runs each step for real, and tells what it said."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.receipts, self.data = folder, folder / "receipts", folder / "data"
        self.environment = {
            **os.environ,
            "UBUNYE_STORE": self.receipts.as_uri(),
            "PAY_DATA": str(self.data),
            "AIRFLOW_HOME": str(folder / "airflow"),
            "AIRFLOW__CORE__LOAD_EXAMPLES": "False",
            "AIRFLOW__CORE__DAGS_FOLDER": str(ROOT / "example_dags" / "airflow"),
            "AIRFLOW__CORE__UNIT_TEST_MODE": "False",
            "DAGSTER_HOME": "",
            "DAGSTER_DISABLE_TELEMETRY": "yes",
            "PYTHONPATH": str(ROOT),
            "PATH": f"{Path(sys.executable).parent}{os.pathsep}{os.environ.get('PATH', '')}",
            "COLUMNS": "110",
        }
        self._steps = 0

    def prepare(self) -> None:
        """An empty store, and the data of twenty people."""
        if self.folder.exists() and any(self.folder.iterdir()):
            if self.folder != FOLDER and not (self.folder / MADE_BY).exists():
                raise SystemExit(f"{self.folder} holds other files. Name a new or empty folder.")
            shutil.rmtree(self.folder)
        for name in ("airflow", "log"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / MADE_BY).touch()
        shutil.copytree(
            ROOT / "example_dags" / "data", self.data, ignore=shutil.ignore_patterns("out")
        )

    def tell(self, text: str) -> None:
        """A paragraph of the story."""
        print(textwrap.fill(text, 96), flush=True)

    def step(self, title: str) -> None:
        """The heading of the next step."""
        self._steps += 1
        print(f"\n{self._steps}. {title}", flush=True)

    def python(self, name: str, program: str, expected: int) -> str:
        """Run a Python program; its output goes to a log, and comes back."""
        return self.run(name, [sys.executable, "-c", program], expected)

    def shell(self, command: str, expected: int) -> str:
        """Run a command as a person would, and show what it prints."""
        print(f"   $ {command}", flush=True)
        printed = self.run("shell", ["bash", "-c", command], expected)
        print(textwrap.indent(printed.rstrip(), "   "))
        print(f"   (exit code {expected})", flush=True)
        return printed

    def quote(self, log: str, *words: str) -> None:
        """The first line of a log that holds these words, as the scheduler logged it."""
        for line in log.splitlines():
            if all(word in line for word in words):
                said = line[line.index(words[0]) :].partition(" [airflow.")[0].strip()
                print(textwrap.indent(textwrap.fill(said, 90), "   | "), flush=True)
                return
        raise SystemExit(f"The log says nothing of {words}; see {self.folder / 'log'}.")

    def run(self, name: str, command: list[str], expected: int) -> str:
        """Run a command to its end, keep its output in a log, and stop where it fails."""
        done = subprocess.run(
            command,
            cwd=ROOT,
            env=self.environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=600,
            check=False,
        )
        log = self.folder / "log" / f"{self._steps}-{name}-{time.monotonic_ns()}.log"
        log.write_text(done.stdout, encoding="utf-8")
        if done.returncode != expected:
            print(done.stdout[-4000:])
            raise SystemExit(
                f"{name} ended with {done.returncode}, and not with {expected}; see {log}."
            )
        return done.stdout


def main(folder: Path = FOLDER) -> None:
    began = time.monotonic()
    story = Story(folder)
    story.prepare()
    story.tell(
        "Two jobs: pay/monthly/calc works out a month's pay, pay/monthly/send pays it. The payment "
        "must not start before the calculation of that very month has succeeded, wherever it ran."
    )
    print(f"\n   Receipts are kept in {story.environment['UBUNYE_STORE']}", flush=True)
    airflow(story)
    dagster(story)
    shell(story)
    script(story)
    print(f"\nThat took {time.monotonic() - began:.0f} seconds. Try next:\n")
    store = f"--store {story.environment['UBUNYE_STORE']}"
    for command in (
        f"ubunye-runs list 'pay/*/*' {store}",
        f"ubunye-runs health 'pay/*/*' {store} --json",
        f"ubunye-runs wait-for pay/monthly/calc --var month=2026-10 {store}",
    ):
        print(f"   .venv/bin/{command}")
    print("\nThe code: example_dags/airflow, example_dags/dagster_defs.py, send_script.py")


def airflow(story: Story) -> None:
    story.step("Airflow calculates August, and its payment passes the gate")
    story.run("airflow-db", [sys.executable, "-m", "airflow", "db", "migrate"], 0)
    story.python("calc", DAG_RUN.format(module="pay_calc", month="2026-08"), 0)
    listed = story.shell("ubunye-runs list pay/monthly/calc", 0)
    run_id = re.search(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}", listed)
    if run_id is not None:
        story.shell(f"ubunye-runs show {run_id[0]}", 0)
    log = story.python("send", DAG_RUN.format(module="pay_send", month="2026-08"), 0)
    story.tell("   The sensor of the DAG pay_send, for 2026-08:")
    story.quote(log, "pay/monthly/calc succeeded for month=2026-08")
    story.step("The payment for September is refused: nobody has calculated it")
    log = story.python("send", DAG_RUN.format(module="pay_send", month="2026-09"), 1)
    story.quote(log, "pay/monthly/calc has not succeeded for month=2026-09")


def dagster(story: Story) -> None:
    story.step("The calculation moves to Dagster; Airflow's gate stays as it is")
    story.python("calc", PARTITION.format(partition="2026-09-01"), 0)
    story.tell("   Dagster has materialised its partition 2026-09-01. The unchanged Airflow DAG:")
    log = story.python("send", DAG_RUN.format(module="pay_send", month="2026-09"), 0)
    story.quote(log, "pay/monthly/calc succeeded for month=2026-09")


def shell(story: Story) -> None:
    story.step("The same questions from a shell; the exit code is the answer")
    story.shell("ubunye-runs wait-for pay/monthly/calc --var month=2026-09", 0)
    story.shell("ubunye-runs health 'pay/*/*'", 0)


def script(story: Story) -> None:
    story.step("A plain script, as on Databricks: refused for October, in the same words")
    story.shell("python -m example_dags.send_script 2026-10", 1)


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(
        prog="python -m example_dags.demo", description=__doc__.splitlines()[0]
    )
    arguments.add_argument(
        "folder", nargs="?", type=Path, default=FOLDER, help="where to keep it; .demo by default"
    )
    main(arguments.parse_args().folder.resolve())
