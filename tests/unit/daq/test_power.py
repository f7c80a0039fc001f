# SPDX-License-Identifier: GPL-2.0
"""From a transducer to power, waveforms, counters and numbers: against exact arithmetic."""

from __future__ import annotations

import errno
import math
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lib.daq.build import failure, library

ffi, lib = library()
MEGAWATT_NW = 10**15
# A LabJack U6's nominal calibration at +-10 V.
U6_CENTER, U6_SLOPE_V = 33523, Fraction("3.1580578e-4")
LSB_UV = 316


def nearest(value: Fraction) -> int:
    """Rounded to nearest, halves away from zero."""
    whole = math.floor(abs(value) + Fraction(1, 2))
    return -whole if value < 0 else whole


def calibration(**values: int) -> Any:
    cal = ffi.new("struct daq_calibration *")
    lib.daq_calibration_default(cal)
    for name, value in values.items():
        setattr(cal, name, value)
    return cal


def u6_uv(raw: int) -> int:
    return nearest((raw - U6_CENTER) * U6_SLOPE_V * 10**6)


# ---- transducers ----


def test_zero_volt_is_an_unplugged_sensor() -> None:
    assert u6_uv(33523) == 0
    assert lib.daq_sensor_is_unplugged(u6_uv(33523))
    assert lib.daq_sensor_is_unplugged(399_999)
    assert not lib.daq_sensor_is_unplugged(400_000)


@pytest.mark.parametrize(
    ("raw", "uv", "ua"),
    [(41439, 2_499_900, 0), (41769, 2_604_170, 1_000_000), (41611, 2_554_170, 520_000)],
)
def test_readings_of_the_reference_come_out(raw: int, uv: int, ua: int) -> None:
    cal = calibration(voltage_uv=12_000_000)
    lsb_ua = LSB_UV * 10**6 // 104_167
    assert u6_uv(raw) == pytest.approx(uv, abs=LSB_UV)
    assert lib.daq_current_ua(cal, u6_uv(raw)) == pytest.approx(ua, abs=lsb_ua)
    assert lib.daq_power_nw(ua, 12_000_000) == ua * 12_000


@pytest.mark.parametrize(("mv", "mw"), [(12_000, 36.4), (5_000, 15.2), (3_300, 10.0)])
def test_one_step_of_the_converter_is_as_much_power_as_the_reference_says(
    mv: int, mw: float
) -> None:
    cal = calibration(voltage_uv=mv * 1000)
    step = lib.daq_current_ua(cal, 2_500_000 + LSB_UV)
    assert lib.daq_power_nw(step, mv * 1000) / 1e6 == pytest.approx(mw, abs=0.05)


@given(
    st.integers(-(10**7), 10**7),
    st.integers(400_000, 4_600_000),
    st.integers(1000, 10**7),
    st.integers(1, 3),
    st.integers(1, 10**9),
)
@settings(deadline=None)
def test_current_and_power_are_exact_but_for_rounding(
    uv: int, zero: int, sens: int, turns: int, voltage: int
) -> None:
    cal = calibration(zero_uv=zero, sens_uv_per_a=sens, turns=turns, voltage_uv=voltage)
    ua = nearest(Fraction((uv - zero) * 10**6, sens * turns))
    assert lib.daq_current_ua(cal, uv) == ua
    assert lib.daq_power_nw(ua, voltage) == nearest(Fraction(ua * voltage, 1000))


def test_nonsense_saturates_and_does_not_turn_round() -> None:
    cal = calibration(sens_uv_per_a=1000, voltage_uv=10**9)
    top = 2**63 - 1
    assert lib.daq_current_ua(cal, top) == top
    assert lib.daq_current_ua(cal, -(2**63) + 1) == -top
    assert lib.daq_power_nw(top, 10**9) == top


@given(st.integers(-(10**7), 10**7), st.integers(1000, 10**9))
def test_a_measured_voltage_is_scaled(uv: int, ppm: int) -> None:
    cal = calibration(voltage_scale_ppm=ppm)
    assert lib.daq_rail_voltage_uv(cal, uv) == nearest(Fraction(uv * ppm, 10**6))


