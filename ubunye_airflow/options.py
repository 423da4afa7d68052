"""Where options stand in Airflow's configuration. Imports nothing: every process loads plugins."""

SECTION = "ubunye_receipts"
