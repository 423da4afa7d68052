"""A gate in a DAG: it opens once the upstream has succeeded, for this very batch."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, NoReturn

from ubunye_airflow.arguments import check_true_or_false
from ubunye_airflow.circumstances import window
from ubunye_airflow.compat import (
    AirflowFailException,
    AirflowSensorTimeout,
    BaseSensorOperator,
    PokeReturnValue,
    TriggerRule,
    conf,
    first_reschedule,
    recall,
    remember,
)
from ubunye_airflow.external import agreed, understood
from ubunye_airflow.gate import Gate, Look, Outcome
from ubunye_airflow.hooks import DEFAULT_CONN_ID
from ubunye_airflow.links import ReceiptLink
from ubunye_airflow.requiring import ANY_TASK, AsksUpstream
from ubunye_airflow.triggers import UpstreamReceiptTrigger
from ubunye_airflow.variables import comparable_texts, given_variables
from ubunye_core import ConfigError, Requirement, RequirementLike, Window, masked_url

WAIT_BEGAN = "ubunye_wait_began"
HELD_BY_A_SKIP = ("all_success", "all_failed", "one_failed", "none_skipped")
RUN_ANYWAY = frozenset(TriggerRule) - frozenset(map(TriggerRule, HELD_BY_A_SKIP))
"""The trigger rules by which a task may run although its gate was skipped."""


class UpstreamReceiptSensor(AsksUpstream, BaseSensorOperator):
    """Waits until an upstream task has succeeded for the batch of this run, wherever it ran.

    ::

        UpstreamReceiptSensor(
            task_id="calculated",
            required_task="pay/monthly/calc",
            variables={"month": "{{ dag_run.conf['month'] }}"},
            wait="2h",
        )

    It fails at once, without a retry, when waiting is of no use: the task is unknown to the store,
    was skipped by decision, or has finally failed and ``on_failed`` is ``fail``. An answer that
    cannot be told (a store that is down, a damaged receipt) never opens it: it waits, and fails
    when the time is up. All modes behave alike. The whole answer is pushed as XCom.

    Args:
        required_task: The upstream task (or a pattern). Its success must agree on every one of
            ``variables`` less ``mode`` and ``dtf``, for a gate in a DAG knows only what it is
            given.
        variables: The variables of this run. An empty value is an error: a template that found
            nothing must not make a batch of its own.
        requires: Instead of ``required_task``: requirements as in YAML, of a run that has
            ``variables``.
        config: Instead of both: a task's ``config.yaml``, ``receipts.yaml``, or their folder;
            relative to the DAG's file, and read in the worker.
        match: With ``required_task``: the names that must agree, where not all of them.
        store: The store's URL. By default the connection names the store, and then the other
            places of ``ReceiptStoreHook``.
        store_conn_id: The connection of the store.
        wait: How long to keep looking, such as ``2h``; ``0s`` looks once. By default each
            requirement's own ``wait``, and where it has none Airflow's ``timeout``.
        poll: The pause between two looks.
        max_age: With ``required_task``: how old the success may be.
        on_failed: With ``required_task``: ``wait`` (for a rerun), or ``fail``.
        optional: With ``required_task``: a miss is recorded, and passes. Looks once unless
            ``wait`` says otherwise.
        allow_unknown: With ``required_task``: wait for a task that the store has never seen.
        asker: The task that this gate is for, so that a pattern in ``required_task`` does not name
            it too. By default the one that is recorded directly behind it.
        deferrable: Wait in the triggerer. By default what Airflow's configuration says.
        mode: ``reschedule`` or ``poke``, where not deferrable.
        kwargs: Those of every Airflow sensor. ``timeout`` wins over ``wait``, ``poke_interval``
            over ``poll``. What people know from ``ExternalTaskSensor`` is understood where it
            means something here (``failed_states``, ``check_existence``, ``poll_interval``).

    A retry does not wait anew: the deadline counts from the first look of the first try (from
    Airflow 3.3; before that, of each try), and a wait that ran out is not retried.

    Raises:
        ConfigError: an argument is wrong, as far as that can be told when the DAG is read.
    """

    template_fields: Sequence[str] = (
        "required_task",
        "variables",
        "requires",
        "config",
        "store",
        "store_conn_id",
        "asker",
    )
    template_fields_renderers = {"variables": "json", "requires": "json"}  # noqa: RUF012
    ui_color = "#dceadf"
    may_be_empty = False
    """Whether what is asked may be known only when the task runs."""
    operator_extra_links = (ReceiptLink(),)

    def __init__(
        self,
        *,
        required_task: str | None = None,
        variables: Mapping[str, object] | None = None,
        requires: RequirementLike | Iterable[RequirementLike] | None = None,
        config: str | Path | None = None,
        match: Sequence[str] | None = None,
        store: str | None = None,
        store_conn_id: str | None = DEFAULT_CONN_ID,
        wait: timedelta | str | None = None,
        poll: timedelta | str | None = None,
        max_age: timedelta | str | None = None,
        on_failed: str = "wait",
        optional: bool = False,
        allow_unknown: bool = False,
        asker: str | None = None,
        deferrable: bool | None = None,
        mode: str = "reschedule",
        **kwargs: Any,
    ) -> None:
        ours = understood(kwargs)
        poll = agreed("poll", poll, None, ours)
        asked = Requirement(
            ANY_TASK,
            wait=wait,
            poll=poll,
            max_age=max_age,
            on_failed=agreed("on_failed", on_failed, "wait", ours),
            optional=optional,
            allow_unknown=agreed("allow_unknown", allow_unknown, False, ours),
        )
        self._waits_as_told = wait is not None or "timeout" in kwargs
        self._polls_as_told = poll is not None or "poke_interval" in kwargs
        if isinstance(asked.wait, timedelta):
            kwargs.setdefault("timeout", asked.wait)
        if isinstance(asked.poll, timedelta):
            kwargs.setdefault("poke_interval", asked.poll)
        super().__init__(mode=mode, **kwargs)
        if deferrable is not None:
            check_true_or_false(deferrable, "deferrable")
        self._usual_wait = timedelta(seconds=self.timeout)
        if deferrable is None:
            deferrable = conf.getboolean("operators", "default_deferrable", fallback=False)
        self.deferrable = deferrable
        self._since: datetime | None = None
        self._window: Window | None = None
        self._look: Look | None = None
        self._ask(
            asked,
            required_task=required_task,
            requires=requires,
            config=config,
            variables=variables,
            match=match,
            store=store,
            store_conn_id=store_conn_id,
            asker=asker,
            may_be_empty=self.may_be_empty,
        )

    @property
    def reschedule(self) -> bool:
        """Whether the task gives its slot back between two looks, and is started again."""
        return bool(self.mode == "reschedule" and not self.deferrable)

    def execute(self, context: Any) -> Any:
        """Look, and wait as the mode says."""
        self._since = self._wait_began(context)
        self._warn_of_open_doors()
        return super().execute(context)

    def poke(self, context: Any) -> PokeReturnValue:
        """Look once."""
        self._window = window(context)
        try:
            gate = self.gate()
        except ConfigError as error:
            raise AirflowFailException(str(error)) from error
        if self.deferrable:
            _refuse_to_store_secrets(gate)
        return self._act(gate.look(), context, gate)

    def execute_complete(self, context: Any, event: Any = None) -> Any:
        """What the trigger has seen becomes the end of this task."""
        return self._act(Look.of(event), context).xcom_value

    def gate(self) -> Gate:
        """What this sensor asks, once its templates are filled in.

        Raises:
            ConfigError: it cannot be asked.
        """
        variables = given_variables(self.variables)
        requires = tuple(map(self._patient, self._requirements()))
        longest = max(each.length for each in requires).total_seconds()
        self.timeout = max(self.timeout, longest)  # Airflow's own limit must not come first
        return Gate(
            requires=requires,
            variables=variables,
            store=self.store,
            store_conn_id=self.store_conn_id,
            since=self._since or datetime.now(UTC),
            poll=timedelta(seconds=self.poke_interval),
            asker=self._asker(),
            window=self._window,
        )

    def _patient(self, requirement: Requirement) -> Requirement:
        """The requirement with the waiting that holds for it in this sensor."""
        if self._waits_as_told or (requirement.wait is None and not requirement.optional):
            requirement = replace(requirement, wait=self._usual_wait)
        return replace(requirement, poll=None) if self._polls_as_told else requirement

    def _act(self, look: Look, context: Any, gate: Gate | None = None) -> PokeReturnValue:
        """The one place where a look becomes Airflow's: open, wait, or fail."""
        self._look = look
        self.log.info("%s", look.message)
        if look.outcome is Outcome.OPEN:
            return PokeReturnValue(True, xcom_value=look.answer)
        if look.outcome is Outcome.WAIT:
            if self.deferrable and gate is not None:
                self._defer(gate, look)
            return PokeReturnValue(False)
        if look.answer is not None and "ti" in context:
            context["ti"].xcom_push(key="return_value", value=dict(look.answer))
        # Airflow retries neither, and makes both a skip with soft_fail or never_fail.
        if look.outcome is Outcome.REFUSED:
            raise AirflowFailException(look.message)
        raise AirflowSensorTimeout(look.message)

    def _defer(self, gate: Gate, look: Look) -> NoReturn:
        safe = replace(gate, variables=comparable_texts(gate.variables))
        self.defer(
            trigger=UpstreamReceiptTrigger(**safe.fields()),
            method_name="execute_complete",
            # The trigger keeps the deadline. This is for a trigger that hangs.
            timeout=look.left + max(gate.poll, timedelta(minutes=5)),
        )

    def _get_next_poke_interval(self, *args: Any, **kwargs: Any) -> float:
        """Airflow's pause, but no longer than until the deadline."""
        pause = float(super()._get_next_poke_interval(*args, **kwargs))
        if self._look is None or self._look.outcome is not Outcome.WAIT:
            return pause
        if not self.exponential_backoff:
            return self._look.pause.total_seconds()
        return min(pause, self._look.next_end.total_seconds())

    def _wait_began(self, context: Any) -> datetime:
        """When the first look of this task was: of its first try, where Airflow can tell."""
        now = datetime.now(UTC)
        ti = context.get("ti")
        began = first_reschedule(context) or now
        if ti is None or not ti.max_tries:
            return began
        # Clearing a task raises max_tries: whoever clears it means to wait anew.
        key = f"{WAIT_BEGAN}_{ti.max_tries}"
        told = recall(context, key)
        if told is not None:
            return min(began, datetime.fromisoformat(told))
        remember(context, key, began.isoformat(), for_at_least=timedelta(seconds=self.timeout))
        return began

    def _warn_of_open_doors(self) -> None:
        """A refusal that becomes a skip does not hold back every task: say which it lets run."""
        if not (self.soft_fail or self.never_fail) or not self.has_dag():  # type: ignore[no-untyped-call]
            return
        after = ((each.task_id, TriggerRule(each.trigger_rule)) for each in _all_behind(self))
        open_ones = sorted(f"{name} ({rule.value})" for name, rule in after if rule in RUN_ANYWAY)
        if open_ones:
            self.log.warning(
                "soft_fail or never_fail turns a refusal of this gate into a skip, and %s would "
                "run all the same, by its trigger rule. Put the guard inside that task: "
                "run.require(...).",
                ", ".join(open_ones),
            )


def _all_behind(task: Any) -> list[Any]:
    """Every task behind this one, however far: a skip is handed on from task to task.

    A teardown is meant to run in any case.
    """
    found: dict[str, Any] = {}
    to_see = list(task.downstream_list)
    while to_see:
        each = to_see.pop()
        if each.task_id not in found:
            found[each.task_id] = each
            to_see.extend(each.downstream_list)
    return [each for each in found.values() if not getattr(each, "is_teardown", False)]


def _refuse_to_store_secrets(gate: Gate) -> None:
    if gate.store is not None and masked_url(gate.store) != gate.store:
        raise AirflowFailException(
            f"The store's URL {masked_url(gate.store)} has a password, and a task that waits in "
            f"the triggerer would leave it in Airflow's database. Put it into a connection, and "
            f"give store_conn_id."
        )
