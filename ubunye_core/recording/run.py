"""One run that is being recorded: what the code inside it can say about itself."""

from __future__ import annotations

import contextlib
import logging
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import Any

from ubunye_core.masking import clean_text, without_secrets
from ubunye_core.questions.requirements import RequirementLike
from ubunye_core.questions.upstream import UpstreamAnswer, require
from ubunye_core.receipt import Counts, Expectation, Receipt, Status, Step, Timing
from ubunye_core.recording.steps import step_of
from ubunye_core.stores.protocol import ReceiptStore
from ubunye_core.times import utc_now

log = logging.getLogger("ubunye_core.recording")
MOST_ROWS = 2**63 - 1


class Run:
    """The run inside a ``record_run`` block.

    What it is told is written with the receipt's end, and with each heartbeat. Nothing here
    raises but ``require``: a lost detail is logged, and the work goes on.

    Attributes:
        store: Where the receipt is kept.
        variables: The run's variables as text, secrets included.
        secrets: The values that must not be written down.
        skip_reason: Why the run decided to do nothing, if it did.
    """

    def __init__(
        self,
        receipt: Receipt,
        store: ReceiptStore,
        variables: Mapping[str, str],
        secrets: Iterable[str] = (),
    ) -> None:
        self.store, self.variables, self.secrets = store, variables, tuple(secrets)
        self._receipt = receipt
        self._lock = threading.RLock()
        self.skip_reason: str | None = None

    @property
    def receipt(self) -> Receipt:
        """The receipt as it stands now."""
        with self._lock:
            return self._receipt

    @property
    def task(self) -> str:
        """The task that runs."""
        return self._receipt.task

    @property
    def run_id(self) -> str:
        """The id of this run."""
        return self._receipt.run_id

    @property
    def started_at(self) -> datetime:
        """When this run first started."""
        return self._receipt.started_at

    def read(
        self,
        name: str,
        data: object = None,
        *,
        hash: bool = True,
        columns: Iterable[str] | None = None,
        per_column: bool = False,
        format: str | None = None,
        location: str | Path | None = None,
    ) -> Step:
        """Record an input: its rows counted, and hashed by rows-v1.

        Args:
            name: What the run calls it.
            data: A pandas, Arrow, Polars or DuckDB frame, anything with
                ``__arrow_c_stream__``, or the path of a Parquet, Arrow or CSV file or folder or
                of a Delta table. A stream that can be read once is used up.
            hash: False keeps the row count only, for inputs too large to read twice.
            columns: Hash these columns only; all by default.
            per_column: Keep a hash of each column too: ``ubunye-runs hash --against`` then tells
                which one changed. Takes about half as long again for each column.
            format: Such as ``parquet``; by default what the location's name, the path or the
                frame tells.
            location: Where it stands, a path or a URL; by default the path. Passwords in it are
                masked.

        Returns:
            What is recorded. ``hash_error`` says why there is no data hash.
        """
        return self._keep(
            step_of(
                name,
                data,
                direction="input",
                hash=hash,
                columns=columns,
                per_column=per_column,
                format=format,
                location=location,
            )
        )

    def wrote(
        self,
        name: str,
        data: object = None,
        *,
        hash: bool = True,
        columns: Iterable[str] | None = None,
        per_column: bool = False,
        format: str | None = None,
        location: str | Path | None = None,
    ) -> Step:
        """Record an output; see ``read``."""
        return self._keep(
            step_of(
                name,
                data,
                direction="output",
                hash=hash,
                columns=columns,
                per_column=per_column,
                format=format,
                location=location,
            )
        )

    def _keep(self, step: Step) -> Step:
        """Put a step into the receipt, without secrets; one of the same name is replaced."""
        step = replace(
            step,
            name=without_secrets(step.name, self.secrets),
            location=without_secrets(step.location, self.secrets),
            hash_error=None if step.hash_error is None else self.clean(step.hash_error),
            column_hashes=None
            if step.column_hashes is None
            else {
                without_secrets(column, self.secrets): found
                for column, found in step.column_hashes.items()
            },
        )
        with self._lock:
            held = self._receipt
            if step.direction == "input":
                self._receipt = replace(held, inputs=_with(held.inputs, step))
            else:
                self._receipt = replace(held, outputs=_with(held.outputs, step))
        if step.hash_error:
            log.warning("%s: '%s' has no data hash: %s", self.task, step.name, step.hash_error)
        return step

    def expect(
        self,
        rule: str,
        passed: bool,
        *,
        output: str | None = None,
        column: str | None = None,
        failed: int | None = None,
        total: int | None = None,
    ) -> bool:
        """Record a rule that was checked, and return whether it passed.

        Args:
            rule: The rule in words or as an expression, without data in it.
            passed: Whether it held.
            output: The input or output it speaks of.
            column: The column it speaks of.
            failed: How many rows broke it.
            total: Of how many.
        """
        held = _truth(passed)
        found = Expectation(
            rule=self.clean(rule),
            passed=held,
            output="" if output is None else self.clean(output),
            failed=_whole(failed),
            total=_whole(total),
            extra={} if column is None else {"column": self.clean(column)},
        )
        with self._lock:
            rules = (*self._receipt.expectations, found)
            self._receipt = replace(self._receipt, expectations=rules)
        return held is True

    def count(
        self,
        *,
        extracted: int | None = None,
        reread: int | None = None,
        transformed: int | None = None,
        filtered: int | None = None,
        quarantined: int | None = None,
        loaded: int | None = None,
    ) -> None:
        """Record how many rows came through; what is not given keeps what was said before."""
        given = {
            "extracted": _whole(extracted),
            "reread": _whole(reread),
            "transformed": _whole(transformed),
            "filtered": _whole(filtered),
            "quarantined": _whole(quarantined),
            "loaded": _whole(loaded),
        }
        said: dict[str, Any] = {name: rows for name, rows in given.items() if rows is not None}
        with self._lock:
            counts = replace(self._receipt.counts or Counts(), **said)
            self._receipt = replace(self._receipt, counts=counts)

    @contextlib.contextmanager
    def timed(self, step: str) -> Iterator[None]:
        """Record how long the block takes, also when it fails."""
        began = time.monotonic()
        try:
            yield
        finally:
            timing = Timing(step=self.clean(step), seconds=round(time.monotonic() - began, 6))
            with self._lock:
                timings = (*self._receipt.timings, timing)
                self._receipt = replace(self._receipt, timings=timings)

    def attempts(self, *, at_most: int) -> None:
        """Correct how many attempts the scheduler makes of this run.

        A scheduler may promise three tries, and a failure may say that there is no use in more.
        """
        with self._lock:
            attempt = self._receipt.orchestrator
            if attempt is not None:
                attempt = replace(attempt, max_attempts=at_most)
                self._receipt = replace(self._receipt, orchestrator=attempt)

    def skip(self, reason: str) -> None:
        """Decide that this run has nothing to do: it ends as ``skipped`` if nothing fails."""
        self.skip_reason = self.clean(reason)

    def require(self, requirements: RequirementLike | Iterable[RequirementLike]) -> UpstreamAnswer:
        """Go on only if every upstream has succeeded for this run's batch.

        What satisfied them is pinned into this run's receipt.

        Raises:
            UpstreamNotMetError: the run may not go on. Let it end the block: the receipt is then
                ``skipped``, with the outcome ``refused`` and the reason.
        """
        answer = require(
            requirements,
            variables=self.variables,
            store=self.store,
            asker=self.task,
            window=self._receipt.window,
        )
        self.pin(answer)
        return answer

    def pin(self, answer: UpstreamAnswer) -> None:
        """Keep what satisfied an upstream question as evidence in this run's receipt."""
        with self._lock:
            kept = [pin for pin in self._receipt.upstreams if pin not in answer.pins]
            self._receipt = replace(self._receipt, upstreams=(*kept, *answer.pins))

    def clean(self, text: object) -> str:
        """What is said about this run, without its secrets."""
        return clean_text(text, self.secrets)

    def beat(self) -> Receipt:
        """The receipt with a fresh sign of life."""
        with self._lock:
            self._receipt = replace(self._receipt, heartbeat_at=utc_now())
            return self._receipt

    def ended(
        self, status: Status, *, seconds: float | None, error: str | None, outcome: str | None
    ) -> Receipt:
        """The receipt with the run's own end; ``seconds`` is None where clocks must tell."""
        now = utc_now()
        if seconds is None:
            seconds = max(0.0, (now - self.started_at).total_seconds())
        with self._lock:
            return replace(
                self._receipt,
                status=status,
                ended_at=now,
                duration_sec=round(seconds, 6),
                error=error,
                outcome=outcome,
                ended_by=None,
            )


def _with(steps: Iterable[Step], step: Step) -> tuple[Step, ...]:
    """The steps with this one; a step of the same name is replaced."""
    return (*(each for each in steps if each.name != step.name), step)


def _whole(number: object) -> int | None:
    """A count as a plain integer, for counts of numpy and its like are no JSON."""
    if number is None:
        return None
    try:
        whole: int = int(number)  # type: ignore[call-overload]
    except Exception as error:
        log.warning("A count is no number, and is not recorded: %s", type(error).__name__)
        return None
    if abs(whole) > MOST_ROWS:
        log.warning("A count is larger than any table, and is not recorded.")
        return None
    return whole


def _truth(passed: object) -> bool | None:
    """Whether a rule held; None where what was given is neither true nor false."""
    try:
        return bool(passed)
    except Exception as error:
        log.warning("Whether a rule held cannot be told: %s", type(error).__name__)
        return None
