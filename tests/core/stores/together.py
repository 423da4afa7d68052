"""All the damage of ``HoldsDocuments`` in one store, where each of its own costs too much."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from ubunye_core import BadReceiptError, ReceiptStore, Status
from ubunye_core.testing import A_TASK, DAMAGED, HoldsDocuments, a_receipt, at
from ubunye_core.testing.damage import SECRET


class HoldsDocumentsTogether(HoldsDocuments):
    """``HoldsDocuments`` with all kinds of damage beside each other."""

    def test_a_damaged_document_is_listed_as_unreadable(  # type: ignore[override]
        self, store: ReceiptStore, put_document: Callable[[str, str, bytes], None]
    ) -> None:
        store.save(a_receipt())
        kinds = {f"kind-{number}": document for number, document in enumerate(DAMAGED.values())}
        for run_id, document in kinds.items():
            put_document(A_TASK, run_id, document.replace(b"damaged", run_id.encode()))
        for found in (
            store.search(A_TASK),
            store.search(),
            store.list_runs(A_TASK, 1),
            store.search(A_TASK, Status.SUCCESS, at(-60), batch={"month": "2026-10"}),
        ):
            assert [receipt.run_id for receipt in found] == ["run-1"]
            assert len(found.unreadable) == len(kinds)
            for run_id in kinds:
                assert any(bad.where.endswith(run_id) for bad in found.unreadable), run_id
            for bad in found.unreadable:
                assert bad.task == A_TASK
                assert bad.why
                assert SECRET not in bad.why
                assert len(bad.why) < 200
        for run_id in list(kinds)[::8]:
            with pytest.raises(BadReceiptError) as refused:
                store.load(A_TASK, run_id)
            assert SECRET not in str(refused.value)
