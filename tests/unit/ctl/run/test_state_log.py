# SPDX-License-Identifier: GPL-2.0
"""The log of what was acknowledged: which frames count, and what the records promise."""

from __future__ import annotations

import os
import struct
from pathlib import Path
from random import Random

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.verified import config_of
from lib.fakes.machine import disk

from spekctl import files
from spekctl.block import opening
from spekctl.errors import UsageError
from spekctl.run import state_log, verify_state
from spekctl.run.state_log import BLOCK, HEAD, RECORDS, SKEW_NS, SUBJECT, Subject
from spekctl.run.verify_state import DeviceState, SavedState
from spekctl.workload.config import Extent, ResolvedAsu

KIB, MIB = 1 << 10, 1 << 20
LOG = 0x1122334455667788
MS = 10**6
WRITE, FLUSH, FUA = range(3)


def subject(through: bool = False, start: int = MIB) -> Subject:
    """A run with a stream of writes, one of flushes and one of writes with FUA."""
    config = config_of("random-write-4k")
    (plain,) = config.streams
    streams = [
        plain,
        msgspec.structs.replace(plain, operation="flush"),
        msgspec.structs.replace(plain, fua=1),
    ]
    asus = [ResolvedAsu("main", 4 * MIB, [Extent(0, start)])]
    device = DeviceState(disk().facts(diskseq=1), start, 4 * MIB, [])
    state = SavedState(
        config=msgspec.structs.replace(config, streams=streams, asus=asus),
        seed=5,
        stamp_id=7,
        grain_bytes=4096,
        devices=[device],
    )
    return Subject(state, [through])


def record(
    stream: int, issue_ns: int, done_ns: int, grain: int = 0, grains: int = 1, error: int = 0
) -> bytes:
    return state_log.RECORD.pack(
        *(issue_ns, issue_ns, done_ns, grain * 4096, grains * 4096, 0, stream, 0, 0),
        *(int(stream != FLUSH), 1, error),
    )


def promised(*records: bytes, through: bool = False) -> dict[int, tuple[int, int]]:
    """Generation and content of each grain that has a state."""
    kept = state_log.fold(subject(through), [b"".join(records)])
    states = {}
    for part in verify_state.parts_of(kept.state, Path("log")):
        for index, (state,) in enumerate(struct.iter_unpack("=Q", part.states), part.first):
            if state:
                states[index] = (state >> 2, state & 3)
    assert kept.grains == len(states)
    return states


# ---- what the records promise ----


def test_a_flush_covers_what_was_acknowledged_before_it_was_issued() -> None:
    assert promised(
        record(WRITE, 0, 1 * MS, 0),
        record(WRITE, 0, 3 * MS, 1),  # in flight when the flush is issued
        record(FLUSH, 2 * MS, 4 * MS),
        record(WRITE, 5 * MS, 6 * MS, 2),
    ) == {0: (1, 0)}


def test_clocks_may_differ_a_little() -> None:
    flush = record(FLUSH, 2 * MS, 4 * MS)
    assert promised(record(WRITE, 0, 2 * MS - SKEW_NS), flush) == {}
    assert promised(record(WRITE, 0, 2 * MS - SKEW_NS - 1), flush) == {0: (1, 0)}


def test_writes_are_numbered_by_their_ends_in_whatever_order_workers_tell_them() -> None:
    assert promised(
        record(WRITE, 5 * MS, 6 * MS, 3),
        record(FLUSH, 7 * MS, 8 * MS),
        record(WRITE, 9 * MS, 10 * MS, 3),
        record(WRITE, 1 * MS, 2 * MS, 2, grains=3),
        record(WRITE, 3 * MS, 4 * MS, 3),
    ) == {2: (1, 0), 3: (3, 0), 4: (1, 0)}


def test_a_flush_that_failed_promises_nothing() -> None:
    assert promised(record(WRITE, 0, MS), record(FLUSH, 2 * MS, 4 * MS, error=5)) == {}


