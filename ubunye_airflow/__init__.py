"""Airflow sensors, operators and hooks that ask about run receipts."""
