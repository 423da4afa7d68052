"""A receipt as JSON text, and back. Nothing else here knows the stored form.

Reads record versions 1 and 2. Fields that are not known are kept and written back; a document
that is no receipt is a ``BadReceiptError`` that says where and why, and never shows a value.
"""

from ubunye_core.codec.brief import Brief, decode_briefly
from ubunye_core.codec.reading import MAX_DEPTH, MAX_RECEIPT_BYTES, decode
from ubunye_core.codec.writing import as_json, encode

__all__ = [
    "MAX_DEPTH", "MAX_RECEIPT_BYTES", "Brief", "as_json", "decode", "decode_briefly", "encode",
]  # fmt: skip
