"""``import_ledger``: what each line becomes, and that nothing of it is lost or doubled."""

from __future__ import annotations

import random
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.core.upkeep.ledger.builders import (
    JAKARTA,
    LOAD,
    PIPELINE,
    a_line,
    all_in,
    imported,
    the_morning,
    write,
)
from tests.pages import run_page
from ubunye_core import (
    ConfigError,
    Receipt,
    Status,
    StoreUnavailableError,
    TriggerKind,
    check_upstream,
    close_run,
    export_ledger,
    open_store,
)
from ubunye_core.stores import MemoryStore

MINUTE = timedelta(minutes=1)


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "ledger_runs.jsonl"


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


def nested(levels: int) -> list[object]:
    found: list[object] = []
    for _ in range(levels - 1):
        found = [found]
    return found


def only(store: MemoryStore) -> Receipt:
    (receipt,) = store.search()
    return receipt


def test_a_line_becomes_a_receipt(store, file) -> None:
    line = a_line(
        "r-841", "2026-10-13", "failed", galat="sumber kosong\nTraceback", durasi_menit=2.5
    )
    done = imported(store, write(file, line))
    assert done
    assert (done.lines, done.runs, done.added, done.pipeline) == (1, 1, 1, PIPELINE)
    found = only(store)
    assert (found.task, found.run_id, found.status) == (LOAD, "r-841", Status.ERROR)
    assert found.started_at == datetime(2026, 10, 13, 19, tzinfo=UTC)
    assert found.ended_at == found.started_at + 2.5 * MINUTE
    assert found.duration_sec == 150
    assert found.window is not None
    assert found.window.start == datetime(2026, 10, 12, 17, tzinfo=UTC)
    assert found.window.end == datetime(2026, 10, 13, 17, tzinfo=UTC)
    assert found.window.time_zone == JAKARTA
    assert found.error == "sumber kosong"
    assert found.triggered_by is not None
    assert found.triggered_by.kind is TriggerKind.SCHEDULE
    assert found.variables == {}
    assert found.extra == {"ledger": {"pipeline": PIPELINE}}


def test_of_an_error_the_first_line_is_kept_and_a_reason_to_skip_as_it_was_given(
    store, file
) -> None:
    long = "x" * 400
    lines = [
        a_line("r-1", status="failed", galat=f" {long}\nTraceback"),
        a_line("r-2", status="refused", galat=f"{long}\nand more "),
        a_line("r-3", status="failed", galat=" "),
    ]
    imported(store, write(file, *lines))
    errors = {run.run_id: run.error for run in store.search()}
    assert errors == {"r-1": "x" * 297 + "...", "r-2": f"{long}\nand more", "r-3": None}


def test_a_run_that_is_under_way_has_no_end(store, file) -> None:
    imported(store, write(file, a_line(status="running", durasi_menit=0)))
    assert (only(store).ended_at, only(store).duration_sec) == (None, None)


@pytest.mark.parametrize(
    ("text", "kind", "actor", "reason"),
    [
        ("scheduler", "schedule", None, None),
        ("schedule", "schedule", None, None),
        ("backfill", "backfill", None, None),
        ("s@toko (manual, alasan: sumber kosong)", "manual", "s@toko", "sumber kosong"),
        ("s@toko (manual, reason: late (again))", "manual", "s@toko", "late (again)"),
        ("s@toko", "manual", "s@toko", None),
        ("nina (backfill)", "backfill", "nina", None),
        ("nina (finance)", "manual", "nina (finance)", None),
        ("(manual, alasan: x)", "manual", None, "x"),
    ],
)  # fmt: skip
def test_who_started_a_run_and_why_is_read_from_its_text(
    store, file, text, kind, actor, reason
) -> None:
    imported(store, write(file, a_line(triggered_by=text)))
    by = only(store).triggered_by
    assert by is not None
    assert (by.kind, by.actor, by.reason, by.asserted_by) == (kind, actor, reason, "ledger")


