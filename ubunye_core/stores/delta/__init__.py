"""``delta+file://``, ``delta+s3://``: a Delta table of events, by delta-rs and without a JVM."""

from ubunye_core.stores.delta.store import DeltaStore, open_delta

__all__ = ["DeltaStore", "open_delta"]
