"""``export_ledger``: the way back, which keeps all that a ledger's fields can hold."""

from __future__ import annotations

import io
import json
import resource
import tempfile
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.core.upkeep.ledger.builders import (
    JAKARTA,
    LOAD,
    a_line,
    all_in,
    imported,
    the_morning,
    write,
)
from ubunye_core import (
    ConfigError,
    ExportedLedger,
    Receipt,
    Status,
    StoreUnavailableError,
    TriggeredBy,
    TriggerKind,
    Window,
    export_ledger,
    import_ledger,
    open_store,
)
from ubunye_core.stores import MemoryStore
from ubunye_core.upkeep.ledger.clocks import Clocks

DAY = timedelta(days=1)
START = datetime(2026, 10, 13, 19, tzinfo=UTC)
WINDOW = Window(start=START - timedelta(hours=26), end=START - timedelta(hours=2))


def a_receipt(run_id: str = "r-1", **fields: Any) -> Receipt:
    given = {
        "task": LOAD, "run_id": run_id, "status": Status.SUCCESS, "started_at": START,
        "ended_at": START + timedelta(minutes=3), "window": WINDOW,
    }  # fmt: skip
    return Receipt(**{**given, **fields})


def exported(store: MemoryStore, **more: Any) -> tuple[ExportedLedger, list[dict[str, Any]]]:
    out = io.StringIO()
    done = export_ledger(out, store=store, **{"task": LOAD, "time_zone": JAKARTA, **more})
    return done, [json.loads(line) for line in out.getvalue().splitlines()]


def holding(*receipts: Receipt) -> MemoryStore:
    store = MemoryStore()
    for receipt in receipts:
        store.save(receipt)
    return store


def test_what_was_imported_is_exported_as_it_was(tmp_path: Path) -> None:
    store, lines = MemoryStore(), [*the_morning(), a_line("a b", "2026-10-15", rows=7, tag=None)]
    imported(store, write(tmp_path / "in.jsonl", *lines))
    done = export_ledger(tmp_path / "out.jsonl", task=LOAD, time_zone=JAKARTA, store=store)
    assert (bool(done), done.lines) == (True, 5)
    assert (tmp_path / "out.jsonl").read_text() == (tmp_path / "in.jsonl").read_text()


def test_a_receipt_of_ours_is_a_line_that_other_programs_read() -> None:
    by = TriggeredBy(
        kind=TriggerKind.MANUAL, actor="nina", asserted_by="airflow", reason="late file"
    )
    store = holding(
        a_receipt(status=Status.ERROR, error="ValueError: empty", triggered_by=by),
        a_receipt("r-2", status=Status.RUNNING, ended_at=None, started_at=START + DAY),
        a_receipt("r-3", status=Status.SKIPPED, outcome="refused", started_at=START + 2 * DAY),
    )
    done, lines = exported(store)
    assert done
    assert lines[0] == {
        "run_id": "r-1", "pipeline": LOAD, "window": "2026-10-13", "status": "failed",
        "actual_start": "2026-10-14T02:00:00", "durasi_menit": 3,
        "triggered_by": "nina (manual, alasan: late file)", "galat": "ValueError: empty",
    }  # fmt: skip
    assert [line["status"] for line in lines] == ["failed", "running", "refused"]
    assert lines[1]["durasi_menit"] is None
    assert {line["pipeline"] for line in exported(store, pipeline="etl")[1]} == {"etl"}
    assert [line["run_id"] for line in exported(store, since=START + DAY)[1]] == ["r-2", "r-3"]


def test_a_variable_names_the_window_of_a_run_that_has_none() -> None:
    store = holding(a_receipt(window=None, variables={"dt": "2026-10-13"}))
    done, lines = exported(store, variable="dt")
    assert done
    assert lines[0]["window"] == "2026-10-13"


def test_a_run_that_no_line_can_hold_is_named_and_the_others_are_exported() -> None:
    wide = Window(start=WINDOW.start, end=WINDOW.end + DAY)
    store = holding(
        a_receipt(), a_receipt("r-2", window=None), a_receipt("r-3", window=wide),
        a_receipt("r-4", window=None, variables={"dt": "late"}),
    )  # fmt: skip
    done, lines = exported(store, variable="dt")
    assert not done
    assert [line["run_id"] for line in lines] == ["r-1"]
    assert {each.run_id: each.why for each in done.refused} == {
        "r-2": "it has no window, and no variable names one",
        "r-3": "its window is no whole day of Asia/Jakarta",
        "r-4": "it has no window, and no variable names one",
    }