@given(
    st.integers(2_400_000, 2_600_000),
    st.integers(50_000, 200_000),
    st.integers(1, 3),
    st.integers(100_000, 6_000_000),
)
def test_gain_comes_back_from_a_known_load(zero: int, sens: int, turns: int, ua: int) -> None:
    uv = zero + nearest(Fraction(ua * sens * turns, 10**6))
    sensitivity = lib.daq_sensitivity(uv, zero, ua, turns)
    assert sensitivity == pytest.approx(sens, abs=math.ceil(10**6 / (ua * turns)) + 1)


@pytest.mark.parametrize(
    ("uv", "ua", "turns"), [(2_600_000, 0, 1), (2_400_000, 10**6, 1), (2_600_000, 10**6, 0)]
)
def test_no_gain_comes_from_no_load_or_a_reversed_one(uv: int, ua: int, turns: int) -> None:
    assert lib.daq_sensitivity(uv, 2_500_000, ua, turns) == -1


@pytest.mark.parametrize(
    ("values", "has_channel", "sentence"),
    [
        ({}, False, "has no voltage"),
        ({"voltage_uv": 12_000_000}, True, "both"),
        ({"voltage_uv": -5}, False, "voltage_mv"),
        ({"voltage_uv": 10**10}, False, "voltage_mv"),
        ({"voltage_uv": 1, "zero_uv": 0}, False, "zero_uv is 0"),
        ({"voltage_uv": 1, "sens_uv_per_a": 0}, False, "sens_uv_per_a is 0"),
        ({"voltage_uv": 1, "turns": 4}, False, "turns is 4"),
        ({"voltage_scale_ppm": 0}, True, "voltage_scale_ppm is 0"),
    ],
)
def test_constants_that_can_not_be_are_refused(
    values: dict[str, int], has_channel: bool, sentence: str
) -> None:
    error = ffi.new("struct daq_error *")
    assert lib.daq_calibration_check(calibration(**values), b"12V", has_channel, error) < 0
    assert sentence in failure(error)
    assert "'12V'" in failure(error)


# ---- waveforms ----


def wave(text: str) -> Any:
    parsed = ffi.new("struct daq_wave *")
    error = ffi.new("struct daq_error *")
    if lib.daq_wave_parse(text.encode(), parsed, error):
        raise ValueError(failure(error))
    return parsed


def energy_nj(kind: str, low: int, high: int, period: int, start: int, end: int) -> Fraction:
    """The integral, piece by piece."""

    def until(t: int) -> Fraction:
        whole, phase = divmod(t, period)
        half = period // 2
        first = min(phase, half)
        second = phase - first
        total = Fraction(whole * period * (low + high), 2)
        if kind == "square":
            return total + high * first + low * second
        rise = Fraction(high - low, half)
        up = low * first + rise * first * first / 2
        return total + up + high * second - rise * second * second / 2

    return (until(end) - until(start)) / 10**9


@given(
    st.sampled_from(["square", "triangle"]),
    st.integers(0, 10**6),
    st.integers(0, 10**6),
    st.integers(1, 10**5),
    st.integers(0, 10**15),
    st.integers(0, 10**12),
)
@settings(deadline=None)
@example("triangle", 0, 6_000_000, 1000, 250_000_000, 500_000_000)
def test_energy_of_a_waveform_is_its_integral(
    kind: str, low_uw: int, high_uw: int, period_us: int, start: int, length: int
) -> None:
    text = f"{kind}:{low_uw / 1000:.3f}:{high_uw / 1000:.3f}:{period_us / 1000:.3f}"
    exact = energy_nj(kind, low_uw * 1000, high_uw * 1000, period_us * 1000, start, start + length)
    assert lib.daq_wave_energy_nj(wave(text), start, start + length) == math.floor(exact)


