"""The U6's stream, decoded: every scan that is given out has its true number and its true samples.

A buffer as the device has it (lib.u6.fifo) makes the packets; the test knows which scan is which.
"""

from __future__ import annotations

import errno
import random
import re
import struct
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from fuzz import c_build, runner
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lib.u6.fifo import Fifo
from lib.u6.native import Decoder
from lib.u6.wire import MARK, stream_packet

STALE = -errno.ESTALE


def sample(scan: int, channel: int) -> int:
    """What channel @channel reads in scan @scan: different for all, never MARK."""
    return (scan * 2654435761 + channel * 40503) % 0xFFFF


def samples(scan: int, channels: int) -> tuple[int, ...]:
    return tuple(sample(scan, channel) for channel in range(channels))


@dataclass
class Device:
    """A buffer that scans go into, each with the next number."""

    channels: int
    per_packet: int
    fifo: Fifo = field(init=False)
    taken: int = 0
    dropped: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.fifo = Fifo(self.channels, self.per_packet)

    def scan(self, count: int = 1) -> None:
        for _ in range(count):
            if not self.fifo.put(samples(self.taken, self.channels)):
                self.dropped.add(self.taken)
            self.taken += 1

    def packets(self, most: int = 10**9) -> list[bytes]:
        return [self.fifo.get() for _ in range(min(most, self.fifo.packets))]

    def overflow(self, scans_more: int) -> list[bytes]:
        """Let the buffer run over, drop @scans_more scans, empty it; all packets of that."""
        while not self.fifo.recovering:
            self.scan()
        self.scan(scans_more - 1)
        out = self.packets()
        self.scan(3 + 2 * self.per_packet // self.channels)
        return out + self.packets()


def expected(device: Device, without: AbstractSet[int] = frozenset()) -> list[int]:
    """Scans that a decoder must give when it has seen all packets but for scans @without."""
    whole = (device.taken * device.channels) // device.channels
    return [n for n in range(whole) if n not in device.dropped and n not in without]


def check(decoder: Decoder, device: Device) -> list[int]:
    """All that was given out is true. Return: its numbers."""
    before = -1
    for scan in decoder.scans:
        assert scan.number > before
        assert scan.after_gap == (scan.number != before + 1)
        assert scan.samples == samples(scan.number, device.channels)
        assert scan.number not in device.dropped
        before = scan.number
    numbers = [scan.number for scan in decoder.scans]
    missing = (numbers[-1] + 1 - len(numbers)) if numbers else 0
    assert decoder.count("missing") == missing
    assert decoder.count("gaps") == sum(scan.after_gap for scan in decoder.scans)
    assert decoder.count("scans") == len(numbers)
    return numbers


def complete(device: Device, packets: int) -> int:
    """Complete scans in this number of packets of an undisturbed stream."""
    return packets * device.per_packet // device.channels


shapes = st.tuples(st.integers(1, 25), st.integers(1, 25))


# ---- undisturbed ----


@settings(deadline=None)
@given(shapes, st.integers(0, 400), st.randoms(use_true_random=False))
@example((14, 25), 300, random.Random(1))  # packets end within scans, the counter wraps
@example((1, 25), 300, random.Random(1))
@example((25, 1), 400, random.Random(1))  # a scan takes 25 packets
def test_scans_that_straddle_packets(
    shape: tuple[int, int], packets: int, chance: random.Random
) -> None:
    device = Device(*shape)
    decoder = Decoder(*shape)
    pending: list[bytes] = []
    for _ in range(packets):
        while not device.fifo.packets:
            device.scan()
        pending += device.packets(1)
        if chance.random() < 0.3:  # so a transfer has any number of packets
            assert decoder.feed(b"".join(pending)) == 0
            pending = []
    assert decoder.feed(b"".join(pending)) == 0
    assert check(decoder, device) == list(range(complete(device, packets)))
    assert decoder.count("packets") == packets
    assert decoder.count("gaps") == decoder.count("lost") == decoder.count("damaged") == 0


def test_the_backlog_in_a_packet_changes_nothing() -> None:
    decoder = Decoder(1, 2)
    for counter, backlog in enumerate([3, 200, 7]):
        assert decoder.feed(stream_packet([1, 2], counter, backlog=backlog)) == 0
    assert decoder.count("scans") == 6
    assert decoder.count("damaged") == decoder.count("gaps") == 0


def test_a_digital_channel_may_read_what_marks_a_gap() -> None:
    """Inputs that are not connected are pulled up."""
    decoder = Decoder(2, 4)
    assert decoder.feed(stream_packet([100, MARK, 101, MARK], 0)) == 0
    assert [scan.samples for scan in decoder.scans] == [(100, MARK), (101, MARK)]


# ---- packets that are missing or damaged ----


def one_gap(device: Device, first: int, count: int) -> set[int]:
    """Scans to which this number of packets, from number @first, contribute."""
    start, end = first * device.per_packet, (first + count) * device.per_packet
    return set(range(start // device.channels, -(-end // device.channels)))


@settings(deadline=None)
@given(shapes, st.integers(0, 300), st.integers(1, 255), st.booleans())
@example((4, 25), 250, 10, False)  # the counter wraps within the gap
@example((4, 25), 0, 1, False)  # the first packet of all
def test_missing_packets_make_a_gap_of_their_length(
    shape: tuple[int, int], first: int, count: int, damage: bool
) -> None:
    device = Device(*shape)
    decoder = Decoder(*shape)
    total = first + count + 20
    packets: list[bytes] = []
    while len(packets) < total:
        device.scan()
        packets += device.packets(total - len(packets))
    answers = []
    for number, packet in enumerate(packets):
        if first <= number < first + count:
            if damage:
                broken = bytearray(packet)
                broken[number % len(packet)] ^= 1 << (number % 8)
                answers.append(decoder.feed(bytes(broken)))
        else:
            answers.append(decoder.feed(packet))
            if answers[-1]:
                break
    if (count + 1) * device.per_packet >= 512:  # an overflow may hide in there
        assert answers[-1] == STALE
        assert not set(answers[:-1]) - {0}
        check(decoder, device)
        return
    assert not set(answers) - {0}
    lost = one_gap(device, first, count)
    assert check(decoder, device) == [n for n in range(complete(device, total)) if n not in lost]
    assert decoder.count("lost") == count
    assert decoder.count("damaged") == (count if damage else 0)


@pytest.mark.parametrize("at", range(64))
def test_each_damaged_byte_costs_one_packet(at: int) -> None:
    device = Device(4, 25)
    decoder = Decoder(4, 25)
    device.scan(100)
    packets = device.packets()
    broken = bytearray(packets[5])
    broken[at] ^= 0x04
    packets[5] = bytes(broken)
    assert decoder.feed(b"".join(packets)) == 0
    assert decoder.count("damaged") == decoder.count("lost") == 1
    assert set(range(100)) - set(check(decoder, device)) == one_gap(device, 5, 1)


@given(shapes, st.integers(1, 63))
def test_a_packet_that_is_cut_short_costs_one_packet(shape: tuple[int, int], keep: int) -> None:
    device = Device(*shape)
    decoder = Decoder(*shape)
    packets: list[bytes] = []
    while len(packets) < 9:
        device.scan()
        packets += device.packets(9 - len(packets))
    keep = min(keep, len(packets[0]) - 1)
    # what is short ends its transfer
    assert decoder.feed(b"".join(packets[:4]) + packets[4][:keep]) == 0
    assert decoder.feed(b"".join(packets[5:])) == 0
    lost = one_gap(device, 4, 1)
    assert check(decoder, device) == [n for n in range(complete(device, 9)) if n not in lost]
    assert (decoder.count("damaged"), decoder.count("lost")) == (1, 1)


def test_a_packet_of_another_size_is_damaged() -> None:
    decoder = Decoder(2, 4)
    assert decoder.feed(stream_packet([1, 2], 0)) == 0
    assert decoder.count("damaged") == 1
    assert decoder.feed(stream_packet([1, 2, 3, 4, 5, 6], 0)) == 0
    assert decoder.count("damaged") == 3  # its end is no packet either
    assert decoder.scans == []


# ---- the device's buffer runs over ----


@settings(deadline=None)
@given(shapes, st.integers(0, 200), st.integers(1, 3000))
@example((4, 25), 100, 250)
@example((25, 1), 0, 1)  # the marking scan takes 25 packets
@example((7, 25), 3, 70_000)  # more than 16 bits count
def test_an_overflow_is_a_gap_of_what_was_dropped(
    shape: tuple[int, int], before: int, more: int
) -> None:
    device = Device(*shape)
    decoder = Decoder(*shape)
    packets: list[bytes] = []
    for _ in range(before):
        device.scan()
        packets += device.packets()
    packets += device.overflow(more)
    answers = [decoder.feed(packet) for packet in packets]
    if len(device.dropped) == 0xFFFF:  # where some firmware stops counting
        assert STALE in answers
        return
    assert set(answers) == {0}
    given_out = check(decoder, device)
    whole = (sum(len(p) - 14 for p in packets) // 2) // device.channels
    assert given_out == expected(device)[: len(given_out)]
    assert len(given_out) == whole - 1  # all but the marking scan
    assert decoder.count("overflows") == 1
    assert decoder.count("dropped") == len(device.dropped)
    assert given_out[-1] > max(device.dropped)


@settings(max_examples=40, deadline=None)
@given(shapes, st.lists(st.tuples(st.integers(0, 60), st.integers(1, 90)), max_size=4))
def test_overflow_after_overflow(shape: tuple[int, int], rounds: Sequence[tuple[int, int]]) -> None:
    device = Device(*shape)
    decoder = Decoder(*shape)
    for steady, more in rounds:
        for _ in range(steady):
            device.scan()
            assert decoder.feed(b"".join(device.packets())) == 0
        assert decoder.feed(b"".join(device.overflow(more))) == 0
    given_out = check(decoder, device)
    assert given_out == expected(device)[: len(given_out)]
    assert decoder.count("overflows") == len(rounds)
    assert decoder.count("dropped") == len(device.dropped)


def overflown() -> list[bytes]:
    """An overflow of 4 channels: 39 packets that empty the buffer, the report, and the rest."""
    device = Device(4, 25)
    return device.overflow(40)


@pytest.mark.parametrize("lost", [0, 5, 38, 39])
def test_packets_lost_during_an_overflow_lose_the_place(lost: int) -> None:
    packets = overflown()
    assert [packet[11] for packet in packets[:40]] == [59] * 39 + [60]
    decoder = Decoder(4, 25)
    answers = [decoder.feed(packet) for i, packet in enumerate(packets) if i != lost]
    # The very first one may be missing: those after it still say that scans are dropped.
    assert (STALE in answers) == (lost > 0)


def report(values: Sequence[int], dropped: int, counter: int = 0) -> bytes:
    return stream_packet(values, counter, 60, dropped)


@pytest.mark.parametrize(
    "packets",
    [
        [report([1, 2, 3, 4], 9)],  # no mark
        [report([MARK, MARK, 3, 4], 0)],  # a mark that stands for nothing
        [report([MARK, MARK, 3, 4], 0xFFFF)],  # the count has come to its end
        [report([1, MARK, MARK, 4], 9)],  # not a whole scan
        # begins at the packet's end, doesn't go on in the next
        [report([1, 2, 3, MARK, MARK], 9), stream_packet([5, 6, 7, 8, 9], 1)],
        # the report of an overflow doesn't come
        [stream_packet([1, 2, 3, 4], 0, 59), stream_packet([1, 2, 3, 4], 1)],
        # another overflow, another report before the mark is over
        [report([1, 2, MARK], 9), stream_packet([MARK, 1, 2], 1, 59)],
        [report([1, 2, MARK], 9), report([MARK, MARK, 1], 9, 1)],
    ],
)
def test_recoveries_that_make_no_sense_lose_the_place(packets: list[bytes]) -> None:
    values = (len(packets[0]) - 14) // 2
    decoder = Decoder(2, values)
    answers = [decoder.feed(packet) for packet in packets]
    assert answers[:-1] == [0] * (len(packets) - 1)
    assert answers[-1] == STALE


@pytest.mark.parametrize("code", [code for code in range(1, 256) if code not in (59, 60)])
def test_other_error_codes_end_the_stream(code: int) -> None:
    decoder = Decoder(2, 4)
    assert decoder.feed(stream_packet([1, 2, 3, 4], 0)) == 0
    assert decoder.feed(stream_packet([5, 6, 7, 8], 1, code)) == code
    assert len(decoder.scans) == 2


def test_a_restart_begins_at_zero_and_goes_on_counting() -> None:
    decoder = Decoder(2, 4)
    assert decoder.feed(stream_packet([1, 2, 3, 4], 0, 55)) == 55
    decoder.lib.u6_stream_restart(decoder.stream)
    assert decoder.feed(stream_packet([1, 2, 3, 4], 0)) == 0
    decoder.lib.u6_stream_restart(decoder.stream)
    assert decoder.feed(stream_packet([1, 2, 3, 4], 0)) == 0
    assert [scan.number for scan in decoder.scans] == [0, 1, 0, 1]
    assert decoder.count("packets") == 2


# ---- all at once ----


@settings(max_examples=150, deadline=None)
@given(shapes, st.randoms(use_true_random=False))
def test_any_mix_of_faults_is_told_truly_or_not_at_all(
    shape: tuple[int, int], chance: random.Random
) -> None:
    device = Device(*shape)
    decoder = Decoder(*shape)
    for _ in range(chance.randrange(400)):
        device.scan(chance.choice([1, 1, 1, 5, 300]))
        for packet in device.packets(chance.choice([0, 1, 1, 5, 100])):
            fault = chance.random()
            if fault < 0.02:
                continue
            if fault < 0.04:
                broken = bytearray(packet)
                broken[chance.randrange(len(packet))] ^= 1 << chance.randrange(8)
                packet = bytes(broken)
            if decoder.feed(packet):
                check(decoder, device)
                return
    check(decoder, device)


def case(channels: int, per_packet: int, transfers: Sequence[bytes]) -> bytes:
    """As tests/fuzz/c/u6.c takes it; the top bit: as they are, with their own check sums."""
    head = bytes([channels - 1, per_packet - 1])
    return head + b"".join(
        struct.pack("<H", len(transfer) | 1 << 15) + transfer for transfer in transfers
    )


def mangled(packet: bytes, chance: random.Random) -> bytes:
    """Bytes changed, inserted, removed; the check sums often made right again."""
    data = bytearray(packet)
    for _ in range(chance.randrange(1, 6)):
        kind = chance.randrange(4)
        at = chance.randrange(len(data) + 1)
        if kind == 0:
            data[at:at] = chance.randbytes(chance.randrange(1, 9))
        elif kind == 1 and len(data) > 8:
            del data[at : at + chance.randrange(1, 9)]
        elif at < len(data):
            data[at] = chance.choice([0, 59, 60, 255, chance.randrange(256)])
    if len(data) > 7 and chance.random() < 0.8:
        data[4:6] = struct.pack("<H", sum(data[6:]) & 0xFFFF)
        total = sum(data[1:6])
        data[0] = (total % 255 or 255) if total else 0
    return bytes(data)


def test_no_bytes_make_it_read_or_write_where_it_must_not(tmp_path: Path) -> None:
    """Streams of a device that stumbles, through the fuzz target, under sanitizers."""
    if not c_build.available():
        pytest.skip("no clang with libFuzzer here")
    chance = random.Random(20)
    for number in range(300):
        device = Device(chance.randint(1, 25), chance.randint(1, 25))
        transfers: list[bytes] = []
        for _ in range(chance.randrange(30)):
            device.scan(chance.choice([1, 9, 300]))
            for packet in device.packets(chance.choice([1, 1, 40])):
                bad = mangled(packet, chance) if chance.random() < 0.3 else packet
                if transfers and chance.random() < 0.3:
                    transfers[-1] += bad
                else:
                    transfers.append(bad)
        (tmp_path / str(number)).write_bytes(case(device.channels, device.per_packet, transfers))
    words = ["-runs=0", "-max_len=1000000", str(tmp_path), *runner.seeds("u6")]
    outcome = runner.start("u6", words)
    assert outcome.code == 0, outcome.output
    assert int(re.findall(r"corpus: files: (\d+)", outcome.output)[0]) >= 300
