# SPDX-License-Identifier: GPL-2.0
"""A PowerSensor3's stream, decoded: what it gives out was sent, at its time."""

from __future__ import annotations

import errno
import random
import re
from pathlib import Path
from typing import Any

import pytest
from fuzz import c_build, runner
from hypothesis import given, settings
from hypothesis import strategies as st
from lib.daq.build import library
from lib.powersensor3.wire import BOARD, set_bytes

MEASURED = 22


def levels_of(number: int) -> tuple[int, ...]:
    return tuple((number * 37 + sensor * 101) % 1024 for sensor in range(8))


class Decoder:
    """struct ps3_stream, and (time, after_loss, levels) of what it has given out."""

    def __init__(self) -> None:
        self.ffi, self.lib = library()
        self.stream = self.ffi.new("struct ps3_stream *")
        self.sets: list[tuple[int, bool, tuple[int, ...]]] = []
        self._take = self.ffi.callback("ps3_set_fn", self._on_set)
        self.lib.ps3_stream_start(self.stream)

    def _on_set(self, _context: Any, given: Any) -> None:
        levels = tuple(given.level[sensor] for sensor in range(8))
        self.sets.append((given.at_us, given.after_loss, levels))

    def feed(self, data: bytes) -> int:
        fed = self.lib.ps3_stream_feed(self.stream, data, len(data), self._take, self.ffi.NULL)
        return int(fed)


def sent(count: int, spacing_us: float = 50, start_us: int = 990) -> list[bytes]:
    return [
        set_bytes(start_us + int(number * spacing_us), levels_of(number), number % 7 == 0)
        for number in range(count)
    ]


def expected(count: int, spacing_us: float = 50) -> list[tuple[int, bool, tuple[int, ...]]]:
    """The first ones measure the spacing; time counts from the first one behind them."""
    origin = int(MEASURED * spacing_us)
    return [
        (int(number * spacing_us) - origin, False, levels_of(number))
        for number in range(MEASURED, count)
    ]


@pytest.mark.parametrize("spacing_us", [50, 400 / 7, 88 / 3])
def test_all_sets_are_given_with_their_times(spacing_us: float) -> None:
    decoder = Decoder()
    assert decoder.feed(b"".join(sent(500, spacing_us))) == 0
    assert decoder.stream.spacing_us == int(spacing_us) or decoder.stream.spacing_us == round(
        spacing_us
    )
    assert decoder.sets == expected(500, spacing_us)
    assert (decoder.stream.damaged, decoder.stream.losses) == (0, 0)


@given(cuts=st.lists(st.integers(0, 300 * 18), max_size=30))
@settings(max_examples=50, deadline=None)
def test_it_does_not_matter_where_reads_end(cuts: list[int]) -> None:
    decoder, data = Decoder(), b"".join(sent(300))
    for start, end in zip([0, *sorted(cuts)], [*sorted(cuts), len(data)], strict=True):
        assert decoder.feed(data[start:end]) == 0
    assert decoder.sets == expected(300)


def test_missing_sets_are_a_loss_and_time_goes_on() -> None:
    decoder, data = Decoder(), sent(300)
    del data[100:103]
    decoder.feed(b"".join(data))
    complete = expected(300)
    cut = complete[: 100 - MEASURED] + complete[103 - MEASURED :]
    at = 100 - MEASURED
    assert decoder.sets[at] == (cut[at][0], True, cut[at][2])
    assert decoder.sets[:at] + decoder.sets[at + 1 :] == cut[:at] + cut[at + 1 :]
    assert decoder.stream.losses == 1


@given(lost=st.integers(0, 299 * 18 + 17))
@settings(max_examples=100, deadline=None)
def test_a_byte_that_is_lost_costs_its_set_alone(lost: int) -> None:
    decoder, data = Decoder(), b"".join(sent(300))
    assert decoder.feed(data[:lost] + data[lost + 1 :]) == 0
    given_levels = [levels for _, _, levels in decoder.sets]
    number = lost // 18
    if number > MEASURED:
        assert given_levels == [levels_of(i) for i in range(MEASURED, 300) if i != number]
        assert decoder.stream.losses == (number < 299)
    if number < 299:
        # All that came of the set.
        assert decoder.stream.damaged == 17


@given(where=st.integers(MEASURED + 1, 290), seed=st.integers(0, 2**32), size=st.integers(1, 200))
@settings(max_examples=100, deadline=None)
def test_garbage_costs_no_more_than_the_sets_beside_it(where: int, seed: int, size: int) -> None:
    """Garbage may have a whole set in it only if it has that many bytes that fit by chance."""
    decoder, data = Decoder(), sent(300)
    garbage = random.Random(seed).randbytes(size)
    assert decoder.feed(b"".join((*data[:where], garbage, *data[where:]))) == 0
    given_levels = [levels for _, _, levels in decoder.sets]
    for number in range(MEASURED, 300):
        if number != where:
            assert levels_of(number) in given_levels
    assert decoder.stream.damaged >= size
    assert decoder.stream.damaged <= size + 18


def test_a_marker_of_another_sensor_than_0_is_damage() -> None:
    decoder, data = Decoder(), sent(300)
    wrong = bytearray(data[200])
    wrong[5] |= 0x40
    data[200] = bytes(wrong)
    assert decoder.feed(b"".join(data)) == 0
    assert decoder.stream.damaged == 18
    assert levels_of(200) not in [levels for _, _, levels in decoder.sets]


@pytest.mark.parametrize("spacing_us", [10, 19, 67, 500])
def test_a_spacing_that_no_device_has_is_refused(spacing_us: int) -> None:
    assert Decoder().feed(b"".join(sent(100, spacing_us))) == -errno.EPROTO


def test_no_bytes_make_it_read_or_write_where_it_must_not(tmp_path: Path) -> None:
    """Streams that stumble, through the fuzz target, under sanitizers."""
    if not c_build.available():
        pytest.skip("no clang with libFuzzer here")
    chance = random.Random(20)
    configuration = b"".join(sensor.encode() for sensor in BOARD)
    for number in range(200):
        data = bytearray(b"".join(sent(chance.choice([30, 300]))))
        for _ in range(chance.randrange(5)):
            at = chance.randrange(len(data))
            data[at : at + chance.randrange(40)] = chance.randbytes(chance.randrange(40))
        reads = [configuration]
        while data:
            size = chance.choice([1, 18, 500])
            reads.append(bytes(data[:size]))
            del data[:size]
        case = b"".join(len(read).to_bytes(2, "little") + read for read in reads)
        (tmp_path / str(number)).write_bytes(bytes([chance.randrange(3)]) + case)
    words = ["-runs=0", "-max_len=1000000", str(tmp_path), *runner.seeds("powersensor3")]
    outcome = runner.start("powersensor3", words)
    assert outcome.code == 0, outcome.output
    assert int(re.findall(r"corpus: files: (\d+)", outcome.output)[0]) >= 200
