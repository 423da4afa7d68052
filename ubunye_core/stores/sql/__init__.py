"""Receipts in the tables of a SQL database: SQLite and PostgreSQL."""
