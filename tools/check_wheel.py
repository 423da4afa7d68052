"""Prove what an installed wheel promises: `python -I tools/check_wheel.py [EXTRA...]`.

Run by the interpreter it was installed for, from a folder that holds no checkout.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path

HEAVY = ("airflow", "dagster", "numpy", "pandas", "polars", "pyarrow", "pyspark", "sqlalchemy")
LOADED = "import sys, json, ubunye_core; print(json.dumps(sorted(sys.modules)))"


def check(truth: bool, otherwise: str) -> None:
    """Stop with what is wrong."""
    if not truth:
        sys.exit(f"wheel: {otherwise}")


def run(*command: str) -> str:
    """What a command prints; its failure is ours."""
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    check(done.returncode == 0, f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return done.stdout


def core() -> None:
    """The import is light, the command is there, and each package ships what it needs."""
    loaded = set(json.loads(run(sys.executable, "-I", "-c", LOADED)))
    heavy = [name for name in HEAVY if name in loaded]
    check(not heavy, f"import ubunye_core also imports {', '.join(heavy)}")
    said = run(str(Path(sysconfig.get_path("scripts"), "ubunye-runs")), "--help")
    check("Usage" in said, "ubunye-runs --help shows no usage")
    files = {str(file) for file in metadata.files("ubunye-receipts") or ()}
    for package in ("ubunye_core", "ubunye_airflow", "ubunye_dagster"):
        found = find_spec(package)
        check(found is not None and "site-packages" in str(found.origin), f"{package} is not ours")
        check(f"{package}/py.typed" in files, f"{package} ships no py.typed")
    check(not any(file.startswith("tests/") for file in files), "the wheel holds our tests")
    check(any("licenses/LICENSE" in file for file in files), "the wheel holds no licence")


def arrow() -> None:
    """The hash of a table needs nothing but this extra."""
    import pyarrow as pa

    from ubunye_core import fingerprint

    table = pa.table({"name": ["a", "b"], "amount": [1, 2]})
    other_order = table.take([1, 0])
    check(fingerprint(table).data_hash is not None, f"no hash: {fingerprint(table)}")
    check(fingerprint(table) == fingerprint(other_order), "the order of rows changes the hash")


def pandas() -> None:
    """A pandas frame and the Arrow table of the same rows hash alike."""
    import pandas as pd
    import pyarrow as pa

    from ubunye_core import fingerprint

    columns = {"name": ["a", "b"], "amount": [1, 2]}
    frame, table = fingerprint(pd.DataFrame(columns)), fingerprint(pa.table(columns))
    check(frame.data_hash is not None, f"no hash: {frame}")
    check(frame.data_hash == table.data_hash, "pandas and Arrow hash the same rows differently")


def airflow() -> None:
    """Airflow finds the provider, and the sensor imports."""
    from airflow.providers_manager import ProvidersManager

    providers = ProvidersManager().providers
    check("ubunye-receipts" in providers, f"not among Airflow's providers: {list(providers)}")
    from ubunye_airflow import UpstreamReceiptSensor  # noqa: F401


def dagster() -> None:
    """The resource imports beside the Dagster it was installed with."""
    from ubunye_dagster import ReceiptStoreResource  # noqa: F401


def web() -> None:
    """The pages are made, so templates and style sheet are shipped."""
    import asyncio

    from ubunye_core.web import create_app

    app = create_app("memory://wheel")

    async def ask(path: str) -> bytes:
        sent: list[dict[str, object]] = []

        async def receive() -> dict[str, object]:
            return {"type": "http.request"}

        async def send(message: dict[str, object]) -> None:
            sent.append(message)

        scope = {"type": "http", "method": "GET", "path": path, "query_string": b"", "headers": []}
        await app(scope, receive, send)
        check(sent[0]["status"] == 200, f"{path} answers {sent[0]['status']}")
        return b"".join(bytes(each.get("body", b"")) for each in sent)  # type: ignore[arg-type]

    check(b"no receipts yet" in asyncio.run(ask("/")), "the page of an empty store does not say so")
    check(b"--paper" in asyncio.run(ask("/static/style.css")), "there is no style sheet")


EXTRAS = {"arrow": arrow, "pandas": pandas, "airflow": airflow, "dagster": dagster, "web": web}


if __name__ == "__main__":
    core()
    for extra in sys.argv[1:]:
        EXTRAS[extra]()
    print("wheel: holds with", ", ".join(sys.argv[1:]) or "no extra")
