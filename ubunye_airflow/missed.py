"""Which windows of a task were missed, and which of them a DAG starts now."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from datetime import datetime, timedelta
from enum import StrEnum
from pathlib import Path
from typing import Any

from airflow.sdk.bases.operator import BaseOperator

from ubunye_airflow.answers import plan_fields
from ubunye_airflow.arguments import (
    check_instant_or_ago,
    check_length,
    check_number,
    check_one_task,
    check_path,
    check_store,
    check_text,
    number,
    number_or_none,
    word,
    word_as_written,
)
from ubunye_airflow.compat import AirflowException, AirflowFailException
from ubunye_airflow.files import beside_dag
from ubunye_airflow.hooks import DEFAULT_CONN_ID, ReceiptStoreHook
from ubunye_airflow.requiring import NamesStore
from ubunye_airflow.starts import run_to_trigger, why_not
from ubunye_airflow.timetables import schedule_of_dag
from ubunye_core import (
    Catchup,
    ConfigError,
    Include,
    MissingExtraError,
    Plan,
    PlannedWindow,
    ReceiptStore,
    RequirementLike,
    Schedule,
    StoreUnavailableError,
    ToCatchUp,
    Verdict,
    WindowState,
    plan_backfill,
    read_task,
    requirements_of,
)

ANSWER = "answer"


class OnMissed(StrEnum):
    """What becomes of the task when a window was missed."""

    FAIL = "fail"
    SUCCEED = "succeed"


class MissedWindowsOperator(NamesStore, BaseOperator):
    """Says which windows of a task were missed, and hands on those that may be caught up now.

    ::

        missed = MissedWindowsOperator(
            task_id="missed", receipt_task="sales/daily/load", config="receipts.yaml",
            catchup="all", cap=2, trigger_dag_id="sales_load",
        )
        TriggerDagRunOperator.partial(
            task_id="catch_up", trigger_dag_id="sales_load", skip_when_already_exists=True
        ).expand_kwargs(missed.output)

    It starts nothing by itself, and without ``catchup`` hands on nothing: then it fails when a
    window was missed. It fails too when that cannot be told. The whole answer is pushed as the
    XCom ``answer`` first; what it returns is a list with the arguments of a
    ``TriggerDagRunOperator`` for each window that is to start now, oldest first.

    A window whose run is under way is never among them, and none is there twice: its DAG run has
    the same id until another run of it is on record, and Airflow makes one of that id only once.

    Args:
        receipt_task: The task.
        config: Its ``receipts.yaml`` (or ``config.yaml``, or their folder) with ``schedule`` and
            what it ``requires``; relative to the DAG's file, and read in the worker.
        schedule: Its schedule, or the versions of it. With neither, the timetable of the DAG that
            this operator is in; see ``schedule_of_dag``.
        requires: What must have succeeded for a window's variables, unless ``config`` says so.
        since: Windows that were due then or later, or so long ago.
        retention: How long the source keeps its data.
        include: ``missing``, ``missing+failed`` or ``all``.
        backfill_limit: At most so many windows; 0 is none, -1 is no limit.
        recheck_days: Windows that began so few days ago run again although they succeeded.
        catchup: Which windows are handed on: ``none``, ``latest`` or ``all``.
        cap: How many may run at once, with those under way; None is no limit.
        max_runs: A window that failed after so many runs is left to people.
        trigger_dag_id: The DAG that runs the task: a window for which it has a queued run, which
            has left no receipt yet, is not handed on.
        on_missed: ``fail`` or ``succeed``. By default it fails where nothing is caught up.
        stuck_after: How long a run may be silent, such as ``2h``.
        store: The store's URL; by default see ``ReceiptStoreHook``.
        store_conn_id: The connection of the store.

    Raises:
        ConfigError: an argument is wrong, as far as that can be told when the DAG is read.
    """

    template_fields: Sequence[str] = (
        "receipt_task",
        "config",
        "since",
        "retention",
        "include",
        "backfill_limit",
        "recheck_days",
        "catchup",
        "cap",
        "max_runs",
        "trigger_dag_id",
        "on_missed",
        "stuck_after",
        "store",
        "store_conn_id",
    )
    ui_color = "#dceadf"

    def __init__(
        self,
        *,
        receipt_task: str,
        config: str | Path | None = None,
        schedule: Schedule | Sequence[Schedule] | None = None,
        requires: RequirementLike | Iterable[RequirementLike] | None = None,
        since: timedelta | datetime | str = "30d",
        retention: timedelta | str | None = None,
        include: Include | str = Include.MISSING_AND_FAILED,
        backfill_limit: int | str = -1,
        recheck_days: int | str = 0,
        catchup: Catchup | str = Catchup.NONE,
        cap: int | str | None = None,
        max_runs: int | str | None = None,
        trigger_dag_id: str | None = None,
        on_missed: OnMissed | str | None = None,
        stuck_after: timedelta | str | None = None,
        store: str | None = None,
        store_conn_id: str | None = DEFAULT_CONN_ID,
        **kwargs: Any,
    ) -> None:
        super().__init__(**kwargs)
        if config is not None and (schedule is not None or requires is not None):
            raise ConfigError(
                f"The operator '{self.task_id}' is given a config beside what it would read there.",
                hint="Give config, or schedule and requires.",
            )
        check_one_task(receipt_task, "receipt_task")
        check_path(config, "config", such_as="receipts.yaml")
        check_instant_or_ago(since, "since")
        check_length(retention, "retention")
        check_length(stuck_after, "stuck_after")
        check_number(backfill_limit, "backfill_limit", at_least=-1)
        check_number(recheck_days, "recheck_days", at_least=0)
        for name, given in (("cap", cap), ("max_runs", max_runs)):
            if given is not None:
                check_number(given, name, at_least=1)
        check_text(trigger_dag_id, "trigger_dag_id", such_as="sales_load")
        check_store(store, store_conn_id)
        self.receipt_task, self.config = receipt_task, None if config is None else str(config)
        self.schedule = None if schedule is None else _versions(schedule)
        self.requires = requirements_of(requires) if requires else ()
        self.since, self.retention, self.stuck_after = since, retention, stuck_after
        self.include = word_as_written(Include, include, "include")
        self.catchup = word_as_written(Catchup, catchup, "catchup")
        self.on_missed = (
            None if on_missed is None else word_as_written(OnMissed, on_missed, "on_missed")
        )
        self.backfill_limit, self.recheck_days = backfill_limit, recheck_days
        self.cap, self.max_runs = cap, max_runs
        self.trigger_dag_id = trigger_dag_id
        self.store, self.store_conn_id = store, store_conn_id

    def execute(self, context: Any) -> list[dict[str, Any]]:
        """Ask once.

        Raises:
            AirflowException: windows were missed, or it cannot be told now whether they were.
            AirflowFailException: an argument or the config is wrong; Airflow does not retry.
        """
        try:
            fails, given = self._fails(), self._to_catch_up()
            store = ReceiptStoreHook(self.store_conn_id, store=self.store).get_conn()
            plan = self._plan(given, store)
            runs = {each.name: run_to_trigger(each, given.versions) for each in plan.starts}
        except StoreUnavailableError as error:
            raise AirflowException(str(error)) from error
        except (ConfigError, MissingExtraError) as error:
            raise AirflowFailException(str(error)) from error
        plan = self._without_those_in_airflow(plan, runs, context.get("ti"))
        answer = plan_fields(plan, store.url)
        if "ti" in context:
            context["ti"].xcom_push(key=ANSWER, value=answer)
        self.log.info("%s", plan.reason)
        for each in plan.windows:
            self.log.info("%s: %s: %s", each.name, each.action, each.reason)
        if plan.verdict is not Verdict.PASS:
            raise AirflowException(plan.reason)
        missed = [each for each in plan.windows if _is_missed(each)]
        if missed and fails:
            were = "1 window was" if len(missed) == 1 else f"{len(missed)} windows were"
            raise AirflowException(
                f"{were} missed: {plan.reason} The first is {missed[0].name}: "
                f"{missed[0].reason.rstrip('.')}."
            )
        return [runs[each.name] for each in plan.starts]

    def _to_catch_up(self) -> ToCatchUp:
        if self.config is not None:
            path = beside_dag(self.config, self)
            found = read_task(path, self.receipt_task, retention=self.retention)
            if not found.versions:
                raise ConfigError(
                    f"{path} has no schedule.", hint="Write 'schedule' into its receipts.yaml."
                )
            return found
        return ToCatchUp(
            task=self.receipt_task,
            schedule=schedule_of_dag(self.dag) if self.schedule is None else self.schedule,
            requires=self.requires,
            retention=self.retention,
        )

    def _plan(self, given: ToCatchUp, store: ReceiptStore) -> Plan:
        return plan_backfill(
            given,
            since=self.since,
            store=store,
            include=self.include,
            backfill_limit=number(self.backfill_limit, "backfill_limit"),
            recheck_days=number(self.recheck_days, "recheck_days"),
            catchup=self.catchup,
            cap=number_or_none(self.cap, "cap"),
            max_runs=number_or_none(self.max_runs, "max_runs"),
            stuck_after=self.stuck_after,
        )

    def _without_those_in_airflow(self, plan: Plan, runs: dict[str, Any], ti: Any) -> Plan:
        """The plan, where what Airflow has queued, and has no receipt yet, does not start."""
        if self.trigger_dag_id is None or ti is None:
            return plan
        starts = []
        for each in plan.starts:
            why = why_not(ti, self.trigger_dag_id, each, runs[each.name]["trigger_run_id"])
            if why is None:
                starts.append(each)
            else:
                self.log.info("%s does not start: %s.", each.name, why)
        return replace(plan, starts=tuple(starts))

    def _fails(self) -> bool:
        if self.on_missed is None:
            return word(Catchup, self.catchup, "catchup") is Catchup.NONE
        return word(OnMissed, self.on_missed, "on_missed") is OnMissed.FAIL


def _versions(given: Schedule | Sequence[Schedule]) -> tuple[Schedule, ...]:
    versions = (given,) if isinstance(given, Schedule) else given
    is_some = isinstance(versions, Sequence) and len(versions) > 0
    if not is_some or not all(isinstance(each, Schedule) for each in versions):
        raise ConfigError(
            f"schedule is {given!r}.",
            hint="Give Schedule(cron=..., time_zone=...) of ubunye_core, or versions of it.",
        )
    return tuple(versions)


def _is_missed(planned: PlannedWindow) -> bool:
    """Whether somebody has to look at a window: no run of it is under way as it should be."""
    return planned.state.is_missed and planned.state is not WindowState.RUNNING