@given(st.integers(0, 10**12), st.integers(1, 10**10))
def test_energy_of_a_sine_is_its_integral(start: int, length: int) -> None:
    sine = wave("sine:1000:5000:700")
    omega = 2 * math.pi / 0.7
    a, b = (start % (7 * 10**8)) / 1e9, (start % (7 * 10**8) + length) / 1e9
    joules = 3.0 * (b - a) + 2.0 / omega * (math.cos(omega * a) - math.cos(omega * b))
    assert lib.daq_wave_energy_nj(sine, start, start + length) == pytest.approx(
        joules * 1e9, abs=50
    )


@given(
    st.sampled_from(["const:5", "square:1:9:10", "triangle:1:9:10", "sine:1:9:10"]),
    st.integers(0, 10**12),
)
def test_power_is_the_slope_of_energy(text: str, at: int) -> None:
    parsed = wave(text)
    step = 1000
    powers = [lib.daq_wave_power_nw(parsed, at), lib.daq_wave_power_nw(parsed, at + step)]
    mean_nw = lib.daq_wave_energy_nj(parsed, at, at + 10**9 * 10) / 10
    assert 999_999 <= min(powers) <= max(powers) <= 9_000_001
    assert mean_nw == pytest.approx(5_000_000, rel=1e-6)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "const",
        "const:",
        "const:x",
        "square:1:2",
        "square:1:2:3:4",
        "sine:1:2:-5",
        "saw:1:2:3",
        "square:1:2:0",
        "square:1:2:0.000001",
        "const:2000000000000",
        "triangle:1:2:3600001",
    ],
)
def test_what_is_no_waveform_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="waveform"):
        wave(text)


# ---- energy counters ----


def counter_reads(
    range_uj: int, raws: list[int], max_w: int = 0, every_ns: int = 10**9
) -> list[tuple[bool, int]]:
    counter = ffi.new("struct daq_energy_counter *", {"range_uj": range_uj, "max_w": max_w})
    total = ffi.new("int64_t *")
    return [
        (bool(lib.daq_energy_counter_read(counter, at * every_ns, raw, total)), total[0])
        for at, raw in enumerate(raws)
    ]


@given(
    st.integers(10, 10**12),
    st.data(),
)
def test_a_counter_that_wraps_is_unwrapped(range_uj: int, data: st.DataObject) -> None:
    steps = data.draw(st.lists(st.integers(0, range_uj - 1), min_size=1, max_size=50))
    true = [data.draw(st.integers(0, range_uj - 1))]
    for step in steps:
        true.append(true[-1] + step)
    energies = counter_reads(range_uj, [value % range_uj for value in true])
    assert energies == [(True, (value - true[0]) * 1000) for value in true]


def test_a_counter_without_a_range_that_falls_was_reset() -> None:
    assert counter_reads(0, [100, 150, 20, 30]) == [
        (True, 0),
        (True, 50_000),
        (False, 50_000),
        (True, 60_000),
    ]


def test_a_reading_beyond_the_range_is_a_reset() -> None:
    assert [known for known, _ in counter_reads(1000, [10, 2000, 5, 8])] == [
        True,
        False,
        False,
        True,
    ]


JOULE = 10**6  # uJ
RAPL = 262_143 * JOULE


def test_a_counter_that_its_package_has_lost_is_no_wrap() -> None:
    """Hibernation stops the clock, and the counter begins at 0: a wrap would be 162 kW."""
    reads = counter_reads(RAPL, [100_000 * JOULE, 100_020 * JOULE, 15 * JOULE, 35 * JOULE], 1000)
    assert reads == [(True, 0), (True, 20 * 10**9), (False, 20 * 10**9), (True, 40 * 10**9)]


@pytest.mark.parametrize("every_ns", [10**9, 10**5])
def test_a_wrap_within_the_power_of_a_zone_counts(every_ns: int) -> None:
    """Also when the counter is updated less often than it is read."""
    reads = counter_reads(RAPL, [RAPL - JOULE, JOULE], 1000, every_ns)
    assert reads == [(True, 0), (True, 2 * 10**9)]


def test_a_wrap_beyond_the_power_of_a_zone_is_unknown() -> None:
    assert counter_reads(RAPL, [RAPL - 500 * JOULE, 510 * JOULE], 1000)[1] == (True, 1010 * 10**9)
    assert counter_reads(RAPL, [RAPL - 500 * JOULE, 511 * JOULE], 1000)[1] == (False, 0)


