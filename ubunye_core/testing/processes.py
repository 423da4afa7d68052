"""What every store that other processes can reach owes to several of them at once."""

from __future__ import annotations

import time
from typing import ClassVar

from ubunye_core.codec import encode
from ubunye_core.errors import BadReceiptError, ReceiptNotFoundError
from ubunye_core.receipt import Status
from ubunye_core.stores import ReceiptStore
from ubunye_core.testing.builders import A_TASK, a_receipt, at
from ubunye_core.testing.children import all_at_once, child, children
from ubunye_core.testing.handles import Handles
from ubunye_core.testing.marks import slow, soak, within
from ubunye_core.testing.worker import BIG_RUN, is_whole


class ProcessConformance(Handles):
    """Tests with real processes and real kills, for a store that a URL opens.

    Subclass it beside ``StoreConformance``. Turn the numbers down where a save costs much.
    """

    WRITERS: ClassVar[int] = 16
    RUNS_OF_EACH: ClassVar[int] = 10
    PARTS: ClassVar[int] = 1300
    """The inputs of a big receipt; so many take more than 500 KiB."""
    LOOK_SECONDS: ClassVar[float] = 3.0
    LOOKS: ClassVar[int] = 10
    """How many looks a reader must manage in that time for the test to say something."""
    KILLS: ClassVar[int] = 25
    SOAK_KILLS: ClassVar[int] = 200

    def test_another_process_sees_a_save_at_once(self, store: ReceiptStore) -> None:
        store.save(a_receipt(status=Status.RUNNING))
        with child(self.address(store)) as other:
            for status in (Status.RUNNING, Status.SUCCESS):
                store.save(a_receipt(status=status))
                assert other.ask("look", task=A_TASK, run_id="run-1") == {
                    "load": status,
                    "list_runs": [status],
                    "search": [status],
                    "unreadable": 0,
                }

    def test_a_save_by_another_process_is_seen_at_once(self, store: ReceiptStore) -> None:
        store.save(a_receipt(status=Status.RUNNING))
        assert len(store.search(A_TASK, Status.RUNNING)) == 1
        with child(self.address(store)) as other:
            ended = encode(a_receipt()).decode()
            assert other.ask("save", documents=[ended]) == {"taken": 1, "refused": 0}
            assert store.load(A_TASK, "run-1") == a_receipt()
            assert list(store.list_runs(A_TASK)) == [a_receipt()]
            assert len(store.search(A_TASK, Status.RUNNING)) == 0
            other_end = encode(a_receipt(status=Status.ERROR)).decode()
            assert other.ask("save", documents=[other_end]) == {"taken": 0, "refused": 1}
        assert store.load(A_TASK, "run-1") == a_receipt()

    @slow
    @within(600)
    def test_processes_that_write_at_once_lose_nothing(self, store: ReceiptStore) -> None:
        with children(self.address(store), self.WRITERS) as writers:
            given = [
                {"task": A_TASK, "name": f"w{number}", "count": self.RUNS_OF_EACH}
                for number in range(self.WRITERS)
            ]
            all_at_once(writers, "save_runs", given)
        found = store.search(A_TASK)
        assert (len(found), found.unreadable) == (self.WRITERS * self.RUNS_OF_EACH, ())
        assert {receipt.status for receipt in found} == {Status.SUCCESS}

    @slow
    @within(600)
    def test_of_several_ends_by_processes_at_once_one_stands(self, store: ReceiptStore) -> None:
        ends = [Status.SUCCESS, Status.ERROR] * 2
        with children(self.address(store), len(ends)) as writers:
            for round_ in range(5):
                run_id = f"r{round_}"
                store.save(a_receipt(run_id=run_id, status=Status.RUNNING))
                offered = [
                    a_receipt(run_id=run_id, status=status, pid=number)
                    for number, status in enumerate(ends)
                ]
                given = [{"documents": [encode(each).decode()]} for each in offered]
                said = all_at_once(writers, "save", given)
                stands = store.load(A_TASK, run_id)
                taken = {ends[number] for number, each in enumerate(said) if each["taken"]}
                assert taken == {stands.status}
                assert stands == offered[stands.pid or 0]

    @slow
    @within(600)
    def test_a_reader_during_writes_never_sees_half_a_receipt(self, store: ReceiptStore) -> None:
        looks = 0
        with child(self.address(store)) as writer:
            writer.ask("rewrite", task=A_TASK, version=0, parts=self.PARTS)
            began = time.monotonic()
            while time.monotonic() - began < self.LOOK_SECONDS or looks < self.LOOKS:
                looks += 1
                self._check_the_big_receipt(store)
                assert is_whole(store.load(A_TASK, BIG_RUN), self.PARTS)

    @slow
    @within(1200)
    def test_a_writer_killed_at_any_point_leaves_the_old_receipt_or_the_new_one(
        self, store: ReceiptStore
    ) -> None:
        self._kill(store, self.KILLS)

    @soak
    @within(7200)
    def test_many_kills_leave_no_half_receipt(self, store: ReceiptStore) -> None:
        self._kill(store, self.SOAK_KILLS)

    def _kill(self, store: ReceiptStore, kills: int) -> None:
        """Kill a writer so many times, each time a little later in its next two saves."""
        version, reached = 0, 0
        for kill in range(kills):
            with child(self.address(store)) as writer:
                asked = {"task": A_TASK, "version": version, "parts": self.PARTS}
                said = writer.ask("rewrite", **asked)
                time.sleep(said["seconds"] * 2 * (kill % self.KILLS) / self.KILLS)
                writer.kill()
            stands = self._check_the_big_receipt(self.reopened(store))
            assert stands >= said["version"], "a save that had returned was lost"
            reached += stands > said["version"]
            version = stands + 1
        assert reached, "no writer came so far that a kill could have hit another save"
        store.save(a_receipt(status=Status.RUNNING))
        store.save(a_receipt(run_id=BIG_RUN, status=Status.INTERRUPTED, ended_at=at(90)))
        assert store.load(A_TASK, BIG_RUN).status is Status.INTERRUPTED
        assert len(store.search(A_TASK)) == 2

    def _check_the_big_receipt(self, store: ReceiptStore) -> int:
        """The version of the one receipt there is, which must be whole."""
        try:
            found = store.search(A_TASK)
            assert (len(found), found.unreadable) == (1, ())
            assert is_whole(found[0], self.PARTS)
            assert store.load(A_TASK, BIG_RUN).run_id == BIG_RUN
        except (BadReceiptError, ReceiptNotFoundError) as error:
            raise AssertionError(f"a reader saw less than a receipt: {error}") from error
        return found[0].pid or 0
