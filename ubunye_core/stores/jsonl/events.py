"""A line of a ledger, and what it says.

A line is compact JSON with its fields in a fixed order. Its head says whose it is: ``event``,
``task``, ``run_id`` or ``key``, ``size`` (how many bytes follow the head) and ``head`` (the
checksum of the bytes before). Then come the facts by which it is found, and what it holds; at the
end stands ``crc32``, the checksum of all the bytes before it.

A damaged line counts for its run only where its head is whole and its size is right. Any other may
stand for several lines, of anybody. ``#torn`` at the end of a line is no JSON: it marks a save that
was cut short and never returned.
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
from ubunye_core.stores.deciding import KnownClaim

MAX_LINE_BYTES = MAX_RECEIPT_BYTES + 1024 * 1024
BEGINNING = b'{"event":"'
TORN = b"#torn"

_WHOSE = re.compile(
    rb'\{"event":"([a-z]{1,16})","task":"([^"\\]{1,128})","(run_id|key)":"([^"\\]{1,128})"'
    rb',"size":(\d{1,9})'
)
_HEAD_SUM = re.compile(rb',"head":"([0-9a-f]{8})"')
_HEAD = re.compile(_WHOSE.pattern + _HEAD_SUM.pattern)
_LONGEST_HEAD = 400
_TEXT = rb'"(?:[^"\\]|\\.)*"'
_FACTS = re.compile(
    rb',"status":"([a-z]+)","started_at":"([^"\\]+)"(?:,"attempt":"([0-9a-f]{32})")?'
    rb',"variables":(\{[^{}"]*(?:' + _TEXT + rb'[^{}"]*)*\})'
)
_RECEIPT = b',"receipt":'
_END = re.compile(rb',"crc32":"([0-9a-f]{8})"\}\Z')
_END_BYTES = len(b',"crc32":"01234567"}')


@dataclass(frozen=True, slots=True)
class Head:
    """Whose a line is."""

    event: str
    task: str
    name: str
    """The run id; for a claim, the digest of its batch and mode."""
    size: int
    """How many bytes follow in the whole line."""
    length: int
    """How many bytes the head has."""


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
    claim: KnownClaim
    """As it stands from here on, but for whether it is open; claimed at the moment of the event."""


@dataclass(frozen=True, slots=True)
class Damaged:
    """A line that cannot be read."""

    why: str
    task: str | None = None
    name: str | None = None
    """The run; for a claim, the digest of its batch and mode."""
    is_claim: bool = False


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
        "status": receipt.status.value,
        "started_at": receipt.started_at.isoformat(),
    }
    if receipt.orchestrator is not None:
        facts["attempt"] = attempt_digest(receipt.orchestrator).hex()
    facts["variables"] = dict(receipt.variables)
    return line_of(
        "save", receipt.task, receipt.run_id, _fields(facts | {"receipt": as_json(receipt)})
    )


def claimed_line(event: Claimed) -> bytes:
    """The line that tells what became of a claim."""
    said: dict[str, Json] = {
        "run_id": event.claim.run_id,
        "token": event.claim.token,
        "at": event.claim.claimed_at.isoformat(),
        "until": event.claim.until.isoformat(),
    }
    return line_of(event.what.value, event.task, event.key, _fields(said))


def line_of(event: str, task: str, name: str, fields: bytes) -> bytes:
    """A line, with its end.

    Args:
        event: What happened.
        task: Whose it is.
        name: The run id; for a claim, the digest of its batch and mode.
        fields: What else it holds: fields of JSON, each after a comma.
    """
    kind = "run_id" if event == "save" else "key"
    size = len(fields) + _END_BYTES
    head = f'{{"event":"{event}","task":"{task}","{kind}":"{name}","size":{size}'.encode("ascii")
    content = b'%s,"head":"%08x"%s' % (head, zlib.crc32(head), fields)
    if len(content) + _END_BYTES > MAX_LINE_BYTES:
        raise ValueError(f"a receipt of {len(content)} bytes is too large to be read again")
    return b'%s,"crc32":"%08x"}\n' % (content, zlib.crc32(content))


def _fields(document: dict[str, Json]) -> bytes:
    text = json.dumps(document, separators=(",", ":"), allow_nan=False)
    return f",{text[1:-1]}".encode("ascii")


def attempt_digest(attempt: Orchestrator) -> bytes:
    """What stands for a scheduler's attempt; the same for the same attempt."""
    name, ids = attempt.scheduled_run
    text = json.dumps([name, ids, attempt.attempt])
    return hashlib.blake2b(text.encode(), digest_size=16).digest()


