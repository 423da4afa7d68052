"""The payment from a plain script, as on Databricks: the same gate, and no scheduler.

python -m example_dags.send_script 2026-10
"""

from __future__ import annotations

import argparse
import sys

from example_dags import payroll
from ubunye_core import UpstreamNotMetError, record_run


def main(month: str) -> int:
    try:
        with record_run("pay/monthly/send", variables={"month": month}) as run:
            run.require("pay/monthly/calc")
            due, payments, file = payroll.send(month)
            run.read("due", due)
            run.wrote("payments", payments, location=file)
    except UpstreamNotMetError as refusal:
        print(refusal)
        return 1
    print(f"Paid {len(payments)} people for {month}.")
    return 0


if __name__ == "__main__":
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("month", help="such as 2026-10")
    sys.exit(main(arguments.parse_args().month))