def test_time_without_end_bounds_nothing() -> None:
    reads = counter_reads(RAPL, [RAPL, 5], 2**64 - 1, 2**63)
    assert reads == [(True, 0), (True, 5000)]


# ---- numbers ----


def fixed(text: bytes, decimals: int) -> int | str:
    value = ffi.new("int64_t *")
    outcome = lib.daq_parse_fixed(text, len(text), decimals, value)
    return int(value[0]) if not outcome else errno.errorcode[-outcome]


@given(st.integers(-(10**20), 10**20), st.integers(0, 12), st.integers(0, 9))
@settings(deadline=None)
def test_decimal_numbers_are_exact(digits: int, places: int, decimals: int) -> None:
    sign, body = ("-" if digits < 0 else ""), str(abs(digits)).rjust(places + 1, "0")
    text = sign + (f"{body[:-places]}.{body[-places:]}" if places else body)
    wanted = nearest(Fraction(text) * 10**decimals)
    parsed = fixed(text.encode(), decimals)
    assert parsed == (wanted if -(2**63) <= wanted < 2**63 else "ERANGE")


@given(st.binary(max_size=30), st.integers(0, 18))
@settings(deadline=None)
def test_any_bytes_are_a_number_or_none(text: bytes, decimals: int) -> None:
    parsed = fixed(text, decimals)
    if isinstance(parsed, int):
        assert nearest(Fraction(text.decode().rstrip(".")) * 10**decimals) == parsed


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("0", 0),
        ("1ns", 1),
        ("1.5us", 1500),
        ("10ms", 10**7),
        ("2s", 2 * 10**9),
        ("1.5m", 9 * 10**10),
        ("2h", 72 * 10**11),
    ],
)
def test_durations(text: str, ns: int) -> None:
    value = ffi.new("uint64_t *")
    assert lib.daq_parse_duration_ns(text.encode(), value) == 0
    assert value[0] == ns


@pytest.mark.parametrize(
    "text", ["", "5", "ms", "-1s", "1d", "1 s", "999999999999h", "1..2s", "s1"]
)
def test_what_is_no_duration_is_refused(text: str) -> None:
    assert lib.daq_parse_duration_ns(text.encode(), ffi.new("uint64_t *")) < 0


@given(st.floats(allow_nan=True, allow_infinity=True), st.floats(), st.floats())
def test_iio_numbers_are_numbers_or_absent(raw: float, scale: float, offset: float) -> None:
    iio_scale = ffi.new("struct daq_iio_scale *", {"offset": offset, "scale": scale, "factor": 1e6})
    value = lib.daq_iio_value(iio_scale, raw)
    exact = (raw + offset) * scale * 1e6
    if math.isnan(exact) or abs(exact) >= 9e18:
        assert value == -(2**63)
    else:
        assert value == pytest.approx(exact, abs=1)


@pytest.mark.parametrize(
    ("bits", "is_signed", "scale", "ends"),
    [
        # A shunt of 2 mOhm on a converter of 16 bits: steps of 1.25 mA, up to 40.96 A.
        (16, True, 1.25, (-40_960_000, 40_958_750)),
        (12, False, 2.0, (-(2**63), 8_190_000)),
        (1, False, 2.0, (0, 0)),
        (64, True, 0.001, (0, 0)),
        (16, True, 0.0, (0, 0)),
        (16, True, -1.0, (0, 0)),
        (16, True, 1e300, (0, 0)),
        (16, True, math.nan, (0, 0)),
    ],
)
def test_an_iio_range_is_that_of_its_raw_values(
    bits: int, is_signed: bool, scale: float, ends: tuple[int, int]
) -> None:
    iio_scale = ffi.new("struct daq_iio_scale *", {"scale": scale, "factor": 1e3})
    low, high = ffi.new("int64_t *"), ffi.new("int64_t *")
    lib.daq_iio_range(iio_scale, bits, is_signed, low, high)
    assert (low[0], high[0]) == ends
