"""Our public API as people use it. Nobody runs this; mypy reads it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

from ubunye_core import (
    Batch,
    CopiedStore,
    Durations,
    ExportedLedger,
    Found,
    Health,
    IfHeld,
    ImportedLedger,
    Morning,
    MorningTask,
    OnFailed,
    Orchestrator,
    Override,
    Patience,
    Pin,
    Policy,
    PrunedStore,
    Receipt,
    ReceiptStore,
    RepairedStore,
    Requirement,
    RequirementAnswer,
    Run,
    RunRefusedError,
    RunSkippedError,
    Schedule,
    Status,
    Step,
    StoreCheck,
    Stretch,
    TaskHealth,
    TaskStats,
    Trend,
    TriggeredBy,
    TriggerKind,
    Unreadable,
    UpstreamAnswer,
    UpstreamNotMetError,
    Verdict,
    Window,
    check_store,
    check_upstream,
    close_run,
    copy_store,
    end_attempt,
    export_ledger,
    fingerprint,
    import_ledger,
    job_health,
    may_run,
    morning,
    open_store,
    overrides_of,
    prune_store,
    read_policy,
    read_requirements,
    read_tasks,
    record_afterwards,
    record_run,
    repair_store,
    require,
    task_stats,
    wait_for_upstream,
)
from ubunye_core.stores import (
    ListsTasks,
    SetsHeartbeat,
    check_run_id,
    check_task,
    decode,
    encode,
    select,
    standing,
)

CALC = "pay/monthly/calc"
store: ReceiptStore = open_store("file:///srv/receipts")
from_the_environment: ReceiptStore = open_store()


class Plugin:
    """A store of four methods and two offers, as another package may write it."""

    heartbeat_every = timedelta(minutes=10)
    documents: dict[tuple[str, str], bytes]

    @property
    def url(self) -> str:
        return "plugin://"

    def tasks(self) -> list[str]:
        return sorted({task for task, _ in self.documents})

    def save(self, receipt: Receipt) -> None:
        key = (check_task(receipt.task), check_run_id(receipt.run_id))
        known = decode(self.documents[key], where="here") if key in self.documents else None
        stands: Receipt | None = standing(known, receipt)
        if stands is not None:
            self.documents[key] = encode(stands)

    def load(self, task: str, run_id: str) -> Receipt:
        return decode(self.documents[task, run_id], where=f"{task} {run_id}")

    def list_runs(self, task: str, n: int = 20) -> Found:
        return select([self.load(of, run) for of, run in self.documents if of == task], (), limit=n)

    def search(
        self,
        task: str | None = None,
        status: Status | None = None,
        since: datetime | None = None,
        *,
        batch: Mapping[str, str] | None = None,
        limit: int | None = None,
    ) -> Found:
        return Found((), [Unreadable(where="plugin://a/b/c", why="it is empty")])


plugin: ReceiptStore = Plugin()
lists_tasks: ListsTasks = Plugin()
sets_heartbeat: SetsHeartbeat = Plugin()


def ask_about_upstreams() -> UpstreamAnswer:
    check_upstream(CALC, variables={"month": "2026-10"}, store=store)
    check_upstream({"task": CALC, "wait": "2h"}, variables={"n": 7}, store=plugin)
    check_upstream([CALC, Requirement(CALC, ["month"])], variables={"month": None}, store=store)
    check_upstream(read_requirements("pay/monthly/send"), variables={}, store=store, now="2026Z")
    check_upstream(read_requirements(Path("config.yaml")), store=store, now=datetime.now(UTC))
    wait_for_upstream(
        Requirement(
            CALC,
            {"month": "2026-10"},
            wait="2h",
            poll=timedelta(seconds=30),
            max_age="40d",
            on_failed=OnFailed.FAIL,
            optional=True,
            allow_unknown=False,
        ),
        variables={"month": "2026-10"},
        store=store,
        wait=timedelta(hours=1),
        deadline="2026-10-15T06:00:00Z",
        on_look=lambda answer, pause: print(answer.reason, pause),
    )
    try:
        return require(CALC, variables={"month": "2026-10"}, store=store)
    except UpstreamNotMetError as refused:
        return refused.answer


def run_on_terms() -> str | None:
    monthly = Schedule(cron="0 2 1 * *", variable="month", start="2026-01-01T00:00:00Z")
    policy: Policy = Policy(require_reason=True, if_held=IfHeld.WAIT, wait="2h")
    changed: tuple[Override, ...] = overrides_of({"limit": 100}, {"limit": [1, 2]})
    recording = record_run(
        CALC,
        variables={"month": "2026-10"},
        guard=True,
        policy=policy,
        overrides=changed,
        rerun=True,
        if_held="wait",
        deadline=datetime.now(UTC),
        poll=timedelta(seconds=5),
        lease="5m",
        ordered=True,
        schedule=[monthly],
    )
    record_run(CALC, guard=True, if_held=IfHeld.SKIP, policy=Path("receipts.yaml"))
    record_run(CALC, policy=read_policy("pay/monthly/calc"), reason="the source was late")
    try:
        with recording as run:
            return run.run_id
    except RunSkippedError as skipped:
        held = skipped.answer.holder
        return None if held is None else held.run_id
    except RunRefusedError as refused:
        before = refused.answer.before
        return None if before is None else before.window.name


def look_before_a_run() -> bool:
    daily = Schedule(every="1d", start="2026-01-01T00:00:00Z")
    window = Window(start=datetime(2026, 10, 1, tzinfo=UTC), end=datetime(2026, 10, 2, tzinfo=UTC))
    return bool(may_run(CALC, ordered=True, schedule=daily, window=window, store=store))


def read_an_answer(answer: UpstreamAnswer) -> bool:
    each: RequirementAnswer
    for each in answer.requirements:
        facts: tuple[str, bool, bool, str | None] = (
            each.task,
            each.met,
            each.decided,
            each.satisfied_by,
        )
        print(facts, each.batch, each.unreadable)
    pins: tuple[Pin, ...] = answer.pins
    pause: timedelta | None = Patience(answer.now).next_look(answer, answer.now)
    print(pins, pause, answer.unreadable)
    return answer.verdict is Verdict.PASS


def ask_about_health() -> bool:
    found: Health = job_health(["pay/*/*", CALC], store=store, max_age="40d", stuck_after="2h")
    task: TaskHealth
    for task in found.tasks:
        at: datetime | None = task.last_success_at
        stuck: tuple[str, ...] = task.stuck
        print(task.verdict, task.last_status is Status.SUCCESS, at, stuck, task.stale)
    return found.verdict is Verdict.PASS


def record() -> None:
    with record_run(CALC, variables={"month": "2026-10"}, store=store, scheduled=True) as run:
        step: Step = run.read("people", "people.csv", format="csv")
        run.wrote("adults", "adults", hash=False)
        run.expect("age >= 18", True, failed=0)
        run.count(loaded=step.row_count)
        print(run.run_id, run.started_at)


@record_run(CALC, variables=lambda month: {"month": month}, requires=CALC)
def calc(month: str, run: Run | None = None) -> int:
    return len(month)


rows: int = calc("2026-10")


def look(receipts: Sequence[Receipt]) -> None:
    for receipt in receipts:
        batch: Batch = receipt.batch
        window: Window | None = receipt.window
        by: TriggeredBy | None = receipt.triggered_by
        print(batch.as_dict(), window, by is not None and by.kind is TriggerKind.MANUAL)


look(store.list_runs(CALC))
look(store.search(CALC, Status.ERROR, batch={"month": "2026-10"}, limit=5))
closed: Receipt = close_run(CALC, "r-1", reason="the node is gone", store=store)
tried = Orchestrator(name="cron", ids={"job": "pay"}, attempt=1)
ended: list[Receipt] = end_attempt(CALC, tried, ended_by="cron", reason="killed", store=store)
late: Receipt = record_afterwards(
    CALC, Status.SKIPPED, reason="a holiday", ended_by="cron", store=store, orchestrator=tried
)
data_hash: str | None = fingerprint("people.csv").data_hash

copied: CopiedStore = copy_store("receipts", store, task="pay/*/*", since="2026-10-01T00:00:00Z")
pruned: PrunedStore = prune_store(store, older_than="400d", remove=not copied.refused)
good: StoreCheck = check_store(store, told=lambda task, receipts: print(task, receipts))
mended: RepairedStore = repair_store(store, set_aside=good.verdict is Verdict.FAIL)
print(pruned.goes, mended.repaired.left)


def count_runs() -> bool:
    found = task_stats(["pay/*/*", CALC], store=store, days=90)
    task: TaskStats
    for task in found.tasks:
        took: Durations | None = task.durations
        day: Stretch
        for day in task.by_day:
            print(day.start, day.succeeded, day.failed)
        rate: float | None = task.success_rate
        print(rate, took is None or took.p95, task.trend is Trend.RISING, task.windows_failed)
    return bool(found)


def tell_the_morning() -> bool:
    answer: Morning = morning("pay/*/*", schedules=read_tasks("tasks"), store=store, since="3d")
    task: MorningTask
    for task in answer.tasks:
        for each in task.to_tell:
            planned = answer.planned(task.task, each)
            print(each.window.name, planned is not None and planned.action)
    return bool(answer)


from_ledger: ImportedLedger = import_ledger(
    Path("ledger.jsonl"), task=CALC, time_zone="Asia/Jakarta", store=store, variable="dt"
)
print([(bad.number, bad.why) for bad in from_ledger.bad], from_ledger.added)
to_ledger: ExportedLedger = export_ledger(
    "new.jsonl", task=CALC, time_zone="Asia/Jakarta", store=store, window="day"
)
print(to_ledger.lines, [each.run_id for each in to_ledger.refused])
