# SPDX-License-Identifier: GPL-2.0
"""Parts of a trace: every record is in one of them, at the time and place that it has in all."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from spekctl.errors import UsageError
from spekctl.trace import mapping
from spekctl.trace.mapping import Target
from spekctl.trace.part import Part, Piece
from spekctl.trace.schedule import Block, Schedule, Timing
from spekctl.trace.trace import open_trace

MIB = 1 << 20
TARGETS = [Target(MIB), Target(MIB), Target(2 * MIB)]
Row = tuple[int, int, int, int, int]


def rows_of(blocks: Sequence[Block]) -> list[Row]:
    """Number, time, address, length and target of each record."""
    return [
        (
            int(block.index[at]),
            int(block.at_ns[at]),
            int(block.offset_bytes[at]),
            int(block.bytes[at]),
            int(block.target[at]),
        )
        for block in blocks
        for at in range(len(block))
    ]


def schedule(path: Path, part: Part | None, timing: Timing) -> list[Row]:
    mapper = mapping.AsIs(TARGETS, mapping.targets_in_turn(3, 3))
    own = part.of if part is not None else None
    return rows_of(list(Schedule(open_trace([path]).batches(), mapper, timing, own=own).blocks(7)))


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=30)
@given(
    st.lists(st.tuples(st.integers(0, 2), st.integers(0, 2000), st.booleans()), min_size=1),
    st.integers(1, 2047),
    st.sampled_from([Timing(), Timing.at_speed("2.5"), Timing.at_rate("7")]),
)
def test_parts_are_the_whole(
    tmp_path: Path, records: list[tuple[int, int, bool]], cut: int, timing: Timing
) -> None:
    path = tmp_path / "t.csv"
    lines = [
        f"{device},{place * 1000},{sector % 2000 * 512},512,{'write' if writes else 'read'}"
        for place, (device, sector, writes) in enumerate(records)
    ]
    path.write_text("device,at_ns,offset_bytes,bytes,op\n" + "\n".join(lines) + "\n")
    # The first has a device and the beginning of the third, the second all else.
    first = [Piece(0, 0, MIB), Piece(2, 0, cut * 512)]
    second = [Piece(1, 0, MIB), Piece(2, cut * 512, 2 * MIB - cut * 512)]
    joined = []
    for pieces in (first, second):
        for number, at_ns, offset, length, device in schedule(path, Part(TARGETS, pieces), timing):
            piece = pieces[device]
            assert piece.start <= offset < piece.start + piece.bytes
            joined.append((number, at_ns, offset, length, piece.target))
    assert sorted(joined) == schedule(path, None, timing)


def block_of(count: int) -> Block:
    """So many records of no meaning."""
    zeros = np.zeros(count, np.uint64)
    small = zeros.astype(np.uint8)
    return Block(zeros, zeros, zeros, small, small, zeros.astype(np.uint32), zeros)


def test_a_piece_begins_at_its_start_and_ends_before_its_end() -> None:
    offsets = np.array([0, 511, 512, 1023, 1024, 2**63], np.uint64)
    zeros = np.zeros(len(offsets), np.uint64)
    block = Block(
        *(zeros, offsets, zeros, zeros.astype(np.uint8), zeros.astype(np.uint8)),
        *(np.ones(len(offsets), np.uint32), np.arange(len(offsets), dtype=np.uint64)),
    )
    own = Part([Target(MIB), Target(MIB)], [Piece(1, 512, 512)]).of(block)
    assert own.index.tolist() == [2, 3] and own.target.tolist() == [0, 0]


def test_a_part_without_a_device_of_the_trace_is_refused() -> None:
    part = Part(TARGETS, [Piece(1, 0, MIB)])
    part.check([0, 1])
    with pytest.raises(UsageError, match="the trace has 1 device, the fleet 3, and this host"):
        part.check([0])


def test_a_part_without_records_is_refused_and_one_with_any_is_read_no_further() -> None:
    part = Part(TARGETS, [Piece(1, 0, MIB)])
    empty, full = block_of(0), block_of(1)

    def blocks() -> Iterator[Block]:
        yield from (empty, full)
        raise AssertionError("it was read on")

    part.check_records(blocks())
    with pytest.raises(UsageError, match="no record of the trace starts on this host's part"):
        part.check_records([empty, empty])
    with pytest.raises(UsageError, match="no record of the trace starts on this host's part"):
        part.check_records([])
