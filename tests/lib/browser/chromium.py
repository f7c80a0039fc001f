# SPDX-License-Identifier: GPL-2.0
"""Chromium for tests of pages, without any network."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

DRIVER, BROWSER = shutil.which("chromedriver"), shutil.which("chromium")
needs_browser = pytest.mark.skipif(
    DRIVER is None or BROWSER is None,
    reason="chromium or chromium-driver is missing; make deps installs them on Debian",
)
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--window-size=1200,900",
    "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
)
LIGHT, DARK = "light", "dark"


class Browser:
    """Chromium, of which only what the tests ask is here."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path, scheme: str = LIGHT, media: str = "screen") -> None:
        self.open_url(path.as_uri(), scheme, media)

    def look(self, scheme: str, media: str) -> None:
        """Show pages in this colour scheme, as on a screen or in print."""
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.tell("Emulation.setEmulatedMedia", media=media, features=[feature])

    def open_url(self, url: str, scheme: str = LIGHT, media: str = "screen") -> None:
        self.look(scheme, media)
        for log in ("browser", "performance"):
            self.driver.get_log(log)
        self.driver.get(url)

    def tell(self, command: str, **parameters: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, parameters)

    def ask(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def busy_s(self) -> float:
        """Processor time of the page's main thread so far: other processes do not count in it."""
        self.tell("Performance.enable", timeDomain="threadTicks")
        metrics = self.tell("Performance.getMetrics")["metrics"]
        return float(next(entry["value"] for entry in metrics if entry["name"] == "TaskDuration"))

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains, Keys

        for key in keys:
            ActionChains(self.driver).send_keys(getattr(Keys, key, key)).perform()

    def complaints(self) -> list[str]:
        return [entry["message"] for entry in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses that the browser asked for since the page was opened, those of data apart."""
        urls = []
        for entry in self.driver.get_log("performance"):
            message = json.loads(entry["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                urls.append(message["params"]["request"]["url"])
        return [url for url in urls if not url.startswith("data:")]

    def blank_canvases(self) -> int:
        """Canvases on which nothing is drawn, or nothing in more than one colour."""
        blank = self.ask(
            """
            return [...document.querySelectorAll("canvas")].filter(one => {
                const pixels = one.getContext("2d").getImageData(0, 0, one.width, one.height).data;
                const words = new Uint32Array(pixels.buffer);
                return new Set(words).size < 3;
            }).length;
            """
        )
        return int(blank)


@contextmanager
def started(profile: Path) -> Iterator[Browser]:
    """A browser with an empty profile."""
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(BROWSER)
    for argument in (*ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # Selenium has a program that would fetch drivers.
    service = Service(str(DRIVER), env={**os.environ, "SE_OFFLINE": "true"})
    driver = webdriver.Chrome(service=service, options=options)
    driver.set_page_load_timeout(60)
    try:
        yield Browser(driver)
    finally:
        driver.quit()
