# SPDX-License-Identifier: GPL-2.0
"""What can happen to a U6 and what its reader must make of it; tests for any bus to import.

The device knows which scan it took when and what it read, so nothing here needs a tolerance: each
scan that arrives has the value that belongs to its number, each one that is missing is in a gap.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from lib.u6 import energy
from lib.u6.device import Change, Device, Signal
from lib.u6.reader import Reader, Session, verify
from lib.u6.usbip import Plug
from lib.u6.wire import Constants, long_reply, stream_packet

MS = 1_000_000
SECOND = 1_000_000_000
CHANNELS = ("AIN0", "AIN1", "AIN2", "AIN3")
STREAM_CONFIG, STREAM_START, STREAM_STOP = 0x11, 0xA8, 0xB0


def ramp(period_s: float, low: float, high: float) -> Signal:
    """Rises all the time and falls at once: no two scans of a period read the same."""
    return lambda at_ns: low + (high - low) * (at_ns / 1e9 % period_s) / period_s


def fresh_device(**options: Any) -> Device:
    """Four inputs that are never the same, and a count of milliseconds on the digital ones."""
    signals = [ramp(10 + i, 0.5, 4.5) for i in range(4)]
    return Device(signals, digital=lambda at: int(at // MS) & 0xFFFF, **options)


@dataclass
class Bench:
    """A bus with a device on it, the program that reads it, and spek-daq."""

    plugged: Callable[[Device], Plug]
    program: Path
    daq: Path
    environment: dict[str, str] = field(default_factory=dict)
    # spek-daq's besides
    daq_environment: dict[str, str] = field(default_factory=dict)
    device: Device = field(default_factory=fresh_device)
    # between scans: an emulated guest has no time for many
    interval_ns: int = 4 * MS

    def __enter__(self) -> Bench:
        self.plug = self.plugged(self.device)
        self.plug.__enter__()
        return self

    def __exit__(self, *_: object) -> None:
        self.plug.__exit__()

    def reading(self, *channels: str, interval_ns: int = 0) -> Reader:
        """Start the program."""
        interval_ns = interval_ns or self.interval_ns
        environment = {**os.environ, **self.environment}
        return Reader(self.program, interval_ns, *(channels or CHANNELS), environment=environment)

    def rails(self, folder: Path) -> Path:
        """Write the rails file."""
        path = folder / "rails.toml"
        path.write_text(energy.rails_file(self.interval_ns))
        return path

    def measuring(self, rails: Path) -> energy.Daq:
        """Start spek-daq."""
        return energy.Daq(
            self.daq, rails, {**os.environ, **self.environment, **self.daq_environment}
        )


def verified(reader: Reader, device: Device) -> list[Session]:
    """End it and check all it said."""
    assert reader.finish() == 0, reader.failures
    assert len(reader.sessions) == len(device.streams)
    for session, stream in zip(reader.sessions, device.streams, strict=True):
        verify(session, device, stream, reader.channels)
    return reader.sessions


# ---- what it reads ----


def test_every_scan_has_its_value_and_nothing_is_missing(bench: Bench) -> None:
    device = bench.device
    with bench.reading() as reader:
        reader.read(150)
        (session,) = verified(reader, device)
    assert session.gaps == []
    assert (reader.damaged, reader.overflows) == (0, 0)
    assert not device.is_streaming, "it was left running"


def test_channels_have_the_resolution_of_the_converter(bench: Bench) -> None:
    bench.plug.unplug()
    device = fresh_device(constants=Constants(3.17e-4, -3.14e-4, 33490.25))
    with bench.plugged(device), bench.reading("FIO", "AIN3", "AIN0") as reader:
        reader.read(1)
        verified(reader, device)
    assert reader.lsb == [0, 317, 317]


def test_channels_come_in_the_order_they_were_asked_for(bench: Bench) -> None:
    """The device's own constants and clock, too; the clock is slow enough for small packets."""
    bench.plug.unplug()
    device = fresh_device(constants=Constants(3.17e-4, -3.14e-4, 33490.25), ppm=-100)
    with (
        bench.plugged(device),
        bench.reading("FIO", "AIN3", "AIN13", "AIN0", interval_ns=50 * MS) as reader,
    ):
        reader.read(20)
        (session,) = verified(reader, device)
        assert device.streams[0].channels == [3, 13, 0, 193]
        assert device.streams[0].per_packet < 25
    assert session.gaps == []


# ---- faults of the stream ----


def samples(packet: bytes) -> int:
    """In a packet of the stream."""
    return (len(packet) - 14) // 2


def flipped(byte: int) -> Callable[[bytes], bytes]:
    """A bit of a packet changes on the way."""

    def change(packet: bytes) -> bytes:
        broken = bytearray(packet)
        broken[byte] ^= 0x10
        return bytes(broken)

    return change