def test_a_second_import_adds_nothing(store, file) -> None:
    write(file, *the_morning(), a_line("9"), a_line("not ä segment", "2026-10-11"))
    assert imported(store, file).added == 6
    before = all_in(store)
    again = imported(store, file)
    assert again
    assert (again.added, again.same) == (0, 6)
    assert all_in(store) == before


def test_lines_that_were_added_are_imported_and_a_run_that_ended_has_its_end(store, file) -> None:
    imported(store, write(file, *the_morning()))
    write(file, *the_morning(), a_line("r-850", "2026-10-14"), a_line("r-860", "2026-10-15"))
    done = imported(store, file)
    assert done
    assert (done.added, done.same) == (2, 3)
    assert {run.run_id: run.status for run in store.search()}["r-850"] is Status.SUCCESS


@pytest.mark.parametrize("seed", range(6))
def test_a_later_failed_line_never_hides_an_earlier_success(store, file, seed) -> None:
    lines = [
        a_line("r-1", status="running"), a_line("r-1"), a_line("r-1", status="failed", galat="x"),
        a_line("r-2", status="failed", start="2026-10-10T09:00:00"),
        a_line("r-3", "2026-10-10", "failed"), a_line("r-3", "2026-10-10"),
    ]  # fmt: skip
    random.Random(seed).shuffle(lines)
    done = imported(store, write(file, *lines))
    assert {run.run_id: run.status.value for run in store.search()} == {
        "r-1": "success", "r-2": "error", "r-3": "success",
    }  # fmt: skip
    assert done.runs == 3
    assert [lines[at - 1]["status"] for at in done.contradictions] == ["failed", "failed"]
    assert store.load(LOAD, "r-1").extra["ledger"]["other_ends"] == [
        {"status": "error", "error": "x"}
    ]


@pytest.mark.parametrize("seed", range(4))
def test_attempts_under_one_id_are_a_run_each(store, file, seed) -> None:
    lines = [
        a_line("r-9", status="running"), a_line("r-9", status="failed"),
        a_line("r-9", status="running", start="2026-10-10T05:00:00"),
        a_line("r-9", start="2026-10-10T05:00:00"),
        a_line("r-9", status="running", start="2026-10-10T07:00:00"),
    ]  # fmt: skip
    random.Random(seed).shuffle(lines)
    imported(store, write(file, *lines))
    assert {run.run_id: run.status.value for run in store.search()} == {
        "r-9": "error", "r-9.20261009T220000Z": "success", "r-9.20261010T000000Z": "running",
    }  # fmt: skip


@pytest.mark.parametrize("noted", ["02:00:03", "02:42:00"])  # twice; or when it ended
def test_a_start_that_is_noted_differently_at_the_end_is_the_first_one(store, file, noted) -> None:
    lines = [a_line(status="running"), a_line(start=f"2026-10-10T{noted}")]
    imported(store, write(file, *lines[:1]))
    assert imported(store, write(file, *lines))
    found = only(store)
    assert (found.status, found.duration_sec) == (Status.SUCCESS, 42 * 60)
    assert found.started_at == datetime(2026, 10, 9, 19, tzinfo=UTC)
    assert imported(store, file).same == 1


@pytest.mark.parametrize("again", ["2026-10-10T02:20:00", "2026-10-10T05:00:00"])
def test_a_run_that_was_killed_stays_under_way_beside_the_next_attempt(store, file, again) -> None:
    lines = [a_line(status="running"), a_line(status="running", start=again), a_line(start=again)]
    for number in (1, 2, 3, 3):
        assert imported(store, write(file, *lines[:number]))
    assert [run.status.value for run in store.search()] == ["success", "running"]


def test_an_id_made_for_an_attempt_is_never_that_of_another_run(store, file) -> None:
    lines = [
        a_line("r-9", status="failed"), a_line("r-9", start="2026-10-10T05:00:00"),
        a_line("r-9.20261009T220000Z", "2026-10-11"),
    ]  # fmt: skip
    assert imported(store, write(file, *lines)).runs == len(store.search()) == 3


