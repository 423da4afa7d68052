"""What a person sees on Dagster's own pages. The pictures are kept for whoever looks at a build."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.browser import Browser, a_browser
from tests.dagster.live.client import Client
from tests.dagster.live.conftest import A_WHILE, finished
from tests.dagster.live.server import DagsterDev, until


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with a_browser() as started:
        yield started


def shows(browser: Browser, *texts: str) -> None:
    until(
        lambda: all(text in browser.text() for text in texts),
        within=A_WHILE,
        what=lambda: f"{texts} on {browser.driver.current_url}, which says: {browser.text()}",
    )


def test_the_page_of_an_asset_shows_what_its_upstream_lacks(
    server: DagsterDev, client: Client, browser: Browser
) -> None:
    run_id = client.launch("payment", "pay", partition="2024-11-01")
    assert finished(client, run_id).status == "FAILURE"
    assert not [each for each in client.events(run_id) if each.get("message") == "paid"]

    check = client.check("pay/monthly/calc", "upstream_pay_monthly_calc")["evaluation"]
    assert (check["success"], check["severity"]) == (False, "ERROR")

    client.ask("mutation { setNuxSeen }")  # else an invitation lies over every page
    browser.open(f"{server.url}/assets/pay/monthly/calc?view=checks")
    shows(browser, "upstream_pay_monthly_calc", check["description"].partition(":")[0])
    browser.screenshot("dagster-check-of-an-upstream")

    browser.open(f"{server.url}/assets/pay/monthly/send?view=overview")
    shows(browser, "send", "calc")
    browser.screenshot("dagster-asset-behind-a-gate")
