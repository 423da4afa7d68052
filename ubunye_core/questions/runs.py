"""Find one run by its id, or by the beginning of it, in one task or in all."""

from __future__ import annotations

from ubunye_core.errors import (
    AmbiguousRunError,
    BadReceiptError,
    ReceiptNotFoundError,
)
from ubunye_core.names import check_run_id
from ubunye_core.questions.tasks import if_it_never_ran, known_tasks
from ubunye_core.receipt import Receipt
from ubunye_core.stores.protocol import ReceiptStore

_TELL_APART = "Give the whole run id, or its task (--task on the command line)."


def find_run(run_id: str, *, store: ReceiptStore, task: str | None = None) -> Receipt:
    """The receipt of one run.

    Args:
        run_id: Its whole id, or a beginning that fits one run only.
        store: Where the receipts are.
        task: Its task; None looks in all. A whole id wins over a beginning.

    Raises:
        ReceiptNotFoundError: there is none.
        AmbiguousRunError: the beginning fits several runs, or several tasks have this id.
        BadReceiptError: the only one that fits cannot be read.
        StoreUnavailableError: the store could not be read.
    """
    check_run_id(run_id)
    if task is not None:
        return _of_task(task, run_id, store)
    fitting: list[Receipt] = []
    doubtful: list[BadReceiptError] = []
    several: list[str] = []
    for each in _tasks(store):
        try:
            fitting.append(store.load(each, run_id))
        except ReceiptNotFoundError:
            continue
        except AmbiguousRunError as error:
            several += [f"{name} of {each}" for name in error.run_ids]
        except BadReceiptError as error:
            doubtful.append(error)
    exact = [receipt for receipt in fitting if receipt.run_id == run_id]
    if len(exact) == 1 and not doubtful:
        return exact[0]
    named = [f"{receipt.run_id} of {receipt.task}" for receipt in exact or fitting]
    named += [error.where for error in doubtful] + ([] if exact else several)
    if not named:
        raise ReceiptNotFoundError(f"{store.url} holds no run '{run_id}' of any task.")
    if len(named) > 1:
        raise AmbiguousRunError(run_id, named, hint=_TELL_APART)
    if doubtful:
        raise doubtful[0]
    return fitting[0]


def _of_task(task: str, run_id: str, store: ReceiptStore) -> Receipt:
    try:
        return store.load(task, run_id)
    except ReceiptNotFoundError as error:
        hint = if_it_never_ran(task, store).strip()
        raise ReceiptNotFoundError(str(error), hint=hint or None) from error


def _tasks(store: ReceiptStore) -> list[str]:
    known = known_tasks(store)
    return sorted({receipt.task for receipt in store.search()}) if known is None else known
