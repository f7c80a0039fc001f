# SPDX-License-Identifier: GPL-2.0
"""CSV files, rails files, the meter and the queue of spek-daq, as a library."""

from __future__ import annotations

import itertools
import math
from fractions import Fraction
from pathlib import Path
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from lib.daq.build import failure, library

ffi, lib = library()
ABSENT = -(2**63)
GAP = 1
MS = 10**6
SECOND = 10**9
# What a unit as written is, in nW, uV, uA or nJ.
SCALES = {"W": 9, "mW": 6, "uW": 3, "nW": 0, "V": 6, "mV": 3, "uV": 0, "A": 6, "mA": 3, "J": 9}
TIMES = {"time_ns": 0, "time_us": 3, "time_ms": 6, "time_s": 9}


# ---- CSV ----


def parse(text: str | bytes) -> tuple[list[int], list[list[int]]]:
    data = text.encode() if isinstance(text, str) else text
    csv, error = ffi.new("struct daq_csv *"), ffi.new("struct daq_error *")
    if lib.daq_csv_parse(data, len(data), csv, error):
        raise ValueError(failure(error))
    width = csv.layout.nr_columns
    rows = [[csv.value[i * width + j] for j in range(width)] for i in range(csv.nr_rows)]
    times = [csv.at_ns[i] for i in range(csv.nr_rows)]
    lib.daq_csv_free(csv)
    return times, rows


def nearest(value: Fraction) -> int:
    whole = math.floor(abs(value) + Fraction(1, 2))
    return -whole if value < 0 else whole


@given(
    st.sampled_from(sorted(TIMES)),
    st.lists(st.sampled_from(sorted(SCALES)), min_size=1, max_size=5),
    st.lists(st.decimals(0, 10**6, places=4), min_size=1, max_size=8),
    st.data(),
)
@settings(deadline=None)
def test_values_are_exact(time: str, units: list[str], at: list[Any], data: st.DataObject) -> None:
    numbers = st.none() | st.decimals(-(10**6), 10**6, places=5)
    names = [f"rail.{i}.{unit}" for i, unit in enumerate(units)]
    rows = [[data.draw(numbers) for _ in units] for _ in at]
    lines = [
        ", ".join([f"{when:f}", *("" if value is None else f"{value:f}" for value in row)])
        for when, row in zip(sorted(at), rows, strict=True)
    ]
    times, values = parse("# made\n" + ",".join([time, *names]) + "\n\n" + "\n".join(lines))
    assert times == [nearest(Fraction(when) * 10 ** TIMES[time]) for when in sorted(at)]
    for row_values, row in zip(values, rows, strict=True):
        for number, value, unit in zip(row_values, row, units, strict=True):
            wanted = ABSENT if value is None else nearest(Fraction(value) * 10 ** SCALES[unit])
            assert number == wanted