def head_of(line: bytes) -> Head | None:
    """Whose a line is, where the beginning of it is as it was written."""
    found = _WHOSE.match(line)
    if found is None:
        return None
    summed = _HEAD_SUM.match(line, found.end())
    if summed is None or zlib.crc32(found[0]) != int(summed[1], 16):
        return None
    event, task, kind, name, size = (part.decode("utf-8", "replace") for part in found.groups())
    if not _is_task(task) or not is_segment(name) or (kind == "run_id") != (event == "save"):
        return None
    return Head(event, task, name, int(size), summed.end())


def is_whole(line: bytes, head: Head | None) -> bool:
    """Whether a line is as it was written, to its end."""
    if head is None or len(line) - head.length != head.size:
        return False
    end = _END.search(line, len(line) - _END_BYTES)
    return end is not None and zlib.crc32(line[: end.start()]) == int(end[1], 16)


def event_of(line: bytes) -> Event:
    """What a line says, without its end of line."""
    head = head_of(line)
    if head is not None and is_whole(line, head):
        if head.event == "save":
            return _saved(line, head)
        if head.event in list(What):
            return _claimed(line, head)
        return Damaged("it is an event that this version does not know")
    if line.endswith(TORN) and is_cut_short(line[: -len(TORN)], len(line) - len(TORN), head):
        return Torn()
    if not line.startswith(BEGINNING):
        return Damaged("it is no event of a ledger")
    why = "it is not as it was written: it was cut short or changed"
    if head is None or len(line) - head.length != head.size:
        return Damaged(why)  # an end of line may be among what was changed
    return Damaged(why, head.task, head.name, is_claim=head.event != "save")


def is_cut_short(piece: bytes, length: int, head: Head | None) -> bool:
    """Whether a piece of this length is one line without its end, and holds no more than that."""
    if head is not None:
        return length - head.length < head.size
    is_beginning = piece.startswith(BEGINNING) or BEGINNING.startswith(piece)
    return is_beginning and length < _LONGEST_HEAD and _HEAD.match(piece) is None


def receipt_in(line: bytes, head: Head, *, where: str) -> Receipt:
    """The receipt that a whole line saves.

    Raises:
        BadReceiptError: it is no receipt, or another run's.
    """
    _, start = _facts_in(line, head)
    receipt = decode(line[start + len(_RECEIPT) : -_END_BYTES], where=where)
    if (receipt.task, receipt.run_id) != (head.task, head.name):
        raise BadReceiptError(where, "its line is not of the task and run id that stand in it")
    return receipt


def _facts_in(line: bytes, head: Head) -> tuple[re.Match[bytes] | None, int]:
    """The facts in the line of a save, and where they end and its receipt begins."""
    facts = _FACTS.match(line, head.length)
    return facts, head.length if facts is None else facts.end()


def _saved(line: bytes, head: Head) -> Saved | Damaged:
    facts, end = _facts_in(line, head)
    if not line.startswith(_RECEIPT, end):
        return Damaged("it holds no receipt", head.task, head.name)
    if facts is None:  # the receipt itself says
        return _read(line, head)
    try:
        status, started_at = Status(facts[1].decode()), datetime.fromisoformat(facts[2].decode())
    except ValueError:
        return Damaged("it names no status and no start", head.task, head.name)
    attempt = None if facts[3] is None else bytes.fromhex(facts[3].decode())
    return Saved(head.task, head.name, status, started_at, facts[4], attempt)


def _read(line: bytes, head: Head) -> Saved | Damaged:
    try:
        receipt = receipt_in(line, head, where="")
    except BadReceiptError as error:
        return Damaged(error.why, head.task, head.name)
    attempt = None if receipt.orchestrator is None else attempt_digest(receipt.orchestrator)
    variables = json.dumps(dict(receipt.variables), separators=(",", ":")).encode()
    return Saved(head.task, head.name, receipt.status, receipt.started_at, variables, attempt)


def _claimed(line: bytes, head: Head) -> Claimed | Damaged:
    try:
        said = json.loads(line)
        claim = KnownClaim(
            run_id=said["run_id"],
            token=int(said["token"]),
            claimed_at=datetime.fromisoformat(said["at"]),
            until=datetime.fromisoformat(said["until"]),
        )
        return Claimed(What(head.event), head.task, head.name, claim)
    except (ValueError, TypeError, KeyError):
        return Damaged("it tells of no claim", head.task, head.name, is_claim=True)


def _is_task(text: str) -> bool:
    try:
        check_task(text)
    except ValueError:
        return False
    return True
