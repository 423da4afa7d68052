"""``ubunye-runs store``: look after a store."""

from __future__ import annotations

import click

from ubunye_core.cli.storecheck import check
from ubunye_core.cli.storecopy import copy
from ubunye_core.cli.storeprune import prune
from ubunye_core.cli.storerepair import repair


@click.group()
def store() -> None:
    r"""Look after a store: check it, copy it, remove what is old, repair it.

    \b
    Examples:
      ubunye-runs store check file:///srv/receipts
      ubunye-runs store copy .ubunye/lineage sqlite:////srv/receipts.db
      ubunye-runs store prune file:///srv/receipts --older-than 400d
      ubunye-runs store repair file:///srv/receipts
    """


for _command in (check, copy, prune, repair):
    store.add_command(_command)