@given(st.binary(max_size=200))
@settings(deadline=None)
def test_any_bytes_are_a_file_or_a_sentence(data: bytes) -> None:
    for text in (data, b"time_ns,a.W,b.J\n" + data):
        try:
            times, rows = parse(text)
        except ValueError as error:
            assert str(error)
        else:
            assert times == sorted(times)
            assert len(rows) == len(times)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "the file has no values"),
        ("time_ns,a.W\n", "the file has no values"),
        ("a.W,b.W\n1,2\n", "line 1: the first column is 'a.W'; it must be time_ns"),
        ("time_s\n1\n", "line 1: there is no column besides the time"),
        ("time_s,a\n1,2\n", "line 1: column 'a' has no unit; use for example 12V.mW"),
        ("time_s,a.kW\n1,2\n", "line 1: column 'a.kW' has an unknown unit"),
        ("time_s,a.W,a.V\n1,2,3\n", "line 1: two columns are called 'a'"),
        ("time_s,a.W\n1,2\n2,x\n", "line 3: the value 'x' of 'a' is not a valid number"),
        ("time_s,a.W\n1,2\n2\n", "line 3: found 0 values, expected 1"),
        ("time_s,a.W\n1,2,3\n", "line 2: there are more than 1 values"),
        ("time_s,a.W\n-1,2\n", "line 2: the time -1 is negative"),
        ("time_s,a.W\nx,2\n", "line 2: the time 'x' is not a valid number"),
        ("time_s,a.W\n2,2\n1,2\n", "line 3: time goes backwards"),
        ("time_s,a.W\n1,99999999999999999999\n", "line 2: the value '99999999999999999999'"),
        # What a crash leaves at the end of a file.
        ("time_s,a.W\n1,2\0\0\n", "line 2: it has a NUL byte: the file is damaged"),
        ("time_s,a.W\n1,2\n\0\0\0", "line 3: it has a NUL byte: the file is damaged"),
    ],
)
def test_a_broken_line_is_named(text: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        parse(text)
    assert sentence in str(caught.value)


# ---- rails files ----

RAIL = '[[rail]]\nname = "12V"\nchannel = "AIN0"\nvoltage_mv = 12000\n'


def rails(text: str | bytes) -> Any:
    data = text.encode() if isinstance(text, str) else text
    parsed, error = ffi.new("struct daq_rails *"), ffi.new("struct daq_error *")
    if lib.daq_rails_parse(data, len(data), parsed, error):
        raise ValueError(failure(error))
    return parsed


def text_of(field: Any) -> str:
    value = ffi.string(field)
    assert isinstance(value, bytes)
    return value.decode()


def test_a_rails_file_says_all_there_is() -> None:
    described = rails(
        'source = "u6"\nname = "csb"\ninterval_us = 1000\n'
        '[settings]\nresolution = 1\nfast = true\nserial = "x y"\n' + RAIL + "zero_uv = 2490000\n"
        "sens_uv_per_a = 104000\nturns = 3\n"
        '[[rail]]\nname = "5V"\nvoltage_channel = "AIN13"\nvoltage_scale_ppm = 3000000\n'
    )
    assert (text_of(described.source), text_of(described.name)) == ("u6", "csb")
    assert described.interval_ns == MS
    settings_found = {
        text_of(described.setting[i].key): text_of(described.setting[i].value)
        for i in range(described.nr_settings)
    }
    assert settings_found == {"resolution": "1", "fast": "true", "serial": "x y"}
    first, second = described.rail[0], described.rail[1]
    assert (text_of(first.name), text_of(first.channel)) == ("12V", "AIN0")
    cal = first.cal
    assert (cal.zero_uv, cal.sens_uv_per_a, cal.turns) == (2_490_000, 104_000, 3)
    assert cal.voltage_uv == 12_000_000
    assert (text_of(second.channel), text_of(second.voltage_channel)) == ("5V", "AIN13")
    assert (second.cal.zero_uv, second.cal.voltage_scale_ppm) == (2_500_000, 3_000_000)


def test_the_example_is_right() -> None:
    described = rails((Path(__file__).resolve().parents[3] / "daq/rails.example.toml").read_text())
    assert [text_of(described.rail[i].name) for i in range(described.nr_rails)] == [
        "ssd-5V",
        "hdd-5V",
        "hdd-12V",
    ]
    error = ffi.new("struct daq_error *")
    for i in range(described.nr_rails):
        rail = described.rail[i]
        has_channel = bool(text_of(rail.voltage_channel))
        cal = ffi.addressof(rail.cal)
        assert not lib.daq_calibration_check(cal, rail.name, has_channel, error), failure(error)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[[rail]]\nnam = 'x'\n", "line 2: unknown key 'nam' in a rail; known keys: name, channel"),
        ("[[rail]]\nchannel = 'x'\n", "the rail has no name"),
        ("rate = 5\n", "line 1: unknown key 'rate' in a rails file; known keys: source, name"),
        (RAIL + RAIL, "line 5: two rails are called '12V'"),
        (RAIL + "turns = 'x'\n", "line 5: 'turns' must be a whole number"),
        (RAIL + "turns = 1.5\n", "line 5: 'turns' must be a whole number"),
        (RAIL + "turns = -1\n", "line 5: 'turns' must be a whole number"),
        (RAIL.replace("12000", "0"), "line 4: rail '12V': voltage_mv is 0"),
        (RAIL.replace('"12V"', '"12 V"'), "line 2: '12 V' is not a valid name"),
        (RAIL.replace('"12V"', "'" + 32 * "x" + "'"), "line 2: 'name' must have 1 to 31 bytes"),
        ("rail = 5\n", "line 1: 'rail' must be an array of tables"),
        ("rail = [5]\n", "line 1: a rail must be a table"),
        ("settings = 5\n", "line 1: 'settings' must be a table"),
        ("[settings]\na = 1.5\n", "line 2: setting 'a' must be a whole number"),
        ("interval_us = 0\n", "line 1: 'interval_us' must be a whole number from 1"),
        ("source = 5\n", "line 1: 'source' must be a string"),
        ("x = \n", "line 1:"),
    ],
)
def test_what_is_wrong_in_a_rails_file_is_named(text: str, sentence: str) -> None:
    with pytest.raises(ValueError) as caught:
        rails(text)
    assert sentence in str(caught.value)


