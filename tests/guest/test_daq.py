# SPDX-License-Identifier: GPL-2.0
"""spek-daq feeds the real prober: known waveforms in, known energy out, across restarts."""

from __future__ import annotations

import random
import signal
import time
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path

import pytest
from guest.daq import (
    MS,
    SECOND,
    refused,
    running,
    triangle_joules,
)
from lib.guest import prober as guest_prober
from lib.processes import children
from lib.waiting import eventually

from spekctl.kernel.feeds import Feed, PowerLink, RailUse
from spekctl.kernel.records import FeedState

pytestmark = pytest.mark.any_kernel

LOW_W, HIGH_W, PERIOD_NS = 2, 4, 400 * MS
WAVE = "triangle:2000:4000:400"
SIM = ("-s", "sim", "-i", "2ms")
CAP_SYS_ADMIN = 1 << 21


@pytest.fixture(autouse=True)
def prober() -> Iterator[None]:
    """Every test starts with a fresh module and ends with one that can be unloaded."""
    guest_prober.unload()
    guest_prober.load()
    yield
    guest_prober.unload()


@pytest.fixture
def link() -> Iterator[PowerLink]:
    with PowerLink() as connection:
        yield connection


def rails(folder: Path, *channels: str, more: str = "") -> str:
    path = folder / "rails.toml"
    path.write_text(
        "".join(
            f'[[rail]]\nname = "r{i}"\nchannel = "{channel}"\n{more}'
            for i, channel in enumerate(channels)
        )
    )
    return str(path)


def within(
    use_fj: int, joules: Fraction, lsb_nw: int, length_ns: int, moved: Fraction = Fraction(0)
) -> bool:
    """0.5 % plus one step of the measured power, and @moved, joules at the ends of the interval."""
    error = abs(Fraction(use_fj, 10**15) - joules)
    return error <= joules / 200 + Fraction(lsb_nw * length_ns, 10**18) + moved


def assert_energy(rail: RailUse, intervals: list[tuple[int, int]], uncertainty_ns: int = 0) -> None:
    """@uncertainty_ns: of the times of samples, by which either end of an interval may be off."""
    moved = Fraction(2 * HIGH_W * uncertainty_ns, SECOND)
    for use, (start, end) in zip(rail.uses, intervals, strict=True):
        assert (use.known_ns, use.gap_ns, use.lost_ns) == (end - start, 0, 0)
        expected = triangle_joules(LOW_W, HIGH_W, PERIOD_NS, start, end)
        assert within(use.energy_fj, expected, rail.lsb_nw, end - start, moved), (
            f"{float(Fraction(use.energy_fj, 10**15))} J, not {float(expected)} J"
        )


def random_intervals(feed: Feed, count: int, seed: int) -> list[tuple[int, int]]:
    """Of a second and more, anywhere in what the feed has brought, but for its first second."""
    dice = random.Random(seed)
    first = max(rail.first_ns for rail in feed.rails) + SECOND
    last = min(rail.last_ns for rail in feed.rails)
    intervals: list[tuple[int, int]] = []
    while len(intervals) < count:
        start, end = sorted((dice.randrange(first, last), dice.randrange(first, last)))
        if end - start >= SECOND:
            intervals.append((start, end))
    return intervals


@pytest.mark.parametrize("clock", ["device", "host"])
def test_a_known_waveform_has_its_energy_over_any_interval(
    link: PowerLink, tmp_path: Path, clock: str
) -> None:
    settings = ["-o", f"clock={clock}", "-o", "drift_ppb=100000", "-o", "jitter_us=2000"]
    settings += ["-o", "noise_uw=50000", "-o", "seed=11"]
    with running(tmp_path, *SIM, *settings, "-r", rails(tmp_path, WAVE, WAVE)) as daq:
        feed = daq.until("sim", 6)
        daq.end()
    feed = next(entry for entry in link.feeds() if entry.id == feed.id)
    assert feed.state is FeedState.CLOSED
    assert (feed.refused, feed.lost, sum(rail.late for rail in feed.rails)) == (0, 0, 0)
    intervals = random_intervals(feed, 50, seed=5)
    shift = min(feed.uncertainty_ns, 100 * MS)
    shifted = [(start - shift, end - shift) for start, end in intervals]
    for rail, moved in zip(link.energy(intervals), link.energy(shifted), strict=True):
        # In an emulated guest a device's arrivals, and so their uncertainty, are the host's.
        assert_energy(rail, intervals, feed.uncertainty_ns if clock == "device" else 0)
        if clock == "host":
            for use, shifted_use in zip(rail.uses, moved.uses, strict=True):
                assert abs(use.energy_fj - shifted_use.energy_fj) <= use.energy_fj // 200


