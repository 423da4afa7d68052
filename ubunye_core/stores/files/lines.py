"""The lines of hints: what is known of a run without opening its receipt.

A line ends with a checksum, so that one that is torn, cut or of somebody else's making says
nothing. ``R`` names a run and what it is for. ``T`` says that a run has ended, and how; it counts
only while its file is the one that was described: of the same date, size and inode. ``B`` says
that a run has begun, ``N`` that it is known.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from json.encoder import encode_basestring_ascii
from zlib import crc32

from ubunye_core.batch import NOT_IN_BATCH, Batch, comparable
from ubunye_core.masking import MASK, comparable_value
from ubunye_core.receipt import Orchestrator, Receipt, Status
from ubunye_core.stores.capabilities import Settled
from ubunye_core.stores.successes import rows_of
from ubunye_core.times import instant_of, microseconds

_LETTERS = {
    Status.SUCCESS: "S",
    Status.ERROR: "E",
    Status.INTERRUPTED: "I",
    Status.SKIPPED: "K",
}
OF_STATUS: Mapping[Status, bytes] = {each: text.encode() for each, text in _LETTERS.items()}


_STATUS_OF = {text: each for each, text in OF_STATUS.items()}


def _short(*parts: str | None) -> str:
    # As json.dumps writes the list, which makes itself an encoder for each.
    texts = ("null" if part is None else encode_basestring_ascii(part) for part in parts)
    text = f"[{', '.join(texts)}]"
    return hashlib.blake2b(text.encode(), digest_size=6).hexdigest()


def batch_key(batch: Batch) -> str:
    """What stands for a whole batch; equal batches have equal keys."""
    return f"={batch.digest[:12]}"


def variable_key(name: str, text: str) -> str:
    """What stands for one variable and its value."""
    return f":{_short(name, text)}"


def attempt_key(attempt: Orchestrator) -> str:
    """What stands for a scheduler's attempt."""
    ids = [part for pair in attempt.scheduled_run[1] for part in pair]
    return f"@{_short(attempt.name, str(attempt.attempt), *ids)}"


@dataclass(frozen=True, slots=True)
class Keys:
    """What a run can be found by."""

    batch: str
    variables: tuple[str, ...]
    attempt: str | None

    @classmethod
    def of(cls, receipt: Receipt) -> Keys:
        """The keys of a receipt. What is masked is equal to nothing, so it has none."""
        texts, attempt = sorted(comparable(receipt.variables).items()), receipt.orchestrator
        batch = Batch(tuple((name, text) for name, text in texts if name not in NOT_IN_BATCH))
        return cls(
            batch=batch_key(batch),
            variables=tuple(variable_key(*known) for known in texts if known[1] != MASK),
            attempt=None if attempt is None else attempt_key(attempt),
        )

    def __str__(self) -> str:
        return "".join((self.batch, *self.variables, self.attempt or ""))


def wanted_keys(batch: Mapping[str, str]) -> list[str] | None:
    """The keys that a run has that agrees on these variables; None where none can."""
    asked = {name: comparable_value(text) for name, text in batch.items()}
    if MASK in asked.values():
        return None
    return [variable_key(name, text) for name, text in asked.items()]


def stamp(found: os.stat_result) -> bytes:
    """What tells a file from what it was before."""
    return b"%d %d %d" % (found.st_mtime_ns, found.st_size, found.st_ino)


def sealed(body: str) -> bytes:
    """A line with its checksum."""
    text = body.encode("ascii")
    return b"%b %08x\n" % (text, crc32(text))


def running_line(receipt: Receipt, keys: Keys) -> bytes:
    """That there is a run, and what it is for."""
    return sealed(f"R {receipt.run_id} {keys}")


def begun_line(receipt: Receipt) -> bytes:
    """That a run has begun: what was known of its end is of an earlier one."""
    return sealed(f"B {receipt.run_id}")


def ended_line(receipt: Receipt, keys: Keys, found: os.stat_result) -> bytes:
    """How a run ended whose file the system describes so."""
    window, rows = receipt.window, rows_of(receipt)
    parts = (
        receipt.run_id,
        stamp(found).decode(),
        _LETTERS[receipt.status],
        microseconds(receipt.started_at),
        microseconds(receipt.finished_at),
        "-" if window is None else f"{microseconds(window.start)}/{microseconds(window.end)}",
        "-" if rows is None else rows,
        keys,
    )
    return sealed(" ".join(("T", *map(str, parts))))


def bodies(data: bytes) -> Iterator[bytes | None]:
    """The lines that are whole, without their checksums; None for each that is not."""
    for line in data.split(b"\n"):
        if not line:
            continue
        body, _, seal = line.rpartition(b" ")
        yield body if seal == b"%08x" % crc32(body) else None


def start_of(body: bytes) -> tuple[int, bytes]:
    """By what a run that has ended is ordered, from its line: its start, and its id."""
    parts = body.split(b" ", 7)
    return int(parts[6]), parts[1]


@dataclass(frozen=True, slots=True)
class Fact:
    """What a line says of a run that has ended."""

    text: bytes
    """Its stamp, and what follows it."""

    def is_of(self, found: os.stat_result) -> bool:
        """Whether the file is still the one that was described."""
        return self.text.startswith(stamp(found) + b" ")

    def _parts(self) -> list[bytes]:
        return self.text.split(b" ")

    @property
    def status(self) -> bytes:
        """A letter of ``OF_STATUS``."""
        return self._parts()[3]

    @property
    def started(self) -> int:
        """Microseconds since 1970."""
        return int(self._parts()[4])

    def has(self, key: str) -> bool:
        """Whether the run may have this key."""
        return key.encode() in self.text

    def may_fit(self, status: Status | None, keys: list[str] | None) -> bool:
        """Whether the run may have this status and all these keys."""
        if status is not None and self.status != OF_STATUS.get(status):
            return False
        return all(self.has(key) for key in keys or ())

    def settled(self, run_id: str) -> Settled:
        """The run as the newest of its task."""
        parts = self._parts()
        return Settled(
            run_id=run_id,
            started_at=instant_of(int(parts[4])),
            finished_at=instant_of(int(parts[5])),
            window_end=None if parts[6] == b"-" else instant_of(int(parts[6].split(b"/")[-1])),
            status=_STATUS_OF[parts[3]],
        )


def fact_of(receipt: Receipt, found: os.stat_result) -> Fact:
    """What is known of a run that has ended, from its receipt."""
    line = ended_line(receipt, Keys.of(receipt), found)
    return Fact(line.rpartition(b" ")[0].split(b" ", 2)[2])