def has_said(gaps: int) -> Callable[[Reader], bool]:
    """Whether this number of gaps was reported."""
    return lambda reader: len(reader.session.gaps) == gaps


def test_lost_damaged_and_short_packets_are_gaps(bench: Bench) -> None:
    plug, device = bench.plug, bench.device
    faults: list[tuple[int, Change]] = [
        (3, lambda packet: None),  # they never arrive; the counter tells
        (1, flipped(0)),  # check sum of the header
        (1, flipped(4)),  # check sum of the rest
        (2, flipped(30)),
        (1, lambda packet: packet[:30]),
        (1, lambda packet: packet[:1]),
    ]
    with bench.reading() as reader:
        for said, (count, change) in enumerate(faults, 1):
            reader.read(60)
            plug.now(lambda u6, n=count, c=change: u6.change_next(n, c))
            # More scans than are read between faults may be on their way already.
            reader.until(has_said(said), "the gap was said")
        (session,) = verified(reader, device)
    assert reader.damaged == 6
    packet = device.streams[0].per_packet / len(CHANNELS)  # in scans
    for (count, _), gap in zip(faults, session.gaps, strict=True):
        assert abs(len(gap) - count * packet) <= max(packet, 1)
    assert reader.overflows == 0


def test_an_overflow_is_a_gap_of_what_was_dropped(bench: Bench) -> None:
    plug, device = bench.plug, bench.device
    # A quarter of a second: with all that a stall of twice that takes beside other work,
    # less than the two seconds that the source takes for silence.
    device.capacity = len(CHANNELS) * SECOND // 4 // bench.interval_ns
    with bench.reading() as reader:
        reader.read(60)
        plug.now(lambda u6: u6.stall_for(time.monotonic_ns(), SECOND // 2))
        reader.until(lambda r: r.session.gaps or r.failures, "the gap was said")
        assert not reader.failures
        reader.read(60)
        (session,) = verified(reader, device)
    assert [len(gap) for gap in session.gaps] == [len(device.streams[0].lost)]
    assert 0.15 * SECOND < len(session.missing) * bench.interval_ns < 0.35 * SECOND
    assert reader.overflows == 1


def test_a_stream_that_has_lost_its_place_begins_anew(bench: Bench) -> None:
    """Nothing is guessed: neither after a report that is lost, nor after an error, nor silence."""
    plug, device = bench.plug, bench.device
    with bench.reading() as reader:
        reader.read(60)
        # a report of an overflow, without the mark that says where it was
        plug.now(
            lambda u6: u6.change_next(1, lambda p: stream_packet([1] * samples(p), p[10], 60, 7))
        )
        reader.until(lambda r: len(r.sessions) == 2, "the first new start")
        reader.read(60)
        plug.now(lambda u6: u6.change_next(1, lambda p: stream_packet([1] * samples(p), p[10], 55)))
        reader.until(lambda r: len(r.sessions) == 3, "the second new start")
        reader.read(60)
        plug.now(lambda u6: u6.change_next(1, lambda p: stream_packet([1] * samples(p), p[10] - 1)))
        reader.until(lambda r: len(r.sessions) == 4, "the third new start")
        reader.read(60)
        plug.now(lambda u6: u6.be_silent(True))
        reader.until(lambda r: len(r.sessions) == 5, "the fourth new start")
        plug.now(lambda u6: u6.be_silent(False))
        reader.read(60)
        sessions = verified(reader, device)
    assert [session.end for session in sessions[:4]] == ["restart"] * 4
    unknown = "lost scans is unknown"
    reasons = [unknown, "too many channels", unknown, "no data arrived"]
    for session, reason in zip(sessions, reasons, strict=False):
        assert reason in session.why


# ---- faults of the device ----


def test_wrong_replies_are_refused_and_asked_for_again(bench: Bench) -> None:
    device = bench.device
    device.replies[STREAM_CONFIG] = [
        long_reply(0x2D, bytes(2)),  # another command's
        flipped(0)(long_reply(STREAM_CONFIG, bytes(2))),
        long_reply(STREAM_CONFIG, bytes([50, 0])),  # refused
        b"",  # none
    ]
    device.replies[STREAM_START] = [b"\xb8\xb8"]
    with bench.reading() as reader:
        reader.read(60)
        (session,) = verified(reader, device)
    assert session.gaps == []
    invalid = "invalid reply"
    reasons = [invalid, invalid, "settings are not valid", "timed out", invalid]
    assert len(reader.failures) == len(reasons)
    for failure, reason in zip(reader.failures, reasons, strict=True):
        assert reason in failure


def test_unplugged_and_plugged_in_again(bench: Bench) -> None:
    plug, device = bench.plug, bench.device
    with bench.reading() as reader:
        reader.read(60)
        plug.unplug()
        reader.until(lambda r: "no LabJack U6 is connected" in r.failures, "it was missed")
        plug.plug()
        reader.until(lambda r: len(r.sessions) == 2, "it was found again")
        reader.read(60)
        first, second = verified(reader, device)
    assert (first.end, first.why) == ("gone", "the U6 was unplugged")
    assert first.gaps == second.gaps == []


def test_a_stream_that_was_left_running_is_stopped_first(bench: Bench) -> None:
    device = bench.device
    with bench.reading() as dead:
        dead.read(60)
        dead.kill()
    assert device.is_streaming
    device.heard.clear()
    with bench.reading() as reader:
        reader.read(60)
        assert reader.finish() == 0
    assert device.heard.index(STREAM_STOP) < device.heard.index(STREAM_CONFIG)
    verify(reader.session, device, device.streams[-1], reader.channels)


# ---- what is refused ----


def refusal(bench: Bench, *words: str, interval_ns: int = 0) -> str:
    """Why it doesn't start."""
    with bench.reading(*words, interval_ns=interval_ns) as reader:
        assert reader.finish() == 1
    (sentence,) = reader.failures
    return sentence


def test_refusals_say_why(bench: Bench) -> None:
    plug, device = bench.plug, bench.device
    assert "AIN0 to AIN13" in refusal(bench, "AIN14")
    assert "twice" in refusal(bench, "AIN1", "AIN2", "AIN1")
    assert "at least one of AIN0 to AIN13" in refusal(bench, "FIO")
    assert "from 40000 to" in refusal(bench, "AIN0", "AIN1", interval_ns=30_000)
    assert "whole number" in refusal(bench, "AIN0", "serial=none")
    assert "no LabJack U6 with serial number 12" in refusal(bench, "AIN0", "serial=12")
    with bench.reading("AIN0", f"serial={device.serial}") as reader:
        reader.read(20)
        assert "in use by another program" in refusal(bench, "AIN0")
    device.constants = Constants(center=12345.0)
    assert "calibration is implausible" in refusal(bench, "AIN0")
    plug.unplug()
    assert refusal(bench, "AIN0") == "no LabJack U6 is connected"


def test_of_two_devices_one_has_to_be_named(bench: Bench) -> None:
    second = fresh_device(serial=12)
    with bench.plugged(second):
        assert "2 LabJack U6 are connected" in refusal(bench, "AIN0")
        with bench.reading("AIN2", "serial=12") as reader:
            reader.read(20)
            verified(reader, second)


# ---- spek-daq as a whole ----


def test_joules_and_gaps_of_spek_daq(bench: Bench, tmp_path: Path) -> None:
    """Known currents, a clock that is 100 ppm fast, zero errors of 25 mV, and every kind of gap."""
    bench.plug.unplug()
    device = energy.loaded_device(ppm=100)
    with bench.plugged(device) as plug, bench.measuring(bench.rails(tmp_path)) as daq:
        daq.read(250)
        plug.now(lambda u6: u6.change_next(4, lambda packet: None))
        daq.until(lambda: len(daq.stretches) == 2, "the loss")
        daq.read(250)
        plug.now(lambda u6: u6.change_next(1, flipped(4)))
        daq.until(lambda: len(daq.stretches) == 3, "the damage")
        daq.read(250)
        plug.now(lambda u6: u6.stall_for(time.monotonic_ns(), 3 * SECOND // 2))
        daq.until(lambda: len(daq.stretches) == 4, "the overflow")
        daq.read(250)
        stretches = daq.finish()
    assert len(device.streams) == 1
    assert len(stretches) == 4
    energy.check_joules(stretches, energy.first_scans(stretches, device.streams, device.ppm))
    true = energy.true_gaps(stretches, device.streams, device.ppm)
    for gap, expected in zip(energy.gaps(stretches), true, strict=True):
        length, true_length = gap[1] - gap[0], expected[1] - expected[0]
        assert abs(length - true_length) <= energy.packet_ns(bench.interval_ns)


def test_energy_while_the_device_is_gone_is_unknown(bench: Bench, tmp_path: Path) -> None:
    bench.plug.unplug()
    device = energy.loaded_device(ppm=-100)
    device.late_ns = SECOND // 2
    with bench.plugged(device) as plug, bench.measuring(bench.rails(tmp_path)) as daq:
        daq.read(250)
        plug.unplug()
        gone_ns = time.monotonic_ns()
        daq.until(lambda: any("unplugged" in line for line in daq.said), "its going")
        back_ns = time.monotonic_ns()
        plug.plug()
        daq.until(lambda: len(daq.stretches) == 2, "its coming back")
        daq.read(250)
        before, after = daq.finish()
    first_ns = [stream.started_ns for stream in device.streams]
    energy.check_joules([before, after], first_ns)
    assert before.at_ns[0] - first_ns[0] >= device.late_ns
    assert before.at_ns[-1] < gone_ns + energy.packet_ns(bench.interval_ns)
    assert after.at_ns[0] > back_ns