def test_one_id_for_several_windows_is_a_run_each(store, file) -> None:
    lines = [a_line("daily", "2026-10-09"), a_line("daily", "2026-10-10", "failed")]
    imported(store, write(file, *reversed(lines)))
    found = {run.run_id: run.status.value for run in store.search()}
    assert found == {"daily": "success", "daily.20261010T190000Z.20261009T170000Z": "error"}


@pytest.mark.parametrize(
    "run_id", ["scheduled__2026-10-09T19:00:00+00:00", "../up", "x" * 129, "\ud800"]
)
def test_an_id_that_can_be_none_of_ours_is_kept_beside_one_that_stands_for_it(
    store, file, run_id
) -> None:
    imported(store, write(file, a_line(run_id)))
    found = only(store)
    assert found.run_id.startswith("ledger-")
    assert found.extra["ledger"]["run_id"] == run_id


def test_an_id_that_shows_another_start_gets_one_that_shows_none(store, file) -> None:
    shown = "01a13ba0-0000-7000-8000-000000000000"
    assert imported(store, write(file, a_line(shown)))
    assert only(store).extra["ledger"]["run_id"] == shown


def test_a_number_may_be_an_id(store, file) -> None:
    imported(store, write(file, a_line(841)))  # type: ignore[arg-type]
    assert only(store).run_id == "841"


@pytest.mark.parametrize(
    ("line", "why"),
    [
        (b"{", "it is not whole JSON"),
        (b"[1]", "it is not a JSON object"),
        (b"\xff\xfe", "it is not UTF-8 text"),
        (b'{"status": 1, "status": 2}', "a field stands in it twice"),
        (b"{" + b" " * 1_100_000 + b"}", "it has more than 1,048,576 bytes"),
        (a_line(deep=nested(62)), "nested more than 60 deep"),
        (a_line(run_id="(absent)"), "'run_id' is missing"),
        (a_line(run_id=" "), "'run_id' is empty"),
        (a_line(run_id=True), "'run_id' is true or false"),  # type: ignore[arg-type]
        (a_line(status="done"), "'status' is none of success, failed"),
        (a_line(start="2026-10-10"), "'actual_start' is no date and time"),
        (a_line(start="yesterday"), "'actual_start' is no date and time"),
        (a_line(start="0001-01-01T00:00:00"), "'actual_start' is no date and time"),
        (a_line(window="2026-10-09x"), "'window' is not a day"),
        (a_line(window="2026-10", start="2026-10-09T02:00:00"), "'window' is not a day"),
        (a_line(window="2026-W41", start="2026-10-09T02:00:00"), "'window' is not a day"),
        (a_line(window="2026-10-09T02:00:00"), "'window' is not a day"),
        (a_line(durasi_menit=-1), "'durasi_menit' is no length of time"),
        (a_line(durasi_menit="3"), "'durasi_menit' is text"),
        (a_line(durasi_menit=1e300), "'durasi_menit' is no length of time"),
        (a_line(galat=["x"]), "'galat' is a list"),
        (a_line(triggered_by=7), "'triggered_by' is a number"),
    ],
)
def test_a_line_that_cannot_be_read_is_named_and_the_others_are_imported(
    store, file, line, why
) -> None:
    done = imported(store, write(file, a_line("r-1"), line, "", a_line("r-4", "2026-10-10")))
    assert not done
    (bad,) = done.bad
    assert bad.number == 2
    assert why in bad.why
    assert {run.run_id for run in store.search()} == {"r-1", "r-4"}
    assert done.lines == 3


def test_no_value_of_a_bad_line_is_shown(store, file) -> None:
    lines = [a_line(status="hunter2"), a_line(start="hunter2"), a_line(window="hunter2", start="x")]
    assert "hunter2" not in str(imported(store, write(file, *lines)))


