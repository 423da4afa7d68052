"""One receipt, with everything that it says, and nothing that must not be shown."""

from __future__ import annotations

import json
from datetime import UTC, datetime

import pytest

from tests.core.web.conftest import CALC, HASH, client, read
from ubunye_core import (
    Counts,
    Expectation,
    Orchestrator,
    Override,
    Pin,
    Recorder,
    Step,
    Timing,
    TriggeredBy,
    TriggerKind,
    Window,
)

RUN = f"/task/{CALC}/run/r-1"
EVERYTHING = {
    "window": Window(
        start=datetime(2026, 10, 1, tzinfo=UTC),
        end=datetime(2026, 11, 1, tzinfo=UTC),
        time_zone="Asia/Jakarta",
        extra={"phase": "waning"},
    ),
    "triggered_by": TriggeredBy(
        kind=TriggerKind.BACKFILL, actor="nina", asserted_by="airflow", reason="late file"
    ),
    "orchestrator": Orchestrator(
        name="airflow", ids={"dag_id": "pay"}, url="https://a.example/x", attempt=2, max_attempts=3
    ),
    "inputs": (
        Step(
            name="people",
            direction="input",
            format="csv",
            location="s3://bucket/people",
            row_count=12345,
            schema_hash=HASH(1),
            data_hash=HASH(2),
            hash_method="rows-v1",
            extra={"source_version": "v77"},
        ),
    ),
    "outputs": (Step(name="adults", direction="output", hash_error="it was not asked for"),),
    "upstreams": (Pin(task="pay/daily/in", run_id="up-1", data_hashes={"rows": HASH(3)}),),
    "overrides": (Override(name="limit", usual="10", given="20"),),
    "timings": (Timing(step="read", seconds=1.5),),
    "expectations": (Expectation(rule="no nulls", passed=False, failed=3, total=9),),
    "counts": Counts(extracted=10, loaded=7),
    "host": "worker-7",
    "pid": 4711,
    "code_hash": HASH(4),
    "config_hash": "cfg-1",
    "environment": {"python": "3.11.9", "packages": {"google-auth": "2.1"}},
    "environment_hash": HASH(5),
    "time_zone": "UTC",
    "recorder": Recorder(name="ubunye-receipts", version="0.1.0"),
    "extra": {"weather": {"sky": "blue"}},
}


def test_everything_that_a_receipt_says_is_on_its_page(look, keep):
    keep(**EVERYTHING)
    seen = look(RUN)
    assert seen.status == 200
    for text in (
        *("2026-10-01T00:00:00Z to 2026-11-01T00:00:00Z (Asia/Jakarta)", "window.phase waning"),
        *("backfill by nina (says airflow)", "late file", "airflow, attempt 2 of 3: dag_id=pay"),
        *(HASH(number) for number in range(1, 6)),
        *("people 12,345", "rows-v1", "s3://bucket/people", "inputs[0].source_version v77"),
        *("none: it was not asked for", "pay/daily/in", "up-1", "limit 10 20", "read 1.5 s"),
        *("no nulls NO", "failed=3, total=9", "10 extracted, 7 loaded", "worker-7, process 4711"),
        *("packages.google-auth 2.1", "ubunye-receipts 0.1.0", "weather.sky blue", "cfg-1"),
    ):
        assert text in seen.text, text
    assert "https://a.example/x" in seen.links


def test_what_a_receipt_does_not_say_has_no_place_on_its_page(look, keep):
    keep(variables={"note": "x" * 500, "mode": "full"})
    seen = look(RUN)
    for title in ("Environment", "Inputs", "Upstreams", "Timings", "does not know"):
        assert title not in seen.text
    assert f"batch note={'x' * 500}" in seen.text  # in full
    assert "not in batch mode=full" in seen.text


def test_the_whole_receipt_is_there_as_json(look, keep):
    keep(**EVERYTHING)
    html = look(RUN).html
    from html import unescape

    document = json.loads(unescape(html.split("<pre", 1)[1].split(">", 1)[1].split("</pre>")[0]))
    assert document["run_id"] == "r-1"
    assert document["weather"] == {"sky": "blue"}


