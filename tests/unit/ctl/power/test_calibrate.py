# SPDX-License-Identifier: GPL-2.0
"""spekctl power: calibration against the real spek-daq, and the views of what the prober has."""

from __future__ import annotations

import json
import os
import stat
from collections.abc import Sequence
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.daq.build import checked_program

from spekctl import cli
from spekctl.commands.power import parse_ampere_ua
from spekctl.errors import ExitCode, SpekError, UsageError
from spekctl.kernel import feeds as kernel_feeds
from spekctl.kernel.feeds import Feed, RailUse
from spekctl.kernel.gen.spek_prober_records import RailInfo
from spekctl.kernel.records import FeedState, Use
from spekctl.power import calibrate
from spekctl.power.calibrate import Reading
from spekctl.power.monitor import Monitor, total_w
from spekctl.power.rails import Rail, RailsFile

SECOND = 10**9

RAILS = """\
# The board in the left rig.
source = "sim"

[settings]
transducer = true
zero_error_uv = 12345  # as an old transducer would be
clock = "host"

[[rail]]
name = "12V"           # disks
channel = "const:0"
voltage_mv = 12000

[[rail]]
name = "5V"
channel = "const:24000"  # 2 A at the simulated 12 V
voltage_mv = 12000
zero_uv = 2512345
"""