def test_numbers_that_are_none_are_left_out(store, file) -> None:
    text = '{"run_id": "r-1", "window": "2026-10-09", "status": "success", "durasi_menit": NaN, '
    imported(store, write(file, text + '"actual_start": "2026-10-10T02:00:00", "galat": NaN}'))
    found = only(store)
    assert (found.ended_at, found.error, found.triggered_by) == (None, None, None)
    assert found.extra == {}


def test_fields_that_nobody_knows_are_kept_without_secrets(store, file) -> None:
    line = a_line(
        rows=12, cluster={"nodes": [1, 2], "api_key": "hunter2"}, note="password=hunter2 ok"
    )
    imported(store, write(file, line))
    assert only(store).extra["ledger"]["fields"] == {
        "rows": 12, "cluster": {"nodes": [1, 2], "api_key": "***"}, "note": "password=*** ok",
    }  # fmt: skip


def test_no_secret_of_a_line_reaches_a_receipt(store, file) -> None:
    secret = "postgres://u:hunter2@h/d"
    line = a_line(
        status="failed", galat=f"no {secret}", triggered_by=f"nina (manual, alasan: {secret})"
    )
    imported(store, write(file, line))
    assert "hunter2" not in str(all_in(store))
    assert "no postgres://u:***@h/d" in str(all_in(store))


def test_no_secret_hides_in_a_name_of_a_ledger(store, file, tmp_path) -> None:
    secret = "postgres://u:hunter2@h/d"
    line = a_line(secret, pipeline=secret, more={secret: 1}, **{secret: "x"})
    done = imported(store, write(file, line, {**line, "pipeline": "b"}), pipeline=secret)
    assert "hunter2" not in f"{all_in(store)}{done}"
    export_ledger(tmp_path / "new.jsonl", task=LOAD, time_zone=JAKARTA, store=store)
    assert "hunter2" not in (tmp_path / "new.jsonl").read_text()
    assert imported(store, file, pipeline=secret).same == 1
    for wanted in (None, f"{secret}s"):
        with pytest.raises(ConfigError) as refused:
            imported(store, file, pipeline=wanted)
        assert "hunter2" not in str(refused.value)


@pytest.mark.parametrize("who", [f"x{' ' * 500_000}x", "(a, alasan: " * 80_000], ids=["blank", "("])
def test_a_long_text_of_who_started_a_run_is_read_at_once(store, file, who) -> None:
    begun = time.process_time()
    assert imported(store, write(file, a_line(triggered_by=who))).added == 1
    assert time.process_time() - begun < 10  # a pattern that tries every place takes minutes


def test_of_several_pipelines_one_must_be_named(store, file) -> None:
    write(file, a_line("r-1"), a_line("r-2", pipeline="other"), a_line("r-3", pipeline=None))
    with pytest.raises(ConfigError, match=r"3 pipelines: etl_pesanan_harian \(line 1\), other"):
        imported(store, file)
    assert not all_in(store)
    done = imported(store, file, pipeline=PIPELINE)
    assert (done.runs, done.of_others, done.lines) == (1, 2, 1)
    with pytest.raises(ConfigError, match="no line of the pipeline 'nothing'"):
        imported(store, file, pipeline="nothing")


def test_a_variable_may_name_the_window_for_gates(store, file) -> None:
    imported(store, write(file, *the_morning()), variable="dt")
    met = check_upstream([LOAD], variables={"dt": "2026-10-10"}, store=store)
    assert met.requirements[0].satisfied_by == "r-835"
    assert not check_upstream([LOAD], variables={"dt": "2026-10-13"}, store=store)
    other = MemoryStore()
    imported(other, file, variable="dt", format="%d/%m/%y")
    assert other.load(LOAD, "r-830").variables == {"dt": "09/10/26"}


