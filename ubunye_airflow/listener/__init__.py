"""Receipts of tasks that do not record themselves: an Airflow listener writes them.

This file imports nothing: Airflow loads it in every process, whether the listener is on or not.
"""
