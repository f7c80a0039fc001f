# SPDX-License-Identifier: GPL-2.0
"""Reports in a real browser, from a file and without a network: nothing is asked for, nothing is
complained of, every plot is drawn, and all of it can be reached with the keyboard."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.ctl import report_files

from spekctl.documents import result
from spekctl.report import page, read

DRIVER, BROWSER = shutil.which("chromedriver"), shutil.which("chromium")
pytestmark = pytest.mark.skipif(
    DRIVER is None or BROWSER is None,
    reason="chromium or chromium-driver is missing; make deps installs them on Debian",
)
# Milliseconds from the start of loading until all plots are drawn.
MOST_MS = 2000
ARGUMENTS = (
    "--headless=new",
    "--no-sandbox",
    "--disable-dev-shm-usage",
    "--disable-gpu",
    "--window-size=1200,900",
    "--host-resolver-rules=MAP * ~NOTFOUND",
)
LIGHT, DARK = "light", "dark"


class Browser:
    """Chromium, of which only what the tests ask is here."""

    def __init__(self, driver: Any) -> None:
        self.driver = driver

    def open(self, path: Path, scheme: str = LIGHT, media: str = "screen") -> None:
        feature = {"name": "prefers-color-scheme", "value": scheme}
        self.tell("Emulation.setEmulatedMedia", media=media, features=[feature])
        for log in ("browser", "performance"):
            self.driver.get_log(log)
        self.driver.get(path.as_uri())

    def tell(self, command: str, **parameters: Any) -> Any:
        return self.driver.execute_cdp_cmd(command, parameters)

    def ask(self, script: str, *arguments: Any) -> Any:
        return self.driver.execute_script(script, *arguments)

    def press(self, *keys: str) -> None:
        from selenium.webdriver import ActionChains, Keys

        for key in keys:
            ActionChains(self.driver).send_keys(getattr(Keys, key, key)).perform()

    def complaints(self) -> list[str]:
        return [one["message"] for one in self.driver.get_log("browser")]

    def requests(self) -> list[str]:
        """Addresses that the browser asked for since the page was opened, those of data apart."""
        found = []
        for one in self.driver.get_log("performance"):
            message = json.loads(one["message"])["message"]
            if message["method"] == "Network.requestWillBeSent":
                found.append(message["params"]["request"]["url"])
        return [one for one in found if not one.startswith("data:")]

    def blank_canvases(self) -> int:
        """Canvases on which nothing is drawn, or nothing in more than one colour."""
        found = self.ask(
            """
            return [...document.querySelectorAll("canvas")].filter(one => {
                const pixels = one.getContext("2d").getImageData(0, 0, one.width, one.height).data;
                const words = new Uint32Array(pixels.buffer);
                return new Set(words).size < 3;
            }).length;
            """
        )
        return int(found)


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    from selenium import webdriver
    from selenium.webdriver.chrome.service import Service

    options = webdriver.ChromeOptions()
    options.binary_location = str(BROWSER)
    profile = tmp_path_factory.mktemp("profile")
    for one in (*ARGUMENTS, f"--user-data-dir={profile}"):
        options.add_argument(one)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    # Selenium has a program that would fetch drivers.
    service = Service(str(DRIVER), env={**os.environ, "SE_OFFLINE": "true"})
    driver = webdriver.Chrome(service=service, options=options)
    driver.set_page_load_timeout(60)
    try:
        yield Browser(driver)
    finally:
        driver.quit()


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


def written(folder: Path, name: str, paths: Sequence[Path], **options: Any) -> Path:
    place = folder / f"{name}.html"
    place.write_bytes(page.html(read.sheets(paths, options.get("labels", ())), name))
    return place


@pytest.fixture(scope="module")
def run(folder: Path) -> Path:
    return written(folder, "run", [report_files.make(folder, "run")])


@pytest.mark.parametrize("name", report_files.MAKERS)
def test_every_kind_opens_without_a_complaint_or_a_request(
    browser: Browser, folder: Path, name: str
) -> None:
    place = written(folder, name, [report_files.make(folder, name)])
    browser.open(place)
    assert browser.complaints() == []
    assert browser.requests() == [place.as_uri()]
    plots = browser.ask("return document.querySelectorAll('[data-plot]').length")
    assert browser.ask("return document.querySelectorAll('canvas').length") == plots
    assert browser.blank_canvases() == 0
    # The static picture of what scripts draw is kept for paper.
    static = "return [...document.querySelectorAll('svg.static')].map(one => one.checkVisibility())"
    assert browser.ask(static).count(False) == plots


def test_a_report_is_read_with_the_keyboard_alone(browser: Browser, run: Path) -> None:
    browser.open(run)
    reached: list[str] = []
    while len(reached) < 60:
        browser.press("TAB")
        reached.append(browser.ask("return document.activeElement.className.split(' ')[0]"))
        if reached[-1] == "picture":
            break
    assert reached[0] == "skip" and reached[-1] == "picture"
    readout = (
        "return document.activeElement.closest('figure').querySelector('.readout').textContent"
    )
    assert browser.ask(readout) == ""
    browser.press("ARROW_RIGHT", "ARROW_RIGHT")
    first = browser.ask(readout)
    assert "share of I/Os" in first and "response time" in first and "all" in first
    browser.press("END")
    assert browser.ask(readout) != first
    axis = "return document.activeElement.querySelector('canvas').toDataURL()"
    whole = browser.ask(axis)
    browser.press("+")
    closer = browser.ask(axis)
    assert closer != whole
    browser.press("0")
    assert browser.ask(axis) != closer
    browser.press("ESCAPE")
    assert browser.ask(readout) == ""
    browser.press("TAB")
    assert browser.ask("return document.activeElement.tagName") == "SUMMARY"
    table = "return document.activeElement.parentElement.querySelector('table').checkVisibility()"
    assert not browser.ask(table)
    browser.press("ENTER")
    assert browser.ask(table)
    # Back to the names of the lines, one of which is switched off and on.
    browser.ask("document.querySelector('.key button').focus()")
    pressed = "return document.activeElement.getAttribute('aria-pressed')"
    for state in ("false", "true"):
        browser.press("SPACE")
        assert browser.ask(pressed) == state


def test_plots_over_time_share_their_cursor(browser: Browser, run: Path) -> None:
    browser.open(run)
    browser.ask("document.getElementById('plot-1').querySelector('.picture').focus()")
    browser.press("ARROW_RIGHT", "ARROW_RIGHT", "ARROW_RIGHT")
    texts = browser.ask("return [...document.querySelectorAll('.readout')].map(o => o.textContent)")
    times = {text.partition(" —")[0] for text in texts[1:]}
    assert len(times) == 1 and times.pop().startswith("time since the start (s): ")
    assert texts[0] == ""


def test_on_paper_pictures_are_static_and_the_paper_is_white(browser: Browser, run: Path) -> None:
    browser.open(run, DARK, "print")
    assert browser.ask("return getComputedStyle(document.documentElement).backgroundColor") == (
        "rgb(255, 255, 255)"
    )
    assert browser.ask(
        "return [...document.querySelectorAll('svg.static')].every(one => one.checkVisibility())"
    )
    assert not browser.ask(
        "return [...document.querySelectorAll('canvas')].some(one => one.checkVisibility())"
    )


def test_without_scripts_all_of_it_can_be_read(browser: Browser, run: Path) -> None:
    browser.tell("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(run)
        # DevTools see the page although its scripts don't run.
        tree = browser.tell("Accessibility.getFullAXTree")
    finally:
        browser.tell("Emulation.setScriptExecutionDisabled", value=False)
    names = {str(one.get("name", {}).get("value")) for one in tree["nodes"] if not one["ignored"]}
    images = [one for one in tree["nodes"] if one.get("role", {}).get("value") == "image"]
    assert len([one for one in images if one.get("name", {}).get("value")]) >= 6
    assert "Response time by percentile" in names
    assert "the run completed" in " ".join(names)
    assert not any("Drag across a plot" in one for one in names)


def test_colours_can_be_told_from_their_background(browser: Browser, run: Path) -> None:
    papers = []
    for scheme in (LIGHT, DARK):
        browser.open(run, scheme)
        assert browser.complaints() == []
        assert browser.blank_canvases() == 0
        colours: dict[str, str] = browser.ask(
            """
            const style = getComputedStyle(document.documentElement);
            const names = ["paper", "ink", "soft", "link", "good", "bad", "limit", "fill", "warn"];
            for (let one = 0; one < 8; one++) names.push("s" + one);
            return Object.fromEntries(names.map(one => [one, style.getPropertyValue("--" + one)]));
            """
        )
        papers.append(colours["paper"])
        for name in ("ink", "soft", "link", "good", "bad"):
            assert contrast(colours[name], colours["paper"]) >= 4.5, name
        assert contrast(colours["ink"], colours["warn"]) >= 4.5
        assert contrast(colours["soft"], colours["fill"]) >= 4.5
        for name in ("limit", *(f"s{one}" for one in range(8))):
            assert contrast(colours[name], colours["paper"]) >= 3, name
    assert len(set(papers)) == 2


def contrast(one: str, other: str) -> float:
    """Contrast of two colours as WCAG defines it, 1 to 21."""

    def luminance(colour: str) -> float:
        parts = [int(colour.strip()[at : at + 2], 16) / 255 for at in (1, 3, 5)]
        red, green, blue = (
            part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts
        )
        return 0.2126 * red + 0.7152 * green + 0.0722 * blue

    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def test_hostile_names_do_nothing(browser: Browser, folder: Path) -> None:
    text = "</script><script>window.owned = 1</script><img src=x onerror='window.owned = 2'>"
    found = result.load_result(report_files.make(folder, "run"))
    (target,) = found.targets
    facts = msgspec.structs.replace(target.facts, path=text, model=text, serial=text)
    made = msgspec.structs.replace(
        found, targets=[msgspec.structs.replace(target, facts=facts)], remarks=[text]
    )
    path = report_files.written(folder / "hostile.json", made)
    place = written(folder, "hostile", [path, path], labels=(text, 'it\'s "quoted"'))
    browser.open(place)
    assert browser.complaints() == []
    assert browser.requests() == [place.as_uri()]
    assert browser.ask("return window.owned") is None
    assert browser.ask("return document.querySelectorAll('img, script').length") == 2
    assert text in browser.ask("return document.querySelector('.remarks li').textContent")
    assert text in browser.ask("return document.querySelector('.key button').textContent")


def test_a_large_result_opens_at_once(browser: Browser, folder: Path) -> None:
    place = written(folder, "large", [report_files.large_result(folder / "large.json")])
    assert place.stat().st_size < 1 << 20
    browser.open(place)
    assert browser.complaints() == []
    assert browser.blank_canvases() == 0
    assert int(browser.ask("return document.documentElement.dataset.ready")) < MOST_MS
    # The one interval that stands out is still there.
    spec = "return JSON.parse(document.getElementById('data').textContent)[1].tables[0].y[0]"
    rates = browser.ask(spec)
    assert max(one for one in rates if one is not None) > 5000


def test_a_small_screen_is_wide_enough(browser: Browser, run: Path) -> None:
    screen = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    browser.tell("Emulation.setDeviceMetricsOverride", **screen)
    try:
        browser.open(run)
        assert browser.ask("return document.documentElement.scrollWidth") <= 360
        assert browser.blank_canvases() == 0
    finally:
        browser.tell("Emulation.clearDeviceMetricsOverride")
