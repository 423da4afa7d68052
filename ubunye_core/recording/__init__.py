"""Recording runs."""

from ubunye_core.recording.close import close_run
from ubunye_core.recording.outside import end_attempt, record_afterwards
from ubunye_core.recording.overriding import overrides_of
from ubunye_core.recording.record import Recording, record_run
from ubunye_core.recording.run import Run

__all__ = [
    "Recording",
    "Run",
    "close_run",
    "end_attempt",
    "overrides_of",
    "record_afterwards",
    "record_run",
]
