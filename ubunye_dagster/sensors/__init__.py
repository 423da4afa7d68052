"""Sensors that launch runs, or end receipts. The one that reports receipts is in the catalog."""
