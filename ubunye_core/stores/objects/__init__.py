"""``s3://``, ``gs://`` and ``az://``: receipts in a bucket, in the layout of the file store."""

from ubunye_core.stores.objects.store import ObjectStore, open_objects

__all__ = ["ObjectStore", "open_objects"]
