"""How long a writer tries again when others write the same object."""

from __future__ import annotations

import random
import time
from collections.abc import Iterator

SECONDS = 30.0
FIRST_PAUSE, LONGEST_PAUSE = 0.01, 1.0


def turns(seconds: float = SECONDS) -> Iterator[int]:
    """Tries, with growing pauses of random length between them, until the time is over."""
    began, pause, number = time.monotonic(), FIRST_PAUSE, 0
    while number < 3 or time.monotonic() - began < seconds:
        yield number
        time.sleep(random.uniform(0, pause))
        pause = min(LONGEST_PAUSE, pause * 1.6)
        number += 1
