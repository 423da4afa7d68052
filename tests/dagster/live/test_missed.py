"""The daemon launches what was missed, and no more."""

from __future__ import annotations

from tests.dagster.live.client import Client, RunSeen
from tests.dagster.live.conftest import A_WHILE, Succeed, finished, two_ticks_after
from tests.dagster.live.server import until
from ubunye_core import ReceiptStore, Status

SENSOR = ("calculation", "news_catch_up")
TASK = "news/daily/load"


def test_the_days_that_were_missed_are_launched_oldest_first_and_no_other(
    client: Client, store: ReceiptStore, succeed: Succeed
) -> None:
    succeed(TASK, day="2024-10-01")
    succeed(TASK, day="2024-10-03")
    client.turn_on(*SENSOR)

    def launched() -> list[RunSeen]:
        return client.runs(dagster__sensor_name="news_catch_up")

    until(
        lambda: len(launched()) >= 2,
        within=A_WHILE,
        what=lambda: f"two runs; ticks: {client.ticks(*SENSOR)[-3:]}",
    )
    for run in launched():
        assert finished(client, run.run_id).status == "SUCCESS"
    later = two_ticks_after(client, *SENSOR, client.last_tick(*SENSOR))
    assert later[-1].run_keys == ()
    assert [run.partition for run in launched()] == ["2024-10-02", "2024-10-04"]
    days = {each.variables["day"]: each.status for each in store.list_runs(TASK)}
    assert days == {f"2024-10-0{number}": Status.SUCCESS for number in range(1, 5)}
