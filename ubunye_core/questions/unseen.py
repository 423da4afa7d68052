"""Why no run was found for any window of a schedule, where the question may be wrong."""

from __future__ import annotations

from collections.abc import Sequence

from ubunye_core.batch import Batch, shown
from ubunye_core.errors import BadReceiptError, ReceiptNotFoundError, StoreUnavailableError
from ubunye_core.questions.expected import Expected
from ubunye_core.questions.tasks import never_ran
from ubunye_core.questions.window_runs import Run
from ubunye_core.receipt import Receipt
from ubunye_core.stores.protocol import ReceiptStore
from ubunye_core.times import to_the_second


def why_unseen(
    task: str, runs: Sequence[Run], expected: Sequence[Expected], store: ReceiptStore
) -> str:
    """Sentences about a task none of whose runs is for one of the windows; empty if none is due.

    A misspelt task, a schedule without ``variable`` and one of another time zone all look as if
    nothing had ever run. Nothing that is said here changes an answer.

    Args:
        task: The task.
        runs: Those that were looked at.
        expected: The windows, at least one.
        store: Where the receipts are.
    """
    try:
        if runs:
            return _of_other_windows(task, runs, expected[-1], store)
        return never_ran(task, store)
    except (StoreUnavailableError, ReceiptNotFoundError, BadReceiptError):
        return ""


def _of_other_windows(task: str, runs: Sequence[Run], window: Expected, store: ReceiptStore) -> str:
    newest = max(runs, key=lambda run: run.order)
    run = newest if isinstance(newest, Receipt) else store.load(task, newest.run_id)
    looked = "The run" if len(runs) == 1 else f"None of the {len(runs):,} runs"
    isnt = "is not" if len(runs) == 1 else "is"
    none = f"{looked} of {task} in this time {isnt} for one of these windows: "
    none += f"{run.run_id} " if len(runs) == 1 else f"the newest, {run.run_id}, "
    last = window.window
    if run.window is not None:
        return (
            f"{none}has the window {to_the_second(run.window.start)} to "
            f"{to_the_second(run.window.end)}, and {last.name} is {to_the_second(last.start)} to "
            f"{to_the_second(last.end)}. Is it another time zone, or another length?"
        )
    batch = Batch.of(run.variables).as_dict()
    is_for = f"is for {shown(batch)}" if batch else "has neither a window nor a variable"
    if window.schedule.variable is not None:
        return f"{none}{is_for}, and a run of {last.name} has {shown(window.variables)}."
    no_window = f"has no window of its own but {is_for}" if batch else is_for
    return (
        f"{none}{no_window}, and the schedule does not say which variable names a window. Try: "
        f"'variable' in the schedule (in a shell --variable)."
    )
