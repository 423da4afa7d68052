"""The policy of a task: what stands in its YAML, and what a run is refused for."""

from __future__ import annotations

import os
import pwd
import subprocess
import sys
from datetime import timedelta
from pathlib import Path

import pytest

from ubunye_core import (
    ConfigError,
    IfHeld,
    Policy,
    RunRefusedError,
    RunSkippedError,
    Status,
    TriggeredBy,
    TriggerKind,
    claim,
    read_policy,
    record_run,
)
from ubunye_core.stores import FileStore

CALC = "pay/monthly/calc"
OCTOBER = {"month": "2026-10"}
ME = pwd.getpwuid(os.getuid()).pw_name


@pytest.fixture
def store(tmp_path: Path) -> FileStore:
    return FileStore(tmp_path / "receipts")


def written(folder: Path, text: str, name: str = "receipts.yaml") -> Path:
    path = folder / name
    path.write_text(text)
    return path


def test_a_policy_is_read_as_it_is_written(tmp_path: Path) -> None:
    path = written(
        tmp_path,
        "policy: {require_reason: true, ordered: true, if_held: wait, wait: 2h, poll: 5s, "
        "lease: 5m}\n",
    )
    assert read_policy(path) == read_policy(tmp_path) == Policy(
        require_reason=True, ordered=True, if_held=IfHeld.WAIT, wait=timedelta(hours=2),
        poll=timedelta(seconds=5), lease=timedelta(minutes=5),
    )  # fmt: skip


def test_a_task_without_a_policy_has_an_empty_one(tmp_path: Path) -> None:
    assert read_policy(written(tmp_path, "owner: payments\n")) == Policy()
    assert not Policy().guards
    assert not Policy(require_reason=True).guards
    assert Policy(lease="1m").guards


def test_a_policy_may_stand_in_the_engines_file(tmp_path: Path) -> None:
    written(tmp_path, "CONFIG:\n  policy: {guard: true}\n", "config.yaml")
    assert read_policy(tmp_path) == Policy(guard=True)
    written(tmp_path, "owner: payments\npolicy: {guard: true}\n")
    with pytest.raises(ConfigError, match=r"receipts.yaml, line 2: 'policy' stands in .*config"):
        read_policy(tmp_path)


@pytest.mark.parametrize(
    ("text", "line", "said"),
    [
        ("policy: {}", 1, "empty"),
        ("policy: strict", 1, "not a map"),
        ("policy:\n  guard: true\n  reason: yes", 3, "'reason' is not a known key"),
        ("policy:\n  guard: true\n  require_reason: yes", 3, "not true or false"),
        ("policy:\n  lease: long", 2, "not a length of time"),
        ("policy:\n  guard: true\n  if_held: queue", 3, "if_held"),
        ("policy:\n  guard: true\n  wait: 2h", 3, "if_held: wait"),
        ("policy:\n  if_held: wait\n  poll: 0s", 3, "zero"),
    ],
)
def test_an_error_names_the_file_and_the_line(
    tmp_path: Path, text: str, line: int, said: str
) -> None:
    path = written(tmp_path, text)
    with pytest.raises(ConfigError, match=said) as error:
        read_policy(path)
    assert str(error.value).startswith(f"{path}, line {line}: ")


@pytest.mark.parametrize("reason", [None, "", "  "])
def test_a_run_by_hand_without_a_reason_is_refused(store: FileStore, reason: str | None) -> None:
    policy = Policy(require_reason=True)
    with (
        pytest.raises(RunRefusedError, match=f"by hand by {ME}, and its policy wants a reason"),
        record_run(CALC, variables=OCTOBER, store=store, policy=policy, reason=reason),
    ):
        raise AssertionError("nobody said why")
    (found,) = store.list_runs(CALC)
    assert (found.status, found.outcome) == (Status.SKIPPED, "refused")
    assert found.triggered_by is not None
    assert (found.triggered_by.actor, found.triggered_by.asserted_by) == (ME, "os-user")


def test_a_run_by_hand_with_a_reason_is_recorded_with_it(store: FileStore) -> None:
    policy = Policy(require_reason=True)
    with record_run(CALC, store=store, policy=policy, reason="the source was late"):
        pass
    (found,) = store.list_runs(CALC)
    assert found.triggered_by == TriggeredBy(
        kind=TriggerKind.MANUAL, actor=ME, asserted_by="os-user", reason="the source was late"
    )


def test_runs_that_nobody_started_need_no_reason(store: FileStore) -> None:
    policy = Policy(require_reason=True)
    with record_run(CALC, store=store, policy=policy, scheduled=True):
        pass
    for kind in TriggerKind:
        if kind is not TriggerKind.MANUAL:
            with record_run(CALC, store=store, policy=policy, triggered_by=TriggeredBy(kind=kind)):
                pass
    assert {run.status for run in store.list_runs(CALC)} == {Status.SUCCESS}


