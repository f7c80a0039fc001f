# SPDX-License-Identifier: GPL-2.0
"""spekctl run with power, on real modules: no failure of power measurement ends a run."""

from __future__ import annotations

import contextlib
import json
import os
import signal
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from lib.guest.modules import is_loaded, unload_soon
from lib.waiting import LONG_S, eventually

from spekctl import cli
from spekctl.documents.power import NO_FEED
from spekctl.errors import ExitCode
from spekctl.kernel import client
from spekctl.kernel.feeds import PowerLink, PowerSample
from spekctl.kernel.records import RunState

pytestmark = pytest.mark.any_kernel
SECOND = 1_000_000_000
W = 1_000_000  # in microwatts
RUN = ("run", "random-read-4k", "--interval", "500ms", "--json", "--progress", "none")


def bring() -> None:
    """4 W and 8 W, for ever."""
    link = PowerLink()
    feed = link.open_feed("board", "sim", [("5V", 1000000), "12V"], uncertainty_ns=50000)
    while True:
        now = time.monotonic_ns()
        link.push(feed, [PowerSample(now, 4 * W, 0), PowerSample(now, 8 * W, 1)])
        time.sleep(0.02)


@pytest.fixture
def daq(prober_module: Path) -> Iterator[int]:
    """A process that brings samples until it is killed. Forked: Python starts slowly here."""
    pid = os.fork()
    if pid == 0:
        try:
            bring()
        finally:
            os._exit(1)
    try:
        with PowerLink() as link:
            eventually(
                lambda: any(feed.is_open and feed.watermark_ns for feed in link.feeds()),
                "no samples come",
            )
        yield pid
    finally:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)


@pytest.fixture
def run(
    spek_module: Path,
    prober_module: Path,
    null_blk: Callable[..., str],
    capfd: pytest.CaptureFixture[str],
) -> Callable[..., tuple[int, Any, str]]:
    """run("--time", "2s") gives exit code, result and standard error."""
    node = null_blk(size_mb=64)

    def in_process(*arguments: str) -> tuple[int, Any, str]:
        capfd.readouterr()
        code = cli.run([*RUN, "--device", node, *arguments])
        captured = capfd.readouterr()
        return code, json.loads(captured.out) if captured.out else None, captured.err

    return in_process


def test_run_without_a_feed_says_that_power_is_missing(run: Any) -> None:
    code, result, _ = run("--time", "1s")
    assert code == ExitCode.OK
    assert result["power"] is None
    assert result["power_text"] == NO_FEED
    assert {row["power"] for row in result["intervals"]} == {None}


def test_result_has_power_beside_iops(run: Any, daq: object) -> None:
    code, result, _ = run("--time", "2s", "--ramp", "500ms", "--power-baseline", "2")
    assert code == ExitCode.OK
    assert result["power_text"] == ""
    power, measure = result["power"], result["power"]["measure"]
    seconds = (
        next(phase["duration_ns"] for phase in result["phases"] if phase["phase"] == "measure")
        / 1e9
    )
    assert [rail["name"] for rail in measure["rails"]] == ["5V", "12V"]
    assert [rail["mean_w"] for rail in measure["rails"]] == [4.0, 8.0]
    total = measure["total"]
    assert total["joules"] == pytest.approx(12 * seconds, rel=1e-9)
    assert total["known_s"] == pytest.approx(seconds)
    assert (total["gap_s"], total["min_w"], total["max_w"]) == (0.0, 12.0, 12.0)
    cost = measure["efficiency"]
    assert cost["watts"] == 10.0
    assert cost["iops_per_w"] == pytest.approx(result["totals"]["all"]["iops"] / 10)
    assert power["uncertainty_ns"] == 50000
    assert power["shift_j"] < 0.005 * total["joules"]
    assert power["uncertainty_j"] == pytest.approx(power["shift_j"] + 0.001 * seconds)
    rows = [row for row in result["intervals"] if row["phase"] == "measure"]
    assert rows
    assert sum(row["power"]["total"]["joules"] for row in rows) == pytest.approx(total["joules"])
    assert {row["power"]["total"]["mean_w"] for row in rows} == {12.0}


def in_mid_run(act: Callable[[], object]) -> None:
    """Once a run measures, and a second of it is over: until then may take long in a guest."""
    kernel = client.connect()
    try:
        while not any(
            info.state is RunState.RUNNING and info.now_ns > info.measure_ns + SECOND > SECOND
            for info in kernel.runs()
        ):
            time.sleep(0.1)
    finally:
        kernel.close()
    act()


def test_death_of_the_daq_does_not_end_the_run(run: Any, daq: int) -> None:
    killer = threading.Thread(
        target=in_mid_run, args=(lambda: os.kill(daq, signal.SIGKILL),), daemon=True
    )
    killer.start()
    code, result, _ = run("--time", "20s")
    killer.join(timeout=LONG_S)
    assert code == ExitCode.OK
    assert result["outcome"]["ok"]
    assert result["power_text"].startswith("power is unknown for")
    assert [feed["state"] for feed in result["power"]["feeds"]] == ["broken"]
    total = result["power"]["measure"]["total"]
    assert total["gap_s"] > 0
    assert total["known_s"] + total["gap_s"] == pytest.approx(20, abs=0.1)


def test_module_without_prober_and_wrong_feed(run: Any, daq: object) -> None:
    code, result, _ = run("--time", "500ms", "--no-prober")
    assert code == ExitCode.OK
    assert result["power_text"].startswith("power not measured: the run had no prober")
    code, result, error = run("--time", "500ms", "--power-feed", "wall")
    assert (code, result) == (ExitCode.USAGE, None)
    assert "there is no open feed 'wall'; open are board" in error


def test_unloading_the_prober_does_not_end_the_run(run: Any) -> None:
    # A dump that is being read holds it for a moment.
    unloader = threading.Thread(
        target=in_mid_run,
        args=(lambda: unload_soon("spek_prober"),),
        daemon=True,
    )
    unloader.start()
    code, result, error = run("--time", "20s")
    unloader.join(timeout=LONG_S)
    assert not is_loaded("spek_prober")
    assert code == ExitCode.OK
    assert result["outcome"]["ok"]
    assert result["totals"]["all"]["ios"] > 0
    assert result["prober"] is None
    assert (
        len([remark for remark in result["remarks"] if "lost spek_prober during the run" in remark])
        == 1
    )
    assert "lost spek_prober during the run" in error
