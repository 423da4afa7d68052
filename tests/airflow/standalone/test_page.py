"""The page "Receipts" in Airflow's own web UI, as a person sees it, and who sees what."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import httpx
import pytest

from tests.airflow.standalone.rest import ENOUGH, User
from tests.airflow.standalone.server import PASSWORD, Standalone, until
from tests.browser import Browser, a_browser
from ubunye_core import ReceiptStore

PAGE = "/ubunye-receipts/"
OPEN, SECRET = "open/monthly/calc", "secret/monthly/calc"


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with a_browser() as started:
        yield started


@pytest.fixture
def recorded(admin: User, store: ReceiptStore) -> None:
    """A run of a DAG that all may read, and of one that not all may."""
    dags = {"open_to_all": OPEN, "secret_from_outsiders": SECRET}
    run_ids = {
        dag: admin.trigger(dag, month="2026-10")
        for dag, task in dags.items()
        if not store.list_runs(task)
    }
    for dag, run_id in run_ids.items():
        assert admin.ended(dag, run_id).state == "success"


@pytest.mark.usefixtures("recorded")
def test_a_person_logs_in_and_finds_the_receipts_under_browse(
    server: Standalone, browser: Browser
) -> None:
    log_in(browser, server.url, "admin")
    until(lambda: button(browser, "Browse"), within=ENOUGH, what="the navigation of Airflow")
    button(browser, "Browse")[0].click()
    link = "a[href$='/plugin/receipts']"
    until(lambda: browser.find(link), within=ENOUGH, what="the page's name under Browse")
    browser.find(link)[0].click()
    until(lambda: browser.find("iframe"), within=ENOUGH, what="the page in Airflow's own")
    browser.driver.switch_to.frame(browser.find("iframe")[0])
    until(lambda: OPEN in browser.text(), within=ENOUGH, what=lambda: f"{OPEN}: {browser.text()}")
    assert SECRET in browser.text()
    browser.driver.switch_to.default_content()
    assert browser.screenshot("receipts-in-airflow").stat().st_size > 10_000


@pytest.mark.usefixtures("recorded")
def test_a_viewer_without_rights_to_a_dag_does_not_see_its_receipts(
    server: Standalone, browser: Browser
) -> None:
    outsider = User(server.url, "outsider")
    readable = {each["dag_id"] for each in outsider.ask("GET", "/api/v2/dags", limit=100)["dags"]}
    assert "open_to_all" in readable
    assert "secret_from_outsiders" not in readable

    log_in(browser, server.url, "outsider")
    browser.open(f"{server.url}{PAGE}")
    assert OPEN in browser.text()
    assert "secret" not in browser.driver.page_source
    assert SECRET in User(server.url, "viewer").http.get(PAGE).text
    told = outsider.http.get(f"{PAGE}task/{SECRET}")
    assert "secret_from_outsiders" not in told.text


def test_the_page_is_shown_to_nobody_who_is_not_logged_in(server: Standalone) -> None:
    for path in (PAGE, f"{PAGE}task/{OPEN}", f"{PAGE}static/style.css"):
        answer = httpx.get(f"{server.url}{path}", timeout=60, trust_env=False)
        assert answer.status_code == 401
        assert OPEN not in answer.text


def test_a_task_that_the_listener_records_has_a_button_to_its_receipt(
    admin: User, store: ReceiptStore
) -> None:
    run_id = admin.trigger("listened", month="2026-10")
    assert admin.ended("listened", run_id).state == "success"
    of_run = f"/api/v2/dags/listened/dagRuns/{run_id}/taskInstances"
    without = admin.ask("GET", f"{of_run}/without/links")["extra_links"]
    assert without == {"Receipt": None}
    link = admin.ask("GET", f"{of_run}/calc/links")["extra_links"]["Receipt"]
    (receipt,) = store.list_runs("listened/monthly/calc")
    shown = admin.http.get(link, follow_redirects=True)
    assert shown.status_code == 200
    assert receipt.run_id in shown.text


def button(browser: Browser, name: str) -> list[Any]:
    return list(browser.driver.find_elements("xpath", f"//button[contains(., '{name}')]"))


def log_in(browser: Browser, url: str, name: str) -> None:
    """As a person does, in the form of Airflow."""
    browser.driver.delete_all_cookies()
    browser.open(f"{url}/auth/login")
    until(lambda: browser.find("input[name=username]"), within=ENOUGH, what="the form of the login")
    browser.find("input[name=username]")[0].send_keys(name)
    browser.find("input[name=password]")[0].send_keys(PASSWORD)
    browser.find("button[type=submit]")[0].click()
    until(
        lambda: browser.driver.get_cookie("_token"),
        within=ENOUGH,
        what=lambda: f"{name} to be logged in: {browser.text()}",
    )
