"""Commands, replies, rates and calibration of a LabJack U6, against its data sheet."""

import errno
import struct
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.u6 import wire
from lib.u6.native import library

MAX_INTERVAL_NS = 4_194_240_000


def encoded(name: str, *arguments: Any) -> bytes:
    ffi, lib = library()
    out = ffi.new("uint8_t[64]")
    return bytes(ffi.buffer(out, getattr(lib, f"u6_encode_{name}")(out, *arguments)))


def decoded(name: str, reply: bytes, *out: Any) -> int:
    return int(getattr(library()[1], f"u6_decode_{name}")(reply, len(reply), *out))


def rate(interval_ns: int) -> Any:
    ffi, lib = library()
    chosen = ffi.new("struct u6_rate *")
    error = lib.u6_rate_choose(chosen, interval_ns)
    return chosen if error == 0 else error


# ---- commands ----


def test_commands_are_the_ones_of_the_data_sheet() -> None:
    assert encoded("stream_start") == b"\xa8\xa8"
    assert encoded("stream_stop") == b"\xb0\xb0"
    assert encoded("identify") == wire.sealed_long(bytes([0, 0xF8, 0x0A, 0x08]) + bytes(22))
    assert encoded("read_block", 3) == wire.sealed_long(bytes([0, 0xF8, 0x01, 0x2D, 0, 0, 0, 3]))


def test_stream_config_says_clock_channels_and_gains() -> None:
    ffi, _ = library()
    config = ffi.new("struct u6_stream_config *")
    config.rate = rate(1_000_000)[0]
    config.channels, config.per_packet = 3, 25
    config.channel[0:3] = [0, 13, 193]
    config.gain[0:3] = [0, 3, 0]
    # 48 MHz, 48,000 ticks; resolution index 1; options: gain in bits 4 and 5
    expected = bytes([0, 0xF8, 7, 0x11, 0, 0, 3, 1, 25, 0, 0, 0x08]) + struct.pack("<H", 48000)
    expected += bytes([0, 0, 13, 0x30, 193, 0])
    assert encoded("stream_config", config) == wire.sealed_long(expected)


@given(st.binary(min_size=7, max_size=64))
def test_check_sums(data: bytes) -> None:
    _, lib = library()
    sealed = wire.sealed_long(data)
    assert lib.u6_packet_is_sound(sealed, len(sealed))
    for at in range(len(sealed)):
        for change in (1, 0x80, 0xFF):
            broken = bytearray(sealed)
            broken[at] = (broken[at] + change) & 255
            # Folding takes 0 and 255 for the same; nothing else is.
            same = wire.sealed_long(bytes(broken)) == bytes(broken)
            assert bool(lib.u6_packet_is_sound(bytes(broken), len(broken))) == same


# ---- replies ----


def identity_reply(serial: int = 360005087, product: int = 6, version: int = 4) -> bytes:
    body = struct.pack("<BBBBBBBBBIHB", 0, 0, 0, 88, 0, 15, 6, 0, 2, serial, product, 7)
    return wire.long_reply(0x08, body + bytes(15) + bytes([version]))


def test_identity() -> None:
    ffi, _ = library()
    identity = ffi.new("struct u6_identity *")
    assert decoded("identify", identity_reply(), identity) == 0
    assert (identity.serial, identity.local_id) == (360005087, 7)
    assert (identity.firmware_major, identity.firmware_minor) == (0, 88)
    assert not identity.is_pro
    assert decoded("identify", identity_reply(version=12), identity) == 0
    assert identity.is_pro


def test_another_product_is_no_u6() -> None:
    identity = library()[0].new("struct u6_identity *")
    assert decoded("identify", identity_reply(product=3), identity) == -errno.EBADMSG


REPLIES = {
    "stream_config": wire.long_reply(0x11, bytes(2)),
    "stream_start": wire.short_reply(0xA8),
    "stream_stop": wire.short_reply(0xB0),
}


@pytest.mark.parametrize("name", REPLIES)
def test_a_right_reply_is_taken(name: str) -> None:
    assert decoded(name, REPLIES[name]) == 0


@pytest.mark.parametrize("name", REPLIES)
@pytest.mark.parametrize("code", [1, 48, 52, 55, 58, 255])
def test_the_devices_error_code_is_handed_on(name: str, code: int) -> None:
    long = wire.long_reply(0x11, bytes([code, 0]))
    reply = {
        "stream_config": long,
        "stream_start": wire.short_reply(0xA8, code),
        "stream_stop": wire.short_reply(0xB0, code),
    }[name]
    assert decoded(name, reply) == code


