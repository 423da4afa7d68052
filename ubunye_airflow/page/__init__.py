"""The page "Receipts" in Airflow's own web UI. Imports nothing: only its place is told here."""

PREFIX = "/ubunye-receipts"
"""Where Airflow mounts it."""
