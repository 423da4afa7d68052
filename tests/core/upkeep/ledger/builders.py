"""Ledgers for tests: lines as another program writes them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ubunye_core import ImportedLedger, ReceiptStore, import_ledger
from ubunye_core.codec import as_json

LOAD, JAKARTA = "shop/orders/daily", "Asia/Jakarta"
PIPELINE = "etl_pesanan_harian"


def a_line(
    run_id: str = "r-830",
    window: str = "2026-10-09",
    status: str = "success",
    start: str | None = None,
    **fields: Any,
) -> dict[str, Any]:
    """A line for one day, whose run starts at 02:00 of the next one."""
    line = {
        "run_id": run_id,
        "pipeline": PIPELINE,
        "window": window,
        "status": status,
        "actual_start": start or f"{window[:8]}{int(window[8:10]) + 1:02}T02:00:00",
        "durasi_menit": None if status == "running" else 42,
        "triggered_by": "scheduler",
        **fields,
    }
    return {name: value for name, value in line.items() if value != "(absent)"}


def the_morning() -> list[dict[str, Any]]:
    """The four records of a daily job at 06:00 of 2026-10-15."""
    return [
        a_line("r-830", "2026-10-09"),
        a_line("r-835", "2026-10-10"),
        a_line("r-841", "2026-10-13", "failed", galat="sumber kosong", durasi_menit=3),
        a_line("r-850", "2026-10-14", "running"),
    ]


def write(file: Path, *lines: Mapping[str, Any] | str | bytes) -> Path:
    """A ledger with these lines."""
    raw = [
        line
        if isinstance(line, bytes)
        else (line if isinstance(line, str) else json.dumps(line)).encode()
        for line in lines
    ]
    file.write_bytes(b"".join(line + b"\n" for line in raw))
    return file


def imported(store: ReceiptStore, file: Path, **more: Any) -> ImportedLedger:
    """Import a ledger of Jakarta."""
    return import_ledger(file, store=store, **{"task": LOAD, "time_zone": JAKARTA, **more})


def all_in(store: ReceiptStore) -> dict[str, object]:
    """Every receipt of a store, by run id."""
    return {each.run_id: as_json(each) for each in store.search()}