def test_a_write_with_fua_and_one_without_a_cache_need_no_flush() -> None:
    assert promised(record(FUA, 0, MS, 0), record(WRITE, 0, MS, 1)) == {0: (1, 0)}
    assert promised(record(WRITE, 0, MS, 1), through=True) == {1: (1, 0)}


def test_after_a_failed_write_the_content_is_uncertain_until_the_next_flush() -> None:
    failed = (
        record(WRITE, 0, 1 * MS),
        record(FLUSH, 2 * MS, 3 * MS),
        record(WRITE, 4 * MS, 5 * MS, error=5),
    )
    assert promised(*failed) == {0: (2, 1)}
    later = (record(WRITE, 6 * MS, 7 * MS), record(FLUSH, 8 * MS, 9 * MS))
    assert promised(*failed, *later) == {0: (3, 0)}
    assert promised(record(FUA, 0, 1 * MS, error=5)) == {}


def test_later_writes_than_those_on_record_are_right() -> None:
    kept = state_log.fold(subject(), [record(WRITE, 0, 1 * MS) + record(FLUSH, 2 * MS, 3 * MS)])
    assert kept.state.config.verify_newer == 1
    assert kept.text == ("in the log: 1 writes, 1 flushes; 4 KiB were acknowledged and flushed")


def test_reads_are_not_kept() -> None:
    read = bytearray(record(WRITE, 0, 1))
    read[state_log.AT_WRITE] = 0
    flush, write = record(FLUSH, 1, 2), record(WRITE, 3, 4)
    block = memoryview(bytes(read) + flush + bytes(read) + write)
    assert state_log.wanted(block, [False, True, False]) == flush + write


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (record(WRITE, 0, 1)[:-1], "a frame ends within a record"),
        (record(9, 0, 1), "a record is of no stream of the run"),
        (record(WRITE, 0, 1, 1024), "a record is of blocks that the run did not write"),
        (record(WRITE, 0, 1, 0, 1025), "a record is of blocks that the run did not write"),
    ],
)
def test_records_that_cannot_be_of_the_run_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, content: bytes, sentence: str
) -> None:
    path = image(tmp_path, head(), state_log.frame(RECORDS, LOG, 1, content))
    monkeypatch.setattr(opening, "open_block_device", os.open)
    with pytest.raises(UsageError, match=f"the log on .* is damaged: {sentence}"):
        state_log.load(path)


@pytest.mark.parametrize("devices", [0, 2])
def test_a_run_that_does_not_fit_together_is_refused(devices: int) -> None:
    broken = msgspec.structs.replace(subject(), write_through=[False] * devices)
    with pytest.raises(ValueError, match="the description of its run is inconsistent"):
        state_log.fold(broken, [])


@given(
    st.lists(st.tuples(st.sampled_from([WRITE, FLUSH, FUA]), st.integers(0, 3), st.booleans())),
    st.randoms(use_true_random=False),
)
def test_the_order_of_the_frames_does_not_matter(
    events: list[tuple[int, int, bool]], random: Random
) -> None:
    """One after the other, against what a device holds that loses all that it may."""
    records: list[bytes] = []
    written, failed, safe = [0] * 4, [0] * 4, [0] * 4
    last = [0] * 4
    for at, (kind, grain, fails) in enumerate(events, 1):
        ns = at * MS
        records.append(record(kind, ns, ns + 1, grain, error=5 if fails else 0))
        if kind == FLUSH:
            safe = safe if fails else [max(pair) for pair in zip(safe, last, strict=True)]
            continue
        written[grain] += 1
        if fails:
            failed[grain] = written[grain]
            continue
        last[grain] = written[grain]
        if kind == FUA:
            safe[grain] = written[grain]
    random.shuffle(records)
    assert promised(*records) == {
        grain: (written[grain], 1) if failed[grain] > safe[grain] else (safe[grain], 0)
        for grain in range(4)
        if safe[grain]
    }


# ---- which frames count ----