def test_what_is_unreadable_is_named() -> None:
    store = holding(a_receipt())
    store.put_document(LOAD, "broken", b"{")
    for more in ({}, {"since": START}):
        done, lines = exported(store, **more)
        assert (bool(done), len(done.unreadable), len(lines)) == (False, 1, 1)


def test_a_length_that_cannot_be_is_left_out() -> None:
    backwards = a_receipt(ended_at=START - DAY)
    measured = a_receipt("r-2", ended_at=None, duration_sec=90.0)
    absurd = a_receipt("r-3", ended_at=None, duration_sec=1e300)
    lines = exported(holding(backwards, measured, absurd))[1]
    assert [line["durasi_menit"] for line in lines] == [None, 1.5, None]


def test_a_file_that_is_there_is_not_overwritten(tmp_path: Path) -> None:
    file = write(tmp_path / "out.jsonl", a_line())
    before = file.read_bytes()
    with pytest.raises(ConfigError, match="is there already"):
        export_ledger(file, task=LOAD, time_zone=JAKARTA, store=holding(a_receipt()))
    assert file.read_bytes() == before
    with pytest.raises(ConfigError, match="cannot be written"):
        export_ledger(
            tmp_path / "no" / "x", task=LOAD, time_zone=JAKARTA, store=holding(a_receipt())
        )


def test_half_a_ledger_is_not_left_behind(tmp_path: Path) -> None:
    store = holding(*(a_receipt(f"r-{n}") for n in range(100)))
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))  # as a disk that is full
    try:
        with pytest.raises(ConfigError, match="cannot be written: File too large"):
            export_ledger(tmp_path / "out", task=LOAD, time_zone=JAKARTA, store=store)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert not (tmp_path / "out").exists()


def test_a_store_that_cannot_answer_leaves_no_file(tmp_path: Path) -> None:
    with pytest.raises(StoreUnavailableError):
        export_ledger(
            tmp_path / "x", task=LOAD, time_zone=JAKARTA, store=open_store(tmp_path / "gone")
        )
    assert not (tmp_path / "x").exists()


TEXTS = st.text(
    st.characters(exclude_categories=["Cc", "Cs", "Zl", "Zp", "Zs"], exclude_characters="()=:,@/"),
    min_size=1,
    max_size=12,
)
TRIGGERS = st.one_of(
    st.none(),
    st.builds(
        TriggeredBy,
        kind=st.sampled_from(TriggerKind),
        actor=st.none() | TEXTS,
        asserted_by=st.just("ledger"),
        reason=st.none() | TEXTS,
    ),
)
MINUTES = st.integers(0, 60 * 24 * 3 * 60 * 10**6).map(lambda each: timedelta(microseconds=each))


@st.composite
def receipts(draw: st.DrawFn, zone: str) -> Receipt:
    """One that a ledger's fields can hold: its window is a day of the zone."""
    status = draw(st.sampled_from(Status))
    started = START + draw(st.integers(-(10**14), 10**14)) * timedelta(microseconds=1)
    day = START.date() + draw(st.integers(-400, 400)) * DAY
    took = draw(st.none() | MINUTES) if status.is_final else None
    return Receipt(
        task=LOAD,
        run_id=draw(st.from_regex(r"[A-Za-z0-9_][A-Za-z0-9._-]{0,20}", fullmatch=True)),
        status=status,
        started_at=started,
        ended_at=None if took is None else started + took,
        duration_sec=None if took is None else took.total_seconds(),
        window=Clocks(zone).window_of(day.isoformat()),
        triggered_by=draw(TRIGGERS),
        error=draw(st.none() | TEXTS) if status is not Status.SUCCESS else None,
        outcome=draw(st.sampled_from([None, "refused"])) if status is Status.SKIPPED else None,
    )


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(
    st.data(), st.sampled_from(["America/Chicago", "Europe/London", "Australia/Lord_Howe", JAKARTA])
)
def test_what_is_exported_and_imported_again_is_the_same(data: st.DataObject, zone: str) -> None:
    runs = data.draw(st.lists(receipts(zone), max_size=5, unique_by=lambda run: run.run_id))
    store, again = holding(*runs), MemoryStore()
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "ledger.jsonl"
        assert export_ledger(file, task=LOAD, time_zone=zone, store=store)
        assert import_ledger(file, task=LOAD, time_zone=zone, store=again)
    first, second = all_in(store), all_in(again)
    for document in second.values():
        assert document.pop("ledger") == {"pipeline": LOAD}  # type: ignore[attr-defined]
    assert first == second


