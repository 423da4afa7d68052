"""``@recorded``: the receipts of what Dagster runs."""