def test_transducers_with_a_wrong_zero_give_the_energy_back(
    link: PowerLink, tmp_path: Path
) -> None:
    settings = ["-o", "transducer=true", "-o", "zero_error_uv=25000", "-o", "clock=host"]
    file = rails(tmp_path, WAVE, more="voltage_mv = 12000\nzero_uv = 2525000\n")
    with running(tmp_path, *SIM, *settings, "-r", file) as daq:
        feed = daq.until("sim", 4)
        intervals = random_intervals(feed, 20, seed=6)
        (rail,) = link.energy(intervals, feed.id)
        assert rail.lsb_nw == pytest.approx(36_400_000, rel=0.01)
        assert_energy(rail, intervals)
        daq.end()


def test_lost_scans_are_gaps_of_their_length(link: PowerLink, tmp_path: Path) -> None:
    settings = ["-o", "gap_every=500", "-o", "gap_scans=100", "-o", "clock=host"]
    with running(tmp_path, *SIM, *settings, "-r", rails(tmp_path, "const:1000")) as daq:
        feed = daq.until("sim", 5)
        daq.end()
    (feed,) = link.feeds()
    (rail,) = feed.rails
    assert rail.gaps >= 3
    assert rail.gap_ns == rail.gaps * 101 * 2 * MS
    assert rail.energy_uj == rail.known_ns // 1000
    assert feed.overflows >= rail.gaps
    assert feed.lost >= 100 * rail.gaps


def test_nothing_is_lost_while_the_prober_is_away(link: PowerLink, tmp_path: Path) -> None:
    with running(tmp_path, *SIM, "-o", "clock=host", "-r", rails(tmp_path, WAVE)) as daq:
        daq.until("sim", 1)
        link.close()
        guest_prober.unload()
        away_ns = time.monotonic_ns()
        time.sleep(3)  # that much is to be kept
        daq.until_said("queueing samples until the prober is back")
        guest_prober.load()
        back_ns = time.monotonic_ns()
        with PowerLink() as again:
            feed = daq.reach("sim", back_ns + SECOND)
            (rail,) = feed.rails
            assert rail.first_ns < away_ns + SECOND, "what was measured meanwhile was kept"
            assert rail.gaps == 0
            intervals = [(away_ns + SECOND, back_ns), (back_ns, rail.last_ns)]
            (use,) = again.energy(intervals, feed.id)
            assert_energy(use, intervals)
        said = daq.end()
    assert "connected to the prober; feed 'sim' is open" in said


def test_it_can_wait_for_the_prober(tmp_path: Path) -> None:
    guest_prober.unload()
    code, said = refused(*SIM)
    assert (code, said) == (5, "spek-daq: the prober is not loaded; load spek_prober.ko\n")
    with running(tmp_path, *SIM, "--wait") as daq:
        daq.until_said("waiting for the prober")
        guest_prober.load()
        daq.feed("sim")
        daq.end()


def test_a_full_queue_is_a_gap(link: PowerLink, tmp_path: Path) -> None:
    settings = ["-s", "sim", "-i", "1ms", "-o", "clock=host", "--queue", "2048"]
    with running(tmp_path, *settings, "-r", rails(tmp_path, "const:1000")) as daq:
        daq.feed("sim")
        link.close()
        guest_prober.unload()
        time.sleep(6)  # the queue holds two seconds
        guest_prober.load()
        daq.until("sim", 1)
        daq.end()
    with PowerLink() as again:
        (feed,) = again.feeds()
    (rail,) = feed.rails
    # One, or some if what was late by more than the queue has room for came while it emptied.
    assert rail.gaps >= 1
    assert rail.gap_ns > 100 * MS
    assert feed.lost >= rail.gap_ns // MS - rail.gaps


