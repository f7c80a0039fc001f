# SPDX-License-Identifier: GPL-2.0
"""spek-daq's LabJack U6, on a real USB stack: an emulated device is plugged into the kernel.

All scenarios also run in tests/unit, without USB; here are those in which USB has a part.
"""

from __future__ import annotations

import contextlib
import random
import subprocess
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from lib.guest import prober
from lib.u6 import build, energy
from lib.u6.device import Device
from lib.u6.scenarios import (
    MS,
    Bench,
    test_a_stream_that_was_left_running_is_stopped_first,
    test_an_overflow_is_a_gap_of_what_was_dropped,
    test_every_scan_has_its_value_and_nothing_is_missing,
    test_lost_damaged_and_short_packets_are_gaps,
    test_of_two_devices_one_has_to_be_named,
    test_refusals_say_why,
    test_unplugged_and_plugged_in_again,
    test_wrong_replies_are_refused_and_asked_for_again,
)
from lib.u6.usbip import VHCI, Plug
from lib.waiting import LONG_S, eventually

from spekctl.kernel.feeds import Feed, PowerLink

__all__ = [
    "test_a_stream_that_was_left_running_is_stopped_first",
    "test_an_overflow_is_a_gap_of_what_was_dropped",
    "test_every_scan_has_its_value_and_nothing_is_missing",
    "test_lost_damaged_and_short_packets_are_gaps",
    "test_of_two_devices_one_has_to_be_named",
    "test_refusals_say_why",
    "test_unplugged_and_plugged_in_again",
    "test_wrong_replies_are_refused_and_asked_for_again",
]

pytestmark = pytest.mark.any_kernel

SECOND = 1_000_000_000
# Collected on the host, this compiles; in the guest they are there.
READER, SPEK_DAQ = build.reader(), build.spek_daq()


@pytest.fixture(scope="module", autouse=True)
def usb() -> Iterator[None]:
    """USB/IP's host controller."""
    subprocess.run(["modprobe", "vhci_hcd"], check=True)
    assert VHCI.exists()
    yield
    remove = ["modprobe", "-r", "vhci_hcd"]
    eventually(lambda: not subprocess.run(remove, check=False).returncode, "vhci_hcd is held")


@pytest.fixture
def bench() -> Iterator[Bench]:
    with Bench(Plug, READER, SPEK_DAQ, interval_ns=20 * MS) as bench:
        yield bench


def until(link: PowerLink, condition: Callable[[Feed], object]) -> Feed:
    """The feed, as soon as it is so."""

    def find() -> Feed | None:
        feeds = [feed for feed in link.feeds() if feed.name == "u6" and feed.watermark_ns]
        return feeds[0] if feeds and condition(feeds[0]) else None

    feed = eventually(find, "the feed doesn't come so far")
    assert isinstance(feed, Feed)
    return feed


def length_ns(feed: Feed) -> int:
    """Of what all rails have brought."""
    return min(rail.last_ns for rail in feed.rails) - max(rail.first_ns for rail in feed.rails)


# What passes over an emulated machine's USB is late, which nobody can tell from arrivals. By how
# much may change by a tenth of a second within a stream: so rails that swing less, for which that
# makes less than .5 %.
STEADIER = [replace(rail, swing_a=rail.swing_a / 25) for rail in energy.RAILS]


def known_since_last_start_ns(link: PowerLink, device: Device, feed: Feed) -> int:
    """What all rails have brought of the second stream; -1 before it."""
    last = min(rail.last_ns for rail in feed.rails)
    if len(device.streams) < 2 or last <= device.streams[1].started_ns:
        return -1
    # The gap lasts until the stream's first sample.
    uses = link.energy([(device.streams[1].started_ns, last)], feed.id)
    return min(use.uses[0].known_ns for use in uses)


def test_the_prober_has_the_joules_and_the_gap(bench: Bench, tmp_path: Path) -> None:
    """Over any interval, at the times by which the device's arrivals were late; shifted by what the
    time stamps may be off besides, it is the same to 0.5 %."""
    bench.plug.unplug()
    device = energy.loaded_device(100, STEADIER)
    prober.load()
    with contextlib.ExitStack() as stack:
        stack.callback(prober.unload)
        link = stack.enter_context(PowerLink())
        plug = stack.enter_context(bench.plugged(device))
        daq = subprocess.Popen([SPEK_DAQ, "--rails", bench.rails(tmp_path)])
        stack.callback(daq.kill)
        feed = until(link, lambda feed: length_ns(feed) > 5 * SECOND)
        first, gone = max(rail.first_ns for rail in feed.rails) + SECOND, feed.watermark_ns
        plug.unplug()
        plug.plug()
        # However long it took to find the device again.
        feed = until(link, lambda feed: known_since_last_start_ns(link, device, feed) > 2 * SECOND)
        daq.terminate()
        assert daq.wait(LONG_S) == 0
        last = min(rail.last_ns for rail in feed.rails)

        dice = random.Random(4)
        pairs = [
            sorted((dice.randrange(first, gone), dice.randrange(first, gone))) for _ in range(12)
        ]
        intervals = [(start, end) for start, end in pairs if end - start > SECOND]
        before, after = device.streams
        # The first time stamp of either stream less the time of its scan.
        found_again = last - known_since_last_start_ns(link, device, feed)
        late_before = max(rail.first_ns for rail in feed.rails) - before.started_ns
        late_after = found_again - after.started_ns
        assert min(late_before, late_after) >= 0
        late_ns = [late_before] * len(intervals) + [late_after]
        intervals.append((last - 2 * SECOND, last))
        shift = min(feed.uncertainty_ns, 20 * MS)
        shifted = [(start - shift, end - shift) for start, end in intervals]
        answers = link.energy(intervals, feed.id), link.energy(shifted, feed.id)
        for rail, use, moved in zip(STEADIER, *answers, strict=True):
            assert use.rail_name == rail.name
            for (start, end), late, of_interval, of_shifted in zip(
                intervals, late_ns, use.uses, moved.uses, strict=True
            ):
                assert (of_interval.known_ns, of_interval.gap_ns) == (end - start, 0)
                expected = rail.joules(start - late, end - late)
                step = rail.step_w * (end - start) / 1e9
                assert abs(of_interval.energy_fj / 1e15 - expected) <= 0.005 * expected + step
                assert (
                    abs(of_interval.energy_fj - of_shifted.energy_fj)
                    <= 0.005 * of_interval.energy_fj
                )
        # Not less than what the device took nothing in; more by what it had not got rid of, which
        # was less than what had come.
        least = found_again - late_before - before.time_of(before.taken - 1, device.ppm)
        most = found_again - gone
        slack = 4 * energy.packet_ns(bench.interval_ns)
        for use in link.energy([(first, last)], feed.id):
            assert use.uses[0].known_ns + use.uses[0].gap_ns == last - first
            assert least - slack <= use.uses[0].gap_ns <= most + slack
