"""Dagster resources, checks and sensors that ask about run receipts."""
