# SPDX-License-Identifier: GPL-2.0
"""Energy tests on a disk whose power is known: so much at rest, so much energy for each I/O.

A thread plays the measuring board: it looks at the disk's own counters and pushes the power of
the time since it last looked. So whatever rate a guest on a busy host gets to, the watts have to
be those of that rate.
"""

from __future__ import annotations

import json
import os
import threading
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.command_line import Spekctl
from lib.guest.disks import null_disk
from lib.guest.spekctl import in_process
from lib.waiting import LONG_S, eventually

from spekctl.campaigns import idle, usage
from spekctl.documents import energy
from spekctl.documents.energy import EmeraldReport, LevelReport, Spc1eReport
from spekctl.documents.exact import rounded
from spekctl.errors import ExitCode, SpekError
from spekctl.kernel.feeds import PowerLink, PowerSample

pytestmark = pytest.mark.any_kernel
MS = 1_000_000
SLOTS = 4
LOGIC_W = 2.0
REST_W = 3.0
JOULES_PER_IO = 0.01
PERIOD_S = 0.05
QUIET = ("--progress", "none")


class Board:
    """The power of a disk on two rails: logic, and motion that takes energy for each I/O."""

    def __init__(self, node: str) -> None:
        self._stat = Path("/sys/block", os.path.basename(node), "stat")
        self._end = threading.Event()
        self._ready = threading.Event()
        self._thread = threading.Thread(target=self._measure)
        self.failure: SpekError | None = None
        self.looks = 0

    def __enter__(self) -> Board:
        self._thread.start()
        assert self._ready.wait(LONG_S)
        return self

    def __exit__(self, *failure: object) -> None:
        self._end.set()
        self._thread.join(LONG_S)
        assert self.failure is None, self.failure

    def look(self) -> None:
        """What was sent until now is in samples of the time until now."""
        goal = self.looks + 2
        eventually(lambda: self.looks >= goal or self.failure, "the board does not look")

    def _measure(self) -> None:
        try:
            with PowerLink() as link:
                feed = link.open_feed("board", "sim", ["5V", "12V"])
                before = time.monotonic_ns(), self._ios()
                while not self._end.wait(PERIOD_S):
                    now = time.monotonic_ns(), self._ios()
                    link.push(feed, self._samples(before, now))
                    before = now
                    self.looks += 1
                    self._ready.set()
                link.close_feed(feed)
        except SpekError as error:
            self.failure = error
            self._ready.set()

    def _ios(self) -> int:
        fields = self._stat.read_text().split()
        return int(fields[0]) + int(fields[4])

    def _samples(self, before: tuple[int, int], now: tuple[int, int]) -> list[PowerSample]:
        """A step: the mean of the time between two looks."""
        seconds = (now[0] - before[0]) / 1e9
        motion_w = REST_W + JOULES_PER_IO * (now[1] - before[1]) / seconds
        return [
            PowerSample(at_ns, round(watts * 1e6), rail)
            for rail, watts in enumerate((LOGIC_W, motion_w))
            for at_ns in (before[0], now[0])
        ]


@pytest.fixture(scope="module")
def disk(spek_module: Path, prober_module: Path) -> Iterator[str]:
    """Takes 2 ms for each request, by a timer of its own."""
    with null_disk(size_mb=1024, irqmode=2, completion_nsec=2 * MS, hw_queue_depth=64) as node:
        yield node


@pytest.fixture
def call(disk: str, capfd: pytest.CaptureFixture[str]) -> Iterator[Spekctl]:
    """call("energy", ...) in this process; afterwards no run is left in the kernel."""

    with in_process(capfd) as spekctl:
        yield spekctl


