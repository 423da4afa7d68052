"""Facts kept in the bucket, for processes that live for one look.

A repair writes them. Each stands for one version of an object, as a fresh listing must show it, so
what has changed since is read, and what is missing costs a look.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterable, Mapping
from itertools import islice

from ubunye_core.errors import StoreUnavailableError
from ubunye_core.receipt import Status
from ubunye_core.stores.objects.bucket import Bucket
from ubunye_core.stores.objects.facts import Fact
from ubunye_core.stores.objects.hints import HINTS
from ubunye_core.stores.objects.together import each_of
from ubunye_core.times import parse_instant

IN_ONE = 1000


def read_facts(bucket: Bucket, task: str) -> dict[str, Fact]:
    """What is kept of a task's receipts, by key; nothing of an object that cannot be understood."""
    keys = [each.key for page in bucket.listed(_folder(task)) for each in page]
    facts: dict[str, Fact] = {}
    for stored in each_of(bucket.get, keys):
        if stored is not None:
            facts.update(_decode(stored.document))
    return facts


def write_facts(bucket: Bucket, task: str, facts: Mapping[str, Fact]) -> None:
    """Keep these facts, in place of those that were kept. Of two at once, either may do it."""
    old = {each.key for page in bucket.listed(_folder(task)) for each in page}
    items = iter(sorted(facts.items()))
    new: set[str] = set()
    while part := list(islice(items, IN_ONE)):
        key = f"{_folder(task)}/{len(new):06}"
        bucket.write(key, _encode(part), over=bucket.get(key))
        new.add(key)
    with contextlib.suppress(StoreUnavailableError):  # who may not remove may still repair
        bucket.delete(sorted(old - new))


def _folder(task: str) -> str:
    return f"{HINTS}/{task}/facts"


def _encode(facts: Iterable[tuple[str, Fact]]) -> bytes:
    rows = [
        [key, fact.e_tag, fact.status, fact.started_at.isoformat(), dict(fact.variables)]
        for key, fact in facts
    ]
    return json.dumps({"version": 1, "facts": rows}, separators=(",", ":")).encode()


def _decode(document: bytes) -> dict[str, Fact]:
    try:
        known = json.loads(document)
        facts = {
            str(key): Fact(str(e_tag), Status(status), parse_instant(start), dict(variables))
            for key, e_tag, status, start, variables in known["facts"]
        }
        good = known["version"] == 1 and all(fact.status.is_final for fact in facts.values())
    except (ValueError, TypeError, KeyError, RecursionError):
        return {}
    return facts if good else {}
