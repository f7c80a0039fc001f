# SPDX-License-Identifier: GPL-2.0
"""A LabJack U6 as a host sees it: commands in, replies and stream packets out, faults on request.

It has no clock and no thread: every call says what time it is (CLOCK_MONOTONIC in ns). Scans are
taken as time passes, but only when somebody asks for packets, so a host or an emulator that is
slow loses nothing. The buffer runs over only while a stall is asked for.
"""

from __future__ import annotations

import struct
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from lib.u6 import wire
from lib.u6.fifo import CAPACITY, Fifo

SAMPLE_NS = 20_000  # from one channel of a scan to the next
CLOCKS = {0x00: 4_000_000, 0x08: 48_000_000, 0x02: 15_625, 0x0A: 187_500}
Change = Callable[[bytes], bytes | None]
# what a channel's input is at a time in ns
Signal = Callable[[float], float]


def constant(volts: float) -> Signal:
    """An input that doesn't change."""
    return lambda _: volts


@dataclass
class Stream:
    """A stream that is configured, perhaps running."""

    channels: list[int]
    per_packet: int
    clock_hz: int
    interval: int
    capacity: int = CAPACITY
    started_ns: int = -1
    taken: int = 0  # scans
    # those that no host can get any more, in order
    lost: list[int] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.fifo = Fifo(len(self.channels), self.per_packet, self.capacity)
        # which scan each sample in the buffer is of
        self.scan_of: deque[int] = deque()

    def time_of(self, scan: int, ppm: int) -> int:
        """When a scan was or will be taken, by the host's clock."""
        parts = scan * self.interval * 10**15
        return self.started_ns + parts // (self.clock_hz * (10**6 + ppm))


