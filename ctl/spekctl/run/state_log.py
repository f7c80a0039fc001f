# SPDX-License-Identifier: GPL-2.0-or-later
"""The log of acknowledged writes, on a device that survives a power cut of the devices under test.

During a run with `--state-on`, run/state_on.py writes the kernel's per-I/O records of its writes
and flushes here. After the cut, the records show which writes the devices had promised to keep, and
`spekctl verify` checks whether they did.

**What is promised.** A flush that succeeded covers each write to the same device that was
acknowledged before the flush was issued: done-ns of the write is less than issue-ns of the flush,
both by CLOCK_MONOTONIC, by more than the clocks of two CPUs may differ (SKEW_NS). The kernel takes
done-ns after the device has answered, and issue-ns before it hands over the flush, so the order of
the two numbers is that of the events, even across workers. A write with FUA that succeeded is
covered by itself; so is each write to a device without a volatile cache, to which the block layer
sends no flushes.

**Which write a block has to hold.** The generation in a stamp is the number of the write to its
block, failed ones included. Writes to a block exclude each other (kmod/load/verify.c), so counting
the records of a block in order of done-ns gives their generations. The block has to hold the last
covered write or a later one; later writes may have been acknowledged after the end of the log, or
never. A block with an earlier write has lost a write, and a block with parts of two is torn.

**What may be missing.** The log is written a moment after the acknowledgements, so it ends a little
before the cut. Records of one worker are in order, but not across workers: a record that is missing
at the end can make the number of a later write by another worker too small, but never too large. So
the log may demand too little there, but never too much. If records do not fit into the kernel's
buffer, the run ends.

**Layout.** Frames, each at a multiple of BLOCK bytes: HEAD, the content, zeroes up to the next
multiple. The first has the run as JSON (class Subject); the others have records in order, as
struct spek_log_record in the machine's byte order, without reads. A frame counts if its checksum
(CRC-32C of head and content) is right, its id is that of the first, and its number is one more
than that of the frame before. The first frame that does not count ends the log: it was torn, or
belongs to an earlier run. No block is written twice.
"""

from __future__ import annotations

import os
import struct
from array import array
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import msgspec
from crc32c import crc32c

from spekctl import files, recorded, units
from spekctl.block import opening
from spekctl.block.state_log import MAGIC
from spekctl.errors import NotPermittedError, SpekError, UsageError
from spekctl.kernel.gen.spek_records import LOG_RECORD_BYTES, LOG_RECORD_FORMAT
from spekctl.kernel.records import MapInfo
from spekctl.run import verify_state
from spekctl.run.verify_state import SavedState

VERSION = 1
BLOCK = 4096
# Magic, version, kind, id of the log, number of the frame, bytes of the content, checksum.
HEAD = struct.Struct("<8sIIQQII")
SUBJECT, RECORDS = 1, 2
CONTENT_MAX = 1 << 20
RECORD = struct.Struct(LOG_RECORD_FORMAT)
# Offsets in a record: stream, and whether it is a write.
AT_STREAM, AT_WRITE = 40, 45
STREAM = struct.Struct("=H")
STAMPED, UNCERTAIN = 0, 1
# Above the largest difference that a kernel accepts between the clocks of its CPUs.
SKEW_NS = 10_000