@pytest.mark.parametrize("name", REPLIES)
def test_another_commands_reply_is_refused(name: str) -> None:
    for foreign, reply in REPLIES.items():
        if foreign != name:
            assert decoded(name, reply) == -errno.EBADMSG
    assert decoded(name, identity_reply()) == -errno.EBADMSG


@pytest.mark.parametrize("name", REPLIES)
def test_a_damaged_or_cut_reply_is_refused(name: str) -> None:
    reply = REPLIES[name]
    for at in range(len(reply)):
        broken = bytearray(reply)
        broken[at] ^= 0x10
        assert decoded(name, bytes(broken)) == -errno.EBADMSG
        assert decoded(name, reply[:at]) == -errno.EBADMSG
    assert decoded(name, reply + b"\0") == -errno.EBADMSG


@pytest.mark.parametrize("name", REPLIES)
def test_a_complaint_about_our_check_sum(name: str) -> None:
    assert decoded(name, b"\xb8\xb8") == -errno.EILSEQ


def test_every_error_code_has_words() -> None:
    ffi, lib = library()
    words = [ffi.string(lib.u6_error_text(code)) for code in range(256)]
    assert all(words)
    named = {0, 48, 49, 50, 52, 53, 54, 55, 56, 57, 58, 59, 60, 63}
    assert len({words[code] for code in named}) == len(named)


# ---- rates ----


@pytest.mark.parametrize(
    ("interval_ns", "clock", "ticks", "config"),
    [
        (20_000, 48_000_000, 960, 0x08),
        (1_000_000, 48_000_000, 48_000, 0x08),
        (1_365_312, 48_000_000, 65_534, 0x08),  # 732.43304 Hz and a little more
        (1_365_334, 4_000_000, 5_461, 0x00),
        (16_383_800, 4_000_000, 65_535, 0x00),
        (16_384_000, 187_500, 3_072, 0x0A),
        (100_000_000, 187_500, 18_750, 0x0A),
        (349_520_100, 187_500, 65_535, 0x0A),
        (349_526_000, 15_625, 5_461, 0x02),
        (1_000_000_000, 15_625, 15_625, 0x02),
        (MAX_INTERVAL_NS, 15_625, 65_535, 0x02),
    ],
)
def test_the_fastest_clock_that_fits(interval_ns: int, clock: int, ticks: int, config: int) -> None:
    chosen = rate(interval_ns)
    assert (chosen.clock_hz, chosen.interval, chosen.scan_config) == (clock, ticks, config)


def test_no_clock_is_slow_enough_or_fast_enough() -> None:
    assert rate(MAX_INTERVAL_NS + 1) == -errno.ERANGE
    assert rate(2**64 - 1) == -errno.ERANGE
    assert rate(20) == -errno.ERANGE  # less than a tick of 48 MHz
    assert rate(0) == -errno.ERANGE


@given(st.integers(21, MAX_INTERVAL_NS), st.integers(0, 2**40))
def test_time_follows_from_clock_and_interval(interval_ns: int, scan: int) -> None:
    chosen = rate(interval_ns)
    period = Fraction(chosen.interval * 10**9, chosen.clock_hz)
    tick = Fraction(10**9, chosen.clock_hz)
    assert interval_ns - tick < period <= interval_ns
    assert library()[1].u6_rate_time_ns(chosen, scan) == int(scan * period) % 2**64


# ---- calibration ----


def calibration(constants: wire.Constants | None = None) -> Any:
    ffi, lib = library()
    stored = ffi.new("struct u6_calibration *")
    if constants is None:
        lib.u6_calibration_nominal(stored)
        return stored
    blocks = ffi.new("uint8_t[4][32]")
    for i, block in enumerate(wire.memory(constants)):
        ffi.memmove(blocks[i], block, 32)
    assert lib.u6_calibration_decode(stored, blocks) == 0
    return stored


def microvolts(stored: Any, raw: int, gain: int = 0) -> int:
    return int(library()[1].u6_calibration_uv(stored, gain, raw))


@pytest.mark.parametrize(
    ("raw", "uv"),
    [
        (33523, 0),  # a transducer without supply
        (41439, 2_499_919),  # no current
        (41769, 2_604_134),  # 1 A
        (41611, 2_554_237),  # 0.52 A
        (33522, -316),  # below the centre the slope is negative, and so is the difference
        (0, -10_586_758),
        (65535, 10_109_575),
    ],
)
def test_nominal_constants(raw: int, uv: int) -> None:
    # Constants are rounded to 2^-32 V for each step, as in the device's memory.
    assert abs(microvolts(calibration(), raw) - uv) <= 0.5 + abs(raw - 33523) * 2**-33 * 1e6


