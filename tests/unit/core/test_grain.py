# SPDX-License-Identifier: GPL-2.0
"""Grains: who may hold one, and what is known of it afterwards."""

from __future__ import annotations

import errno
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lib.core.spekcore import PATTERNS, Arrival, Asu, Generator, Stream, Workload, library, spc1

FFI, LIB = library()
KIB = 1 << 10
MIB = 1 << 20


def acquire(state: int, write: bool) -> tuple[bool, int]:
    cell = FFI.new("u64 *", state)
    return bool(LIB.spek_grain_acquire(cell, write)), cell[0]


def grain_of(workload: Workload) -> int:
    return int(LIB.spek_grain_bytes(workload.c))


STAMPED, UNCERTAIN, ZEROES, DISCARDED = range(4)
FLUSH, DISCARD = 1, 2  # operations


class Model:
    """A grain as the rules say it, beside the one in 64 bits."""

    def __init__(self) -> None:
        self.state = 0
        self.readers = 0
        self.writer = self.waited = False
        self.generation = 0
        self.content = STAMPED

    def step(self, action: str) -> None:
        getattr(self, action)()
        assert LIB.spek_grain_generation(self.state) == self.generation
        assert LIB.spek_grain_content(self.state) == self.content

    def read(self) -> None:
        done, self.state = acquire(self.state, False)
        assert done == (not self.writer and not self.waited)
        self.readers += done

    def write(self) -> None:
        done, self.state = acquire(self.state, True)
        assert done == (not self.writer and not self.readers)
        self.writer |= done
        self.waited = not done

    def end(self) -> None:
        if self.readers:
            self.state = LIB.spek_grain_read(self.state)
            self.readers -= 1
        elif self.writer:
            self._written(STAMPED, False, STAMPED)

    def fail(self) -> None:
        unknown = DISCARDED if self.content == DISCARDED else UNCERTAIN
        self._written(STAMPED, True, unknown)

    def zero(self) -> None:
        self._written(ZEROES, False, ZEROES)

    def fail_to_zero(self) -> None:
        unknown = DISCARDED if self.content == DISCARDED else UNCERTAIN
        self._written(ZEROES, True, unknown)

    def discard(self) -> None:
        self._written(DISCARDED, False, DISCARDED)

    def fail_to_discard(self) -> None:
        self._written(DISCARDED, True, DISCARDED)

    def give_up(self) -> None:
        if self.readers or self.writer:
            self._give_up(True)

    def drop(self) -> None:
        if self.readers or self.writer:
            self._give_up(False)

    def _give_up(self, again: bool) -> None:
        self.state = LIB.spek_grain_give_up(self.state, self.writer, again)
        self.waited |= self.writer and again
        self.readers = max(0, self.readers - 1)
        self.writer = False

    def stop_waiting(self) -> None:
        self.state = LIB.spek_grain_stop_waiting(self.state)
        self.waited = False

    def _written(self, left: int, failed: bool, content: int) -> None:
        if not self.writer:
            return
        self.state = LIB.spek_grain_written(self.state, left, failed)
        self.writer = False
        self.generation += left == STAMPED
        self.content = content


ACTIONS = (
    *("read", "write", "end", "fail", "zero", "fail_to_zero", "discard", "fail_to_discard"),
    *("give_up", "drop", "stop_waiting"),
)


@given(st.lists(st.sampled_from(list(ACTIONS)), max_size=80))
def test_readers_and_writers_exclude_each_other(actions: list[str]) -> None:
    model = Model()
    for action in actions:
        model.step(action)


def test_a_waiting_writer_keeps_new_readers_out_and_gets_its_turn() -> None:
    _, state = acquire(0, False)
    done, state = acquire(state, True)
    assert not done
    done, state = acquire(state, False)
    assert not done
    state = LIB.spek_grain_read(state)
    done, state = acquire(state, True)
    assert done
    state = LIB.spek_grain_written(state, STAMPED, False)
    assert acquire(state, False)[0]


def test_readers_are_counted_as_far_as_there_can_be_any() -> None:
    state = 0
    for _ in range(65534):
        done, state = acquire(state, False)
        assert done
    assert not acquire(state, False)[0]


@given(st.integers(0, 2**41), st.integers(STAMPED, DISCARDED))
def test_saved_and_restored(generation: int, content: int) -> None:
    state = generation << 19 | content << 17
    saved = LIB.spek_grain_save(state)
    assert saved == 4 * generation + content
    cell = FFI.new("u64 *")
    assert LIB.spek_grain_restore(saved, cell) == 0
    assert cell[0] == state