class Subject(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The run that a log is about: a state in which nothing was written yet."""

    state: SavedState
    write_through: list[bool]  # of each device: it has no volatile cache


# --- frames --------------------------------------------------------------------------------------


def frame(kind: int, log: int, number: int, content: bytes) -> bytes:
    """A frame, in whole blocks."""
    head = HEAD.pack(MAGIC, VERSION, kind, log, number, len(content), 0)
    checksum = crc32c(content, crc32c(head))
    head = HEAD.pack(MAGIC, VERSION, kind, log, number, len(content), checksum)
    return (head + content).ljust(frame_bytes(len(content)), b"\0")


def frame_bytes(content: int) -> int:
    """Bytes of a frame with @content bytes of content."""
    return -(-(HEAD.size + content) // BLOCK) * BLOCK


def most_records(room: int) -> int:
    """Records that fit into @room bytes, in the largest frames."""
    largest = (CONTENT_MAX - HEAD.size) // LOG_RECORD_BYTES
    whole, left = divmod(room // BLOCK * BLOCK, frame_bytes(largest * LOG_RECORD_BYTES))
    return whole * largest + max(left - HEAD.size, 0) // LOG_RECORD_BYTES


@dataclass(frozen=True, slots=True)
class Frame:
    """A frame that was read."""

    kind: int
    log: int
    number: int
    content: bytes


def _read_frame(fd: int, at: int) -> Frame | None:
    """The frame at byte @at; None if there is none, or only part of a frame."""
    block = os.pread(fd, BLOCK, at)
    if len(block) < HEAD.size:
        return None
    magic, version, kind, log, number, size, checksum = HEAD.unpack_from(block)
    if magic != MAGIC or version != VERSION or size > CONTENT_MAX:
        return None
    content = block[HEAD.size :]
    if size > len(content):
        content += os.pread(fd, size - len(content), at + BLOCK)
    content = content[:size]
    head = HEAD.pack(magic, version, kind, log, number, size, 0)
    if len(content) < size or crc32c(content, crc32c(head)) != checksum:
        return None
    return Frame(kind, log, number, content)


def _frames(fd: int) -> Iterator[Frame]:
    """The valid frames, in order."""
    at, number, log = 0, 0, None
    while (each := _read_frame(fd, at)) is not None:
        if each.number != number or log not in (None, each.log):
            return
        yield each
        log, number = each.log, number + 1
        at += frame_bytes(len(each.content))


# --- what the records say ------------------------------------------------------------------------


@dataclass(slots=True)
class _Grain:
    """Writes of a grain, and the ends of the last covered and of the last failed one."""

    written: int = 0
    covered_ns: int = -1
    failed_ns: int = -1
    covered: int = 0  # writes that ended by covered_ns: the number of the last one covered

    @property
    def state(self) -> int:
        """In the form of spek_grain_save(); 0: no write was promised to be kept."""
        if not self.covered:
            return 0
        if self.failed_ns > self.covered_ns:
            return self.written << 2 | UNCERTAIN
        return self.covered << 2 | STAMPED


@dataclass(frozen=True, slots=True)
class _Write:
    """A write that was acknowledged, or failed."""

    target: int
    grains: range
    done_ns: int
    is_covered: bool  # without a flush
    is_failed: bool


class _Reader:
    """Reads records. ValueError: they do not belong to the run."""

    def __init__(self, subject: Subject) -> None:
        state = subject.state
        self._subject = subject
        self._grain = state.grain_bytes
        self._flushes = [stream.operation == "flush" for stream in state.config.streams]
        self._fua = [bool(stream.fua) for stream in state.config.streams]
        self._extents = [asu.extents[0] for asu in state.config.asus if asu.extents]
        if (
            len(self._extents) != len(state.config.asus)
            or len(subject.write_through) != len(state.devices)
            or any(extent.target >= len(state.devices) for extent in self._extents)
        ):
            raise ValueError("the description of its run is inconsistent")

    def flushes(self, content: bytes) -> Iterator[tuple[int, int]]:
        """Targets and issue-ns of the flushes that succeeded; checks all of the content."""
        if len(content) % RECORD.size:
            raise ValueError("a frame ends within a record")
        for _, issue_ns, _, _, _, _, stream, _, asu, _, _, error in RECORD.iter_unpack(content):
            if stream >= len(self._flushes) or asu >= len(self._extents):
                raise ValueError("a record is of no stream of the run")
            if self._flushes[stream] and not error:
                yield self._extents[asu].target, issue_ns

    def writes(self, content: bytes) -> Iterator[_Write]:
        """The writes in a content that flushes() has checked."""
        grain = self._grain
        for _, _, done_ns, addr, size, _, stream, _, asu, _, _, error in RECORD.iter_unpack(
            content
        ):
            if self._flushes[stream]:
                continue
            extent = self._extents[asu]
            device = self._subject.state.devices[extent.target]
            at = extent.start + addr - device.map_start
            if at < 0 or at % grain or size % grain or at + size > device.map_bytes:
                raise ValueError("a record is of blocks that the run did not write")
            always = self._subject.write_through[extent.target] or self._fua[stream]
            yield _Write(
                extent.target,
                range(at // grain, (at + size) // grain),
                done_ns,
                is_covered=always and not error,
                is_failed=bool(error),
            )


@dataclass(frozen=True, slots=True)
class Acknowledged:
    """What a log shows."""

    state: SavedState  # every covered block, and the earliest write that it may hold
    writes: int  # number of recorded writes
    flushes: int
    grains: int  # number of covered grains

    @property
    def text(self) -> str:
        """The same in a sentence."""
        return (
            f"in the log: {self.writes:,} writes, {self.flushes:,} flushes;"
            f" {units.format_bytes(self.grains * self.state.grain_bytes)} were acknowledged and"
            " flushed"
        )


def fold(subject: Subject, contents: Iterable[bytes]) -> Acknowledged:
    """Evaluate records, given as the contents of frames, which are read three times: they need not
    fit into memory, and their order does not matter. ValueError says how they are damaged."""
    state, reader = subject.state, _Reader(subject)
    covered_ns = [-1] * len(state.devices)
    records = writes = 0
    for content in contents:
        records += len(content) // RECORD.size
        for target, issue_ns in reader.flushes(content):
            covered_ns[target] = max(covered_ns[target], issue_ns - SKEW_NS)
    maps: list[dict[int, _Grain]] = [{} for _ in state.devices]
    for content in contents:
        for write in reader.writes(content):
            writes += 1
            covered = write.is_covered or (
                not write.is_failed and write.done_ns < covered_ns[write.target]
            )
            grains = maps[write.target]
            for index in write.grains:
                grain = grains.get(index)
                if grain is None:
                    grain = grains[index] = _Grain()
                grain.written += 1
                if write.is_failed:
                    grain.failed_ns = max(grain.failed_ns, write.done_ns)
                elif covered:
                    grain.covered_ns = max(grain.covered_ns, write.done_ns)
    for content in contents:
        for write in reader.writes(content):
            for index in write.grains:
                grain = maps[write.target][index]
                grain.covered += write.done_ns <= grain.covered_ns
    devices = [
        msgspec.structs.replace(device, states=list(_parts(index, grains)))
        for index, (device, grains) in enumerate(zip(state.devices, maps, strict=True))
    ]
    # A block with a later write than the recorded one is correct as well.
    config = msgspec.structs.replace(state.config, verify_newer=1)
    return Acknowledged(
        state=msgspec.structs.replace(state, config=config, devices=devices),
        writes=writes,
        flushes=records - writes,
        grains=sum(1 for grains in maps for grain in grains.values() if grain.state),
    )


def _parts(target: int, grains: dict[int, _Grain]) -> Iterator[verify_state.States]:
    """Runs of consecutive grains."""
    first, states = 0, array("Q")
    for index in sorted(grains):
        if states and index != first + len(states):
            yield verify_state.packed_part(MapInfo(0, target, first, states.tobytes()))
            states = array("Q")
        if not states:
            first = index
        states.append(grains[index].state)
    if states:
        yield verify_state.packed_part(MapInfo(0, target, first, states.tobytes()))


class Contents:
    """Contents of the frames with records, read again for each pass."""

    def __init__(self, fd: int) -> None:
        self._fd = fd

    def __iter__(self) -> Iterator[bytes]:
        return (each.content for each in _frames(self._fd) if each.kind == RECORDS)


def contents(fd: int, name: str) -> tuple[Subject, Contents]:
    """The run and its records in the log on the device @name, which is open at @fd."""
    head = next(_frames(fd), None)
    if head is None or head.kind != SUBJECT:
        raise UsageError(
            f"{name} holds no log of `spekctl run --state-on`, or its start is damaged"
        )
    try:
        subject = files.decode(head.content, Subject)
    except msgspec.DecodeError as error:
        raise UsageError(f"the log on {name} is of another version of spekctl: {error}") from error
    return subject, Contents(fd)


def load(path: Path) -> Acknowledged:
    """The log on the device at @path."""
    name = recorded.text(str(path))
    try:
        fd = opening.open_block_device(str(path), os.O_RDONLY)
    except PermissionError as error:
        raise NotPermittedError(f"not permitted to read {name}") from error
    except OSError as error:
        raise UsageError(f"cannot read {name}: {error.strerror}") from error
    try:
        subject, kept = contents(fd, name)
        try:
            return fold(subject, kept)
        except ValueError as error:
            raise UsageError(f"the log on {name} is damaged: {error}") from error
    except OSError as error:
        raise SpekError(f"cannot read {name}: {error.strerror}") from error
    finally:
        os.close(fd)


def wanted(block: memoryview, flushes: Sequence[bool]) -> bytes:
    """The kernel's records that the log keeps. @flushes: for each stream, whether it flushes."""
    return b"".join(
        block[at : at + LOG_RECORD_BYTES]
        for at in range(0, len(block), LOG_RECORD_BYTES)
        if block[at + AT_WRITE] or flushes[STREAM.unpack_from(block, at + AT_STREAM)[0]]
    )
