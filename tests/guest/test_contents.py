# SPDX-License-Identifier: GPL-2.0
"""Data of streams: what a disk holds after a run is compressible and duplicate as asked."""

from __future__ import annotations

import errno
import mmap
import os
import zlib
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from lib.guest.disks import null_disk, scsi_disk
from lib.guest.netlink import MIB, asu, delete, finished, new, stream
from lib.guest.netlink_raw import Refusal, Socket

from spekctl.kernel.gen.spek import Backend, Data, Law, Pattern

pytestmark = pytest.mark.any_kernel

SIZE_MIB = 16
BYTES = SIZE_MIB * MIB
BLOCK = 4096
COMMON = 64
PERCENT = 10_000  # ppm
LOOP = {"law": int(Law.CLOSED), "depth": 4}
BACKENDS = [Backend.BIO, Backend.MQ, Backend.SCSI]


def disk_for(backend: Backend) -> Any:
    if backend is Backend.SCSI:
        return scsi_disk(SIZE_MIB, delay=0)
    return null_disk(SIZE_MIB, memory_backed=1)


def held(node: str) -> list[bytes]:
    """The blocks of a disk, read past the page cache."""
    fd = os.open(node, os.O_RDONLY | os.O_DIRECT)
    try:
        with mmap.mmap(-1, MIB) as memory:
            pieces = []
            for start in range(0, BYTES, MIB):
                assert os.preadv(fd, [memory], start) == MIB
                pieces.append(memory[:])
    finally:
        os.close(fd)
    return [piece[at : at + BLOCK] for piece in pieces for at in range(0, MIB, BLOCK)]


def writing(size: int, **changes: Any) -> dict[str, Any]:
    """A stream that writes its range in order."""
    values = {
        "pattern": int(Pattern.SEQUENTIAL),
        "read_ppm": 0,
        "range_bytes": BYTES,
        "align_bytes": size,
        "size": [{"bytes": size, "weight": 1}],
        **changes,
    }
    return stream(**values)


def write(
    nl: Socket, node: str, streams: Sequence[dict[str, Any]], count: int, **more: Any
) -> None:
    """Write the disk, all of it, once."""
    values = {"write": 1, "time_ns": None, "asu": [asu(bytes=BYTES)], "arrival": [LOOP]}
    run = new(nl, node, stream=list(streams), count=count, **values | more)
    finished(nl, run)
    delete(nl, run)


