"""A line of a ledger, and what it says.

A line is compact JSON with its fields in a fixed order: ``event`` first, whose it is, the facts by
which it is found, and at the end ``crc32``, the checksum of all the bytes before it. Of a line
without a good checksum only whose it was is believed. ``#torn`` at the end of a line is no JSON: it
marks a save that was cut short and never returned.
"""

from __future__ import annotations

import hashlib
import json
import re
import zlib
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from ubunye_core.codec import MAX_RECEIPT_BYTES, decode
from ubunye_core.codec.writing import as_json
from ubunye_core.errors import BadReceiptError
from ubunye_core.names import check_task, is_segment
from ubunye_core.receipt import Json, Orchestrator, Receipt, Status

MAX_LINE_BYTES = MAX_RECEIPT_BYTES + 1024 * 1024
BEGINNING = b'{"event":"'
TORN = b"#torn"

_WHOSE = re.compile(rb'\{"event":"save","task":"([^"\\]{1,128})","run_id":"([^"\\]{1,128})"')
_TEXT = rb'"(?:[^"\\]|\\.)*"'
_FACTS = re.compile(
    rb',"status":"([a-z]+)","started_at":"([^"\\]+)"(?:,"attempt":"([0-9a-f]{32})")?'
    rb',"variables":(\{[^{}"]*(?:' + _TEXT + rb'[^{}"]*)*\})'
)
_RECEIPT = b',"receipt":'
_CLAIMED = re.compile(
    rb'\{"event":"(?:claim|renew|release)","task":"([^"\\]{1,128})","key":"([0-9a-f]{64})"'
)
_SUM = re.compile(rb',"crc32":(\d{1,10})\}\Z')


@dataclass(frozen=True, slots=True)
class Saved:
    """A receipt was saved: what finds it without reading it."""

    task: str
    run_id: str
    status: Status
    started_at: datetime
    variables: bytes
    """The run's variables as JSON."""
    attempt: bytes | None
    """What stands for the scheduler's attempt."""


class What(StrEnum):
    """What became of a claim."""

    CLAIM = "claim"
    RENEW = "renew"
    RELEASE = "release"


@dataclass(frozen=True, slots=True)
class Claimed:
    """A claim was taken, renewed or given back."""

    what: What
    task: str
    key: str
    """The digest of its batch and mode."""
    run_id: str
    token: int
    at: datetime
    until: datetime


@dataclass(frozen=True, slots=True)
class Damaged:
    """A line that cannot be read."""

    why: str
    task: str | None = None
    run_id: str | None = None
    key: str | None = None
    """Of the claim that it was about."""


@dataclass(frozen=True, slots=True)
class Torn:
    """A line whose writer was killed before its save returned. Nothing was saved by it."""


Event = Saved | Claimed | Damaged | Torn


def saved_line(receipt: Receipt) -> bytes:
    """The line that saves a receipt.

    Raises:
        ValueError: it is too large to be read again, or a number in it is not finite.
    """
    facts: dict[str, Json] = {
        "event": "save",
        "task": receipt.task,
        "run_id": receipt.run_id,
        "status": receipt.status.value,
        "started_at": receipt.started_at.isoformat(),
    }
    if receipt.orchestrator is not None:
        facts["attempt"] = attempt_digest(receipt.orchestrator).hex()
    facts["variables"] = dict(receipt.variables)
    return _line(facts | {"receipt": as_json(receipt)})


def claimed_line(event: Claimed) -> bytes:
    """The line that tells what became of a claim."""
    return _line(
        {
            "event": event.what.value,
            "task": event.task,
            "key": event.key,
            "run_id": event.run_id,
            "token": event.token,
            "at": event.at.isoformat(),
            "until": event.until.isoformat(),
        }
    )


def _line(document: dict[str, Json]) -> bytes:
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    return sealed(text[:-1].encode("ascii"))


def sealed(content: bytes) -> bytes:
    """A line of this content, which is JSON up to its last brace."""
    line = b'%s,"crc32":%d}\n' % (content, zlib.crc32(content))
    if len(line) > MAX_LINE_BYTES:
        raise ValueError(f"a receipt of {len(line)} bytes is too large to be read again")
    return line


