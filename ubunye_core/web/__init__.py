"""The page of receipts: one small web app, which only reads."""

from ubunye_core.web.access import Sees
from ubunye_core.web.app import create_app

__all__ = ["Sees", "create_app"]
