"""``jsonl:///srv/ledger.jsonl``: one file that only grows, with a line for each event."""

from ubunye_core.stores.jsonl.store import JsonlStore, open_jsonl

__all__ = ["JsonlStore", "open_jsonl"]
