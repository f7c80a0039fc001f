# SPDX-License-Identifier: GPL-2.0
"""Idle tests: what they find, and a damaged one."""

from __future__ import annotations

import os
import signal
from functools import partial
from pathlib import Path

import pytest
from lib.ctl.campaign_command import interrupt_in_run
from lib.ctl.command_line import Spekctl
from lib.ctl.energy_command import of_file
from lib.ctl.spc1e_command import RUN, queue_kernel, queue_power
from lib.fakes.kernel import START_NS
from lib.fakes.power import FakePower
from lib.fakes.queue_kernel import QueueKernel

from spekctl.block import device
from spekctl.campaigns import idle
from spekctl.documents import energy
from spekctl.documents.device import DiskCounters
from spekctl.errors import ExitCode, UsageError
from spekctl.run.job import Interrupts

kernel = pytest.fixture(queue_kernel)
power = pytest.fixture(queue_power)


@pytest.mark.parametrize(
    ("after", "done"),
    [
        (DiskCounters(12, 99, 1, 8, discard_sectors=7), "did 7 I/Os"),
        (DiskCounters(5, 40, 1, 8, discard_sectors=7 + 4096), "discarded 2 MiB"),
        (DiskCounters(6, 48, 1, 8, discard_sectors=7 + 8), "did 1 I/O and discarded 4 KiB"),
    ],
)
def test_somebody_else_in_the_idle_test_is_noticed(
    spekctl: Spekctl,
    kernel: QueueKernel,
    power: FakePower,
    monkeypatch: pytest.MonkeyPatch,
    after: DiskCounters,
    done: str,
) -> None:
    counts = iter([DiskCounters(5, 40, 1, 8, discard_sectors=7), after])
    monkeypatch.setattr(device, "read_stat", lambda disk: next(counts, None))
    spekctl(*RUN, "--folder", "t")
    said = f"the devices were not idle during the idle test: other users {done}"
    assert said in of_file(Path("t/energy.json"))["remarks"]


def test_the_meter_follows_while_the_idle_test_lasts() -> None:
    """It may be longer than the prober remembers."""
    followed: list[tuple[int, int]] = []

    class Follower(FakePower):
        def follow(self, start_ns: int, end_ns: int) -> None:
            followed.append((start_ns, end_ns))

    now_ns = START_NS

    def pause(seconds: float) -> None:
        nonlocal now_ns
        now_ns += round(seconds * 1e9)

    with Interrupts() as interrupts:
        done = idle.measure((), 10**9, Follower(), interrupts, lambda: now_ns, pause)
    assert done is not None and done.power is not None
    assert followed == [(START_NS, START_NS + 10**9)] * 4


def test_an_interrupt_of_the_idle_test_leaves_nothing(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idle, "measure", lambda *given: os.kill(os.getpid(), signal.SIGINT))
    outcome = spekctl(*RUN, "--folder", "t")
    assert outcome.code == ExitCode.INTERRUPTED and outcome.out == ""
    assert "no phase was completed" in outcome.err and "run-new" not in kernel.calls
    assert list(Path("t").iterdir()) == []


def test_a_damaged_idle_test_is_refused(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    interrupt_in_run(3, kernel)
    spekctl(*RUN, "--folder", "t")
    Path("t/idle.json").write_text("{}")
    outcome = spekctl(*RUN, "--folder", "t", "--resume")
    assert outcome.code == ExitCode.USAGE
    assert "idle.json is not a spek file; expected an idle test" in outcome.sentence
    with pytest.raises(
        UsageError,
        match="is the state of a test of `spekctl spc1`; expected a",
    ):
        energy.load_spc1e(Path("t/state.json"))


def test_without_a_meter_the_site_is_read_from_the_first_run_on(
    spekctl: Spekctl, kernel: QueueKernel
) -> None:
    runs = [f"{at},230\n" for at in range(START_NS, START_NS + 10**12, 500 * 10**6)]
    Path("meter.csv").write_text("".join(["time_ns,voltage.V\n", *runs]))
    spekctl(*RUN, "--folder", "t", "--site", "volts=meter.csv:voltage")
    report = of_file(Path("t/energy.json"))
    assert report["site"]["first_minute"]["start_ns"] >= START_NS
    assert report["site"]["volts"] == "230.000"
    assert not any("site:" in remark for remark in report["remarks"])


def test_a_log_gives_the_site_of_a_measured_test(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The idle test is long before the simulated runs, and is not read again."""
    ms = 10**6
    idle_ns, began_ns = START_NS // 2, idle.monotonic_ns()
    measure = partial(idle.measure, clock=lambda: idle.monotonic_ns() - began_ns + idle_ns)
    monkeypatch.setattr(idle, "measure", measure)
    rest = [f"{at},231\n" for at in range(idle_ns, idle_ns + 120_000 * ms, 10 * ms)]
    runs = [f"{at},230\n" for at in range(START_NS, START_NS + 10**12, 500 * ms)]
    Path("meter.csv").write_text("".join(["time_ns,voltage.V\n", *rest, *runs]))
    words = ("--site", "volts=meter.csv:voltage", "--site", "power_factor=0.9")
    interrupt_in_run(3, kernel)
    spekctl(*RUN, "--folder", "t", *words)
    first = idle.load(Path("t"))
    assert first is not None and first.site_minute is not None
    Path("meter.csv").write_text("".join(["time_ns,voltage.V\n", *runs]))
    outcome = spekctl(*RUN, "--folder", "t", "--resume", *words)
    site = of_file(Path("t/energy.json"))["site"]
    assert site["sources"] == {"power_factor": "given", "volts": "meter.csv:voltage"}
    assert site["first_minute"]["readings"]["volts"]["mean"] == "231.000"
    assert site["first_minute"]["readings"]["volts"]["readings"] >= 10
    assert site["last_minute"]["readings"]["volts"]["mean"] == "230.000"
    assert "sources: power_factor given, volts meter.csv:voltage" in outcome.out
