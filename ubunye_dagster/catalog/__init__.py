"""Receipts in Dagster's catalog: the assets of tasks, and what happened to them."""