@pytest.mark.parametrize("saved", [1 << 47, 2**64 - 1])
def test_what_is_no_state_is_not_restored(saved: int) -> None:
    assert LIB.spek_grain_restore(saved, FFI.new("u64 *")) == -errno.EINVAL


@given(st.integers(2**41 + 1, 2**45 - 1), st.integers(STAMPED, DISCARDED))
def test_a_generation_that_could_wrap_is_not_restored(generation: int, content: int) -> None:
    saved = 4 * generation + content
    assert LIB.spek_grain_restore(saved, FFI.new("u64 *")) == -errno.ERANGE


def single_stream(stream: Stream, **asu: Any) -> Workload:
    return Workload([Asu(**{"bytes": 64 * MIB, **asu})], [Arrival(depth=4)], [stream])


@pytest.mark.parametrize(
    ("workload", "grain"),
    [
        (single_stream(Stream(sizes=4 * KIB)), 4 * KIB),
        (single_stream(Stream(sizes=12 * KIB, align_bytes=12 * KIB)), 4 * KIB),
        (single_stream(Stream(sizes={512: 1, 8 * KIB: 1}, align_bytes=8 * KIB)), 512),
        (single_stream(Stream(sizes=8 * KIB, align_bytes=8 * KIB), extents=((0, 1536),)), 512),
        (
            single_stream(Stream("strided", 8 * KIB, align_bytes=4 * KIB, stride_bytes=20 * KIB)),
            4 * KIB,
        ),
        (single_stream(Stream(sizes=8 * MIB, align_bytes=8 * MIB)), MIB),
    ],
)
def test_grain_of_a_workload(workload: Workload, grain: int) -> None:
    workload.check()
    assert grain_of(workload) == grain


@pytest.mark.parametrize(("operation", "grain"), [(FLUSH, 4096), (DISCARD, 512)])
def test_what_has_no_address_does_not_count(operation: int, grain: int) -> None:
    data = Stream(sizes=4 * KIB)
    addressless = Stream(sizes=512, align_bytes=512, read_ppm=0, operation=operation)
    workload = Workload([Asu(64 * MIB)], [Arrival(depth=4)], [data, addressless])
    workload.check()
    assert grain_of(workload) == grain


def test_grain_of_spc1() -> None:
    assert grain_of(spc1(1)) == 4096


POWERS = st.sampled_from([512, KIB, 4 * KIB, 8 * KIB])


@settings(max_examples=40)
@given(
    st.sampled_from(PATTERNS),
    POWERS,
    st.lists(st.integers(1, 40), min_size=1, max_size=4),
    st.integers(0, 9),
    st.integers(1, 3),
    st.integers(0, 1_000_000),
    st.sampled_from([0, 512]),
)
def test_every_operation_covers_whole_grains(
    pattern: Any, align: int, sizes: list[int], start: int, workers: int, seq_ppm: int, odd: int
) -> None:
    extra: dict[str, Any] = {}
    if pattern == "uniform":
        extra["seq_ppm"] = seq_ppm
    if pattern == "strided":
        extra["stride_bytes"] = 48 * align
        if odd:
            order = seq_ppm % 3
            extra.update(zone_size_bytes=41 * align + odd, zone_order=order)
            sizes = sizes[:1] if order == 2 else sizes
        else:
            extra["jitter_bytes"] = 3 * align
    if pattern == "runs":
        extra.update(run_bytes=657 * 512, restart_bytes=803 * 512, run_align_bytes=align)
    if pattern == "walk":
        sizes = [1]
    if pattern == "once":
        sizes = sizes[:1]
    if pattern == "table":
        slots = (4001 * align + odd - max(sizes) * align) // align + 1
        extra.update(parts=[(7, 2**39), (slots - 7, 2**39)], spread=seq_ppm % 2)
    stream = Stream(
        pattern,
        {size * align: 1 for size in set(sizes)},
        align_bytes=align,
        range_start=start * align,
        range_bytes=4001 * align + odd,
        read_ppm=500_000,
        replicas=2,
        **extra,
    )
    workload = single_stream(stream)
    workload.check(workers)
    grain = grain_of(workload)
    for worker in range(workers):
        ops = Generator(workload, 5, worker, workers).ops(300)
        assert not any(ops["addr"] % grain) and not any(ops["bytes"] % grain)