def test_more_rails_than_the_prober_takes_are_refused() -> None:
    text = "".join(RAIL.replace('"12V"', f'"r{i}"') for i in range(65))
    with pytest.raises(ValueError, match="more than 64 rails"):
        rails(text)


@given(st.text(max_size=120) | st.binary(max_size=120))
@settings(deadline=None)
def test_any_text_is_a_rails_file_or_a_sentence(text: str | bytes) -> None:
    try:
        rails(text)
    except ValueError as error:
        assert str(error)


# ---- the meter ----


class Meter:
    """struct daq_meter with one rail on each channel."""

    def __init__(self, units: list[str], **cal: int) -> None:
        self.channel = ffi.new("struct daq_channel[]", len(units))
        self.meter = ffi.new("struct daq_meter *")
        self.meter.channel = self.channel
        self.meter.nr_rails = len(units)
        for i, unit in enumerate(units):
            self.channel[i].unit = getattr(lib, f"DAQ_UNIT_{unit}")
            rail = self.meter.rail[i]
            rail.channel, rail.voltage_channel = i, -1
            lib.daq_calibration_default(ffi.addressof(rail.cal))
            for name, value in cal.items():
                setattr(rail.cal, name, value)
        self.sample = ffi.new("struct spek_prober_power_sample[]", 2 * len(units))

    def scan(self, at_ns: int, *values: int) -> list[tuple[int, int, int, int]]:
        nr = lib.daq_meter_scan(self.meter, at_ns, ffi.new("int64_t[]", values), self.sample)
        sample = [self.sample[i] for i in range(nr)]
        return [(sample.rail, sample.at_ns, sample.power_uw, sample.flags) for sample in sample]

    def gap(self, until_ns: int = 0) -> None:
        lib.daq_meter_gap(self.meter, until_ns)

    def check(self) -> str:
        error = ffi.new("struct daq_error *")
        return failure(error) if lib.daq_meter_check(self.meter, error) else ""


def test_power_goes_through_and_gaps_are_flagged_once() -> None:
    meter = Meter(["NW", "NW"])
    assert meter.scan(10, 5_000, 7_499) == [(0, 10, 5, 0), (1, 10, 7, 0)]
    meter.gap()
    assert meter.scan(20, 5_500, ABSENT) == [(0, 20, 6, GAP)]
    assert meter.scan(30, 5_000, 1_000) == [(0, 30, 5, 0), (1, 30, 1, GAP)]


def test_current_is_multiplied_with_the_rails_voltage() -> None:
    meter = Meter(["UA"], voltage_uv=12_000_000)
    assert meter.scan(10, 500_000) == [(0, 10, 6_000_000, 0)]


def test_a_measured_voltage_is_used_and_its_absence_is_a_gap() -> None:
    meter = Meter(["UA", "UV"], voltage_scale_ppm=3_000_000)
    meter.meter.nr_rails = 1
    meter.meter.rail[0].voltage_channel = 1
    assert meter.check() == ""
    assert meter.scan(10, 500_000, 3_900_000) == [(0, 10, 5_850_000, 0)]
    assert meter.scan(20, 500_000, ABSENT) == []
    assert meter.scan(30, 500_000, 4_000_000) == [(0, 30, 6_000_000, GAP)]


def test_an_unplugged_transducer_is_a_gap_and_seen() -> None:
    meter = Meter(["UV"], voltage_uv=12_000_000)
    assert meter.scan(10, 2_604_167) == [(0, 10, 12_000_000, 0)]
    assert meter.scan(20, 0) == []
    assert meter.meter.rail[0].is_unplugged
    assert meter.scan(30, 2_500_000) == [(0, 30, 0, GAP)]
    assert not meter.meter.rail[0].is_unplugged


