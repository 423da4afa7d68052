"""Pay a month's wages, but only once that very month has been calculated, wherever that ran."""

from __future__ import annotations

from airflow.sdk import Param, dag, task

from example_dags import payroll
from ubunye_airflow import UpstreamReceiptSensor

VARIABLES = {"month": "{{ params.month }}"}


@dag(
    schedule=None,
    tags=["example"],
    doc_md=__doc__,
    params={"month": Param(type="string", pattern=r"^\d{4}-\d{2}$", description="Like 2026-10")},
)
def pay_send():
    calculated = UpstreamReceiptSensor(
        task_id="calculated",
        required_task="pay/monthly/calc",
        variables=VARIABLES,
        wait="0s",  # look once, for the demo; a real gate waits: "2h"
    )

    @task.receipt(receipt_task="pay/monthly/send", variables=VARIABLES)
    def send(run):
        due, payments, file = payroll.send(run.variables["month"])
        run.read("due", due)
        run.wrote("payments", payments, location=file)

    calculated >> send()


dag = pay_send()