def test_a_killed_daq_leaves_what_it_brought(link: PowerLink, tmp_path: Path) -> None:
    with running(tmp_path, *SIM, "-o", "clock=host", "-r", rails(tmp_path, WAVE)) as daq:
        daq.until("sim", 3)
        daq.end(signal.SIGKILL)
    feed = eventually(
        lambda: [feed for feed in link.feeds() if feed.state is FeedState.BROKEN],
        "it is not broken",
    )[0]
    (rail,) = feed.rails
    intervals = random_intervals(feed, 5, seed=2)
    (use,) = link.energy(intervals)
    assert_energy(use, intervals)
    (after,) = link.energy([(rail.last_ns, rail.last_ns + SECOND)])
    assert (after.uses[0].known_ns, after.uses[0].gap_ns) == (0, SECOND)
    # The name is free again.
    with running(tmp_path, *SIM) as daq:
        daq.feed("sim")
        daq.end()


def test_a_replayed_file_has_its_energy(link: PowerLink, tmp_path: Path) -> None:
    path = tmp_path / "watts.csv"
    path.write_text("time_s,a.W,b.mW\n0,1,1000\n0.5,3,\n1,3,2000\n1.5,1,4000\n")
    code, said = refused("-s", "replay", "-o", f"file={path}")
    assert code == 0, said
    (feed,) = link.feeds()
    assert (feed.name, feed.source, feed.state) == ("replay", "replay", FeedState.CLOSED)
    a, b = feed.rails
    assert (a.known_ns, a.gap_ns, a.energy_uj) == (1500 * MS, 0, 3_500_000)
    assert (b.known_ns, b.gap_ns, b.energy_uj) == (500 * MS, SECOND, 1_500_000)


def test_a_silent_rail_does_not_hold_up_the_others(link: PowerLink, tmp_path: Path) -> None:
    settings = ["-o", "clock=host", "-o", "unplugged=1"]
    with running(tmp_path, *SIM, *settings, "-r", rails(tmp_path, "const:1", "const:2")) as daq:
        feed = daq.until("sim", 1)
        live, silent = feed.rails
        assert live.samples > 0
        assert silent.samples == 0
        daq.end()


def test_only_the_process_that_reads_no_device_has_rights(tmp_path: Path) -> None:
    with running(tmp_path, *SIM) as daq:
        feed = daq.feed("sim")
        tasks = Path(f"/proc/{daq.process.pid}/task")
        assert rights(tasks) == [[0, 0], [0, 0]]
        (feeder,) = children(daq.process.pid)
        assert rights(Path(f"/proc/{feeder}/task")) == [[CAP_SYS_ADMIN, CAP_SYS_ADMIN]]
        assert feed.owner_pid == feeder
        daq.end()


def rights(tasks: Path) -> list[list[int]]:
    """Effective and permitted capabilities of each thread, all of which can gain no more."""
    sets = []
    for task in tasks.iterdir():
        lines = (task / "status").read_text().splitlines()
        status = dict(line.split(":\t", 1) for line in lines if ":\t" in line)
        sets.append([int(status[f"Cap{name}"], 16) for name in ("Eff", "Prm")])
        assert status["NoNewPrivs"] == "1"
    return sets


def test_refusals_are_the_probers_own_sentences(link: PowerLink, tmp_path: Path) -> None:
    link.open_feed("sim", "test", ["a"])
    code, said = refused(*SIM)
    assert code == 4
    assert said.startswith("spek-daq: the prober refuses: ")
    assert "feed" in said
    code, said = refused(
        *SIM, "-n", "other", prefix=("setpriv", "--inh-caps=-all", "--bounding-set=-sys_admin")
    )
    assert code == 3, said
    assert said.startswith("spek-daq: the prober refuses: ")
    assert "CAP_SYS_ADMIN" in said


def test_it_ends_in_order_and_says_what_it_did(link: PowerLink, tmp_path: Path) -> None:
    with running(tmp_path, *SIM, "-o", "clock=host", "-r", rails(tmp_path, "const:5")) as daq:
        daq.feed("sim")
        said = daq.end()
    (feed,) = link.feeds()
    assert feed.state is FeedState.CLOSED
    assert feed.owner_name.startswith("spek-daq")
    samples = feed.rails[0].samples
    assert f"the prober accepted {samples} samples, 0 were late, 0 batches were refused" in said
