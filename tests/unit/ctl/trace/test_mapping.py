# SPDX-License-Identifier: GPL-2.0
"""Mappings onto targets: each record in its place or counted, sequences kept where promised."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.traces import batch

from spekctl.errors import UsageError
from spekctl.ranges import Ranges
from spekctl.trace import mapping
from spekctl.trace.columns import Batch, Op
from spekctl.trace.mapping import AsIs, Scale, Target, Wrap, concatenate, pack, survey

OPS = st.sampled_from([Op.READ, Op.WRITE, Op.DISCARD, Op.FLUSH])


@st.composite
def traces(draw: Any, devices: int = 3, end: int = 1 << 20, unit: int = 512) -> Batch:
    rows = []
    for at in range(draw(st.integers(1, 25))):
        op = draw(OPS)
        offset = draw(st.integers(0, end // unit - 1)) * unit
        size = draw(st.integers(0, min(16, (end - offset) // unit))) * unit
        if op is Op.FLUSH:
            offset = size = 0
        rows.append((at, draw(st.integers(0, devices - 1)), offset, size, int(op)))
    return batch(rows)


def in_range(placed: mapping.Placed, targets: list[Target]) -> None:
    room = np.array([target.bytes for target in targets], np.uint64)[placed.batch.device]
    assert (placed.batch.end_bytes <= room).all()


def keeps_the_rest(given_: Batch, placed: mapping.Placed) -> None:
    """Sizes, operations, times and the order stay."""
    for name in ("at_ns", "bytes", "op", "flags"):
        assert np.array_equal(getattr(placed.batch, name), getattr(given_, name)[placed.kept]), name
    assert len(placed.kept) + placed.beyond == len(given_)
    assert (np.diff(placed.kept) > 0).all()


@given(
    st.lists(st.integers(0, 2**54 - 1), max_size=20),
    st.integers(0, 2**64 - 1),
    st.integers(1, 2**54),
)
def test_scaled_is_exact(values: list[int], factor: int, divisor: int) -> None:
    fitting = [value for value in values if value < divisor and value * factor // divisor < 2**64]
    scaled = mapping.scaled(np.array(fitting, np.uint64), factor, divisor)
    assert scaled.tolist() == [value * factor // divisor for value in fitting]


@given(traces(), st.integers(1, 2048))
def test_as_is_leaves_out_what_lies_beyond(trace: Batch, sectors: int) -> None:
    targets = [Target(sectors * 512), Target(1 << 20)]
    placed = AsIs(targets, [0, 1, 0]).place(trace)
    keeps_the_rest(trace, placed)
    in_range(placed, targets)
    expected = sum(
        device != 1 and op != Op.FLUSH and offset + size > sectors * 512
        for device, offset, size, op in zip(
            trace.device, trace.offset_bytes, trace.bytes, trace.op, strict=True
        )
    )
    assert placed.beyond == expected
    assert np.array_equal(placed.batch.offset_bytes, trace.offset_bytes[placed.kept])
    assert np.array_equal(placed.batch.device, np.array([0, 1, 0])[trace.device[placed.kept]])


@given(traces(), st.integers(16, 2048))
def test_wrap_keeps_every_record(trace: Batch, sectors: int) -> None:
    targets = [Target(sectors * 512)]
    placed = Wrap(targets, [0, 0, 0]).place(trace)
    keeps_the_rest(trace, placed)
    in_range(placed, targets)
    assert placed.beyond == 0
    wrapped = trace.offset_bytes % np.uint64(sectors * 512)
    assert int((placed.batch.offset_bytes != wrapped).sum()) == placed.shifted


def test_a_record_larger_than_the_target_has_no_place() -> None:
    trace = batch([(0, 0, 0, 8192, Op.READ), (1, 0, 0, 4096, Op.READ)])
    placed = Wrap([Target(4096)], [0]).place(trace)
    assert (placed.beyond, placed.kept.tolist()) == (1, [1])


@given(traces(), st.integers(16, 5000))
def test_scale_keeps_the_order_of_addresses(trace: Batch, blocks: int) -> None:
    targets = [Target(blocks * 4096, 4096)]
    placed = Scale(targets, [0, 0, 0], [1 << 20] * 3).place(trace)
    keeps_the_rest(trace, placed)
    in_range(placed, targets)
    assert placed.beyond == 0
    assert not (placed.batch.offset_bytes % np.uint64(4096)).any() or placed.shifted
    before = trace.offset_bytes[trace.op != Op.FLUSH].tolist()
    exact = [offset // 512 * blocks // 2048 * 4096 for offset in before]
    addresses = placed.batch.offset_bytes[trace.op != Op.FLUSH].tolist()
    assert sum(a != b for a, b in zip(addresses, exact, strict=True)) == placed.shifted


def test_a_disk_of_petabytes_is_scaled_without_overflow() -> None:
    size = 8 << 60
    offsets = [0, size // 2, size - 4096 - 1]
    trace = batch([(0, 0, offset, 1, Op.READ) for offset in offsets])
    placed = Scale([Target(1 << 40, 4096)], [0], [size - 1]).place(trace)
    assert placed.batch.offset_bytes.tolist() == [0, 1 << 39, (1 << 40) - 4096]


@given(traces())
def test_concatenated_devices_do_not_meet(trace: Batch) -> None:
    sizes = [1 << 20, (1 << 20) + 512, 1 << 20]
    placed = concatenate(sizes, [Target(4 << 20, 4096)]).place(trace)
    keeps_the_rest(trace, placed)
    assert placed.beyond == 0
    addressed = trace.op != Op.FLUSH
    bases = np.array([0, 1 << 20, (2 << 20) + 4096], np.uint64)
    expected = trace.offset_bytes + bases[trace.device]
    assert np.array_equal(placed.batch.offset_bytes[addressed], expected[addressed])
    assert not placed.batch.device.any()


def test_24_disks_lie_on_one() -> None:
    gib = 1 << 30
    mapper = concatenate([gib] * 24, [Target(24 * gib)])
    trace = batch([(0, disk, gib - 512, 512, Op.READ) for disk in range(24)])
    placed = mapper.place(trace)
    assert placed.batch.offset_bytes.tolist() == [(disk + 1) * gib - 512 for disk in range(24)]
    with pytest.raises(UsageError, match=r"need 24 GiB; target has 23 GiB"):
        concatenate([gib] * 24, [Target(23 * gib)])


def test_devices_of_a_trace_go_to_several_targets() -> None:
    chosen = mapping.targets_in_turn(5, 2)
    assert chosen == [0, 1, 0, 1, 0]
    mapper = concatenate([4096] * 5, [Target(12288), Target(8192)], chosen)
    trace = batch([(0, device, 0, 4096, Op.WRITE) for device in range(5)])
    placed = mapper.place(trace)
    places = zip(placed.batch.device.tolist(), placed.batch.offset_bytes.tolist(), strict=True)
    assert list(places) == [(0, 0), (1, 0), (0, 4096), (1, 4096), (0, 8192)]


@given(traces(end=1 << 24, unit=512))
def test_packing_keeps_sequences_and_overlaps(trace: Batch) -> None:
    """Two records of a device have the same distance after it wherever one set of touched,
    connected bytes holds both; and distinct bytes stay distinct."""
    trace = trace.take(~mapping.is_empty(trace))
    touched = survey([trace], ranges=True).touched
    mapper = pack(touched, [Target(1 << 26, 4096)], [0, 0, 0])
    placed = mapper.place(trace)
    keeps_the_rest(trace, placed)
    assert placed.beyond == 0
    rows = [
        (device, offset, offset + size, new)
        for device, offset, size, op, new in zip(
            *(
                column.tolist()
                for column in (trace.device, trace.offset_bytes, trace.bytes, trace.op)
            ),
            placed.batch.offset_bytes.tolist(),
            strict=True,
        )
        if op != Op.FLUSH and size
    ]
    for device, start, end, new in rows:
        for device2, start2, end2, new2 in rows:
            touch = device == device2 and start <= end2 and start2 <= end
            if touch:
                assert new2 - new == start2 - start
            else:
                assert new2 >= new + (end - start) or new >= new2 + (end2 - start2)


@given(traces(end=1 << 24))
def test_a_packed_trace_needs_what_it_touches(trace: Batch) -> None:
    touched = survey([trace], ranges=True).touched
    blocks = {
        (device, block)
        for device, offset, size in zip(
            trace.device.tolist(), trace.offset_bytes.tolist(), trace.bytes.tolist(), strict=True
        )
        for block in range(offset // 4096, -(-(offset + size) // 4096) if size else 0)
    }
    need = 4096 * len(blocks)
    if need:
        pack(touched, [Target(need)], [0, 0, 0])
        with pytest.raises(UsageError, match="the touched ranges of the trace need"):
            pack(touched, [Target(need - 1)], [0, 0, 0])


def test_what_a_packing_does_not_know_has_no_place() -> None:
    touched = Ranges()
    touched.add(np.array([8192], np.uint64), np.array([12288], np.uint64))
    mapper = pack({0: touched}, [Target(1 << 20)], [0, 0])
    trace = batch(
        [
            (0, 0, 8192, 4096, Op.READ),
            (1, 0, 4096, 512, Op.READ),
            (2, 0, 8192, 8192, Op.READ),
            (3, 1, 8192, 512, Op.READ),
            (4, 1, 0, 0, Op.FLUSH),
        ]
    )
    placed = mapper.place(trace)
    assert (placed.kept.tolist(), placed.beyond) == ([0, 4], 3)


@given(traces(unit=1), st.sampled_from([512, 4096]))
def test_aligned_records_hold_the_original(trace: Batch, block: int) -> None:
    widened, count = mapping.aligned(trace, block)
    assert not (widened.offset_bytes % np.uint64(block)).any()
    assert not (widened.bytes % np.uint64(block)).any()
    nonempty = trace.bytes > 0
    assert (widened.offset_bytes <= trace.offset_bytes).all()
    assert (widened.end_bytes[nonempty] >= trace.end_bytes[nonempty]).all()
    assert (widened.bytes[nonempty] < trace.bytes[nonempty] + np.uint64(2 * block)).all()
    changed = (widened.offset_bytes != trace.offset_bytes) | (widened.bytes != trace.bytes)
    assert count == int(changed.sum())


def test_requests_beyond_the_device_are_refused_with_their_number() -> None:
    trace = batch([(at, 0, at * 4096, 4096, Op.READ) for at in range(10)])
    mapper = AsIs([Target(7 * 4096)], [0])
    with pytest.raises(UsageError, match=r"3 of 10 requests lie beyond the end of the device"):
        mapping.check_all_fit([trace], mapper)
    mapping.check_all_fit([trace], AsIs([Target(10 * 4096)], [0]))


def test_a_survey_knows_sizes_and_ranges() -> None:
    trace = batch(
        [(0, 0, 4096, 512, Op.READ), (9, 2, 1 << 20, 1, Op.WRITE), (9, 1, 0, 0, Op.FLUSH)]
    )
    surveyed = survey([trace], ranges=True)
    assert (surveyed.records, surveyed.span_ns) == (3, 9)
    assert surveyed.sizes() == [1 << 20, 0, 2 << 20]
    assert [surveyed.touched[device].total for device in range(3)] == [512, 0, 1]