def test_a_reason_is_wanted_on_stores_without_claims_too(store: FileStore) -> None:
    class Plain:
        url = "plain://"
        save, load, search, list_runs = store.save, store.load, store.search, store.list_runs

    policy = Policy(require_reason=True)
    with pytest.raises(RunRefusedError), record_run(CALC, store=Plain(), policy=policy):  # type: ignore[arg-type]
        raise AssertionError("nobody said why")
    with record_run(CALC, store=Plain(), policy=policy, reason="because"):  # type: ignore[arg-type]
        pass


def test_a_scheduler_that_does_not_know_who_leaves_it_to_the_system(store: FileStore) -> None:
    by = TriggeredBy(kind=TriggerKind.MANUAL, asserted_by="airflow", reason="late")
    with record_run(CALC, store=store, triggered_by=by):
        pass
    with record_run(CALC, store=store, triggered_by=TriggeredBy(kind=TriggerKind.SENSOR)):
        pass
    by_sensor, by_hand = (run.triggered_by for run in store.list_runs(CALC))
    assert by_hand is not None
    assert by_sensor is not None
    assert (by_hand.actor, by_hand.asserted_by, by_hand.reason) == (ME, "os-user", "late")
    assert (by_sensor.actor, by_sensor.asserted_by) == (None, None)


def test_the_environment_does_not_say_who_somebody_is(
    store: FileStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name in ("USER", "LOGNAME", "LNAME", "USERNAME"):
        monkeypatch.setenv(name, "somebody-else")
    with record_run(CALC, store=store):
        pass
    (found,) = store.list_runs(CALC)
    assert found.triggered_by is not None
    assert found.triggered_by.actor == ME


def test_the_user_of_a_notebook_is_known_by_its_context(store: FileStore, tmp_path: Path) -> None:
    """With a stand-in for what a notebook of Databricks has in its process."""
    (tmp_path / "IPython.py").write_text(
        "class Part:\n"
        "    def __getattr__(self, name): return lambda: 'ann@example.com' if name == 'get' else "
        "Part()\n"
        "class Tools:\n"
        "    class notebook:\n"
        "        entry_point = Part()\n"
        "class Shell:\n"
        "    user_ns = {'dbutils': Tools}\n"
        "get_ipython = Shell\n"
    )
    program = (
        "import IPython\nfrom ubunye_core import record_run\n"
        f"with record_run({CALC!r}, store={str(store.root)!r}): pass\n"
    )
    path = os.pathsep.join([str(tmp_path), *map(os.path.abspath, sys.path)])
    for environment in ({}, {"DATABRICKS_RUNTIME_VERSION": "17.3"}):
        given = os.environ | {"PYTHONPATH": path} | environment
        subprocess.run([sys.executable, "-P", "-c", program], env=given, check=True, timeout=60)
    on_databricks, elsewhere = (run.triggered_by for run in store.list_runs(CALC))
    assert on_databricks is not None
    assert elsewhere is not None
    assert (on_databricks.actor, on_databricks.asserted_by) == ("ann@example.com", "databricks")
    assert (elsewhere.actor, elsewhere.asserted_by) == (ME, "os-user")


def test_a_run_goes_by_the_policy_in_its_file(store: FileStore, tmp_path: Path) -> None:
    path = written(tmp_path, "policy: {if_held: skip, lease: 1h, require_reason: true}\n")
    assert claim(CALC, OCTOBER, run_id="holder", store=store)
    given = {"variables": OCTOBER, "store": store, "policy": path}
    with pytest.raises(RunRefusedError, match="reason"):
        record_run(CALC, **given).__enter__()  # type: ignore[arg-type]
    with pytest.raises(RunSkippedError):
        record_run(CALC, reason="again", **given).__enter__()  # type: ignore[arg-type]
    with pytest.raises(RunRefusedError) as refused:  # the call says otherwise
        record_run(CALC, reason="again", if_held="fail", **given).__enter__()  # type: ignore[arg-type]
    assert not isinstance(refused.value, RunSkippedError)


def test_an_order_in_a_file_is_that_of_the_schedule_beside_it(
    store: FileStore, tmp_path: Path
) -> None:
    written(
        tmp_path,
        "policy: {ordered: true}\n"
        "schedule: {cron: 0 2 1 * *, window: month, variable: month, start: 2026-08-31T00:00Z}\n",
    )

    def run(month: str) -> None:
        with record_run(CALC, variables={"month": month}, store=store, policy=tmp_path):
            pass

    with pytest.raises(RunRefusedError, match="2026-08, which comes before 2026-09"):
        run("2026-09")
    run("2026-08")
    run("2026-09")
    with pytest.raises(ConfigError, match="none is given"):
        record_run(CALC, variables=OCTOBER, store=store, policy=Policy(ordered=True)).__enter__()


def test_what_is_no_policy_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"is no policy\. Give Policy\("):
        record_run(CALC, policy=7)  # type: ignore[arg-type]
    with pytest.raises(ConfigError, match="neither"):
        record_run(CALC, policy="/")
