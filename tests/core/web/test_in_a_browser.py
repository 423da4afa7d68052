"""The pages as a person sees them, in a real browser: readable, quiet, and without any script."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from tests.browser import NARROW, WIDE, browser
from ubunye_core import (
    Orchestrator,
    Pin,
    Receipt,
    Status,
    Step,
    TriggeredBy,
    TriggerKind,
    open_store,
)

pytestmark = pytest.mark.slow
__all__ = ["browser"]

PROGRAM = str(Path(sys.executable).with_name("ubunye-runs"))
CALC = "pay/monthly/calc"
HOSTILE = '<script>document.title="stolen"</script><img src=x onerror="document.title=1">'
FIRST = datetime(2026, 6, 1, 5, tzinfo=UTC)


@pytest.fixture(scope="module")
def served(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The address of a server, whose store holds what a hostile recorder may write."""
    place = tmp_path_factory.mktemp("receipts")
    store = open_store(str(place))
    for day in range(40):
        began, failed = FIRST + timedelta(days=day), day % 9 == 5
        rows, digit = 1000 + 10 * day, f"{day % 16:x}"
        store.save(
            Receipt(
                task=CALC,
                run_id=f"r-{day}",
                status=Status.ERROR if failed else Status.SUCCESS,
                started_at=began,
                ended_at=began + timedelta(minutes=4),
                variables={"dt": f"{began.date()}", "note": HOSTILE},
                error=f"ValueError: {HOSTILE}" if failed else None,
                triggered_by=TriggeredBy(kind=TriggerKind.MANUAL, actor=HOSTILE, reason=HOSTILE),
                orchestrator=Orchestrator(
                    name=HOSTILE, ids={HOSTILE: HOSTILE}, url=f"javascript:alert('{HOSTILE}')"
                ),
                inputs=(
                    Step(
                        name="people",
                        direction="input",
                        location="s3://bucket/people",
                        row_count=rows,
                        data_hash="sha256:" + digit * 64,
                        schema_hash="sha256:" + "9" * 64,
                        hash_method="rows-v1",
                    ),
                ),
                outputs=(Step(name=HOSTILE, direction="output", hash_error=HOSTILE),),
                upstreams=(Pin(task="pay/daily/in", run_id="up-1"),),
                extra={HOSTILE: HOSTILE},
            )
        )
    (place / CALC / "broken.json").write_text("{")
    store.save(Receipt(task="pay/daily/in", run_id="up-1", status=Status.RUNNING, started_at=FIRST))
    process = subprocess.Popen(
        [PROGRAM, "serve", "--store", str(place), "--port", "0"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    line = process.stdout.readline()
    assert "http://" in line, process.stderr.read()
    yield "http://" + line.partition("http://")[2].partition("/ ")[0]
    process.terminate()
    _, err = process.communicate(timeout=30)
    assert err == ""


PAGES = {
    "health": "/",
    "runs": f"/task/{CALC}",
    "receipt": f"/task/{CALC}/run/r-5",
    "comparison": f"/task/{CALC}/compare?a=r-5&b=r-6",
    "windows": f"/task/{CALC}/windows?cron=0+2+*+*+*&window=day&of=current&variable=dt"
    "&since=2026-06-01",
}


@pytest.mark.parametrize("name", PAGES)
def test_a_page_runs_nothing_of_what_a_receipt_holds_and_the_console_is_silent(
    browser, served, name
):
    for dark, size in ((False, WIDE), (True, WIDE), (False, NARROW)):
        browser.look(dark=dark, size=size)
        browser.open(served + PAGES[name])
        kind = "dark" if dark else "light" if size == WIDE else "narrow"
        browser.screenshot(f"page-{name}-{kind}")
        assert browser.said() == []
        assert browser.driver.title.endswith("- Receipts")
        assert browser.find("script, img, iframe, object, embed, style") == []
        assert len(browser.find("h1")) == 1
        width = browser.driver.execute_script("return document.documentElement.scrollWidth")
        assert width <= size[0], "it is scrolled sideways"


def test_what_was_recorded_is_read_as_it_stands(browser, served):
    browser.look()
    browser.open(served + PAGES["receipt"])
    assert f"ValueError: {HOSTILE}" in browser.text()
    assert browser.find("a[href^='javascript']") == []


def test_text_stands_out_from_its_ground_in_light_and_dark(browser, served):
    for dark in (False, True):
        browser.look(dark=dark)
        for name in ("health", "windows"):
            browser.open(served + PAGES[name])
            found = browser.driver.execute_script(_CONTRASTS)
            assert found, name
            assert {word: ratio for word, ratio in found.items() if ratio < 4.5} == {}


def test_a_person_gets_from_the_table_to_two_runs_side_by_side_by_keyboard(browser, served):
    from selenium.webdriver.common.keys import Keys

    browser.look()
    browser.open(served + "/")
    page = browser.driver.switch_to
    page.active_element.send_keys(Keys.TAB)
    assert page.active_element.text == "Skip to the content"
    browser.driver.find_element("link text", CALC).send_keys(Keys.ENTER)
    browser.until(lambda: browser.find("h1")[0].text == CALC)
    assert "UNKNOWN" in browser.text()
    browser.find("input[name=a][value=r-35]")[0].send_keys(Keys.SPACE)
    browser.find("input[name=b][value=r-36]")[0].send_keys(Keys.SPACE)
    browser.find("form[action$=compare] button")[0].send_keys(Keys.ENTER)
    browser.until(lambda: "/compare?" in browser.driver.current_url)
    asked = browser.driver.current_url.partition("?")[2].split("&")
    assert sorted(asked) == ["a=r-35", "b=r-36"]
    browser.until(lambda: "another number of rows" in browser.text())
    assert browser.said() == []


def test_a_pattern_is_asked_for_in_the_form(browser, served):
    browser.look()
    browser.open(served + "/")
    field = browser.find("#tasks")[0]
    field.send_keys("pay/daily/*")
    field.submit()
    browser.until(lambda: "1 of 1 task" in browser.text())
    assert browser.find("#tasks")[0].get_attribute("value") == "pay/daily/*"


_CONTRASTS = """
const light = c => {
  const [r, g, b] = c.match(/[\\d.]+/g).slice(0, 3).map(v => {
    v /= 255; return v <= .04045 ? v / 12.92 : ((v + .055) / 1.055) ** 2.4 });
  return .2126 * r + .7152 * g + .0722 * b };
const ground = e => { while (e) {
  const c = getComputedStyle(e).backgroundColor;
  if (c !== 'rgba(0, 0, 0, 0)') return c; e = e.parentElement } return 'rgb(255, 255, 255)' };
const found = {};
for (const e of document.querySelectorAll('.badge, .cell a, small, th, td, a, p, label')) {
  if (!e.innerText) continue;
  const a = light(getComputedStyle(e).color), b = light(ground(e));
  const ratio = (Math.max(a, b) + .05) / (Math.min(a, b) + .05);
  const kind = e.tagName + '.' + e.className;
  found[kind] = Math.min(found[kind] || 99, ratio);
}
return found;
"""
