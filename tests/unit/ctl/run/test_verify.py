# SPDX-License-Identifier: GPL-2.0
"""Verified runs: what they cost, what is refused, and what is read back."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from lib.core import spekcore
from lib.core.config import core_of
from lib.ctl.verified import DISK, config_of, info_of
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk, use_fakes

from spekctl.block import device
from spekctl.block.zones import Zone
from spekctl.documents.device import DiskCounters
from spekctl.documents.result import Result
from spekctl.errors import ExitCode, SpekError, UsageError
from spekctl.kernel.records import (
    MapInfo,
    MismatchInfo,
    RunInfo,
    VerifyInfo,
)
from spekctl.render.progress import LineProgress
from spekctl.run import ending, job, request, verify, verify_state
from spekctl.run.measure import measure
from spekctl.workload import file
from spekctl.workload.config import Extent, ResolvedAsu
from spekctl.workload.resolve import Options, Target

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


@pytest.mark.parametrize("name", file.shipped_names())
def test_the_grain_is_that_of_the_core(name: str) -> None:
    load: dict[str, Any] = {"bsu": 3} if name == "spc1" else {}
    config = config_of(name, verify=False, **load)
    _, lib = spekcore.library()
    assert verify.grain_of(config) == lib.spek_grain_bytes(core_of(config).c)


def test_flushes_do_not_make_the_grain_smaller() -> None:
    config = config_of("random-write-4k")
    (stream,) = config.streams
    small = [msgspec.structs.replace(stream.sizes[0], bytes=512)]
    for operation, grain in (("flush", 4096), ("zone-reset", 4096), ("discard", 512)):
        second = msgspec.structs.replace(stream, operation=operation, sizes=small)
        both = msgspec.structs.replace(config, streams=[stream, second])
        assert verify.grain_of(both) == grain


def test_memory_is_said_and_refused_beforehand() -> None:
    config = config_of("random-write-4k")
    assert verify.map_bytes_of(config, 4096) == GIB // 4096 * 8
    prepared, remark = verify.prepare(config, [DISK], lambda: GIB)
    assert prepared.stamp_id and prepared.data == "stamped"
    assert remark == (
        "verified: 2 MiB of kernel memory for what was written, 8 bytes for every 4 KiB"
    )
    again, _ = verify.prepare(config, [DISK], lambda: GIB)
    assert again.stamp_id != prepared.stamp_id
    with pytest.raises(UsageError, match=r"would need 2 MiB .* at most 1 MiB, half of"):
        verify.prepare(config, [DISK], lambda: 2 * MIB)


def test_a_run_of_atomic_writes_alone_has_whole_grains() -> None:
    config = config_of("random-write-4k")
    (stream,) = config.streams
    atomic = msgspec.structs.replace(stream, atomic=1)
    flush = msgspec.structs.replace(stream, operation="flush")
    reads = msgspec.structs.replace(stream, read_ppm=1_000_000)
    for streams, whole in (
        ([atomic], True),
        ([atomic, flush, reads], True),
        ([atomic, stream], False),
        ([atomic, msgspec.structs.replace(stream, operation="discard")], False),
        ([reads, flush], False),
    ):
        mixed = msgspec.structs.replace(config, streams=streams)
        prepared, remark = verify.prepare(mixed, [DISK], lambda: GIB)
        assert prepared.verify_atomic == whole
        assert remark.endswith("; writes are atomic: 4 KiB with parts of two are torn") == whole


def test_blocks_of_zones_are_recorded_one_by_one() -> None:
    config = config_of("random-write-4k")
    asus = [msgspec.structs.replace(config.asus[0], zone_bytes=4 * MIB, open_zones=1)]
    zoned = msgspec.structs.replace(config, asus=asus)
    _, remark = verify.prepare(zoned, [DISK], lambda: GIB)
    assert remark.endswith(" 16 MiB of kernel memory for what was written, 8 bytes for every 512 B")


def test_memory_of_a_stripe_and_of_a_range_in_the_middle() -> None:
    two = [DISK, Target("/dev/fake1", 250, 1, GIB, 512, 6)]
    config = config_of("random-write-4k", *two)
    assert verify.map_bytes_of(config, 4096) == 2 * GIB // 4096 * 8
    asus = [ResolvedAsu("a", 8 * MIB, [Extent(0, 100 * MIB)])]
    asus.append(ResolvedAsu("b", 8 * MIB, [Extent(0, 200 * MIB)]))
    config = msgspec.structs.replace(config_of("random-write-4k"), asus=asus)
    assert verify.map_bytes_of(config, 4096) == 108 * MIB // 4096 * 8


@pytest.mark.parametrize(
    ("name", "options", "sentence"),
    [
        ("random-read-4k", {}, "random-read-4k only reads, so --verify has nothing to compare"),
        ("random-write-4k", {"data": "random"}, "it excludes --data"),
        ("random-write-4k", {"detached": True}, "it cannot be combined with --detach"),
    ],
)
def test_what_makes_no_sense_is_refused(name: str, options: Any, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        config_of(name, **options)


def test_every_block_is_read_once() -> None:
    info = info_of((8192, 5 * MIB + 12288, GIB), (0, 0, GIB), (0, 8192, 6000))
    spans = verify.spans_of(info)
    assert [(span.target, span.start, span.bytes) for span in spans] == [
        (0, 8192, 5 * MIB + 12288),
        (2, 0, 4096),
    ]
    base = verify.pass_config(config_of("random-write-4k"), spans, 4096)
    reads = verify.reads_of(base, spans, 4096)
    seen = []
    for read in reads:
        (stream,) = read.streams
        (size,) = stream.sizes
        assert stream.range_bytes == size.bytes * read.count
        assert not read.writes and read.data == "stamped" and read.grain_bytes == 4096
        start = read.asus[stream.asu].extents[0].start + stream.range_start
        seen.append((read.asus[stream.asu].extents[0].target, start, stream.range_bytes))
    assert seen == [
        (0, 8192, 5 * MIB),
        (0, 8192 + 5 * MIB, 12288),
        (2, 0, 4096),
    ]
    assert verify.blocks_of(spans, info) == (5 * MIB + 12288 + 4096) // 512


def states(*written: int) -> bytes:
    """The states of 4096 grains, of which these were written."""
    numbers = np.zeros(4096, dtype="<u8")
    numbers[list(written)] = 4
    return numbers.tobytes()


DISKS = [disk("/dev/fake0"), disk("/dev/fake1")]


def test_zones_that_are_offline_and_were_not_written_are_not_read() -> None:
    spans = [verify.Span(0, MIB, 15 * MIB), verify.Span(1, 0, 8 * MIB)]
    gone = {
        "/dev/fake0": [
            Zone(0, 4 * MIB, 15),
            Zone(8 * MIB, 4 * MIB, 15),
            Zone(12 * MIB, 4 * MIB, 15),
        ]
    }
    # Byte 9 MiB of the first disk was written: that zone has to be read, and will fail.
    parts = [
        MapInfo(target=0, first=0, states=states(2 * 1024)),
        MapInfo(target=1, first=2048, states=states(0)),
    ]
    left, skipped = verify.without_offline(
        spans, DISKS, 4096, lambda: parts, lambda disk: gone.get(disk.path, [])
    )
    assert skipped == 2
    assert left == [
        verify.Span(0, MIB, 15 * MIB, ((MIB, 3 * MIB), (12 * MIB, 4 * MIB))),
        verify.Span(1, 0, 8 * MIB),
    ]
    base = verify.pass_config(config_of("random-write-4k"), left, 4096)
    reads = []
    for config in verify.reads_of(base, left, 4096):
        (stream,) = config.streams
        start = config.asus[stream.asu].extents[0].start + stream.range_start
        reads.append((start, stream.range_bytes))
    assert reads == [(4 * MIB, 8 * MIB), (0, 8 * MIB)]
    assert [span.readable for span in left] == [8 * MIB, 8 * MIB]
    whole = [Zone(0, 64 * MIB, 15)]
    assert verify.without_offline(spans[1:], DISKS, 4096, list, lambda disk: whole) == ([], 1)


def test_the_states_are_only_asked_for_where_a_zone_is_offline() -> None:
    def never() -> list[MapInfo]:
        raise AssertionError("the states of a whole disk")

    spans = [verify.Span(0, 0, MIB)]
    assert verify.without_offline(spans, DISKS, 4096, never, lambda disk: []) == (spans, 0)


def test_the_sentence_says_what_was_not_read() -> None:
    said = "all data correct; read-back complete"
    assert verify.sentence(0, True, "") == said
    assert verify.sentence(0, True, "", 1) == (
        f"{said} except for 1 zone that is offline, where nothing was written"
    )
    assert "2 zones that are offline" in verify.sentence(0, True, "", 2)


def test_the_core_makes_exactly_these_reads() -> None:
    spans = [verify.Span(0, 0, 7 * MIB + 4096)]
    base = verify.pass_config(config_of("random-write-4k"), spans, 4096)
    covered = []
    for read in verify.reads_of(base, spans, 4096):
        ops = spekcore.Generator(core_of(read), seed=1).ops(read.count)
        covered += [(int(op["addr"]), int(op["bytes"])) for op in ops]
    assert sorted(covered) == [(index * MIB, MIB) for index in range(7)] + [(7 * MIB, 4096)]


def test_a_pass_that_has_not_read_everything_is_not_complete() -> None:
    whole = VerifyInfo(checked=5, never_written=2, uncertain=2, discarded=1)
    assert verify.Passed(whole, [], 10).complete
    assert not verify.Passed(whole, [], 11).complete
    assert not verify.Passed(whole, [], 10, "it was interrupted").complete
    assert verify.add(whole, whole).checked == 10


class MappedKernel(FakeKernel):
    """Its runs know what they have written."""

    def run_get(self, run: int) -> RunInfo:
        info = super().run_get(run)
        targets = tuple(replace(target, map_bytes=GIB) for target in info.targets)
        return replace(info, grain_bytes=4096, targets=targets)


def test_the_final_pass_is_not_taken_for_somebody_elses_io(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    kernel = MappedKernel()
    use_fakes(monkeypatch, kernel, tmp_path)
    monkeypatch.setattr(device, "by_number", lambda *asked: disk())
    monkeypatch.setattr(
        device,
        "read_stat",
        lambda block_device: DiskCounters(100 * kernel.seconds, 800 * kernel.seconds, 0, 0),
    )
    shape = Options(verify=True, write=True, time_ns=3 * 10**9)
    wanted = request.build(request.find("random-write-4k", ["/dev/fake0"]), shape)
    with job.Interrupts() as interrupts:
        result = measure(kernel, wanted, LineProgress(quiet=True), interrupts, None)
    assert kernel.calls.count("run-start") > 1 and kernel.seconds > 3
    assert (result.targets[0].reads, result.targets[0].disk_agrees) == (300, True)
    # Nobody writes between the run and the pass, nor between two runs of the pass.
    assert kernel.claim_calls() == ["claim-new", "run-new", "claim-del"]
    assert kernel.claim is not None and not kernel.claimed


class WrongKernel(MappedKernel):
    """Its load has found wrong blocks."""

    def run_get(self, run: int) -> RunInfo:
        return replace(super().run_get(run), verify=VerifyInfo(mismatches=2, corrupt=2))


def verified_run(
    kernel: FakeKernel, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, state: Path
) -> tuple[Result, ExitCode]:
    """A run with --verify and --verify-state; its result and exit code."""
    use_fakes(monkeypatch, kernel, tmp_path)
    shape = Options(verify=True, write=True, time_ns=3 * 10**9)
    wanted = request.build(request.find("random-write-4k", ["/dev/fake0"]), shape)
    with job.Interrupts() as interrupts:
        result = measure(
            kernel,
            replace(wanted, verify_state=state),
            LineProgress(quiet=True),
            interrupts,
            None,
        )
        return result, ending.exit_code_of(result, interrupts)


def test_a_state_is_only_saved_if_the_memory_suffices_to_make_it(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Besides the kernel's 2 MiB of states there are its answers, and what is taken out of them."""
    use_fakes(monkeypatch, FakeKernel(), tmp_path)
    shape = Options(verify=True, write=True, time_ns=3 * 10**9)
    wanted = request.build(request.find("random-write-4k", ["/dev/fake0"]), shape)
    path = tmp_path / "state"
    assert verify.with_state(wanted, path, lambda: 8 * MIB).verify_state == path
    with pytest.raises(UsageError) as refusal:
        verify.with_state(wanted, path, lambda: 8 * MIB - 1)
    assert refusal.value.message.startswith(
        "--verify-state needs several times the 2 MiB of kernel memory that the states of written"
        " blocks take"
    )