@pytest.mark.sampled
@pytest.mark.parametrize("backend", BACKENDS, ids=lambda backend: backend.name)
# Of one block, of several, and larger than a chunk of a buffer.
@pytest.mark.parametrize("size", [BLOCK, 32 << 10, 256 << 10])
def test_a_disk_holds_what_was_asked_for(
    nl: Socket, spek_module: Path, backend: Backend, size: int
) -> None:
    own = {"own_data": 1, "compressible_ppm": 50 * PERCENT, "duplicate_ppm": 30 * PERCENT}
    with disk_for(backend) as node:
        write(nl, node, [writing(size, **own)], BYTES // size, backend=int(backend))
        blocks = held(node)
    assert len(zlib.compress(b"".join(set(blocks)))) == pytest.approx(
        len(set(blocks)) * BLOCK / 2, rel=0.04
    )
    often = [count for count in Counter(blocks).values() if count > 1]
    sigma = (len(blocks) * 0.3 * 0.7) ** 0.5
    assert abs(sum(often) - 0.3 * len(blocks)) < 3 * sigma
    assert len(often) == COMMON
    assert all(block.endswith(bytes(BLOCK // 2)) for block in blocks)


def test_the_fill_is_the_bytes_that_were_given(nl: Socket, spek_module: Path) -> None:
    fill = b"\xde\xad\xbe"
    with null_disk(SIZE_MIB, memory_backed=1) as node:
        own = {"own_data": 1, "compressible_ppm": 100 * PERCENT, "fill": fill}
        write(nl, node, [writing(32 << 10, **own)], BYTES >> 15)
        blocks = held(node)
    assert set(blocks) == {(fill * BLOCK)[:BLOCK]}


@pytest.mark.parametrize("data", [Data.ZERO, Data.RANDOM])
def test_other_streams_write_the_data_of_the_run(nl: Socket, spek_module: Path, data: Data) -> None:
    """Although they share buffers with the stream that has its own."""
    half = BYTES // 2
    streams = [
        writing(BLOCK, range_bytes=half, own_data=1, compressible_ppm=100 * PERCENT, fill=b"z"),
        writing(BLOCK, range_bytes=half, range_start=half),
    ]
    with null_disk(SIZE_MIB, memory_backed=1) as node:
        # Both are drawn at random: by then each has written its half more than once.
        write(nl, node, [writing(BLOCK)], BYTES // BLOCK, data=int(Data.RANDOM))
        write(nl, node, streams, 3 * BYTES // BLOCK, data=int(data))
        blocks = held(node)
    middle = len(blocks) // 2
    assert set(blocks[:middle]) == {b"z" * BLOCK}
    if data is Data.ZERO:
        assert set(blocks[middle:]) == {bytes(BLOCK)}
    else:
        assert len(set(blocks[middle:])) == middle
        assert len(zlib.compress(b"".join(blocks[middle:]))) > half


def test_the_seed_makes_the_data(nl: Socket, spek_module: Path) -> None:
    contents = []
    own = {"own_data": 1, "duplicate_ppm": 10 * PERCENT}
    with null_disk(SIZE_MIB, memory_backed=1) as node:
        for seed in (1, 1, 2):
            write(nl, node, [writing(BLOCK, **own)], BYTES // BLOCK, seed=seed)
            contents.append(held(node))
    assert contents[0] == contents[1]
    assert not set(contents[0]) & set(contents[2])


REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"own_data": 1, "compressible_ppm": 1_000_001}, errno.ERANGE, "out of range"),
    ({"own_data": 1, "duplicate_ppm": 1_000_001}, errno.ERANGE, "out of range"),
    ({"fill": b"x"}, errno.EINVAL, "for a stream without own data"),
    ({"own_data": 1, "fill": b"x"}, errno.EINVAL, "for a stream without compressible data"),
    ({"own_data": 1, "read_ppm": 1_000_000}, errno.EINVAL, "has no writes of data"),
    (
        {"own_data": 1, "compressible_ppm": 1_000_000, "duplicate_ppm": 1},
        *(errno.EINVAL, "whose data are all fill"),
    ),
]


@pytest.mark.parametrize(("changes", "code", "text"), REFUSED)
def test_data_that_make_no_sense_are_refused(
    nl: Socket, disks: Sequence[str], changes: dict[str, Any], code: int, text: str
) -> None:
    with pytest.raises(Refusal) as no:
        new(nl, disks[0], write=1, stream=[stream(**{"read_ppm": 0, **changes})])
    assert (no.value.errno, text in no.value.text) == (code, True), no.value


@pytest.mark.parametrize("length", [0, 65])
def test_a_fill_has_1_to_64_bytes(nl: Socket, disks: Sequence[str], length: int) -> None:
    own = {"own_data": 1, "compressible_ppm": 1, "fill": bytes(length)}
    with pytest.raises(Refusal) as no:
        new(nl, disks[0], write=1, stream=[stream(read_ppm=0, **own)])
    assert no.value.errno == errno.ERANGE


def test_stamped_data_exclude_those_of_streams(nl: Socket, disks: Sequence[str]) -> None:
    with pytest.raises(Refusal) as no:
        new(
            *(nl, disks[0]),
            write=1,
            data=int(Data.STAMPED),
            stream=[stream(read_ppm=0, own_data=1)],
        )
    assert "has no streams with own data" in no.value.text