@pytest.fixture
def rails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A rails file whose device is simulated."""
    monkeypatch.setenv("SPEK_DAQ", str(checked_program()))
    path = tmp_path / "rails.toml"
    path.write_text(RAILS)
    path.chmod(0o640)
    return path


def run(*words: object) -> int:
    return cli.run(["power", *map(str, words)])


# ---- calibration ----


def test_the_zero_is_measured_and_nothing_else_is_touched(rails: Path) -> None:
    assert run("calibrate", rails, "--zero", "--rail", "12V", "--time", "300ms") == 0
    found = RailsFile(rails)
    # Half a step of the simulated converter.
    assert found.rail("12V").zero_uv == pytest.approx(2_512_345, abs=316)
    measured = f"zero_uv = {found.rail('12V').zero_uv}\n"
    assert rails.read_text().replace(measured, "", 1) == RAILS
    assert list(rails.parent.iterdir()) == [rails]


def test_the_gain_is_measured_at_a_known_load(
    rails: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = ["--rail", "5V", "--current", "2A", "--time", "300ms", "--json"]
    assert run("calibrate", rails, *words) == 0
    (change,) = json.loads(capsys.readouterr().out)
    assert change["constant"] == "sens_uv_per_a"
    assert change["after"] == pytest.approx(104_167, abs=316)
    assert RailsFile(rails).rail("5V").sens_uv_per_a == change["after"]


def test_a_dry_run_leaves_the_file_alone(rails: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("calibrate", rails, "--zero", "--rail", "12V", "--time", "200ms", "--dry-run") == 0
    assert "zero_uv" in capsys.readouterr().out
    assert rails.read_text() == RAILS


@pytest.mark.parametrize(
    ("words", "code", "sentence"),
    [
        ([], 2, "give either --zero or --current AMPERE"),
        (["--zero", "--current", "2"], 2, "give either --zero or --current AMPERE"),
        (["--current", "2"], 2, "the gain is measured one rail at a time"),
        (["--zero", "--rail", "12v"], 2, "there is no rail '12v' in"),
        (["--current", "x", "--rail", "5V"], 2, "'x' is not a current; write for example 2.5A"),
        (["--current", "1e99999999", "--rail", "5V"], 2, "'1e99999999' is not a current"),
        (["--current", "0", "--rail", "5V"], 2, "a current of '0' is out of range"),
        (["--zero"], 1, "rail '5V': its output is 2.7"),
        (["--current", "3", "--rail", "5V"], 1, "check the load, the rail"),
        (["--zero", "--set", "unplugged=0"], 1, "rail '12V': the transducer on const:0 is"),
        (["--zero", "--set", "transducer=false"], 2, "measures power; remove the rail's voltage"),
    ],
)
def test_what_can_not_be_calibrated_is_refused_and_the_file_stays(
    rails: Path, capsys: pytest.CaptureFixture[str], words: list[str], code: int, sentence: str
) -> None:
    assert run("calibrate", rails, *words, "--time", "200ms") == code
    error = capsys.readouterr().err
    assert error.startswith("spekctl: ")
    assert sentence in error
    assert error.count("\n") == 1
    assert rails.read_text() == RAILS


def test_the_file_keeps_its_mode_owner_and_place(
    rails: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    given: list[tuple[int, int]] = []
    monkeypatch.setattr(os, "fchown", lambda fd, uid, gid: given.append((uid, gid)))
    link = rails.with_name("link.toml")
    link.symlink_to(rails)
    assert run("calibrate", link, "--zero", "--rail", "12V", "--time", "200ms") == 0
    assert stat.S_IMODE(rails.stat().st_mode) == 0o640
    assert given == [(rails.stat().st_uid, rails.stat().st_gid)]
    assert link.is_symlink()
    assert "zero_uv = 2512" in rails.read_text().split("5V")[0]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("x =\n", "rails.toml"),
        ("rail = 5\n", "'rail' has to be a list of tables"),
        ("[[rail]]\nchannel = 'x'\n", "a rail has no name"),
        ("[[rail]]\nname = 'x'\nturns = 'y'\n", "'turns' has to be a whole number"),
    ],
)
def test_a_broken_rails_file_is_one_sentence(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, sentence: str
) -> None:
    path = tmp_path / "rails.toml"
    path.write_text(text)
    assert run("rails", path) == ExitCode.USAGE
    assert sentence in capsys.readouterr().err
    assert run("rails", tmp_path / "none.toml") == ExitCode.USAGE


def test_without_spek_daq_it_says_so(
    rails: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setenv("SPEK_DAQ", "/does/not/exist")
    assert run("calibrate", rails, "--zero", "--rail", "12V") == ExitCode.NO_KERNEL_SIDE
    assert "/does/not/exist can't be run" in capsys.readouterr().err


RAIL = Rail("12V", "AIN0", 12_000, None, 2_500_000, 104_167, 1)


@given(
    st.integers(2_400_000, 2_600_000),
    st.integers(95_000, 113_000),
    st.integers(1, 3),
    st.integers(100_000, 6_000_000),
)
def test_gain_is_the_one_that_was(zero: int, sens: int, turns: int, load_ua: int) -> None:
    rail = Rail("r", "AIN0", 12_000, None, zero, 104_167, turns)
    uv = zero + round(load_ua * sens * turns / 1e6)
    change = calibrate.gain(rail, {"AIN0": Reading(uv, 0, 100)}, load_ua)
    assert change.after == pytest.approx(sens, abs=10**6 / (load_ua * turns) + 1)


def test_readings_are_averaged_and_gaps_left_out() -> None:
    text = "time_ns,AIN0.uV,p.nW\n1,2500000,5\n2,,\n3,2500003,6\n"
    assert calibrate.parse(text) == {"AIN0": Reading(2_500_002, 2, 2)}
    assert calibrate.parse("") == {}


def test_a_channel_that_puts_out_nothing_is_named() -> None:
    with pytest.raises(UsageError, match="rail '12V': channel 'AIN0' is not a transducer's output"):
        calibrate.zero(RAIL, {})
    with pytest.raises(SpekError, match="unplugged or has no supply: its output is 0"):
        calibrate.zero(RAIL, {"AIN0": Reading(100_000, 0, 100)})
    with pytest.raises(SpekError, match="only 3 readings arrived; increase --time"):
        calibrate.zero(RAIL, {"AIN0": Reading(2_500_000, 0, 3)})


@pytest.mark.parametrize(
    ("text", "ua"),
    [("2", 2_000_000), ("2.5A", 2_500_000), ("500mA", 500_000), ("0.0015 A", 1500)],
)
def test_currents(text: str, ua: int) -> None:
    assert parse_ampere_ua(text) == ua


# ---- views ----


def feed(watermark_s: float, *, state: FeedState = FeedState.OPEN, name: str = "u6") -> Feed:
    rails = tuple(
        RailInfo(number=i, name=rail, samples=5, power_uw=1_500_000, energy_uj=2_000_000)
        for i, rail in enumerate(("12V", "5V"))
    )
    return Feed(
        id=1,
        name=name,
        source="u6",
        state=state,
        owner_pid=1,
        owner_name="spek-daq",
        history=64,
        max_step_ns=SECOND,
        uncertainty_ns=1_500_000,
        drift_ppb=0,
        residual_ns=0,
        overflows=0,
        lost=0,
        opened_ns=0,
        now_ns=0,
        watermark_ns=int(watermark_s * SECOND),
        batches=1,
        refused=0,
        left_behind=0,
        rails=rails,
    )


class FakeProber:
    """Two rails: 12V uses 2 W, 5V 1 W up to second 13 and is unknown from there on."""

    def __init__(self, *watermarks_s: float) -> None:
        self.watermarks_s = list(watermarks_s)
        self.asked: list[tuple[int, int]] = []

    def __enter__(self) -> FakeProber:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def feeds(self, feed_id: int | None = None) -> list[Feed]:
        watermark = self.watermarks_s[0]
        if len(self.watermarks_s) > 1:
            self.watermarks_s.pop(0)
        return [feed(watermark)]

    def energy(
        self, intervals: Sequence[tuple[int, int]], feed_id: int | None = None
    ) -> list[RailUse]:
        self.asked += intervals
        ((start, end),) = intervals
        known = max(0, min(end, 13 * SECOND) - start)
        return [
            RailUse(1, "u6", 0, "12V", FeedState.OPEN, 0, 0, (use(2, end - start, 0),)),
            RailUse(1, "u6", 1, "5V", FeedState.OPEN, 0, 0, (use(1, known, end - start - known),)),
        ]


def use(watts: int, known_ns: int, gap_ns: int) -> Use:
    uw = watts * 10**6 if known_ns else 0
    return Use(uw * known_ns, known_ns, gap_ns, 0, 0, 9, uw, uw)


def test_the_monitor_goes_from_watermark_to_watermark() -> None:
    prober = FakeProber(10, 11.5, 11.5, 14, 15)
    monitor = Monitor(prober)
    assert [view.mean_w for view in monitor.step()] == [None, None]
    views = monitor.step()
    assert [view.mean_w for view in views] == [2, 1]
    assert total_w(views) == 3
    assert [view.mean_w for view in monitor.step()] == [None, None], "the feed has not come on"
    views = monitor.step()
    assert [(view.joules, view.gap_s) for view in views] == [(8, 0), (3, 1)]
    assert views[1].remark == "1.0 s unknown"
    views = monitor.step()
    assert [view.remark for view in views] == ["", "unknown"]
    assert total_w(views) is None, "nothing is added up that is not known"
    assert [(a / SECOND, b / SECOND) for a, b in prober.asked] == [
        (10, 11.5),
        (11.5, 14),
        (14, 15),
    ]


def test_the_monitor_shows_views_as_lines_and_as_json(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernel_feeds, "PowerLink", lambda: FakeProber(10, 10, 11, 12))
    assert run("monitor", "--interval", "50ms", "--count", "2") == 0
    text = capsys.readouterr().out
    assert "12V" in text
    assert "2.000" in text
    assert "total" in text
    monkeypatch.setattr(kernel_feeds, "PowerLink", lambda: FakeProber(10, 10, 11, 12))
    assert run("monitor", "--interval", "50ms", "--count", "2", "--json") == 0
    views = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [[rail["mean_w"] for rail in view] for view in views] == [[2, 1], [2, 1]]


def test_the_monitor_needs_a_feed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernel_feeds, "PowerLink", lambda: FakeProber(10))
    assert run("monitor", "--feed", "u6x") == ExitCode.USAGE
    assert "no open feed is called 'u6x'; did you mean 'u6'?" in capsys.readouterr().err
    assert run("monitor", "--interval", "1ms") == ExitCode.USAGE
    assert "--interval must be at least 50ms" in capsys.readouterr().err


def test_rails_of_the_prober_are_listed(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(kernel_feeds, "PowerLink", lambda: FakeProber(10))
    assert run("rails") == 0
    text = capsys.readouterr().out
    for word in ("u6", "open", "12V", "5V", "1.500", "2.000"):
        assert word in text
    assert run("rails", "--json") == 0
    (found,) = json.loads(capsys.readouterr().out)
    assert found["state"] == "open"
    assert [rail["name"] for rail in found["rails"]] == ["12V", "5V"]


def test_rails_of_a_file_are_listed(rails: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run("rails", rails) == 0
    text = capsys.readouterr().out
    assert "2.512345 V" in text
    assert "104.167 mV/A" in text
    assert run("rails", rails, "--json") == 0
    assert [rail["name"] for rail in json.loads(capsys.readouterr().out)] == ["12V", "5V"]


def test_names_of_rails_are_shown_as_they_are(
    rails: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rails.write_text(RAILS.replace('"12V"', '"[/x]"').replace('"5V"', '"[bold]"'))
    assert run("rails", rails) == 0
    text = capsys.readouterr().out
    assert "[/x]" in text and "[bold]" in text
