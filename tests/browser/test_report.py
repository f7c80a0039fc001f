# SPDX-License-Identifier: GPL-2.0
"""Reports in a real browser, from a file and without a network: nothing is asked for, nothing is
complained of, every plot is drawn, and all of it can be reached with the keyboard."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import dist
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.browser import structure
from lib.browser.chromium import DARK, LIGHT, Browser, needs_browser
from lib.ctl import report_files

from spekctl.documents import result
from spekctl.report import page, read

pytestmark = needs_browser
# Milliseconds from the start of loading until all plots are drawn.
MOST_MS = 2000
# Of the colours of two lines: far above what the eye just notices (2), as lines are thin.
LEAST_DIFFERENCE = 30
# What red, green and blue contribute to it.
LUMINANCE = (0.2126, 0.7152, 0.0722)
SMALLEST_TEXT_PX = 8
# Outlines that are not of a single document; test_web.py has that of the live page.
OTHERS = ("several", "live")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("reports")


def written(folder: Path, name: str, paths: Sequence[Path], **options: Any) -> Path:
    place = folder / f"{name}.html"
    place.write_bytes(page.html(read.sheets(paths, options.get("labels", ()))))
    return place


@pytest.fixture(scope="module")
def run(folder: Path) -> Path:
    return written(folder, "run", [report_files.make(folder, "run")])


@pytest.mark.parametrize("name", report_files.MAKERS)
def test_every_kind_opens_without_a_complaint_or_a_request(
    browser: Browser, folder: Path, name: str, pytestconfig: pytest.Config
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
    structure.compare(pytestconfig, name, structure.outline(browser, folder))


def test_several_results_have_their_outline(
    browser: Browser, folder: Path, pytestconfig: pytest.Config
) -> None:
    paths = [report_files.make(folder, name) for name in ("run", "log")]
    browser.open(written(folder, "several", paths, labels=("before", "after")))
    structure.compare(pytestconfig, "several", structure.outline(browser, folder))


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


def test_on_paper_no_table_is_cut_off(browser: Browser, folder: Path) -> None:
    path = report_files.make(folder, "run")
    labels = [f"a-rather-long-name-of-the-result-{number}" for number in range(10)]
    place = written(folder, "wide", [path] * 10, labels=labels)
    a4 = {"width": 720, "height": 1040, "deviceScaleFactor": 1, "mobile": False}
    browser.tell("Emulation.setDeviceMetricsOverride", **a4)
    try:
        browser.open(place, LIGHT, "print")
        ends = browser.ask(
            """
            return [...document.querySelectorAll("table")].filter(one => one.checkVisibility())
                .map(one => one.getBoundingClientRect().right);
            """
        )
        assert ends and max(ends) <= browser.ask("return document.documentElement.clientWidth")
    finally:
        browser.tell("Emulation.clearDeviceMetricsOverride")


def test_without_scripts_all_of_it_can_be_read(browser: Browser, run: Path) -> None:
    browser.tell("Emulation.setScriptExecutionDisabled", value=True)
    try:
        browser.open(run)
        # DevTools see the page although its scripts don't run.
        tree = browser.tell("Accessibility.getFullAXTree")
    finally:
        browser.tell("Emulation.setScriptExecutionDisabled", value=False)
    names = {
        str(node.get("name", {}).get("value")) for node in tree["nodes"] if not node["ignored"]
    }
    images = [node for node in tree["nodes"] if node.get("role", {}).get("value") == "image"]
    assert len([node for node in images if node.get("name", {}).get("value")]) >= 6
    assert "Response time by percentile" in names
    assert "the run completed" in " ".join(names)
    assert not any("Drag across a plot" in name for name in names)


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
        for name in ("limit", *(f"s{number}" for number in range(8))):
            assert contrast(colours[name], colours["paper"]) >= 3, name
        for first, second in combinations((f"s{number}" for number in range(8)), 2):
            assert difference(colours[first], colours[second]) >= LEAST_DIFFERENCE, (first, second)
    assert len(set(papers)) == 2


def product(row: Sequence[float], column: Sequence[float]) -> float:
    return sum(a * b for a, b in zip(row, column, strict=True))


def linear(colour: str) -> list[float]:
    """Red, green and blue of sRGB in proportion to their light."""
    parts = [int(colour.strip()[at : at + 2], 16) / 255 for at in (1, 3, 5)]
    return [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]


def contrast(first: str, second: str) -> float:
    """Contrast of two colours as WCAG defines it, 1 to 21."""
    low, high = sorted(product(LUMINANCE, linear(colour)) for colour in (first, second))
    return (high + 0.05) / (low + 0.05)


def difference(first: str, second: str) -> float:
    """Distance of two colours in CIELAB (1976), 0 to about 250."""
    # To XYZ, each in relation to that of white (D65).
    rows = (
        (0.4124 / 0.9505, 0.3576 / 0.9505, 0.1805 / 0.9505),
        LUMINANCE,
        (0.0193 / 1.089, 0.1192 / 1.089, 0.9505 / 1.089),
    )

    def lab(colour: str) -> tuple[float, float, float]:
        ratios = (product(row, linear(colour)) for row in rows)
        x, y, z = (
            ratio ** (1 / 3) if ratio > 0.008856 else 7.787 * ratio + 16 / 116 for ratio in ratios
        )
        return 116 * y - 16, 500 * (x - y), 200 * (y - z)

    return dist(lab(first), lab(second))


def test_hostile_names_do_nothing(browser: Browser, folder: Path) -> None:
    text = "</script><script>window.owned = 1</script><img src=x onerror='window.owned = 2'>"
    loaded = result.load_result(report_files.make(folder, "run"))
    (target,) = loaded.targets
    facts = msgspec.structs.replace(target.facts, path=text, model=text, serial=text)
    hostile = msgspec.structs.replace(
        loaded, targets=[msgspec.structs.replace(target, facts=facts)], remarks=[text]
    )
    path = report_files.written(folder / "hostile.json", hostile)
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
    assert max(rate for rate in rates if rate is not None) > 5000


def test_a_small_screen_is_wide_enough(browser: Browser, run: Path) -> None:
    screen = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    browser.tell("Emulation.setDeviceMetricsOverride", **screen)
    try:
        browser.open(run)
        assert browser.ask("return document.documentElement.scrollWidth") <= 360
        assert browser.blank_canvases() == 0
        sizes = browser.ask(
            """
            const scale = ({ a, b }) => Math.hypot(a, b);
            return [...document.querySelectorAll("svg.static text")]
                .filter(one => one.checkVisibility())
                .map(one => parseFloat(getComputedStyle(one).fontSize) * scale(one.getScreenCTM()));
            """
        )
        assert sizes and min(sizes) >= SMALLEST_TEXT_PX
    finally:
        browser.tell("Emulation.clearDeviceMetricsOverride")


def test_every_kind_has_its_outline_and_no_other_is_kept() -> None:
    kept = {path.stem for path in structure.KEPT.iterdir()}
    assert kept == {*report_files.MAKERS, *OTHERS}
