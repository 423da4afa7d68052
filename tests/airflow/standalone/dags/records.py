"""Tasks that record, and one that asks. Each DAG is for one test."""

from __future__ import annotations

import os
import time
from datetime import timedelta

from airflow.sdk import dag, task

from ubunye_airflow import HealthCheckOperator, UpstreamReceiptSensor, receipts

MONTH = {"month": "{{ dag_run.conf['month'] }}"}


@dag(schedule=None)
def no_database():
    @task
    def database():
        from airflow.configuration import conf
        from airflow.utils.session import create_session

        try:
            with create_session() as session:
                session.execute("SELECT 1")
            error = "none"
        except Exception as found:
            error = str(found)
        return {
            "error": error,
            "connection": conf.get("database", "sql_alchemy_conn"),
            "tokens": [name for name in os.environ if "TOKEN" in name],
        }

    database() >> HealthCheckOperator(task_id="health", tasks="healthy/*/*")


@dag(schedule=None)
def killed_in_its_work():
    @task.receipt(
        receipt_task="killed/monthly/calc", variables=MONTH, retries=1, retry_delay=timedelta(0)
    )
    def calc(ti=None):
        if ti.try_number == 1:
            time.sleep(600)

    calc()


@dag(schedule=None)
def killed_in_its_last_try():
    @task.receipt(receipt_task="last/monthly/calc", variables=MONTH)
    def calc():
        time.sleep(600)

    calc()


@dag(schedule=None)
def set_by_hand():
    @task.receipt(receipt_task="hand/monthly/calc", variables=MONTH)
    def calc():
        raise ValueError("no people")

    calc()


@dag(schedule=None)
def gate_after_a_hand():
    UpstreamReceiptSensor(
        task_id="gate",
        required_task="hand/monthly/calc",
        variables=MONTH,
        wait="0s",
    )


@dag(schedule=None)
def listened():
    @task(params=receipts("listened/monthly/calc", MONTH))
    def calc():
        pass

    @task
    def without():
        pass

    calc() >> without()


def of_one_task(dag_id, receipt_task):
    @dag(dag_id=dag_id, schedule=None)
    def made():
        @task.receipt(receipt_task=receipt_task, variables=MONTH)
        def calc():
            pass

        calc()

    made()


of_one_task("open_to_all", "open/monthly/calc")
of_one_task("secret_from_outsiders", "secret/monthly/calc")
no_database()
killed_in_its_work()
killed_in_its_last_try()
set_by_hand()
listened()
gate_after_a_hand()
