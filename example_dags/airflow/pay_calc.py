"""Work out a month's pay. Its receipt is what the payment waits for."""

from __future__ import annotations

from airflow.sdk import Param, dag, task

from example_dags import payroll


@dag(
    schedule=None,
    tags=["example"],
    doc_md=__doc__,
    params={"month": Param(type="string", pattern=r"^\d{4}-\d{2}$", description="Like 2026-10")},
)
def pay_calc():
    @task.receipt(
        receipt_task="pay/monthly/calc",
        variables={"month": "{{ params.month }}"},
    )
    def calc(run):
        people, due, file = payroll.calc(run.variables["month"])
        run.read("people", people)
        run.wrote("due", due, location=file)

    calc()


dag = pay_calc()