@pytest.mark.parametrize("room", [True, False])
def test_a_state_that_cannot_be_saved_does_not_lose_the_result(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, room: bool
) -> None:
    """Everything is read back, and what that and the load have found is reported."""
    kernel = WrongKernel()
    kernel.written = [MapInfo(0, 0, 0, states(4))]
    temporary = tmp_path / "temporary"
    if room:
        temporary.mkdir()
    monkeypatch.setattr("tempfile.tempdir", str(temporary))
    state = tmp_path / "gone" / "state"
    result, code = verified_run(kernel, monkeypatch, tmp_path, state)
    assert code == ExitCode.DATA_ERRORS and not result.outcome.ok
    done = result.verify
    assert done is not None and done.final is not None and done.mismatches >= 2
    kept = [str(path) for path in temporary.glob("*")]
    assert len(kept) == room and done.state_file == "".join(kept)
    trouble = f"cannot write {state}: No such file or directory"
    assert done.state_trouble == trouble + f"; they are in {done.state_file}" * room
    assert done.text.endswith(f"; the write states were not saved: {done.state_trouble}")
    if room:
        assert verify_state.load(Path(kept[0])).devices[0].states


@pytest.mark.parametrize("failure", [SpekError("run 7 changed during 8 dumps"), MemoryError()])
def test_states_that_cannot_be_read_do_not_lose_the_result(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, failure: Exception
) -> None:
    def fails(run: int) -> list[MapInfo]:
        raise failure

    kernel = MappedKernel()
    monkeypatch.setattr(kernel, "map_get", fails)
    result, code = verified_run(kernel, monkeypatch, tmp_path, tmp_path / "state")
    assert code == ExitCode.RUN_FAILED and not result.outcome.ok
    assert result.verify is not None and result.verify.state_file == ""
    assert result.verify.state_trouble == (str(failure) or "out of memory")


