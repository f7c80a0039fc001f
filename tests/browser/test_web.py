# SPDX-License-Identifier: GPL-2.0
"""The live page in a real browser, before a fake host that replays rows."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from lib.browser import structure
from lib.browser.chromium import DARK, LIGHT, Browser, needs_browser
from lib.ctl import report_files
from lib.ctl.web_server import SOON_S, Web, serving, serving_fleet
from lib.fakes.fleet_rig import plan_of
from lib.waiting import eventually

pytestmark = needs_browser
HOSTILE = "</script><script>window.owned=1</script><img src=x onerror='window.owned=2'>\u202e&amp;"
# Processor time of the page for each event, ms: half of what an event every 100 ms leaves it.
EVENT_MS = 50


@pytest.fixture
def serve(tmp_path: Path) -> Iterator[Callable[..., Web]]:
    with ExitStack() as stack:
        yield lambda **script: stack.enter_context(serving(tmp_path, **script))


def opened(browser: Browser, web: Web, scheme: str = LIGHT) -> None:
    # From nowhere: an address that differs in its fragment only is the same page.
    browser.open_url("about:blank", scheme)
    browser.open_url(web.server.url, scheme)
    until(browser, "return document.documentElement.dataset.ready !== undefined")
    until(browser, "return document.getElementById('state').textContent !== 'Connecting…'")


def until(browser: Browser, script: str) -> Any:
    deadline = time.monotonic() + SOON_S
    while not (answer := browser.ask(script)):
        assert time.monotonic() < deadline, (script, text(browser, "trouble"), browser.complaints())
        time.sleep(0.05)
    return answer


def text(browser: Browser, name: str) -> str:
    return str(browser.ask("return document.getElementById(arguments[0]).textContent", name))


def click(browser: Browser, selector: str) -> None:
    browser.ask("document.querySelector(arguments[0]).click()", selector)


def start(browser: Browser) -> None:
    click(browser, "#devices input:enabled")
    click(browser, "#start")


def ended(browser: Browser) -> str:
    until(browser, "return document.getElementById('end').textContent")
    return text(browser, "end")


def canvases_without_a_line(browser: Browser) -> int:
    """Canvases on which the colour of the first line, or nearly that, does not occur."""
    return int(
        browser.ask(
            """
            const style = getComputedStyle(document.documentElement);
            const colour = style.getPropertyValue("--s0").trim();
            const line = [1, 3, 5].map(at => parseInt(colour.slice(at, at + 2), 16));
            return [...document.querySelectorAll("canvas")].filter(one => {
                const { data } = one.getContext("2d").getImageData(0, 0, one.width, one.height);
                for (let at = 0; at < data.length; at += 4)
                    if (data[at + 3] > 150
                        && line.every((value, part) => Math.abs(value - data[at + part]) < 40))
                        return false;
                return true;
            }).length;
            """
        )
    )


def clean(browser: Browser, web: Web) -> None:
    """No complaint of the browser, and no request to anywhere else."""
    assert browser.complaints() == []
    foreign = [url for url in browser.requests() if not url.startswith(f"{web.origin}/")]
    assert foreign == []


@pytest.mark.parametrize("scheme", [LIGHT, DARK])
def test_a_run_is_configured_watched_and_compared(
    browser: Browser,
    serve: Callable[..., Web],
    tmp_path: Path,
    scheme: str,
    pytestconfig: pytest.Config,
) -> None:
    source = tmp_path / "elsewhere"
    source.mkdir()
    result = str(report_files.make(source, "run"))
    log = str(report_files.make(source, "log"))
    web = serve(rows=20, streams=3, result=result, log=log, note="a remark")
    opened(browser, web, scheme)
    assert browser.ask("return location.href") == f"{web.origin}/"
    click(browser, "#devices input:enabled")
    browser.ask("document.getElementById('settings').value = 'stream.main.size=8KiB'")
    click(browser, "#check")
    until(browser, "return !document.getElementById('plan').hidden")
    assert "stream.main.size=8KiB" in text(browser, "plan-toml")
    assert (
        browser.ask("return document.getElementById('options-prober-interval').placeholder") == "1s"
    )
    # What nobody has chosen is not asked for.
    assert browser.ask("return document.getElementById('options-backend').value") == ""
    browser.ask("document.getElementById('options-log').value = 'mine.parquet'")
    click(browser, "#start")
    assert "The result is in FAKE-" in ended(browser)
    assert "The log is in mine.parquet" in ended(browser)
    until(browser, "return document.querySelectorAll('canvas').length === 7")
    until(browser, "return document.documentElement.dataset.rows === '20'")
    assert text(browser, "notes") == "a remark"
    assert text(browser, "machine") == "probe 4 of FAKE"
    assert browser.ask("return document.querySelectorAll('#live-6 .key button').length") == 3
    until(browser, "return document.querySelectorAll('#entries tr').length === 2")
    click(browser, "#entries input[value^=FAKE]")
    address = str(until(browser, "return document.getElementById('compare').href"))
    clean(browser, web)
    # Chromium remarks that this reads a canvas again. A slow machine draws the last rows late.
    deadline = time.monotonic() + SOON_S
    while canvases_without_a_line(browser):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    if scheme == LIGHT:
        structure.compare(pytestconfig, "live", structure.outline(browser, tmp_path))
    paper = browser.ask("return getComputedStyle(document.documentElement).backgroundColor")
    assert paper == ("rgb(255, 255, 255)" if scheme == LIGHT else "rgb(20, 24, 29)")
    browser.open_url(address, scheme)
    assert browser.blank_canvases() == 0
    assert browser.ask("return document.querySelectorAll('canvas').length") >= 5
    clean(browser, web)


def test_on_paper_a_run_has_its_plots_in_colours_for_paper(
    browser: Browser, serve: Callable[..., Web]
) -> None:
    web = serve(rows=20)
    opened(browser, web, DARK)
    start(browser)
    ended(browser)
    until(browser, "return document.documentElement.dataset.rows === '20'")
    until(browser, "return document.querySelectorAll('canvas').length === 6")
    browser.look(DARK, "print")
    clean(browser, web)
    # Chromium remarks that this reads a canvas again.
    deadline = time.monotonic() + SOON_S
    while canvases_without_a_line(browser):
        assert time.monotonic() < deadline
        time.sleep(0.2)
    shown = "return [...document.querySelectorAll(arguments[0])].filter(o => o.checkVisibility())"
    assert browser.ask(f"{shown}.length", "canvas") == 6
    assert browser.ask(f"{shown}.length", "#form, #stop, #documents") == 0
    assert browser.ask("return document.documentElement.scrollWidth <= innerWidth")


def test_the_page_is_used_with_the_keyboard_alone(
    browser: Browser, serve: Callable[..., Web]
) -> None:
    web = serve(rows=10_000)
    opened(browser, web)
    where = "return document.activeElement.id || document.activeElement.value"
    reached: list[str] = []

    def tab_to(name: str) -> None:
        for _ in range(120):
            browser.press("TAB")
            reached.append(str(browser.ask(where)))
            if reached[-1] == name:
                return
        raise AssertionError(f"{name} not in {reached}")

    tab_to("device-0")
    browser.press("SPACE")
    tab_to("shipped")
    browser.press("ARROW_DOWN")
    assert not browser.ask("return document.querySelector('[data-mode=stream]').hidden")
    tab_to("stream-size")
    browser.press("8", "K", "i", "B", "ENTER")
    until(browser, "return !document.getElementById('plan').hidden")
    assert "stream.main.size=8KiB" in text(browser, "plan-toml")
    assert web.json("GET", "/api/status")["running"] is False
    browser.ask("document.getElementById('stream-size').focus()")
    tab_to("start")
    browser.press("ENTER")
    until(browser, "return document.documentElement.dataset.running === 'true'")
    until(browser, "return document.querySelectorAll('canvas').length >= 5")
    browser.ask("document.getElementById('start').focus()")
    browser.ask("document.querySelector('#live-0 .picture').focus()")
    browser.press("ARROW_RIGHT")
    until(browser, "return document.querySelector('#live-0 .readout').textContent.includes('all ')")
    browser.ask("document.getElementById('stop').focus()")
    browser.press("ENTER")
    assert "stopped early" in ended(browser)
    clean(browser, web)


def test_a_thousand_intervals_of_sixty_streams_do_not_stutter(
    browser: Browser, serve: Callable[..., Web]
) -> None:
    web = serve(rows=1000, streams=60, pause_s=0.1, burst=10)
    opened(browser, web)
    before_s = browser.busy_s()
    start(browser)
    assert "completed" in ended(browser)
    until(browser, "return document.documentElement.dataset.rows === '1000'")
    event_ms = (browser.busy_s() - before_s) * 1000 / 100
    print(f"{event_ms:.1f} ms of a processor for each event")
    assert event_ms < EVENT_MS
    # Every row of every stream is drawn: the last one is under the cursor at the end.
    browser.ask("document.querySelector('#live-6 .picture').focus()")
    browser.press("END")
    shown = "return document.querySelector('#live-6 .readout').textContent"
    assert "(s): 1,000 " in until(browser, shown) and "FAKE59 " in browser.ask(shown)
    clean(browser, web)
    # Chromium remarks that this reads a canvas again.
    eventually(lambda: browser.blank_canvases() == 0, "a canvas stays blank", SOON_S)


def test_the_plots_of_a_long_run_stay_small_and_even(
    browser: Browser, serve: Callable[..., Web]
) -> None:
    count = 40_000
    web = serve(rows=count, pause_s=0.05, burst=500)
    opened(browser, web)
    browser.ask("""
        const draw = spekPlot.draw;
        window.seen = {most: 0, xs: []};
        spekPlot.draw = (host, spec) => {
            const shown = draw(host, spec);
            return {...shown, update: columns => {
                const lengths = columns.map(column => column.length);
                window.seen.most = Math.max(window.seen.most, ...lengths);
                window.seen.xs = columns[0];
                shown.update(columns);
            }};
        };
    """)
    start(browser)
    until(browser, "return document.getElementById('end').textContent !== ''")
    until(browser, f"return window.seen.xs.at(-1) === {count}")
    assert 8192 < browser.ask("return window.seen.most") <= 16384
    xs = browser.ask("return window.seen.xs")
    assert xs[-1024:] == list(range(count - 1023, count + 1))
    gaps = {later - earlier for earlier, later in pairwise(xs[:4000])}
    assert xs[0] == 1 and len(gaps) == 1 and gaps <= {2, 4, 8}


def test_hostile_texts_do_nothing(
    browser: Browser, serve: Callable[..., Web], tmp_path: Path
) -> None:
    (tmp_path / "<img src=x onerror=alert(1)>.json").write_bytes(
        report_files.make(tmp_path, "run").read_bytes()
    )
    web = serve(rows=3, streams=2, text=HOSTILE, note=HOSTILE)
    opened(browser, web)
    start(browser)
    end = ended(browser)
    until(browser, "return document.querySelectorAll('canvas').length === 7")
    shown = HOSTILE.replace("\u202e", "\\u202e")
    assert shown in end and shown in text(browser, "title") and shown == text(browser, "notes")
    assert shown in text(browser, "devices") and shown in text(browser, "plan-toml")
    assert shown in browser.ask("return document.querySelector('#live-6 .key').textContent")
    assert "<img" in text(browser, "entries")
    assert browser.ask("return window.owned") is None
    assert browser.ask("return document.querySelectorAll('img').length") == 0
    assert browser.ask("return document.querySelectorAll('script').length") == 2
    clean(browser, web)


def test_a_tick_is_for_the_disk_that_was_shown(browser: Browser, serve: Callable[..., Web]) -> None:
    """Another disk may take its path."""
    web = serve(rows=2, swapped=True)
    opened(browser, web)
    start(browser)
    until(browser, "return document.getElementById('trouble').textContent")
    assert text(browser, "trouble") == "/dev/fake0 is another device now: S0 was chosen"
    click(browser, "#look")
    until(browser, "return document.getElementById('devices').textContent.includes('id S7')")
    assert browser.ask("return document.querySelectorAll('#devices input:checked').length") == 0
    click(browser, "#devices input:enabled")
    click(browser, "#look")
    until(browser, "return !document.getElementById('look').disabled")
    assert browser.ask("return document.querySelectorAll('#devices input:checked').length") == 1
    click(browser, "#start")
    ended(browser)


def test_data_is_destroyed_by_typing_its_serial_only(
    browser: Browser, serve: Callable[..., Web]
) -> None:
    web = serve(rows=2)
    opened(browser, web)
    click(browser, "#options-write")
    start(browser)
    assert "--destroy S0" in until(browser, "return document.getElementById('trouble').textContent")
    assert browser.ask("return document.getElementById('destroy').value") == ""
    browser.ask("document.getElementById('destroy').value = 'S0'")
    click(browser, "#start")
    ended(browser)
    # It has to be typed for every run.
    assert browser.ask("return document.getElementById('destroy').value") == ""
    assert text(browser, "trouble") == ""
    refused = [complaint for complaint in browser.complaints() if "409 (Conflict)" not in complaint]
    assert refused == []


def test_a_host_that_dies_is_told_and_comes_back(
    browser: Browser, serve: Callable[..., Web]
) -> None:
    web = serve(rows=1000, dies_after=5)
    opened(browser, web)
    start(browser)
    assert "ended without a result: the host ended (SIGKILL)" in ended(browser)
    assert "Runs cannot be started" in text(browser, "state")
    assert browser.ask("return document.getElementById('start').disabled")
    click(browser, "#look")
    until(browser, "return !document.getElementById('start').disabled")
    clean(browser, web)


def test_a_killed_host_without_a_run(browser: Browser, serve: Callable[..., Web]) -> None:
    web = serve()
    opened(browser, web)
    os.kill(web.helpers[0].pid, signal.SIGKILL)
    until(browser, "return document.getElementById('state').textContent.includes('SIGKILL')")
    clean(browser, web)


def test_a_server_that_ends_is_told(browser: Browser, tmp_path: Path) -> None:
    with serving(tmp_path, rows=10_000) as web:
        opened(browser, web)
        start(browser)
        until(browser, "return document.querySelectorAll('canvas').length >= 5")
    until(browser, "return document.getElementById('state').textContent.includes('server')")
    assert browser.ask("return document.getElementById('stop').disabled")
    # The browser itself says that it cannot connect; no script of ours fails.
    assert [
        complaint
        for complaint in browser.complaints()
        if "ERR_" not in complaint and "401" not in complaint
    ] == []
    # Another server at the same place does not accept this page's token.
    with serving(tmp_path, port=web.server.port):
        until(
            browser, "return document.getElementById('state').textContent.includes('new address')"
        )


def test_a_page_that_comes_later_sees_the_whole_run(
    browser: Browser, serve: Callable[..., Web]
) -> None:
    web = serve(rows=30)
    opened(browser, web)
    start(browser)
    ended(browser)
    opened(browser, web)
    until(browser, "return document.documentElement.dataset.rows === '30'")
    assert "completed" in ended(browser)
    until(browser, "return document.querySelectorAll('canvas').length === 6")
    clean(browser, web)


def test_the_token_stays_in_the_memory_of_the_page(
    browser: Browser, serve: Callable[..., Web]
) -> None:
    web = serve()
    opened(browser, web)
    assert browser.ask("return location.href") == f"{web.origin}/"
    stored = "return [document.cookie, localStorage.length, sessionStorage.length, window.name]"
    assert browser.ask(stored) == ["", 0, 0, ""]
    assert browser.tell("Storage.getCookies")["cookies"] == []
    assert web.server.guard.token not in " ".join(browser.requests())
    # A page that is loaded again lacks it, until the printed address is opened there.
    browser.ask("location.reload()")
    until(browser, "return document.getElementById('state').textContent.includes('token')")
    assert browser.ask("return document.getElementById('start').disabled")
    browser.ask("location.href = arguments[0]", web.server.url)
    until(browser, "return document.getElementById('state').textContent.startsWith('No run')")
    browser.complaints()


def test_a_wrong_token_shows_nothing(browser: Browser, serve: Callable[..., Web]) -> None:
    web = serve()
    browser.open_url("about:blank")
    browser.open_url(f"{web.origin}/#token=wrong")
    until(browser, "return document.getElementById('state').textContent.includes('token')")
    until(browser, "return document.documentElement.dataset.ready !== undefined")
    assert "token" in text(browser, "trouble") and "token" in text(browser, "list-trouble")
    assert (
        browser.ask("return document.querySelectorAll('#devices input, #entries tr').length") == 0
    )
    assert not web.helpers
    browser.complaints()


def test_another_site_cannot_use_the_session(
    browser: Browser, serve: Callable[..., Web], tmp_path: Path
) -> None:
    web = serve()
    opened(browser, web)
    asked = len(web.helpers)
    page = tmp_path / "evil.html"
    page.write_text(
        f"""<!DOCTYPE html><title>evil</title><body><script>
        const place = "{web.origin}";
        const body = '{{"devices": ["/dev/fake0"], "workload": "x"}}';
        const tries = [
            fetch(place + "/api/devices", {{ credentials: "include" }}),
            fetch(place + "/api/start", {{ method: "POST", credentials: "include", body }}),
            fetch(place + "/api/start", {{ method: "POST", credentials: "include", mode: "no-cors",
                headers: {{ "Content-Type": "text/plain" }}, body }}).then(() => {{ throw 0; }}),
        ];
        Promise.allSettled(tries).then(all => {{
            window.read = all.filter(one => one.status === "fulfilled").length;
        }});
        </script>"""
    )
    browser.open(page)
    assert until(browser, "return window.read === undefined ? '' : String(window.read)") == "0"
    assert web.json("GET", "/api/status")["running"] is False and len(web.helpers) == asked
    assert "started" not in [event.name for event in web.server.session.after(0, 0) or []]
    browser.complaints()


def test_a_small_screen_is_wide_enough(browser: Browser, serve: Callable[..., Web]) -> None:
    web = serve(rows=3, text="x" * 200)
    screen = {"width": 360, "height": 740, "deviceScaleFactor": 2, "mobile": True}
    browser.tell("Emulation.setDeviceMetricsOverride", **screen)
    try:
        opened(browser, web)
        start(browser)
        ended(browser)
        assert browser.ask("return document.documentElement.scrollWidth") <= 360
    finally:
        browser.tell("Emulation.clearDeviceMetricsOverride")
    clean(browser, web)


# Hosts that wait for the word.
WAITS = "return document.getElementById('start').textContent.startsWith('Start the')"


def cells(browser: Browser, selector: str) -> list[list[str]]:
    """Texts of the rows that the selector names."""
    rows: list[list[str]] = browser.ask(
        "return [...document.querySelectorAll(arguments[0])]"
        ".map(row => [...row.children].map(cell => cell.textContent))",
        selector,
    )
    return rows


def test_a_fleet_is_configured_claimed_started_and_seen(browser: Browser, tmp_path: Path) -> None:
    source = tmp_path / "elsewhere"
    source.mkdir()
    script = {
        "result": str(report_files.make(source, "run")),
        "samples": "storage",
        "rounds": 10_000,
        "pause_s": 0.1,
        "text": HOSTILE,
        "lost": f"it is silent {HOSTILE}",
        "seen": str(tmp_path / "seen"),
    }
    with serving_fleet(tmp_path, plan_of(["alpha", "beta"]), **script) as web:
        opened(browser, web)
        assert [row[0] for row in cells(browser, "#plan-hosts tr")] == ["alpha", "beta"]
        assert text(browser, "plan-workload") == "random-read-4k"
        assert browser.ask("return document.getElementById('devices')") is None
        for name in ("log", "power-feed"):
            field = browser.ask("return document.getElementById(arguments[0])", f"options-{name}")
            assert field is None
        hint = "return document.getElementById('options-time').placeholder"
        assert browser.ask(hint) == "20s, of the plan"
        browser.ask("document.getElementById('options-time').value = '40s'")
        click(browser, "#check")
        until(browser, "return !document.getElementById('plan').hidden")
        assert "alpha: time=40s, on /dev/fake0" in text(browser, "plan-remarks")
        browser.ask("document.getElementById('destroy').value = 'beta=S1'")
        click(browser, "#claim")
        until(browser, WAITS)
        assert [row[1] for row in cells(browser, "#host-rows tr")] == ["claimed", "claimed"]
        assert text(browser, "fleet-skew").startswith("All hosts have claimed")
        # What was typed to destroy data once must not destroy it again.
        assert browser.ask("return document.getElementById('destroy').value") == ""
        assert browser.ask("return document.getElementById('claim').disabled")
        # A page that is closed does not stop a run, and one that comes sees it.
        opened(browser, web)
        until(browser, WAITS)
        click(browser, "#start")
        late = "return document.querySelector('#host-rows tr[data-stage=late]') !== null"
        until(browser, late)
        (total,) = cells(browser, "#host-sum tr")
        assert total[:2] == ["all", "1 running"] and total[3:5] == ["1,000", "4"]
        assert total[12] == "late: beta"
        click(browser, "#stop")
        assert "stopped early. The result is in random-read-4k-" in ended(browser)
        first, second = cells(browser, "#host-rows tr")
        assert first[:2] == ["alpha", "ended"] and second[:2] == ["beta", "lost"]
        assert first[9:12] == ["-5 \u00b1 90", "not known", "12"] and second[10] == "200"
        assert second[12] == f"it is silent {HOSTILE}".replace("\u202e", "\\u202e")
        assert "within 24 \u00b5s of the planned start" in text(browser, "fleet-skew")
        assert "random-read-4k.storage-" in text(browser, "fleet-skew")
        asked = (tmp_path / "seen").read_text().splitlines()[0]
        assert '"options":{"time":"40s"}' in asked
        assert '"destroy":["S1"]' in asked and '"holds":true' in asked
        until(browser, "return document.querySelectorAll('canvas').length >= 5")
        assert browser.ask("return window.owned") is None
        assert browser.ask("return document.querySelectorAll('img').length") == 0
        assert browser.ask("return document.documentElement.scrollWidth <= innerWidth")
        until(browser, "return document.querySelectorAll('#entries tr').length === 2")
        clean(browser, web)
        browser.open_url(f"{web.origin}{report_of(browser)}", LIGHT)
        assert browser.ask("return document.querySelectorAll('canvas').length") >= 5


def report_of(browser: Browser) -> str:
    """Address of the report of the run that has just ended."""
    link = "#entries a[href^='/report'][href*='file=random-read-4k-']"
    return str(
        browser.ask("return document.querySelector(arguments[0]).getAttribute('href')", link)
    )


def test_a_fleet_is_stopped_and_its_dead_agent_is_told(browser: Browser, tmp_path: Path) -> None:
    with serving_fleet(tmp_path, plan_of(["alpha"]), rounds=10_000) as web:
        opened(browser, web)
        click(browser, "#start")
        until(browser, "return document.querySelector('tr[data-stage=running]') !== null")
        assert browser.ask("return document.getElementById('start').disabled")
        click(browser, "#stop")
        assert "stopped early" in ended(browser)
        click(browser, "#start")
        until(browser, "return document.querySelector('tr[data-stage=running]') !== null")
        os.kill(web.helpers[-1].pid, signal.SIGSEGV)
        assert "the agent ended (SIGSEGV); its hosts have lost their controller" in ended(browser)
        until(browser, "return !document.getElementById('start').disabled")
        clean(browser, web)