@pytest.mark.parametrize(
    "wrong",
    [
        {"task": "pay"}, {"time_zone": "Mars/Olympus"}, {"window": "tick"}, {"window": "year"},
        {"format": "%Y"}, {"variable": "api_key"}, {"variable": ""},
        {"variable": "month", "format": "%Y-%m"}, {"variable": "dt", "format": "\ud800%Y-%m-%d"},
        {"time_zone": None},
    ],
)  # fmt: skip
def test_what_cannot_be_meant_is_refused_and_nothing_is_written(store, file, wrong) -> None:
    write(file, *the_morning())
    with pytest.raises(ConfigError):
        imported(store, file, **wrong)
    assert not all_in(store)


def test_a_file_that_cannot_be_read_is_named(store, file, tmp_path) -> None:
    with pytest.raises(ConfigError, match=r"ledger_runs\.jsonl cannot be read: No such file"):
        imported(store, file)
    with pytest.raises(ConfigError, match="Is a directory"):
        imported(store, tmp_path)
    for nothing in ("a\0b", "\ud800"):
        with pytest.raises(ConfigError, match="is a path of nothing"):
            imported(store, nothing)
        with pytest.raises(ConfigError, match="is a path of nothing"):
            export_ledger(nothing, task=LOAD, time_zone=JAKARTA, store=store)
    for url in ("s3://key:hunter2@bucket/l.jsonl", Path("s3://key:hunter2@bucket/l.jsonl")):
        with pytest.raises(ConfigError, match=r"s3://key:\*\*\*@bucket/l.jsonl' is a URL"):
            imported(store, url)
        with pytest.raises(ConfigError, match=r"s3://key:\*\*\*@bucket/l.jsonl' is a URL"):
            export_ledger(url, task=LOAD, time_zone=JAKARTA, store=store)


def test_an_empty_ledger_has_nothing_to_import(store, file) -> None:
    done = imported(store, write(file, "", "  "))
    assert (bool(done), done.lines, done.runs) == (True, 0, 0)


def test_a_dry_run_writes_nothing_and_says_what_it_would(file, tmp_path) -> None:
    write(file, *the_morning())
    done = imported(open_store(tmp_path / "new"), file, dry_run=True)
    assert (done.added, done.running, done.dry_run) == (4, 1, True)
    assert not (tmp_path / "new").exists()


def test_what_the_store_knows_better_stands(store, file) -> None:
    write(file, *the_morning())
    imported(store, file)
    close_run(LOAD, "r-850", reason="the machine was lost", store=store)
    done = imported(store, file)
    assert done
    assert done.ahead == 1
    assert store.load(LOAD, "r-850").status is Status.INTERRUPTED


def test_another_end_on_record_is_never_overwritten_and_named_with_its_line(store, file) -> None:
    imported(store, write(file, a_line("r-1", status="failed")))
    done = imported(store, write(file, a_line("r-0", "2026-10-10"), a_line("r-1")))
    assert not done
    (refused,) = done.refused
    assert (refused.run_id, refused.line) == ("r-1", 2)
    assert "has ended as error" in refused.why
    assert {run.run_id: run.status.value for run in store.search()} == {
        "r-0": "success", "r-1": "error",
    }  # fmt: skip


def test_a_store_that_cannot_be_written_says_so(file) -> None:
    write(file, *the_morning())
    with pytest.raises(StoreUnavailableError):
        imported(open_store("/proc/nowhere"), file)


def test_it_tells_how_far_it_has_come(store, file) -> None:
    told: list[tuple[str, int]] = []
    imported(store, write(file, *the_morning()), told=lambda doing, n: told.append((doing, n)))
    assert told[:4] == [("Reading lines", number) for number in (1, 2, 3, 4)]
    assert told[-1] == ("Saving receipts", 4)


def test_a_refused_run_stays_refused_and_a_skipped_one_skipped(store, file) -> None:
    lines = [a_line("r-1", status="refused"), a_line("r-2", "2026-10-10", "SKIPPED ")]
    imported(store, write(file, *lines))
    assert {run.run_id: run.was_refused for run in store.search()} == {"r-1": True, "r-2": False}


def test_the_page_on_moving_from_a_ledger_runs(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    assert run_page("how-to/move-from-a-ledger.md", tmp_path) == 1