@dataclass
class Device:
    """One U6 with what is wired to it.

    @signals: of AIN0, AIN1...; a channel without one reads 0 V
    @digital: of the digital inputs
    @ppm: how much faster than the host's its clock runs
    @late_ns: from a packet's last scan to its arrival, at least: a delay that no host can tell
    """

    signals: Sequence[Signal]
    digital: Callable[[float], int] = lambda _: 0
    ppm: int = 0
    late_ns: int = 0
    serial: int = 360_012_345
    constants: wire.Constants = field(default_factory=wire.Constants)
    # samples that its buffer holds
    capacity: int = CAPACITY
    stream: Stream | None = None
    # all that were started, with the present one
    streams: list[Stream] = field(default_factory=list)
    # commands in order, by their number
    heard: list[int] = field(default_factory=list)
    # a host's command number -> the reply it gets instead; b"" for none; used up
    replies: dict[int, list[bytes]] = field(default_factory=dict)
    # the next packets go through these; None loses them
    changes: deque[Change] = field(default_factory=deque)
    stall: tuple[int, int] = (0, 0)
    is_silent: bool = False

    # ---- commands ----

    def command(self, data: bytes, now_ns: int) -> bytes:
        """A command. Return: the reply, b"" for none."""
        number = data[3] if data[1] == 0xF8 else data[1]
        self.heard.append(number)
        if not wire.is_sound(data):
            return b"\xb8\xb8"
        if self.replies.get(number):
            return self.replies[number].pop(0)
        return {
            0x08: self._identify,
            0x2D: self._read_block,
            0x11: self._configure,
            0xA8: self._start,
            0xB0: self._stop,
        }[number](data, now_ns)

    def _identify(self, _data: bytes, _now_ns: int) -> bytes:
        versions = bytes([0, 0, 0, 45, 1, 15, 6, 0, 2])
        body = versions + struct.pack("<IHB", self.serial, wire.PRODUCT, 1) + bytes(15) + b"\x04"
        return wire.long_reply(0x08, body)

    def _read_block(self, data: bytes, _now_ns: int) -> bytes:
        return wire.long_reply(0x2D, bytes(2) + wire.memory(self.constants)[data[7]])

    def _configure(self, data: bytes, _now_ns: int) -> bytes:
        if self.is_streaming:
            return wire.long_reply(0x11, bytes([wire.STREAM_ACTIVE, 0]))
        count, resolution, per_packet, settling, clock, interval = struct.unpack_from(
            "<BBBxBBH", data, 6
        )
        channels = list(data[14 : 14 + 2 * count : 2])
        options = data[15 : 15 + 2 * count : 2]
        rate = CLOCKS[clock] / interval
        assert resolution in (0, 1) and settling == 0 and not any(options)
        assert 1 <= per_packet <= 25
        if rate * count > 50_000:
            return wire.long_reply(0x11, bytes([58, 0]))
        self.stream = Stream(channels, per_packet, CLOCKS[clock], interval, self.capacity)
        return wire.long_reply(0x11, bytes(2))

    def _start(self, _data: bytes, now_ns: int) -> bytes:
        if self.is_streaming or not self.stream:
            return wire.short_reply(0xA8, wire.STREAM_ACTIVE if self.is_streaming else 50)
        self.stream.started_ns = now_ns
        self.streams.append(self.stream)
        return wire.short_reply(0xA8)

    def _stop(self, _data: bytes, _now_ns: int) -> bytes:
        if not self.is_streaming:
            return wire.short_reply(0xB0, wire.NOT_RUNNING)
        self.stream = None
        return wire.short_reply(0xB0)

    # ---- faults ----

    def stall_for(self, from_ns: int, duration_ns: int) -> None:
        """Packets are not sent for a while; the buffer may run over."""
        self.stall = (from_ns, from_ns + duration_ns)

    def change_next(self, count: int, change: Change) -> None:
        """The next packets go through a function."""
        self.changes.extend([change] * count)

    def be_silent(self, is_silent: bool) -> None:
        """Commands are answered, but nothing comes of a stream."""
        self.is_silent = is_silent

    # ---- the stream ----

    @property
    def is_streaming(self) -> bool:
        """A stream is running."""
        return self.stream is not None and self.stream.started_ns >= 0

    def reading(self, channel: int, at_ns: float) -> float:
        """What a host should make of a channel: microvolts, or the digital word."""
        if channel == wire.DIGITAL:
            return self.digital(at_ns)
        return self.constants.volts(self._sample(channel, at_ns)) * 1e6

    def _sample(self, channel: int, at_ns: float) -> int:
        if channel == wire.DIGITAL:
            return self.digital(at_ns)
        volts = self.signals[channel](at_ns) if channel < len(self.signals) else 0.0
        return self.constants.raw(volts)

    def _take_scan(self, stream: Stream) -> None:
        at = stream.time_of(stream.taken, self.ppm)
        scan = [self._sample(ch, at + i * SAMPLE_NS) for i, ch in enumerate(stream.channels)]
        before = len(stream.fifo.samples)
        if not stream.fifo.put(scan):
            stream.lost.append(stream.taken)
        # a scan that isn't kept may leave the mark of those that are dropped
        stream.scan_of.extend([stream.taken] * (len(stream.fifo.samples) - before))
        stream.taken += 1

    def _send(self, stream: Stream) -> bytes | None:
        """A packet out of the buffer, as it arrives."""
        packet = stream.fifo.get()
        scans = {stream.scan_of.popleft() for _ in range(stream.per_packet)}
        if not self.changes:
            return packet
        changed = self.changes.popleft()(packet)
        if changed != packet:
            stream.lost = sorted({*stream.lost, *scans})
        return changed

    def packet(self, now_ns: int) -> bytes | None:
        """The next packet of the stream. Return: None if there is none by now."""
        stream = self.stream
        now_ns -= self.late_ns
        while stream and self.is_streaming and not self.is_silent:
            at = stream.time_of(stream.taken, self.ppm)
            if stream.fifo.packets and not self.stall[0] <= min(at, now_ns) < self.stall[1]:
                packet = self._send(stream)
                if packet is not None:
                    return packet
            elif at > now_ns:
                break
            else:
                self._take_scan(stream)
        return None

    def next_ns(self) -> int | None:
        """When the next packet may be there; None if never."""
        stream = self.stream
        if not stream or not self.is_streaming or self.is_silent:
            return None
        needed = stream.per_packet - len(stream.fifo.samples)
        # with the scan that completes it, which may have been taken already
        scans = max(-(-needed // len(stream.channels)), 0)
        at = stream.time_of(stream.taken + scans - 1, self.ppm)
        return (max(at, self.stall[1]) if self.stall[0] <= at else at) + self.late_ns
