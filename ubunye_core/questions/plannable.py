"""A plan of those of many tasks that can be planned: one with something wrong stops no other."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ubunye_core.errors import ConfigError
from ubunye_core.questions.plan import Plan
from ubunye_core.questions.planned import ToCatchUp

PlanOf = Callable[[Sequence[ToCatchUp]], Plan]


def plan_plannable(
    tasks: Sequence[ToCatchUp], plan_of: PlanOf
) -> tuple[Plan | None, Mapping[str, ConfigError]]:
    """What can be caught up, and which tasks cannot be planned, each with the reason.

    Args:
        tasks: The tasks; of none there is no plan.
        plan_of: Plans some of them.

    Raises:
        ConfigError: tasks require each other in a circle.
    """
    try:
        return (plan_of(tasks) if tasks else None), {}
    except ConfigError:
        wrong = _wrong_alone(tasks, plan_of)
        if not wrong:  # it takes several of them
            raise
    left = [each for each in tasks if each.task not in wrong]
    return (plan_of(left) if left else None), wrong


def _wrong_alone(tasks: Sequence[ToCatchUp], plan_of: PlanOf) -> Mapping[str, ConfigError]:
    """The tasks that cannot be planned by themselves, each with the reason."""
    wrong = {}
    for each in tasks:
        try:
            plan_of([each])
        except ConfigError as error:
            wrong[each.task] = error
    return wrong
