"""A plan of many tasks that one of them, with something wrong in it, does not stop."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from ubunye_core.errors import ConfigError
from ubunye_core.questions.plan import Plan
from ubunye_core.questions.planned import ToCatchUp


def plan_each(
    tasks: Sequence[ToCatchUp], plan_of: Callable[[Sequence[ToCatchUp]], Plan]
) -> tuple[Plan | None, Mapping[str, ConfigError]]:
    """What can be caught up, and which tasks cannot be planned, each with the reason.

    Args:
        tasks: The tasks; of none there is no plan.
        plan_of: Plans some of them.

    Raises:
        ConfigError: tasks require each other in a circle.
    """
    wrong: dict[str, ConfigError] = {}
    try:
        return (plan_of(tasks) if tasks else None), wrong
    except ConfigError:
        for each in tasks:
            try:
                plan_of([each])
            except ConfigError as error:
                wrong[each.task] = error
        if not wrong:
            raise
    left = [each for each in tasks if each.task not in wrong]
    return (plan_of(left) if left else None), wrong
