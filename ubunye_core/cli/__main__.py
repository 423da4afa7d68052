"""``python -m ubunye_core.cli``, where no ``ubunye-runs`` is on the path."""

from ubunye_core.cli import main

main()
