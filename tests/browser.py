"""A browser for tests of pages: Debian's Chromium without a screen, and what it has to say."""

from __future__ import annotations

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

ARTEFACTS = Path(__file__).parents[1] / ".artefacts"
"""Screenshots are kept here, for whoever looks at a build."""

_FLAGS = (
    *("--headless", "--disable-gpu", "--disable-quic", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--disable-sync"),
    *("--disable-dev-shm-usage", "--no-default-browser-check", "--disable-extensions"),
    "--window-size=1280,900",
)
WIDE, NARROW = (1280, 900), (390, 844)


class Browser:
    """A Chromium with one window. ``driver`` is selenium's."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, url: str) -> None:
        """Go to a page, and forget what was said before it."""
        self.said()
        self.driver.get(url)

    def said(self) -> list[str]:
        """What the console says since this was asked: errors and warnings, of scripts and loads."""
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def look(self, *, dark: bool = False, size: tuple[int, int] = WIDE) -> None:
        """See pages as a person does who prefers this, on a screen of this size."""
        wanted = [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]
        self._tell("Emulation.setEmulatedMedia", features=wanted)
        width, height = size
        self._tell(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=False,
        )

    def text(self) -> str:
        """What can be read on the page."""
        return str(self.driver.find_element("tag name", "body").text)

    def find(self, selector: str) -> list[Any]:
        """The elements that a selector of CSS names."""
        return list(self.driver.find_elements("css selector", selector))

    def until(self, happened: Callable[[], object], within: float = 60) -> None:
        """Wait until something has happened to the page: what a key or a click begins comes later.

        What is asked about a page that goes away meanwhile is asked again.
        """
        from selenium.common.exceptions import StaleElementReferenceException
        from selenium.webdriver.support.ui import WebDriverWait

        waiting = WebDriverWait(
            self.driver, within, ignored_exceptions=[StaleElementReferenceException]
        )
        waiting.until(lambda _: happened())

    def screenshot(self, name: str) -> Path:
        """Keep what is seen now as a picture of this name."""
        ARTEFACTS.mkdir(exist_ok=True)
        place = ARTEFACTS / f"{re.sub(r'[^a-z0-9-]+', '-', name.lower())}.png"
        assert self.driver.save_screenshot(str(place))
        return place

    def _tell(self, command: str, **values: object) -> None:
        self.driver.execute_cdp_cmd(command, values)


@contextmanager
def a_browser() -> Iterator[Browser]:
    """Start a browser, and end it with all that it has started."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    programs = [shutil.which(name) for name in ("chromium", "chromedriver")]
    if None in programs:
        pytest.fail("Chromium or its driver is not installed: run .ci/packages first")
    browser, driver = programs
    folder = tempfile.mkdtemp(prefix="ubunye-browser-")
    options = webdriver.ChromeOptions()
    options.binary_location = str(browser)
    for flag in (*_FLAGS, f"--user-data-dir={folder}"):
        options.add_argument(flag)
    if os.geteuid() == 0:
        options.add_argument("--no-sandbox")  # root has none
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    # Proxies of the machine are not for pages of this machine.
    service = Service(str(driver), env={**os.environ, "NO_PROXY": "*", "no_proxy": "*"})
    started = webdriver.Chrome(options=options, service=service)
    try:
        started.set_page_load_timeout(60)
        yield Browser(started)
    finally:
        started.quit()
        shutil.rmtree(folder, ignore_errors=True)


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    """A browser for the tests of one file."""
    with a_browser() as started:
        yield started
