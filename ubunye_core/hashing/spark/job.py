"""One job of Spark, which ends with whoever waits for it."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from typing import Any, TypeVar

from ubunye_core.hashing.problems import UnhashableError, is_interruption
from ubunye_core.hashing.rows_v1 import Sums
from ubunye_core.hashing.spark import parcel, worker

T = TypeVar("T")

_HINTS = {
    "No module named 'pyarrow'": "Install pyarrow and numpy where Spark's workers run.",
    "No module named 'numpy'": "Install pyarrow and numpy where Spark's workers run.",
    "PYTHON_VERSION_MISMATCH": "Spark's workers need the Python of the driver (PYSPARK_PYTHON).",
}


def partition_sums(
    frame: Any, names: Sequence[str], choices: Sequence[Sequence[str]]
) -> list[Sums]:
    """The sums of choices of columns, each partition's reckoned where it is."""
    work = parcel.work(names, choices)
    answers = _run(frame, lambda: frame.mapInArrow(work, worker.ANSWER).collect())
    return worker.merged(answers, len(choices))


def counted(frame: Any) -> int:
    """The number of rows, as Spark counts them."""
    count: int = _run(frame, frame.count)
    return count


def _run(frame: Any, action: Callable[[], T]) -> T:
    """Run an action of a frame; when this thread is told to stop, so is Spark."""
    session, tag = frame.sparkSession, f"ubunye-hash-{uuid.uuid4().hex}"
    session.addTag(tag)
    try:
        return action()
    except BaseException as error:
        if is_interruption(error):
            session.interruptTag(tag)
            raise
        raise _problem(error) from None
    finally:
        session.removeTag(tag)


def _problem(error: BaseException) -> UnhashableError:
    """What Spark said, without its own words: they may quote a cell."""
    condition = getattr(error, "getCondition", lambda: None)()
    kind = ", ".join(filter(None, [type(error).__name__, condition]))
    hints = [hint for text, hint in _HINTS.items() if text in str(error)]
    return UnhashableError(
        f"Spark could not read the rows ({kind}).", hint=hints[0] if hints else None
    )
