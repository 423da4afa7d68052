"""Run receipts for scheduled data jobs."""