def attempt_digest(attempt: Orchestrator) -> bytes:
    """What stands for a scheduler's attempt; the same for the same attempt."""
    name, ids = attempt.scheduled_run
    text = json.dumps([name, ids, attempt.attempt])
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def is_whole(line: bytes) -> bool:
    """Whether a line is as it was written, to its end."""
    return content_of(line) is not None


def content_of(line: bytes) -> bytes | None:
    """A line up to its checksum, if it agrees."""
    found = _SUM.search(line, max(0, len(line) - 24))
    if found is None:
        return None
    content = line[: found.start()]
    return content if zlib.crc32(content) == int(found[1]) else None


def event_of(line: bytes) -> Event:
    """What a line says, without its end of line."""
    content = content_of(line)
    if content is None:
        return Torn() if line.endswith(TORN) else _damaged(line)
    if line.startswith(b'{"event":"save",'):
        return _saved(line, content)
    if _CLAIMED.match(line) is not None:
        return _claimed(line)
    return Damaged("it is an event that this version does not know")


def whose(line: bytes) -> tuple[str, str] | None:
    """The task and the run that the beginning of a line names."""
    found = _WHOSE.match(line)
    if found is None:
        return None
    task, run_id = (part.decode("utf-8", "replace") for part in found.groups())
    return (task, run_id) if _is_task(task) and is_segment(run_id) else None


def receipt_in(line: bytes, *, where: str) -> Receipt:
    """The receipt that a whole line saves.

    Raises:
        BadReceiptError: it is no receipt, or another run's.
    """
    content = line[: line.rindex(b',"crc32":')]
    receipt = decode(_document_in(content), where=where)
    if (receipt.task, receipt.run_id) != whose(line):
        raise BadReceiptError(where, "its line is not of the task and run id that stand in it")
    return receipt


def _document_in(content: bytes) -> bytes:
    _, end = _facts_in(content)
    return content[end + len(_RECEIPT) :]


def _facts_in(content: bytes) -> tuple[re.Match[bytes] | None, int]:
    """The facts in the line of a save, and where they end and its receipt begins."""
    named = _WHOSE.match(content)
    end = 0 if named is None else named.end()
    facts = _FACTS.match(content, end)
    return facts, end if facts is None else facts.end()


def _saved(line: bytes, content: bytes) -> Saved | Damaged:
    named = whose(content)
    if named is None:
        return Damaged("it names no task and no run")
    facts, end = _facts_in(content)
    if not content.startswith(_RECEIPT, end):
        return Damaged("it holds no receipt", *named)
    if facts is None:  # somebody else's line: the receipt itself says
        return _read(line, named)
    try:
        status, started_at = Status(facts[1].decode()), datetime.fromisoformat(facts[2].decode())
    except ValueError:
        return Damaged("it names no status and no start", *named)
    attempt = None if facts[3] is None else bytes.fromhex(facts[3].decode())
    return Saved(*named, status, started_at, facts[4], attempt)


def _read(line: bytes, named: tuple[str, str]) -> Saved | Damaged:
    try:
        receipt = receipt_in(line, where="")
    except BadReceiptError as error:
        return Damaged(error.why, *named)
    attempt = None if receipt.orchestrator is None else attempt_digest(receipt.orchestrator)
    variables = json.dumps(dict(receipt.variables), separators=(",", ":")).encode()
    return Saved(*named, receipt.status, receipt.started_at, variables, attempt)


def _claimed(line: bytes) -> Claimed | Damaged:
    try:
        said = json.loads(line)
        return Claimed(
            What(said["event"]),
            check_task(said["task"]),
            said["key"],
            said["run_id"],
            int(said["token"]),
            datetime.fromisoformat(said["at"]),
            datetime.fromisoformat(said["until"]),
        )
    except (ValueError, TypeError, KeyError):
        return _damaged(line)


def _damaged(line: bytes) -> Damaged:
    """Why a line cannot be read, and whose it was where its beginning shows that."""
    why = "it is not as it was written: it was cut short or changed"
    if not line.startswith(BEGINNING):
        return Damaged("it is no event of a ledger")
    named = whose(line)
    if named is not None:
        return Damaged(why, *named)
    claimed = _CLAIMED.match(line)
    if claimed is not None:
        task, key = (part.decode("utf-8", "replace") for part in claimed.groups())
        return Damaged(why, task if _is_task(task) else None, None, key)
    return Damaged(why)


def _is_task(text: str) -> bool:
    try:
        check_task(text)
    except ValueError:
        return False
    return True