@pytest.fixture
def board(disk: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[Board]:
    """The board, which has seen the end of what was before when an idle test begins."""
    measure = idle.measure
    with Board(disk) as board:

        def after_a_look(*arguments: Any) -> idle.Idle | None:
            board.look()
            return measure(*arguments)

        monkeypatch.setattr(idle, "measure", after_a_look)
        yield board


SPC1E = (
    *("--write", "--max-outstanding", str(SLOTS), "--keep-going", "--ramp", "500ms", *QUIET),
    *("--sustain", "500ms", "--iops-time", "500ms", "--phase-time", "3s", "--search-time", "500ms"),
    *("--start-bsu", "8", "--max-bsu", "8", "--idle-time", "1s", "--max-response", "2s"),
)


def check_level(level: LevelReport) -> None:
    """Its power is that of its rate."""
    assert level.power is not None and level.watts is not None
    rails = {rail.name: rail for rail in level.power.rails}
    assert rails["5V"].mean_w == pytest.approx(LOGIC_W, rel=1e-6)
    expected = LOGIC_W + REST_W + JOULES_PER_IO * float(level.iops)
    # The board looks every 50 ms or, in an emulated guest, when it gets to it.
    assert float(level.watts) == pytest.approx(expected, rel=0.1)
    assert level.power.total.gap_s == 0


def check_figures(report: Spc1eReport) -> None:
    """All figures follow from the levels of the report, to the last digit."""
    levels = {level.name: level for level in report.levels}
    whole = usage.metrics(
        usage.Levels(
            **{
                name: usage.Level(Fraction(level.watts or 0), Fraction(level.iops))
                for name, level in levels.items()
            }
        )
    )
    for row in report.profiles:
        assert row.watts is not None and row.iops_per_watt is not None
        day = whole.profiles[row.name]
        assert (row.watts.fraction, row.iops.fraction) == (day.watts, day.rate)
        assert row.iops_per_watt.text == rounded(day.rate_per_watt, 2)
    assert report.annual_kwh is not None and report.annual_kwh.fraction == whole.annual_kwh


@pytest.mark.at_length
def test_a_whole_test_has_the_power_of_its_loads(
    call: Spekctl, disk: str, board: Board, tmp_path: Path
) -> None:
    folder = tmp_path / "t"
    outcome = call("energy", "spc1e", "--device", disk, "--folder", str(folder), *SPC1E)

    report = energy.load_spc1e(folder / "energy.json")
    assert report.complete, outcome.err + outcome.out
    assert outcome.code == (ExitCode.OK if report.passed else ExitCode.LIMIT_MISSED)
    heavy, moderate, rest = report.levels
    assert (heavy.bsu, moderate.bsu) == (6, 4)
    for level in report.levels:
        check_level(level)
    assert float(heavy.watts or 0) > float(moderate.watts or 0) > float(rest.watts or 0)
    assert float(rest.watts or 0) == pytest.approx(LOGIC_W + REST_W, rel=0.01)
    check_figures(report)
    assert outcome.out.startswith("SPC-1/E-like, unaudited: /dev/")

    again = call("energy", "spc1e", "--from", str(folder / "energy.json"), "--price", "1", "--json")
    computed = json.loads(again.out)
    assert report.annual_kwh is not None
    assert computed["annual_cost"]["text"] == report.annual_kwh.text


EMERALD = (
    *("--write", "--prefill", "0", "--conditioning", "500ms", "--ramp", "500ms", "--time", "3s"),
    *("--idle-time", "1s", "--search-time", "500ms", "--depths", "2,4", "--data", "zero", *QUIET),
    *("--max-response", "2s", "--max-window-response", "5s"),
)


def emerald(call: Spekctl, disk: str, folder: Path, *more: str) -> EmeraldReport:
    outcome = call("energy", "emerald", "--device", disk, "--folder", str(folder), *EMERALD, *more)
    report = energy.load_emerald(folder / "energy.json")
    assert report.passed and outcome.code == ExitCode.OK, outcome.err + outcome.out
    return report


@pytest.mark.at_length
def test_phases_have_their_work_per_watt(
    call: Spekctl, disk: str, board: Board, tmp_path: Path
) -> None:
    report = emerald(call, disk, tmp_path / "t", "--phases", "hot-band,random-read,ready-idle")
    assert report.complete and report.verdict == "complete"
    phases = {phase.name: phase for phase in report.phases}
    for name in ("hot-band", "random-read"):
        phase = phases[name]
        assert phase.value is not None and phase.watts is not None
        assert phase.value.fraction == Fraction(phase.work) / Fraction(phase.watts)
        expected = LOGIC_W + REST_W + JOULES_PER_IO * float(phase.work)
        assert float(phase.watts) == pytest.approx(expected, rel=0.1)
    rest = phases["ready-idle"]
    assert rest.value is not None
    gigabytes = (1 << 30) / 1e9
    assert float(rest.value.text) == pytest.approx(gigabytes / (LOGIC_W + REST_W), abs=0.005)
    kept = json.loads((tmp_path / "t" / str(phases["hot-band"].result_file)).read_text())
    assert [stream["pattern"] for stream in kept["config"]["streams"]].count("hotband") == 4
    assert len(kept["config"]["streams"]) == 13
    assert kept["targets"][0]["disk_agrees"] is not False


def test_without_a_feed_there_is_performance(call: Spekctl, disk: str, tmp_path: Path) -> None:
    report = emerald(
        *(call, disk, tmp_path / "t", "--phases", "random-read,ready-idle"),
        *("--conditioning", "0", "--depths", "4"),
    )
    assert report.verdict == "performance only: no power measured in random-read, ready-idle"
    assert report.phases[0].watts is None and float(report.phases[0].work) > 0
    assert any("no feed is open in spek_prober" in remark for remark in report.remarks)
