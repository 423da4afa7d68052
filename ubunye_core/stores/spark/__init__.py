"""``spark:///catalog.schema.table``: a Delta table of events, through the active Spark session."""

from ubunye_core.stores.spark.store import SparkStore, open_spark

__all__ = ["SparkStore", "open_spark"]
