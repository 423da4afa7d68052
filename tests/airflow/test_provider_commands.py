"""Airflow's own command knows this provider."""

from __future__ import annotations

import pytest

from tests.airflow.commands import names_of_providers


@pytest.mark.slow
def test_airflow_lists_the_provider() -> None:
    assert "ubunye-receipts" in names_of_providers()