def test_no_secret_of_whoever_wrote_the_receipt_is_shown(keep, store):
    keep(
        "error",
        variables={"month": "2026-10", "db_password": "hunter2", "dsn": "pg://u:hunter2@h/x"},
        error="ValueError: token=hunter2",
        triggered_by=TriggeredBy(kind=TriggerKind.API, reason="see https://u:hunter2@h/"),
        inputs=(Step(name="in", direction="input", location="s3://u:hunter2@b/x"),),
        overrides=(Override(name="api_key", usual="hunter2", given="password=hunter2"),),
        extra={"auth": {"deep": ["hunter2"]}, "list": [{"secret": "hunter2"}], "t": "pwd=hunter2"},
    )
    keep()
    asking = client(store)
    for path in ("/", f"/task/{CALC}", RUN, f"/task/{CALC}/compare?a=r-1&b=r-2", "/health.json"):
        answer = asking.get(path)
        assert answer.status_code == 200
        assert "hunter2" not in answer.text, path
    assert "***" in asking.get(RUN).text


@pytest.mark.parametrize(
    "url", ["javascript:alert(1)", "data:text/html,x", "//a.example", "ftp://x"]
)
def test_an_address_that_is_not_of_the_web_is_no_link(look, keep, url):
    keep(orchestrator=Orchestrator(name="x", ids={"a": "b"}, url=url))
    seen = look(RUN)
    assert url in seen.text
    assert not any(url in link for link in seen.links)


def test_an_unreadable_receipt_is_told_loudly(look, keep, damage):
    keep()
    damage()
    seen = look(f"/task/{CALC}/run/broken")
    assert seen.status == 500
    assert "This receipt cannot be read" in seen.text
    assert "not whole JSON" in seen.text


@pytest.mark.parametrize("run_id", ["r-", "r-2", "R-1"])
def test_only_a_whole_id_finds_a_run(look, keep, run_id):
    keep()
    seen = look(f"/task/{CALC}/run/{run_id}")
    assert (seen.status, f"There is no run {run_id} of {CALC}." in seen.text) == (404, True)


def test_a_link_may_name_an_attempt_instead_of_a_run(keep, store):
    ids = {"dag_id": "pay", "run_id": "x y", "task_id": "calc", "map_index": "-1"}
    keep(orchestrator=Orchestrator(name="airflow", ids=ids, attempt=1, max_attempts=3))
    keep(orchestrator=Orchestrator(name="airflow", ids=ids, attempt=2, max_attempts=3))
    asking = client(store)
    query = {f"id.{name}": text for name, text in ids.items()} | {"orchestrator": "airflow"}
    for attempt, run_id in (("1", "r-1"), ("2", "r-2")):
        answer = asking.get(f"/task/{CALC}/attempt", params={**query, "attempt": attempt})
        assert answer.status_code == 303
        assert answer.headers["location"] == f"/task/{CALC}/run/{run_id}"
    none = asking.get(f"/task/{CALC}/attempt", params={**query, "attempt": "3"})
    assert none.status_code == 404
    assert "no receipt of this attempt" in read(none).text
    assert asking.get(f"/task/{CALC}/attempt").status_code == 400


def test_an_attempt_whose_receipt_may_be_damaged_is_not_said_to_have_none(keep, store, damage):
    keep()
    damage()
    for asking in (client(store), client(store, access=lambda request: lambda receipt: True)):
        seen = read(asking.get(f"/task/{CALC}/attempt?attempt=1&id.dag_id=pay"))
        assert seen.status == 500
        assert "it may be that of the attempt asked for" in seen.text


def test_a_receipt_with_thousands_of_outputs_shows_the_first_and_says_so(look, keep):
    steps = tuple(Step(name=f"out-{number}", direction="output") for number in range(700))
    keep(outputs=steps)
    seen = look(RUN)
    assert "out-499" in seen.text
    assert "and 200 more, which the JSON has." in seen.text