def test_a_value_at_an_end_of_its_range_is_a_gap_and_counted() -> None:
    meter = Meter(["UA"], voltage_uv=12_000_000)
    meter.channel[0].low, meter.channel[0].high = -6_000_000, 6_000_000
    assert meter.scan(10, 5_999_999) == [(0, 10, 71_999_988, 0)]
    for over in (6_000_000, 7_000_000, -6_000_000):
        assert meter.scan(20, over) == []
        assert meter.meter.rail[0].is_over
    assert meter.scan(30, -5_999_999) == [(0, 30, -71_999_988, GAP)]
    assert not meter.meter.rail[0].is_over
    assert meter.meter.rail[0].over == 3


def test_a_voltage_at_the_end_of_its_range_is_a_gap() -> None:
    meter = Meter(["UA", "UV"])
    meter.meter.nr_rails = 1
    meter.meter.rail[0].voltage_channel = 1
    meter.channel[1].low, meter.channel[1].high = -10_000_000, 10_000_000
    assert meter.scan(10, 500_000, 9_999_999) != []
    assert meter.scan(20, 500_000, 10_000_000) == []
    assert meter.meter.rail[0].is_over


def test_a_saturated_transducer_is_a_gap_and_an_unplugged_one_is_not_over() -> None:
    meter = Meter(["UV"], voltage_uv=12_000_000)
    assert len(meter.scan(10, 4_600_000)) == 1
    assert meter.scan(20, 4_600_001) == []
    assert meter.meter.rail[0].is_over
    assert meter.scan(30, 0) == []
    assert not meter.meter.rail[0].is_over
    assert meter.meter.rail[0].is_unplugged
    assert meter.meter.rail[0].over == 1


@given(st.lists(st.tuples(st.integers(1, SECOND), st.integers(0, 10**12)), min_size=2, max_size=30))
@example([(10 * MS + 7, 99_999_999)] * 1000)
@settings(deadline=None)
def test_an_energy_counter_gives_back_its_energy(steps: list[tuple[int, int]]) -> None:
    meter = Meter(["NJ"])
    at = energy = 0
    samples: list[tuple[int, int, int, int]] = []
    largest = max(Fraction(nj, length) for length, nj in steps[1:])
    for length, nj in steps:
        at, energy = at + length, energy + nj
        samples += meter.scan(at, energy)
    if meter.meter.rail[0].implausible:
        assert largest > 10**6 - 10**3, "the rest of 1 s is less than 1 kW of 1 ns"
        return
    assert largest <= 10**6, "W; what is beyond is no power of a rail"
    parts = (Fraction((a[2] + b[2]) * (b[1] - a[1]), 2) for a, b in itertools.pairwise(samples))
    total = sum(parts, Fraction())  # uW ns = fJ
    wanted = sum(nj for _, nj in steps[1:])
    rest = wanted - total / 10**6
    assert 0 <= rest < Fraction(steps[-1][0], 10**6), "1 uW of the last step is lost at most"
    assert [sample[1] for sample in samples] == sorted(sample[1] for sample in samples)


def test_an_energy_counter_begins_anew_after_a_gap_or_a_reset() -> None:
    meter = Meter(["NJ"])
    assert meter.scan(0, 1_000) == []
    assert meter.scan(1000, 2_000) == [(0, 0, 10**6, 0), (0, 1000, 10**6, 0)]
    meter.gap()
    assert meter.scan(2000, 9_000) == []
    assert meter.scan(3000, 9_500) == [(0, 2000, 500_000, GAP), (0, 3000, 500_000, 0)]
    assert meter.scan(4000, 100) == []
    assert meter.scan(5000, 1_100) == [(0, 4000, 10**6, GAP), (0, 5000, 10**6, 0)]


def test_time_never_goes_back_for_a_rail() -> None:
    meter = Meter(["NW"])
    assert meter.scan(100, 1000)[0][1] == 100
    assert meter.scan(90, 1000)[0][1] == 100
    meter.gap(until_ns=500)
    assert meter.scan(300, 1000) == [(0, 500, 1, GAP)]


def test_what_no_rail_can_have_is_a_gap() -> None:
    meter = Meter(["NW"])
    assert meter.scan(10, 10**15 + 1000) == []
    assert meter.meter.rail[0].implausible == 1
    assert meter.scan(20, 10**15) == [(0, 20, 10**12, GAP)]


