"""The work itself. It knows neither a scheduler nor receipts, so it moves as it is.

Reads ``$PAY_DATA/people.csv`` and writes below ``$PAY_DATA/out``; by default in ``data`` here.
"""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

ADULT = 18


def data_folder() -> Path:
    """Where the people are, and the results go."""
    return Path(os.environ.get("PAY_DATA") or Path(__file__).parent / "data")


def calc(month: str, data: Path | None = None) -> tuple[pd.DataFrame, pd.DataFrame, Path]:
    """Calculate a month's pay: who was read, what each adult is due, and the Parquet file of it."""
    import pandas as pd

    folder = data or data_folder()
    people = pd.read_csv(folder / "people.csv")
    adults = people[people["age"] >= ADULT]
    due = adults[["id", "name"]].assign(month=month, amount=(adults["salary"] / 12).round(2))
    file = folder / "out" / "calc" / f"{month}.parquet"
    file.parent.mkdir(parents=True, exist_ok=True)
    due.to_parquet(file, index=False)
    return people, due, file


def send(month: str, data: Path | None = None) -> tuple[pd.DataFrame, pd.DataFrame, Path]:
    """Pay a month's wages: what was due, what goes to the bank, and the CSV file of it."""
    import pandas as pd

    folder = data or data_folder()
    due = pd.read_parquet(folder / "out" / "calc" / f"{month}.parquet")
    payments = due.assign(reference="pay " + month + " " + due["id"].astype(str))
    file = folder / "out" / "send" / f"{month}.csv"
    file.parent.mkdir(parents=True, exist_ok=True)
    payments.to_csv(file, index=False)
    return due, payments, file
