"""What this library knows of Dagster's versions and of its less public corners.

Each function says why the plain way does not do. Checked against Dagster 1.13.
"""
