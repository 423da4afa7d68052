"""Ledgers of runs that other programs keep: a file of JSON lines, one or more for each run."""

from ubunye_core.upkeep.ledger.exporting import ExportedLedger, NotExported, export_ledger
from ubunye_core.upkeep.ledger.importing import ImportedLedger, NotImported, import_ledger
from ubunye_core.upkeep.ledger.lines import BadLine

__all__ = [
    "BadLine",
    "ExportedLedger",
    "ImportedLedger",
    "NotExported",
    "NotImported",
    "export_ledger",
    "import_ledger",
]
