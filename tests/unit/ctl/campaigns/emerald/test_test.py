# SPDX-License-Identifier: GPL-2.0
"""spekctl energy emerald: the plan, and whole tests on a fake kernel side with fake power."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.ctl.command_line import Outcome, Spekctl
from lib.ctl.energy_command import MISSING, interrupt_in_run, of_file
from lib.fakes.machine import disk, use_fakes
from lib.fakes.power import FakePower, figures
from lib.fakes.queue_kernel import QueueKernel

from spekctl.block import device
from spekctl.campaigns import idle
from spekctl.campaigns.emerald import report
from spekctl.campaigns.emerald.plan import (
    PHASES,
    QUICK,
)
from spekctl.documents import energy
from spekctl.documents.power import PowerFigures
from spekctl.documents.result import Result
from spekctl.errors import ExitCode, SpekError
from spekctl.power import span
from spekctl.workload.config import RunConfig

SECOND = 10**9


# --- from numbers --------------------------------------------------------------------------------

NUMBERS = """
raw_gigabytes = 7300
[ready-idle]
watts = 592.692
[random-read]
iops = 12305.0
watts = 713.126
[sequential-read]
mib_per_s = 2146.4
watts = 713.126
"""


def values_of(found: dict[str, Any]) -> dict[str, str | None]:
    return {
        one["metric"]: one["value"] and one["value"]["text"]
        for one in found["phases"]
        if one["metric"]
    }


def test_published_metrics_come_out_of_a_file(spekctl: Spekctl) -> None:
    Path("p.toml").write_text(NUMBERS)
    outcome = spekctl("energy", "emerald", "--from", "p.toml", "-o", "p.json")
    assert outcome.code == ExitCode.OK, outcome.err
    found = of_file(Path("p.json"))
    assert values_of(found) == {"EP_RI": "12.317", "EP_RR": "17.255", "EP_SR": "3.010"}
    assert (found["complete"], found["notice"]) == (True, "Emerald-like, unaudited")
    assert "12.317" in outcome.out and "…" not in outcome.out
    assert energy.load_emerald(Path("p.json")).raw_gigabytes == "7300"


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("raw_gigabytes = 3\n", "there is no phase; the sections are [hot-band], [random-read]"),
        ("[random-read]\niops = 0\nwatts = 3\n", "random-read: 0 IOPS must be more than 0"),
        ("[random-read]\niops = 9\nwatts = -3\n", "random-read: the power is -3 W"),
        ("[random-read]\nmib_per_s = 9\nwatts = 3\n", "[random-read]: the key 'iops' is missing"),
        ("[random-raed]\niops = 9\n", "unknown key 'random-raed'; did you mean 'random-read'?"),
        ("[ready-idle]\nwatts = 9\n", "[ready-idle] needs the key 'raw_gigabytes' above it"),
        (
            "raw_gigabytes = 1\n[ready-idle]\nwatts = 9\n[mixed]\niops = 1\nwatts = 8\n",
            "idle power, 9 W, is above that of mixed, 8 W",
        ),
    ],
)
def test_a_wrong_file_gets_one_sentence(text: str, sentence: str, spekctl: Spekctl) -> None:
    Path("p.toml").write_text(text)
    outcome = spekctl("energy", "emerald", "--from", "p.toml")
    assert outcome.code == ExitCode.USAGE and outcome.out == ""
    assert sentence in outcome.sentence


# --- a whole test --------------------------------------------------------------------------------

SHORT = (
    *("--conditioning", "1s", "--ramp", "1s", "--time", "2s", "--search-time", "2s"),
    *("--idle-time", "300ms", "--depths", "1,4,16", "--prefill", "100", "--progress", "none"),
)
RUN = ("energy", "emerald", "--device", "/dev/fake0", "--write", *SHORT)


@dataclass
class LoopKernel(QueueKernel):
    """100 I/Os per second for each that is outstanding, up to a capacity."""

    slow_s: Callable[[RunConfig], float] = lambda config: 0.0

    def __post_init__(self) -> None:
        self.disturb = lambda config, mean_s: self._mean_s(config)

    def _mean_s(self, config: RunConfig) -> float:
        depth = config.arrivals[0].depth
        return (depth / self._arrivals if depth else 0.010) + self.slow_s(config)

    @property
    def _arrivals(self) -> float:
        assert self.config is not None
        arrival = self.config.arrivals[0]
        if arrival.law != "closed":
            return arrival.rate_milli / 1000
        return min(100.0 * arrival.depth, self.capacity)


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> LoopKernel:
    fake = LoopKernel(capacity=400.0)
    use_fakes(monkeypatch, fake, tmp_path)
    monkeypatch.setattr(span, "connect", lambda *wish: (None, MISSING))
    return fake


@pytest.fixture
def power(kernel: LoopKernel, monkeypatch: pytest.MonkeyPatch) -> FakePower:
    fake = FakePower(idle_w=5.0)

    def of_result(result: Result) -> PowerFigures:
        depth = result.config.arrivals[0].depth
        return figures(5.0 + 0.01 * result.totals.all.iops + 0.1 * depth, 2.0)

    monkeypatch.setattr(span, "connect", lambda *wish: (fake, ""))
    monkeypatch.setattr(report, "power_of", of_result)
    return fake


def loads_of(kernel: LoopKernel) -> list[tuple[str, int]]:
    return [(config.name, config.arrivals[0].depth) for config in kernel.runs_seen]


def test_a_test_does_all_phases_with_their_metrics(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    outcome = spekctl(*RUN, "--out", "t", "--raw-gigabytes", "10")
    assert outcome.code == ExitCode.OK, outcome.err
    found = of_file(Path("t/energy.json"))
    assert (found["complete"], found["passed"], found["verdict"]) == (True, True, "complete")
    assert [one["name"] for one in found["phases"]] == ["prefill", "conditioning", *PHASES]
    # 400 I/Os per second at depth 4 for 5 + 4 + 0.4 W; depth 16 does no more for 1.2 W more.
    by_name = {one["name"]: one for one in found["phases"]}
    assert by_name["random-read"]["depth"] == 4
    assert float(by_name["random-read"]["watts"]) == pytest.approx(9.4, rel=0.01)
    assert float(values_of(found)["EP_RR"] or 0) == pytest.approx(400 / 9.4, rel=0.01)
    assert values_of(found)["EP_RI"] == "2.000"
    assert by_name["sequential-read"]["unit"] == "MiB/s/W"
    # The fake's I/Os have 4 KiB each.
    assert float(by_name["sequential-read"]["work"]) == pytest.approx(400 / 256, rel=0.01)
    assert by_name["mixed-25"]["rate"] == pytest.approx(100, rel=0.01)
    assert {(one["phase"], one["depth"]) for one in found["trials"]} == {
        (phase, depth) for phase in PHASES[:6] for depth in (1, 4, 16)
    }
    assert power.closed == 1 and kernel.closed and kernel.deleted
    assert "search for the best" in outcome.out and "EP_MW2" in outcome.out
    assert "…" not in outcome.out


def test_runs_are_what_their_phases_are_called(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    spekctl(*RUN, "--out", "t", "--depths", "4")
    names = [name for name, _ in loads_of(kernel)]
    assert names == [
        *("emerald-prefill", "emerald-hot-band", "emerald-hot-band", "emerald-random-read"),
        *("emerald-random-write", "emerald-sequential-read", "emerald-sequential-write"),
        *("emerald-mixed", "emerald-mixed-25"),
    ]
    fill, _, hot, reads, writes, _, in_order, mixed, _ = kernel.runs_seen
    assert fill.count * (256 << 10) == 1 << 30 and fill.streams[0].pattern == "sequential"
    assert len(hot.streams) == 13
    assert (reads.streams[0].read_ppm, reads.streams[0].sizes[0].bytes) == (1_000_000, 8192)
    assert writes.streams[0].read_ppm == 0 and writes.data == "random"
    assert in_order.streams[0].sizes[0].bytes == 256 << 10
    assert (mixed.streams[0].seq_ppm, mixed.streams[0].read_ppm) == (300_000, 700_000)
    kept = sorted(path.name for path in Path("t").glob("0*.json"))
    assert kept[0] == "001-prefill.json" and kept[-1] == "010-ready-idle.json"


def test_devices_with_large_blocks_get_their_own_hot_band(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(device, "find", lambda path: disk(path, logical_block=4096))
    assert spekctl(*RUN, "--phases", "hot-band", "--out", "t").code == ExitCode.OK
    assert "emerald-hot-band-4k" in {name for name, _ in loads_of(kernel)}


def test_without_power_there_is_performance(spekctl: Spekctl, kernel: LoopKernel) -> None:
    outcome = spekctl(*RUN, "--out", "t")
    assert outcome.code == ExitCode.OK, outcome.err
    found = of_file(Path("t/energy.json"))
    assert (found["complete"], found["passed"]) == (False, True)
    assert found["verdict"].startswith(
        "performance only: no power measured in hot-band, random-rea"
    )
    assert MISSING in found["remarks"]
    assert set(values_of(found).values()) == {None}
    by_name = {one["name"]: one for one in found["phases"]}
    assert float(by_name["random-read"]["work"]) == pytest.approx(400)
    assert by_name["ready-idle"]["text"] == "skipped: power is not measured"


def test_ready_idle_is_made_up_for_when_power_comes(
    spekctl: Spekctl, kernel: LoopKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    line = (*RUN, "--out", "t", "--phases", "random-read,ready-idle")
    spekctl(*line)
    runs = len(kernel.runs_seen)
    monkeypatch.setattr(span, "connect", lambda *wish: (FakePower(idle_w=4.0), ""))
    assert spekctl(*line, "--resume").code == ExitCode.OK
    assert len(kernel.runs_seen) == runs
    assert values_of(of_file(Path("t/energy.json")))["EP_RI"] == "0.268"


def test_a_phase_that_is_too_slow_fails(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    kernel.slow_s = lambda config: 0.1 if config.name == "emerald-random-write" else 0.0
    outcome = spekctl(*RUN, "--out", "t")
    assert outcome.code == ExitCode.LIMIT_MISSED
    found = of_file(Path("t/energy.json"))
    by_name = {one["name"]: one for one in found["phases"]}
    assert not by_name["random-write"]["passed"] and by_name["random-read"]["passed"]
    assert found["verdict"].startswith("failed: random-write: mean response time 110 ms is above")
    assert "missed: random-write" in outcome.out


def test_sequential_phases_have_no_response_limit(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    kernel.slow_s = lambda config: 0.1 if "sequential" in config.name else 0.0
    assert spekctl(*RUN, "--out", "t").code == ExitCode.OK


def test_a_system_that_rests_at_more_than_it_works_is_noticed(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    power.idle_w = 50.0
    assert spekctl(*RUN, "--out", "t").code == ExitCode.OK
    remarks = of_file(Path("t/energy.json"))["remarks"]
    assert any("idle power, 50 W, is above that of random-read" in one for one in remarks)


def test_an_interrupted_test_is_resumed(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    interrupt_in_run(5, kernel)
    first = spekctl(*RUN, "--out", "t")
    assert first.code == ExitCode.INTERRUPTED
    assert "5 steps are kept in t, --resume continues after hot-band-search-1x16" in first.err
    assert of_file(Path("t/energy.json"))["verdict"].startswith("not complete: hot-band, ")
    refused = spekctl(*RUN, "--out", "t")
    assert refused.code == ExitCode.USAGE and "t already holds a test" in refused.sentence
    for option, was, now in (
        ("--time", "2s", "3s"),
        ("--phases", ",".join(PHASES), "random-read"),
        ("--seed", "1", "5"),
        ("--max-response", "20ms", "25ms"),
        ("--depths", "1,4,16", "1,2"),
    ):
        other = spekctl(*RUN, "--out", "t", "--resume", option, now)
        assert f"another {option}: {was} then, {now} now" in other.sentence

    kernel.before_run = lambda config: None
    kernel.runs_seen.clear()
    resumed = spekctl(*RUN, "--out", "t", "--resume")
    assert resumed.code == ExitCode.OK, resumed.err
    assert of_file(Path("t/energy.json"))["complete"]
    assert "emerald-prefill" not in {name for name, _ in loads_of(kernel)}


def test_another_device_is_not_resumed(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower, monkeypatch: pytest.MonkeyPatch
) -> None:
    interrupt_in_run(2, kernel)
    spekctl(*RUN, "--out", "t")
    monkeypatch.setattr(device, "find", lambda path: disk(path, serial="OTHER"))
    outcome = spekctl(*RUN, "--out", "t", "--resume")
    assert "another serial number: S123 then, OTHER now" in outcome.sentence
    Path("t/state.json").write_text("{}")
    damaged = spekctl(*RUN, "--out", "t", "--resume")
    assert "state.json is not a spek file; expected the state of a test" in damaged.sentence


def test_an_interrupt_when_idle_keeps_the_rest(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(idle, "measure", lambda *given: os.kill(os.getpid(), signal.SIGINT))
    outcome = spekctl(*RUN, "--out", "t", "--phases", "random-read,ready-idle")
    assert outcome.code == ExitCode.INTERRUPTED
    assert "continues after random-read" in outcome.err


def test_a_failure_says_what_is_kept(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    def fail(config: RunConfig) -> None:
        if len(kernel.runs_seen) == 3:
            raise SpekError("the device is gone")

    kernel.before_run = fail
    outcome = spekctl(*RUN, "--out", "t")
    assert outcome.code == ExitCode.RUN_FAILED
    assert "the device is gone; 3 steps are kept in t" in outcome.err
    assert power.closed == 1 and kernel.closed


WRONG: dict[str, tuple[tuple[str, ...], int, str]] = {
    "neither": (("--quick",), ExitCode.USAGE, "give a device to test (--device), or numbers"),
    "both": (("-d", "/dev/fake0", "--from", "p.toml"), ExitCode.USAGE, "exclude each other"),
    "folder of no test": (
        ("--from", "p.toml", "--out", "t"),
        ExitCode.USAGE,
        "--from and --folder exclude each other: measured, or computed",
    ),
    "idle time of numbers": (
        ("--from", "p.toml", "--json", "--idle-time", "1m"),
        ExitCode.USAGE,
        "--from and --idle-time exclude each other: measured, or computed",
    ),
    "not allowed": (("-d", "/dev/fake0"), ExitCode.REFUSED, "give --write"),
    "unknown phase": (
        ("-d", "/dev/fake0", "--write", "--phases", "hotband"),
        ExitCode.USAGE,
        "no phase is called 'hotband'; did you mean 'hot-band'?",
    ),
    "no raw capacity": (
        ("-d", "/dev/fake0", "--write", "--raw-gigabytes", "0"),
        ExitCode.USAGE,
        "--raw-gigabytes must be more than 0, not 0",
    ),
    "depth 0": (
        ("-d", "/dev/fake0", "--write", "--depths", "0,1"),
        ExitCode.USAGE,
        "--depths begin at 1, not at 0",
    ),
    "too many workers": (
        ("-d", "/dev/fake0", "--write", "--workers", "9999"),
        ExitCode.USAGE,
        "--workers",
    ),
    "no time": (
        ("-d", "/dev/fake0", "--write", "--time", "0"),
        ExitCode.USAGE,
        "--time must be more than 0",
    ),
    "no limit": (
        ("-d", "/dev/fake0", "--write", "--max-response", "0ms"),
        ExitCode.USAGE,
        "--max-response must be more than 0",
    ),
    "no window": (
        ("-d", "/dev/fake0", "--write", "--window", "0"),
        ExitCode.USAGE,
        "--window must be more than 0",
    ),
    "nothing to resume": (
        ("-d", "/dev/fake0", "--write", "--resume"),
        ExitCode.USAGE,
        "emerald-fake0 holds no test to resume",
    ),
    "output of a test": (
        ("-d", "/dev/fake0", "--write", "-o", "x.json"),
        ExitCode.USAGE,
        "--output belongs to --from",
    ),
    "wrong serial": (
        ("-d", "/dev/fake0", "--write", "--destroy", "nobody"),
        ExitCode.REFUSED,
        "names none of the devices",
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong_input_gets_one_sentence_before_anything_runs(
    case: str, spekctl: Spekctl, kernel: LoopKernel
) -> None:
    options, code, sentence = WRONG[case]
    outcome: Outcome = spekctl("energy", "emerald", *options)
    assert outcome.code == code, outcome.err
    assert sentence in outcome.sentence
    assert outcome.out == "" and "run-new" not in kernel.calls


def test_reads_alone_need_no_permission_to_write(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    line = [one for one in RUN if one != "--write"]
    outcome = spekctl(
        *(*line, "--out", "t", "--phases", "random-read,ready-idle"),
        *("--prefill", "0", "--conditioning", "0"),
    )
    assert outcome.code == ExitCode.OK, outcome.err
    assert not any(config.write for config in kernel.runs_seen)


def test_quick_is_a_preset_that_options_change(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower
) -> None:
    line = ("energy", "emerald", "-d", "/dev/fake0", "--write", "--quick", "--progress", "none")
    outcome = spekctl(
        *(*line, "--out", "t", "--phases", "random-read", "--depths", "2", "--time", "7s"),
    )
    assert outcome.code == ExitCode.OK, outcome.err
    found = of_file(Path("t/energy.json"))
    assert found["parameters"]["durations"] == msgspec.to_builtins(
        msgspec.structs.replace(QUICK, measure_ns=7 * SECOND)
    )
    assert "0 % of the capacity was filled beforehand" in found["remarks"]
