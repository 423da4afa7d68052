"""Gates that wait, on a real scheduler. Each DAG is for one test, which writes its upstream."""

from __future__ import annotations

from airflow.sdk import dag, task

from ubunye_airflow import UpstreamReceiptSensor

MONTH = {"month": "{{ dag_run.conf['month'] }}"}
MODES = {
    "poke": {"mode": "poke", "deferrable": False},
    "reschedule": {"mode": "reschedule", "deferrable": False},
    "deferrable": {"deferrable": True},
}


def gate(task_id, upstream, **options):
    # A task that pauses for a second may be back before the scheduler has heard that it paused,
    # which costs it a try.
    usual = {"deferrable": True, "wait": "10m", "poll": "1s", "retries": 4, "retry_delay": 0}
    return UpstreamReceiptSensor(
        task_id=task_id, required_task=upstream, **{"variables": MONTH, **usual, **options}
    )


@dag(schedule=None)
def gate_opens():
    @task.receipt(receipt_task="opens/monthly/send", variables=MONTH)
    def send():
        pass

    gate("gate", "opens/monthly/calc") >> send()


@dag(schedule=None)
def gate_times_out():
    for mode, how in MODES.items():
        gate(mode, "late/monthly/calc", wait="8s", poll="5s", **how)


@dag(schedule=None)
def gate_dies_once():
    gate("gate", "dies/monthly/calc", wait="45s", **MODES["poke"])


@dag(schedule=None)
def many_gates():
    usual = {"wait": "10m", "retries": 4, "retry_delay": 0}
    for name, how, count in (("deferrable", True, 20), ("reschedule", False, 5)):
        UpstreamReceiptSensor.partial(
            task_id=name,
            required_task="many/monthly/calc",
            deferrable=how,
            poll="2s" if how else "15s",
            **usual,
        ).expand(variables=[{"part": f"{name}-{part}"} for part in range(count)])


@dag(schedule=None)
def upstream_of_many():
    @task
    def calc():
        from ubunye_airflow import record_airflow_run

        for name, count in (("deferrable", 20), ("reschedule", 5)):
            for part in range(count):
                with record_airflow_run("many/monthly/calc", variables={"part": f"{name}-{part}"}):
                    pass

    calc()


@dag(schedule=None)
def gates_across_a_restart():
    gate("opens", "restart/monthly/calc")
    gate("expires", "restart/monthly/calc", wait="45s", variables={"month": "never"})


@dag(schedule=None)
def gates_on_a_failure():
    for mode, how in MODES.items():
        gate(mode, "fails/monthly/calc", on_failed="fail", **how)


@dag(schedule=None)
def gate_waits_long():
    gate("gate", "slow/monthly/calc", wait="2h")


@dag(schedule=None)
def gates_on_the_unknown():
    gate("strict", "unknown/monthly/calk", wait="2h")
    gate("patient", "nobody/knows/this", wait="2h", allow_unknown=True)


gate_opens()
gate_times_out()
gate_dies_once()
many_gates()
upstream_of_many()
gates_across_a_restart()
gates_on_a_failure()
gate_waits_long()
gates_on_the_unknown()
