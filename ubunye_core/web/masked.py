"""A receipt fit to be shown, whoever has written it: ours hold no secrets, others' may."""

from __future__ import annotations

import json
from dataclasses import replace

from ubunye_core.codec import as_json, decode
from ubunye_core.masking import MASK, is_secret_name, masked_text
from ubunye_core.receipt import Json, Receipt, Step

_HASH = "sha256:"
_NAMES_OF_PACKAGES = "environment"
_VALUES = ("usual", "given", "value")
"""What stands beside a ``name``, and is its value."""


def masked(receipt: Receipt) -> Receipt:
    """The receipt with ``***`` for what looks like a secret, in unknown fields too."""
    document = {name: _masked_field(name, value) for name, value in as_json(receipt).items()}
    return decode(json.dumps(document).encode(), where=f"{receipt.task} run {receipt.run_id}")


def masked_line(receipt: Receipt) -> Receipt:
    """The same with no more of it than a line of a list shows: some have thousands of inputs.

    Of its outputs the numbers of rows are kept.
    """
    rows = tuple(
        Step(name="-", direction="output", row_count=step.row_count) for step in receipt.outputs
    )
    few = replace(
        receipt,
        inputs=(),
        outputs=(),
        upstreams=(),
        overrides=(),
        timings=(),
        expectations=(),
        environment=None,
        extra={},
    )
    return replace(masked(few), outputs=rows)


def _masked_field(name: str, value: Json) -> Json:
    if name == _NAMES_OF_PACKAGES:  # google-auth is no secret
        return _masked(value, by_name=False)
    found = _masked({name: value})
    return found[name] if isinstance(found, dict) else found


def _masked(value: Json, *, by_name: bool = True) -> Json:
    if isinstance(value, str):
        return masked_text(value)
    if isinstance(value, list):
        return [_masked(each, by_name=by_name) for each in value]
    if isinstance(value, dict):
        named = value.get("name")
        hidden = _VALUES if by_name and isinstance(named, str) and is_secret_name(named) else ()
        return {
            masked_text(name): MASK
            if by_name and (is_secret_name(name) or name in hidden) and _may_be_secret(each)
            else _masked(each, by_name=by_name)
            for name, each in value.items()
        }
    return value


def _may_be_secret(value: Json) -> bool:
    """Not nothing, nor the hash of a column that is named like a secret."""
    return value not in (None, "") and not (isinstance(value, str) and value.startswith(_HASH))