LINES = st.builds(
    a_line,
    st.sampled_from(["r-1", "r-2", "a b", "r-1.x"]),
    st.integers(1, 28).map(lambda day: f"2026-10-{day:02}"),
    st.sampled_from(["success", "failed", "running", "skipped", "refused", "interrupted"]),
    st.sampled_from(["2026-10-10T02:00:00", "2026-10-11T02:00:00", "2026-10-12T02:00:00"]),
    triggered_by=st.sampled_from(["scheduler", "nina", "x (Manual , alasan: y)", "cron job", None]),
    galat=st.sampled_from(["(absent)", "empty", "token=hunter2"]),
    rows=st.sampled_from(["(absent)", 1, None]),
)


@pytest.mark.slow
@settings(max_examples=150, deadline=None, derandomize=True)
@given(st.lists(LINES, max_size=8), st.randoms(use_true_random=False))
def test_an_imported_ledger_is_the_same_shuffled_or_exported_and_imported_again(
    lines: list[dict[str, Any]], rng: Any
) -> None:
    one, shuffled, again = MemoryStore(), MemoryStore(), MemoryStore()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        assert imported(one, write(place / "a.jsonl", *lines))
        rng.shuffle(lines)
        imported(shuffled, write(place / "b.jsonl", *lines))
        assert all_in(shuffled) == all_in(one)
        succeeded = {
            (line["run_id"], line["window"]) for line in lines if line["status"] == "success"
        }
        kept = [run for run in one.search() if run.status is Status.SUCCESS]
        assert {(_id(run), _day(run)) for run in kept} == succeeded
        export_ledger(place / "c.jsonl", task=LOAD, time_zone=JAKARTA, store=one)
        assert imported(again, place / "c.jsonl")
    first, second = all_in(one), all_in(again)
    for document in first.values():
        document.get("ledger", {}).pop("other_ends", None)  # type: ignore[attr-defined]
    assert first == second
    assert "hunter2" not in str(first)


@settings(max_examples=100, deadline=None, derandomize=True)
@given(st.data())
def test_a_ledger_that_grows_is_imported_in_parts_as_it_is_at_once(data: st.DataObject) -> None:
    """As a program writes it: a line when a run starts, another when it ends, retries included."""
    events: list[tuple[int, int, dict[str, Any]]] = []
    for number in range(data.draw(st.integers(0, 4))):
        hour = data.draw(st.integers(0, 20))
        for _ in range(data.draw(st.integers(1, 3))):
            start = f"2026-10-20T{hour % 24:02}:{number:02}:00"
            one = {"run_id": f"r-{number}", "window": "2026-10-19", "start": start}
            events.append((hour, number, a_line(status="running", **one)))
            end = data.draw(st.sampled_from(["success", "failed", None]))
            if end is None and data.draw(st.booleans()):
                break  # it is under way
            hour += 1
            if end is None:
                continue  # it was killed
            events.append((hour, number, a_line(status=end, galat="x", **one)))
            if end == "success" or hour > 22:
                break
    lines = [line for _, _, line in sorted(events, key=lambda each: each[:2])]
    cut = data.draw(st.integers(0, len(lines)))
    in_parts, at_once = MemoryStore(), MemoryStore()
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        assert imported(in_parts, write(place / "a.jsonl", *lines[:cut]))
        assert imported(in_parts, write(place / "b.jsonl", *lines))
        assert imported(at_once, place / "b.jsonl")
        assert imported(in_parts, place / "b.jsonl").added == 0
    assert all_in(in_parts) == all_in(at_once)


def _id(run: Receipt) -> object:
    kept = run.extra["ledger"]
    return kept.get("run_id", run.run_id) if isinstance(kept, dict) else None


def _day(run: Receipt) -> object:
    return None if run.window is None else Clocks(JAKARTA).name_of(run.window)