def test_a_silent_rail_is_told_up_to_the_slowest_of_the_others() -> None:
    meter = Meter(["NW", "NW", "NW"])
    meter.channel[2].delay_ns = 5
    meter.scan(10, 1, 1, 1)
    assert lib.daq_meter_silent_until(meter.meter, 10) == 0
    meter.scan(20, 1, ABSENT, 1)
    assert lib.daq_meter_silent_until(meter.meter, 20) == 20
    meter.scan(30, ABSENT, ABSENT, ABSENT)
    assert lib.daq_meter_silent_until(meter.meter, 30) == 30


@pytest.mark.parametrize(
    ("interval_ns", "step_ns"),
    [
        (0, 0),
        (MS, SECOND),
        (5 * SECOND, 50 * SECOND),
        (1000 * SECOND, 3600 * SECOND),
        (2**63, 3600 * SECOND),
    ],
)
def test_samples_of_a_slow_source_have_no_gaps_between_them(interval_ns: int, step_ns: int) -> None:
    assert lib.daq_meter_max_step_ns(interval_ns) == step_ns


@pytest.mark.parametrize(
    ("units", "cal", "sentence"),
    [
        (["UV"], {}, "has no voltage"),
        (["UA"], {}, "has no voltage"),
        (["NW"], {"voltage_uv": 5}, "measures power; remove the rail's voltage"),
        (["BITS"], {}, "is digital"),
    ],
)
def test_channels_that_give_no_power_are_refused(
    units: list[str], cal: dict[str, int], sentence: str
) -> None:
    assert sentence in Meter(units, **cal).check()


# ---- the interval of an IIO device ----


@pytest.mark.parametrize("odd", [[], [1], [1, 2, 3, 5 * SECOND, 7 * SECOND]])
def test_an_interval_that_nobody_states_is_seen(odd: list[int]) -> None:
    interval = ffi.new("struct daq_iio_interval *")
    steps = [*odd, *(10 * MS + i for i in range(-7, 8 - len(odd)))]
    said = [lib.daq_iio_interval_add(interval, step) for step in steps]
    assert said[:-1] == [0] * 14
    assert said[-1] == pytest.approx(10 * MS, abs=10)
    assert lib.daq_iio_interval_add(interval, 1) == said[-1]


# ---- the queue ----


def put(queue: Any, *samples: tuple[int, int]) -> None:
    array = ffi.new("struct spek_prober_power_sample[]", len(samples))
    for sample, (rail, at) in zip(array, samples, strict=True):
        sample.rail, sample.at_ns = rail, at
    lib.daq_queue_put(queue, array, len(samples))


def peek(queue: Any, most: int = 99) -> list[tuple[int, int, int]]:
    array = ffi.new("struct spek_prober_power_sample[]", most)
    nr = lib.daq_queue_peek(queue, array, most)
    return [(array[i].rail, array[i].at_ns, array[i].flags) for i in range(nr)]


def test_a_full_queue_loses_what_comes_and_flags_what_follows() -> None:
    queue = ffi.new("struct daq_queue *")
    assert lib.daq_queue_init(queue, 3) == 0
    put(queue, (0, 1), (1, 1), (0, 2), (1, 2), (0, 3))
    assert lib.daq_queue_lost(queue) == 2
    assert peek(queue) == [(0, 1, 0), (1, 1, 0), (0, 2, 0)]
    lib.daq_queue_drop(queue, 2)
    put(queue, (1, 4), (0, 4), (0, 5))
    assert peek(queue) == [(0, 2, 0), (1, 4, GAP), (0, 4, GAP)]
    assert lib.daq_queue_lost(queue) == 3
    lib.daq_queue_deinit(queue)


def test_who_can_wait_is_told_of_room() -> None:
    queue = ffi.new("struct daq_queue *")
    assert lib.daq_queue_init(queue, 3) == 0
    put(queue, (0, 1), (0, 2))
    assert lib.daq_queue_has_room(queue, 1)
    assert not lib.daq_queue_has_room(queue, 2)
    lib.daq_queue_drop(queue, 1)
    assert lib.daq_queue_has_room(queue, 2)
    lib.daq_queue_deinit(queue)


def test_what_was_taken_stays_until_it_is_confirmed() -> None:
    queue = ffi.new("struct daq_queue *")
    assert lib.daq_queue_init(queue, 10) == 0
    put(queue, (0, 1), (0, 2))
    assert peek(queue, 1) == peek(queue, 1) == [(0, 1, 0)]
    lib.daq_queue_drop(queue, 1)
    assert peek(queue) == [(0, 2, 0)]
    lib.daq_queue_deinit(queue)