def test_a_state_that_was_saved_is_named(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    state = tmp_path / "state"
    result, _ = verified_run(MappedKernel(), monkeypatch, tmp_path, state)
    assert result.verify is not None
    assert (result.verify.state_file, result.verify.state_trouble) == (str(state), "")
    assert verify_state.load(state).stamp_id == result.verify.stamp_id


@pytest.mark.parametrize(
    ("mismatches", "complete", "trouble", "text"),
    [
        (0, True, "", "all data correct; read-back complete"),
        (1, True, "", "1 block is wrong; read-back complete"),
        (2000, True, "", "2,000 blocks are wrong; read-back complete"),
        (0, False, "why", "no wrong data found, but the read-back is incomplete: why"),
        (3, False, "why", "3 blocks are wrong, but the read-back is incomplete: why"),
    ],
)
def test_the_outcome_in_words(mismatches: int, complete: bool, trouble: str, text: str) -> None:
    assert verify.sentence(mismatches, complete, trouble) == text


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"kind": "corrupt", "bits": 1, "first": 7},
         "write 3 was expected, 1 wrong bit, the first in byte 7"),
        ({"kind": "stale"}, "write 3 was expected, it holds write 2"),
        ({"kind": "misdirected"},
         "write 3 was expected, it holds write 2 of byte 512 of /dev/fake1"),
        ({"kind": "unwritten", "expected_generation": 0}, "it was never written, it holds write 2"),
        ({"kind": "unstamped", "zeroes": 1}, "write 3 was expected, it holds zeroes"),
        ({"kind": "torn", "first": 256},
         "write 3 was expected, only a part is of that; the first wrong byte is 256"),
        ({"kind": "foreign", "found_id": 255},
         "write 3 was expected, it holds a block of run 0xff"),
        ({"kind": "stale", "expected_zeroes": 1}, "zeroes were expected, it holds write 2"),
    ],
)  # fmt: skip
def test_a_wrong_block_in_words(changes: Any, text: str) -> None:
    values = {
        **{"kind": "", "target": 0, "offset": 4096, "bytes": 512, "at_ns": 1},
        **{"expected_generation": 3, "stamped": 1, "found_generation": 2, "found_target": 1},
        **{"found_offset": 512, "found_seed": 1},
    }
    facts = [disk(f"/dev/fake{index}").facts(diskseq=1) for index in range(2)]
    block = verify.block_of(
        MismatchInfo(**{**values, **changes}), "final", facts, config_of("random-write-4k")
    )
    assert block.text == text
    assert (block.device, block.offset, block.when) == ("/dev/fake0", 4096, "final")