def image(tmp_path: Path, *frames: bytes) -> Path:
    path = tmp_path / "log"
    path.write_bytes(b"".join(frames) + bytes(4 * BLOCK))
    return path


def head(log: int = LOG) -> bytes:
    return state_log.frame(SUBJECT, log, 0, files.encode(subject()))


def read(path: Path) -> list[bytes]:
    fd = os.open(path, os.O_RDONLY)
    try:
        return list(state_log.contents(fd, str(path))[1])
    finally:
        os.close(fd)


FIRST, SECOND = record(WRITE, 0, 1), record(FLUSH, 2, 3) * 200
FRAMES = (
    state_log.frame(RECORDS, LOG, 1, FIRST),
    state_log.frame(RECORDS, LOG, 2, SECOND),
    state_log.frame(RECORDS, LOG, 3, FIRST),
)


def test_a_log_is_read_to_its_end(tmp_path: Path) -> None:
    assert len(FRAMES[1]) == 3 * BLOCK
    path = image(tmp_path, head(), *FRAMES)
    assert read(path) == [FIRST, SECOND, FIRST]
    with path.open("rb") as file:
        assert state_log.contents(file.fileno(), "log")[0].state.stamp_id == 7


@pytest.mark.parametrize("torn", [BLOCK, 2 * BLOCK])
def test_a_torn_frame_ends_the_log(tmp_path: Path, torn: int) -> None:
    """Nothing behind it counts: that it is there does not mean that it was acknowledged."""
    second = FRAMES[1][:torn] + bytes(len(FRAMES[1]) - torn)
    assert read(image(tmp_path, head(), FRAMES[0], second, FRAMES[2])) == [FIRST]


@pytest.mark.parametrize("at", [HEAD.size + 5, HEAD.size - 1, 8, 12, 20])
def test_a_flipped_bit_ends_the_log(tmp_path: Path, at: int) -> None:
    second = bytearray(FRAMES[1])
    second[at] ^= 4
    assert read(image(tmp_path, head(), FRAMES[0], bytes(second), FRAMES[2])) == [FIRST]


def test_frames_of_an_earlier_run_are_not_read(tmp_path: Path) -> None:
    stale = [state_log.frame(RECORDS, LOG + 1, number, FIRST) for number in (2, 3)]
    assert read(image(tmp_path, head(), FRAMES[0], *stale)) == [FIRST]


def test_a_gap_ends_the_log(tmp_path: Path) -> None:
    assert read(image(tmp_path, head(), FRAMES[0], FRAMES[2])) == [FIRST]


@pytest.mark.parametrize(
    "start", [bytes(BLOCK), FRAMES[0], head()[:100] + b"?" + head()[101:], b"x" * BLOCK]
)
def test_a_device_without_a_log_is_refused(tmp_path: Path, start: bytes) -> None:
    with pytest.raises(UsageError, match="holds no log of `spekctl run --state-on`"):
        read(image(tmp_path, start))


def test_a_log_of_another_version_is_refused(tmp_path: Path) -> None:
    frame = state_log.frame(SUBJECT, LOG, 0, b'{"state":{}}')
    with pytest.raises(UsageError, match=r"the log on .* is of another version of spekctl"):
        read(image(tmp_path, frame))


def test_only_block_devices_are_loaded(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a block device"):
        state_log.load(image(tmp_path, head()))
    with pytest.raises(UsageError, match=r"cannot read .*: No such file"):
        state_log.load(tmp_path / "missing")


def test_the_room_is_what_full_frames_take() -> None:
    assert state_log.most_records(0) == state_log.most_records(BLOCK - 1) == 0
    for room in (BLOCK, 3 * BLOCK, 2 * MIB, 64 * MIB + 3 * BLOCK):
        most = state_log.most_records(room)
        largest = (state_log.CONTENT_MAX - HEAD.size) // 48
        whole, left = divmod(most, largest)
        used = whole * state_log.frame_bytes(largest * 48) + (
            state_log.frame_bytes(left * 48) if left else 0
        )
        assert used <= room < used + 2 * BLOCK
