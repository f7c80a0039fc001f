"""Ten minutes of a U6 in no time: its packets, its clock, the transducers, and the joules.

All between the device's bytes and the joules is spek-daq's own code; only the time is made up.
"""

from __future__ import annotations

import random
from dataclasses import dataclass, field
from typing import Any

import pytest
from lib.daq.build import failure
from lib.daq.build import library as daq_library
from lib.u6 import wire
from lib.u6.device import Device
from lib.u6.energy import RAILS, Rail, Stretch, loaded_device
from lib.u6.native import Decoder
from lib.u6.native import library as u6_library

MS = 1_000_000
SECOND = 1_000_000_000
START_NS = 77 * SECOND
INTERVAL_NS = 20 * MS
CHANNELS = (0, 1, 2, 3)
PER_PACKET = 25


def config(channels: tuple[int, ...], interval_ns: int) -> Any:
    ffi, lib = u6_library()
    stream_config = ffi.new("struct u6_stream_config *")
    assert lib.u6_rate_choose(ffi.addressof(stream_config, "rate"), interval_ns) == 0
    stream_config.channels, stream_config.per_packet = len(channels), PER_PACKET
    stream_config.channel[0 : len(channels)] = list(channels)
    return stream_config


def command(name: str, *arguments: Any) -> bytes:
    ffi, lib = u6_library()
    out = ffi.new("uint8_t[64]")
    return bytes(ffi.buffer(out, getattr(lib, f"u6_encode_{name}")(out, *arguments)))


@dataclass
class Pipeline:
    """From a device's packets to samples of power, as the bridge does it."""

    device: Device
    calibrated: bool = True
    samples: list[tuple[int, tuple[int, ...]]] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.config = config(CHANNELS, INTERVAL_NS)
        self.decoder = Decoder(len(CHANNELS), PER_PACKET)
        ffi, lib = daq_library()
        self.clock = ffi.new("struct daq_clock *")
        settings = ffi.new("struct daq_clock_config *")
        settings.period_num = self.config.rate.interval * SECOND
        settings.period_den = self.config.rate.clock_hz
        settings.window_ns, settings.settle_ns = 60 * SECOND, SECOND // 2
        settings.max_ppm = 200
        error = ffi.new("struct daq_error *")
        assert lib.daq_clock_init(self.clock, settings, error) == 0, failure(error)

    def run(self, duration_ns: int, chance: random.Random) -> None:
        """Let time pass: packets come a little late, as on USB."""
        device = self.device
        _, lib = daq_library()
        reply = device.command(command("stream_config", self.config), START_NS)
        assert reply == wire.long_reply(0x11, bytes(2))
        device.command(command("stream_start"), START_NS)
        now = START_NS
        held: list[Any] = []
        while now < START_NS + duration_ns:
            at = device.next_ns()
            assert at is not None
            now = max(now, at)
            packet = device.packet(now)
            assert packet is not None
            before = len(self.decoder.scans)
            assert self.decoder.feed(packet) == 0
            fresh = self.decoder.scans[before:]
            if not fresh:
                continue
            held += fresh
            arrival = now + int(chance.choice([0.3, 1, 1, 2, 9]) * MS)
            assert lib.daq_clock_arrival(self.clock, fresh[-1].number, arrival) == 0
            if lib.daq_clock_is_settled(self.clock):
                self.samples += [
                    (lib.daq_clock_at(self.clock, scan.number, 0), scan.samples) for scan in held
                ]
                held = []

    def stretch(self) -> Stretch:
        """The samples as powers."""
        ffi, lib = daq_library()
        u6_ffi, u6_lib = u6_library()
        nominal = u6_ffi.new("struct u6_calibration *")
        u6_lib.u6_calibration_nominal(nominal)
        calibrations = [self._calibration(ffi, lib, rail) for rail in RAILS]
        stretch = Stretch()
        for at_ns, raw in self.samples:
            uv = [u6_lib.u6_calibration_uv(nominal, 0, value) for value in raw]
            stretch.at_ns.append(at_ns)
            stretch.power_uw.append(
                [
                    lib.daq_power_nw(
                        lib.daq_current_ua(cal, uv[i]), lib.daq_rail_voltage_uv(cal, uv[3])
                    )
                    // 1000
                    for i, cal in enumerate(calibrations)
                ]
            )
        return stretch

    def _calibration(self, ffi: Any, lib: Any, rail: Rail) -> Any:
        cal = ffi.new("struct daq_calibration *")
        lib.daq_calibration_default(cal)
        cal.turns = rail.turns
        cal.voltage_uv = 0 if rail.name == "12V" else round(rail.volts * 1e6)
        cal.voltage_scale_ppm = 3_000_000
        if self.calibrated:
            cal.zero_uv += round(rail.zero_error_v * 1e6)
        return cal


def measured(device: Device, minutes: float, **options: Any) -> Stretch:
    pipeline = Pipeline(device, **options)
    pipeline.run(int(minutes * 60 * SECOND), random.Random(5))
    return pipeline.stretch()


def between(stretch: Stretch, start_ns: int, end_ns: int) -> Stretch:
    """Its samples from @start_ns to @end_ns."""
    kept = [i for i, at in enumerate(stretch.at_ns) if start_ns <= at <= end_ns]
    return Stretch([stretch.at_ns[i] for i in kept], [stretch.power_uw[i] for i in kept])


@pytest.mark.parametrize("ppm", [0, 100, -100])
def test_joules_of_any_interval_whatever_the_devices_clock(ppm: int) -> None:
    """Uncorrected, 100 ppm would be 60 ms at the end: a twentieth of the 12 V rail's period."""
    device = loaded_device(ppm)
    whole = measured(device, 10)
    stream = device.streams[0]
    times = [stream.time_of(scan, ppm) for scan in range(stream.taken)]
    # nothing was lost, so the first sample is scan 0
    late = [at - taken for at, taken in zip(whole.at_ns, times, strict=False)]
    # at first as late as the first packets were, then as the fastest ones
    assert all(-MS // 10 <= source <= 9.2 * MS for source in late)
    assert max(late[60 * SECOND // INTERVAL_NS :]) < MS
    chance = random.Random(ppm)
    for _ in range(20):
        start = chance.randrange(whole.at_ns[0], whole.at_ns[-1] - 5 * SECOND)
        end = start + chance.randrange(SECOND, 5 * SECOND)
        part = between(whole, start, end)
        for number, rail in enumerate(RAILS):
            expected = rail.joules(part.at_ns[0], part.at_ns[-1])
            step = rail.step_w * (part.at_ns[-1] - part.at_ns[0]) / 1e9
            assert abs(part.joules(number) - expected) <= 0.005 * expected + step


def test_a_zero_error_that_nobody_calibrated_is_a_quarter_of_an_ampere() -> None:
    """So the test above would see it."""
    stretch = measured(loaded_device(), 0.5, calibrated=False)
    seconds = (stretch.at_ns[-1] - stretch.at_ns[0]) / 1e9
    for number, rail in enumerate(RAILS[:2]):
        error = stretch.joules(number) - rail.joules(stretch.at_ns[0], stretch.at_ns[-1])
        amperes = error / rail.volts / seconds
        assert amperes == pytest.approx(rail.zero_error_v / (0.625 / 6), rel=0.02)
