"""Ports of this machine, for servers of tests that cannot choose their own."""

from __future__ import annotations

import secrets
import socket

_BELOW_THOSE_THAT_THE_SYSTEM_GIVES = range(20_000, 32_768)
"""Until the server listens, nobody else who connects or asks for any port is given one of these."""
_given: set[int] = set()


def free_port() -> int:
    """A port that nothing listens on, and that was not given before."""
    while True:
        port = secrets.choice(_BELOW_THOSE_THAT_THE_SYSTEM_GIVES)
        if port in _given:
            continue
        with socket.socket() as found:
            try:
                found.bind(("127.0.0.1", port))
            except OSError:
                continue
        _given.add(port)
        return port