@given(
    st.floats(0.99, 1.01),
    st.floats(0.99, 1.01),
    st.floats(33000, 34000),
    st.integers(0, 65535),
)
def test_stored_constants_are_used(slope: float, negative: float, center: float, raw: int) -> None:
    constants = wire.Constants(3.1580578e-4 * slope, -3.158058e-4 * negative, center)
    stored = calibration(constants)
    for gain in range(4):
        exact = constants.volts(raw) * 1e6 / 10**gain
        # fixed point: 2^-33 V for each step, of at most 2^16
        assert abs(microvolts(stored, raw, gain) - exact) <= 0.5 + 65536 * 2**-33 * 1e6


def test_each_gain_has_its_own_constants() -> None:
    ffi, lib = library()
    blocks = ffi.new("uint8_t[4][32]")
    for i, block in enumerate(wire.memory(wire.Constants())):
        ffi.memmove(blocks[i], block, 32)
    stored = ffi.new("struct u6_calibration *")
    # the pair of gain g is in the first half of block g / 2 or in the second
    for gain in range(4):
        changed = ffi.new("uint8_t[4][32]")
        ffi.memmove(changed, blocks, 128)
        value = wire.fixed_point(3.1580578e-4 * 1.01 / 10**gain)
        ffi.memmove(changed[gain // 2] + 16 * (gain % 2), value, 8)
        assert lib.u6_calibration_decode(stored, changed) == 0
        for other_gain in range(4):
            factor = 1.01 if other_gain == gain else 1
            expected = 10000 * 315.80578 * factor / 10**other_gain
            assert abs(microvolts(stored, 43523, other_gain) - expected) <= 10


@pytest.mark.parametrize("fill", [0x00, 0xFF, 0x7F, 0x80])
def test_memory_that_was_erased_is_refused(fill: int) -> None:
    ffi, lib = library()
    blocks = ffi.new("uint8_t[4][32]", [[fill] * 32] * 4)
    stored = ffi.new("struct u6_calibration *")
    assert lib.u6_calibration_decode(stored, blocks) == -errno.ERANGE


@pytest.mark.parametrize("at", range(8))
def test_one_implausible_constant_is_refused(at: int) -> None:
    ffi, lib = library()
    data = bytearray(b"".join(wire.memory(wire.Constants())))
    # slopes and centres are used, offsets are not
    place = 8 * (2 * at) if at < 4 else 64 + 8 * (2 * (at - 4) + 1)
    data[place + 7] ^= 0x40
    blocks = ffi.new("uint8_t[4][32]")
    ffi.memmove(blocks, bytes(data), 128)
    assert lib.u6_calibration_decode(ffi.new("struct u6_calibration *"), blocks) == -errno.ERANGE


# ---- plausible ----


def paced(arrivals: list[tuple[float, float]], packet_ms: float = 10) -> list[int]:
    """Each (time of the newest scan, arrival), in s."""
    ffi, lib = library()
    plausible = ffi.new("struct u6_plausible *")
    start = 5_000_000_000
    lib.u6_plausible_start(plausible, start, int(packet_ms * 1e6))
    return [
        lib.u6_plausible_check(plausible, int(scan * 1e9), start + int(arrival * 1e9))
        for scan, arrival in arrivals
    ]


STALE = -errno.ESTALE


def test_scans_can_not_arrive_before_they_are_taken() -> None:
    assert paced([(1.0, 1.02), (2.0, 2.01)]) == [0, 0]
    assert paced([(1.0, 1.02), (4.5, 2.0)]) == [0, STALE]  # 255 packets of 10 ms too many
    assert paced([(1000.5, 1000.02)]) == [0]  # a clock that is 500 ppm fast


def test_a_leap_ahead_is_seen_however_fast_the_devices_clock() -> None:
    steady = [(t * 1.0005, t + 0.02) for t in range(10_000)]
    assert set(paced(steady)) == {0}
    assert paced([*steady, (10_005 + 2.55, 10_000.02)])[-1] == STALE


def test_256_packets_that_are_missed_make_everything_late() -> None:
    steady = [(t / 10, t / 10 + 0.02) for t in range(100)]
    late = [(t / 10, t / 10 + 0.02 + 2.56) for t in range(100, 200)]
    assert set(paced(steady)) == {0}
    answers = paced(steady + late)
    assert STALE in answers[100:]


def test_a_host_that_is_busy_for_seconds_is_no_loss() -> None:
    steady = [(t / 10, t / 10 + 0.02) for t in range(100)]
    # five seconds of transfers are looked at in one go
    burst = [(t / 10, 15.0 + t / 1e5) for t in range(100, 150)]
    after = [(t / 10, t / 10 + 0.02) for t in range(150, 250)]
    assert set(paced(steady + burst + after)) == {0}
