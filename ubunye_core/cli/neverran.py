"""A question that no run answers: is there such a store, and such a task in it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TypeVar

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.questions import Verdict
from ubunye_core.questions.answer import unavailable
from ubunye_core.questions.plan import Plan
from ubunye_core.questions.tasks import never_ran
from ubunye_core.questions.windows import Windows
from ubunye_core.stores import ReceiptStore

AnswerT = TypeVar("AnswerT", bound=Windows | Plan)


def with_never_ran(answer: AnswerT, tasks: Sequence[str], store: ReceiptStore) -> AnswerT:
    """An answer that says, too, which of its tasks have never run; ``UNKNOWN`` without a store.

    Where nothing was due, a misspelt task or store looks as well as a right one.

    Args:
        answer: The answer, which is of no run of these tasks.
        tasks: The tasks.
        store: Where their runs would be.
    """
    try:
        said = [never_ran(task, store) for task in tasks]
    except StoreUnavailableError as error:
        bad = unavailable(store, error)
        return replace(answer, verdict=Verdict.UNKNOWN, reason=bad.why, unreadable=(bad,))
    reason = answer.reason
    return replace(answer, reason=" ".join((reason, *(s for s in said if s and s not in reason))))
