# SPDX-License-Identifier: GPL-2.0-or-later
"""Verified data: how much memory it takes, and reading everything back.

The kernel stamps what a run writes and checks what it reads (kmod/load/verify.c). Here a run is
followed by a final pass: runs that continue from it and read every block once that it could have
written. `spekctl verify` is the same pass, with the write states from a file.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from msgspec import structs

from spekctl import files, recorded, units
from spekctl.block import zones
from spekctl.block.device import Device
from spekctl.documents.device import DeviceFacts, TargetFacts
from spekctl.documents.verification import VerifyCounts, VerifyResult, WrongBlock
from spekctl.errors import SpekError, UsageError
from spekctl.kernel.client import Kernel
from spekctl.kernel.records import MapInfo, MismatchInfo, Reason, RunInfo, RunState, VerifyInfo
from spekctl.run.job import Interrupts, Request
from spekctl.run.progress import Progress, clock_of
from spekctl.workload.config import (
    Extent,
    ResolvedArrival,
    ResolvedAsu,
    ResolvedSize,
    ResolvedStream,
    RunConfig,
)
from spekctl.workload.layout import Target

KINDS = ("corrupt", "misdirected", "stale", "torn", "unwritten", "unstamped", "foreign")
# What has no address, or is done to a zone as a whole.
COMMANDS = ("flush", "zone-reset", "zone-finish", "zone-open", "zone-close")
STATE_BYTES = 8
# The part of the free memory that states may take if they are saved: 1 / _SAVED.
_SAVED = 4
GRAIN_MAX = 1 << 20
PASS_BYTES = 1 << 20
PASS_DEPTH = 8
POLL_S = 1.0


# --- memory --------------------------------------------------------------------------------------


def grain_of(config: RunConfig) -> int:
    """What one state stands for, as kmod/load/core/grain.c says."""
    bits = GRAIN_MAX
    for asu in config.asus:
        bits |= asu.stripe_bytes
        for extent in asu.extents:
            bits |= extent.start
    for stream in config.streams:
        if stream.operation in COMMANDS:
            continue
        bits |= stream.align_bytes | stream.range_start | stream.stride_bytes
        bits |= stream.run_align_bytes
        for size in stream.sizes:
            bits |= size.bytes
    return bits & -bits


def map_bytes_of(config: RunConfig, grain: int) -> int:
    """Kernel memory for the states, one for @grain bytes, of all blocks that the run addresses."""
    spans: dict[int, tuple[int, int]] = {}
    for asu in config.asus:
        each = asu.bytes
        if len(asu.extents) > 1:
            row = asu.stripe_bytes * len(asu.extents)
            each = -(-asu.bytes // row) * asu.stripe_bytes
        for extent in asu.extents:
            first, last = spans.get(extent.target, (extent.start, 0))
            spans[extent.target] = (
                min(first, extent.start),
                max(last, extent.start + each),
            )
    return sum(-(-(last - first) // grain) for first, last in spans.values()) * STATE_BYTES


def prepare(
    config: RunConfig, targets: Sequence[Target], available: Callable[[], int] | None = None
) -> tuple[RunConfig, str]:
    """The configuration of a verified run, and its memory; refused if that is too much."""
    grain, need = _memory_of(config, targets)
    room = (available or memory_available)() // 2
    if need > room:
        raise UsageError(
            f"--verify would need {units.format_bytes(need)} of kernel memory, {STATE_BYTES} bytes"
            f" for every {units.format_bytes(grain)} that"
            f" {' '.join(target.path for target in targets)} can be written to; at most"
            f" {units.format_bytes(room)}, half of what is free, may be used: a workload with a"
            " smaller address range or larger blocks needs less"
        )
    remark = (
        f"verified: {units.format_bytes(need)} of kernel memory for what was written,"
        f" {STATE_BYTES} bytes for every {units.format_bytes(grain)}"
    )
    atomic = is_atomic(config)
    if atomic:
        remark += f"; writes are atomic: {units.format_bytes(grain)} with parts of two are torn"
    stamp = secrets.randbits(63) | 1
    return structs.replace(config, stamp_id=stamp, verify_atomic=int(atomic)), remark


def _memory_of(config: RunConfig, targets: Sequence[Target | Device]) -> tuple[int, int]:
    """Bytes of the devices for each state, and of kernel memory for all of them."""
    grain = grain_of(config)
    if any(asu.zone_bytes for asu in config.asus):
        # Where zones begin and end their data only the device knows (kmod/load/verify.c).
        grain = min(grain, *(target.logical_block for target in targets))
    return grain, map_bytes_of(config, grain)


def with_state(
    request: Request,
    path: Path,
    available: Callable[[], int] | None = None,
    flag: str = "--verify-state",
) -> Request:
    """The request with a file of the write states, which @flag of the command asks for; UsageError
    if there is not the memory to make it: the kernel has them, and spekctl its answers and what it
    takes out of these."""
    _, need = _memory_of(request.config, request.devices)
    room = (available or memory_available)() // _SAVED
    if need > room:
        raise UsageError(
            f"{flag} needs several times the {units.format_bytes(need)} of kernel memory that the"
            f" states of written blocks take, to save them; at most {units.format_bytes(room)}, a"
            " quarter of what is free, may be used: a smaller address range or larger blocks need"
            " less"
        )
    return replace(request, verify_state=path)


def is_atomic(config: RunConfig) -> bool:
    """All that the run writes are atomic writes, as spek_workload_is_atomic() of the kernel has it:
    a grain with parts of two of them is torn."""
    writing = [
        stream
        for stream in config.streams
        if stream.read_ppm < 1_000_000 and stream.operation != "flush"
    ]
    return bool(writing) and all(stream.atomic for stream in writing)


def memory_available(path: Path = Path("/proc/meminfo")) -> int:
    """Memory available without swapping."""
    for line in path.read_text().splitlines():
        name, _, value = line.partition(":")
        if name == "MemAvailable":
            return int(value.split()[0]) * 1024
    return 0


# --- the final pass ------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Span:
    """The part of a target to read, and what of it can't be: start and bytes, by address."""

    target: int
    start: int
    bytes: int
    holes: tuple[tuple[int, int], ...] = ()

    @property
    def readable(self) -> int:
        """Bytes to be read."""
        return self.bytes - sum(length for _, length in self.holes)

    def pieces(self) -> Iterator[tuple[int, int]]:
        """Start, counted from that of the span, and length of what is between the holes."""
        at = 0
        for hole, length in (*self.holes, (self.start + self.bytes, 0)):
            if hole - self.start > at:
                yield at, hole - self.start - at
            at = hole - self.start + length


@dataclass(frozen=True, slots=True)
class Passed:
    """Findings of a final pass."""

    info: VerifyInfo
    wrong: list[WrongBlock]
    expected: int  # blocks
    trouble: str = ""  # why it is not complete; else empty

    @property
    def complete(self) -> bool:
        """Every block was read."""
        info = self.info
        read = info.checked + info.never_written + info.uncertain + info.discarded
        return not self.trouble and read == self.expected


def spans_of(info: RunInfo) -> list[Span]:
    """The state of a run, in whole grains of the device."""
    spans = []
    for index, target in enumerate(info.targets):
        end = min(target.map_start + target.map_bytes, target.bytes)
        span = (end - target.map_start) // info.grain_bytes * info.grain_bytes
        if span > 0:
            spans.append(Span(index, target.map_start, span))
    return spans


def without_offline(
    spans: Sequence[Span],
    disks: Sequence[DeviceFacts],
    grain: int,
    written: Callable[[], Sequence[MapInfo]],
    offline: Callable[[DeviceFacts], Sequence[zones.Zone]] = zones.offline,
) -> tuple[list[Span], int]:
    """The spans without zones that are offline and have nothing to be read: and how many those are.

    @written: the states of what was written. A zone in which something was written must be read,
    and if it has gone offline meanwhile that is a failure.
    """
    lost = [offline(disks[span.target]) for span in spans]
    if not any(lost):
        return list(spans), 0
    taken = _written_in(written(), grain)
    readable, number = [], 0
    for span, gone in zip(spans, lost, strict=True):
        holes = []
        for zone in gone:
            first = max(span.start, -(-(zone.start - span.start) // grain) * grain + span.start)
            last = min(span.start + span.bytes, zone.start + zone.bytes)
            last = (last - span.start) // grain * grain + span.start
            if first < last and not taken(span, first, last):
                holes.append((first, last - first))
        number += len(holes)
        readable.append(replace(span, holes=tuple(holes)))
    return [span for span in readable if span.readable], number


def _written_in(parts: Sequence[MapInfo], grain: int) -> Callable[[Span, int, int], bool]:
    def taken(span: Span, first: int, last: int) -> bool:
        """Something was written from byte @first to @last."""
        low, high = (first - span.start) // grain, (last - span.start) // grain
        for part in parts:
            if part.target != span.target:
                continue
            begin = max(low - part.first, 0) * STATE_BYTES
            if any(part.states[begin : max(high - part.first, 0) * STATE_BYTES]):
                return True
        return False

    return taken


def pass_config(base: RunConfig, spans: Sequence[Span], grain: int) -> RunConfig:
    """The runs of a pass, but for what they read: nothing yet."""
    return structs.replace(
        base,
        name="verify",
        write=False,
        data="stamped",
        max_outstanding=PASS_DEPTH,
        interval_ns=0,
        ramp_ns=0,
        ramp_count=0,
        time_ns=0,
        count=0,
        max_errors=0,
        cpus=base.cpus[:1],
        asus=[
            ResolvedAsu(f"target{span.target}", span.bytes, [Extent(span.target, span.start)])
            for span in spans
        ],
        arrivals=[ResolvedArrival("main", "closed", depth=PASS_DEPTH)],
        streams=[],
        batch=0,
        spin_ns=0,
        detached=False,
        log_records=0,
        grain_bytes=grain,
    )


def reads_of(config: RunConfig, spans: Sequence[Span], grain: int) -> list[RunConfig]:
    """One run for the whole megabytes of each piece of a target, and one for the remainder."""
    reads = []
    steps = [
        (asu, start, size, count)
        for asu, span in enumerate(spans)
        for at, length in span.pieces()
        for start, size, count in (
            (at, PASS_BYTES, length // PASS_BYTES),
            (at + length // PASS_BYTES * PASS_BYTES, length % PASS_BYTES, 1),
        )
        if size * count
    ]
    for asu, start, size, count in steps:
        stream = ResolvedStream(
            name="verify",
            asu=asu,
            arrival=0,
            weight=1,
            replicas=1,
            read_ppm=1_000_000,
            pattern="sequential",
            range_start=start,
            range_bytes=size * count,
            align_bytes=grain,
            sizes=[ResolvedSize(size, 1)],
        )
        reads.append(structs.replace(config, streams=[stream], count=count))
    return reads


def final_pass(
    kernel: Kernel,
    runs: Sequence[RunConfig],
    facts: Sequence[TargetFacts],
    expected: int,
    progress: Progress,
    interrupts: Interrupts,
    first_run: int = 0,
    report_zones: zones.Reporter = zones.report,
) -> Passed:
    """Read all that @runs say. They go on from run @first_run, or the first one is that, READY.
    All use its claim, if it has one: nobody writes to the devices between two of them."""
    total, wrong = VerifyInfo(), list[WrongBlock]()
    mine = 0
    base = first_run
    claim = kernel.run_get(base).claim or None
    try:
        for index, config in enumerate(runs):
            if index == 0 and kernel.run_get(base).state is RunState.READY:
                run = base
            else:
                following = structs.replace(config, stamp_id=0, verify_from=base)
                run = kernel.run_new(following, claim=claim)
                mine = run
            kernel.run_start(run)
            info = _wait(kernel, run, progress, interrupts)
            total = add(total, info.verify or VerifyInfo())
            wrong += [
                block_of(mismatch, "final", facts, config) for mismatch in kernel.mismatches(run)
            ]
            if mine:
                if kernel.run_get(mine).state is RunState.DONE:
                    kernel.run_delete(mine)
                mine = 0
            trouble = _trouble(info, facts, interrupts, report_zones)
            if trouble:
                return Passed(total, wrong, expected, trouble)
    except BaseException:
        if mine:
            from spekctl.run.ending import abandon

            abandon(kernel, mine)
        raise
    return Passed(total, wrong, expected)


def _wait(kernel: Kernel, run: int, progress: Progress, interrupts: Interrupts) -> RunInfo:
    stopping = False
    before = interrupts.count
    while True:
        info = kernel.run_get(run)
        progress.show(clock_of(info, 0), [])
        if info.state is RunState.DONE:
            return info
        if interrupts.count > before and not stopping:
            stopping = True
            kernel.run_stop(run)
        elif interrupts.count > before + 1:
            return info
        kernel.wait(POLL_S)


def _trouble(
    info: RunInfo,
    disks: Sequence[DeviceFacts],
    interrupts: Interrupts,
    report_zones: zones.Reporter,
) -> str:
    if interrupts.count:
        return "it was interrupted"
    if info.state is not RunState.DONE:
        return "the device did not answer"
    if info.errors:
        first = zones.explained(info.first_error, disks, report_zones)
        return f"{info.errors} reads failed, the first: {first}"
    if info.reason is not Reason.COMPLETED:
        return "the device was removed" if info.reason is Reason.DEVICE_GONE else "it ended early"
    return ""


# --- results -------------------------------------------------------------------------------------


def add(total: VerifyInfo, part: VerifyInfo) -> VerifyInfo:
    """Sum of two counts."""
    return VerifyInfo(
        **{
            name: getattr(total, name) + getattr(part, name)
            for name in VerifyInfo.__dataclass_fields__
        }
    )


def counts_of(info: VerifyInfo) -> VerifyCounts:
    """The kernel's counters in the form of a result."""
    return VerifyCounts(
        checked=info.checked,
        never_written=info.never_written,
        uncertain=info.uncertain,
        discarded=info.discarded,
        mismatches=info.mismatches,
        by_kind={kind: getattr(info, kind) for kind in KINDS if getattr(info, kind)},
    )


def block_of(
    mismatch: MismatchInfo,
    when: Literal["load", "final"],
    facts: Sequence[TargetFacts],
    config: RunConfig,
) -> WrongBlock:
    """A wrong block in words."""

    def device(index: int) -> str:
        return facts[index].path if index < len(facts) else f"target {index}"

    ours = bool(mismatch.stamped) and mismatch.found_seed == config.seed
    return WrongBlock(
        kind=mismatch.kind,
        when=when,
        device=device(mismatch.target),
        offset=mismatch.offset,
        bytes=mismatch.bytes,
        expected_generation=mismatch.expected_generation,
        expected_zeroes=bool(mismatch.expected_zeroes),
        text=_sentence(mismatch, device),
        found_device=device(mismatch.found_target) if ours else "",
        found_offset=mismatch.found_offset if mismatch.stamped else None,
        found_generation=mismatch.found_generation if mismatch.stamped else None,
        found_id=mismatch.found_id if mismatch.stamped else None,
        first=mismatch.first,
        bits=mismatch.bits,
    )


def _sentence(mismatch: MismatchInfo, device: Callable[[int], str]) -> str:
    if mismatch.expected_zeroes:
        wanted = "zeroes were expected"
    elif mismatch.expected_generation:
        wanted = f"write {mismatch.expected_generation} was expected"
    else:
        wanted = "it was never written"
    where = f"byte {mismatch.found_offset} of {device(mismatch.found_target)}"
    happened = {
        "corrupt": f"{mismatch.bits or 'some'} wrong {'bit' if mismatch.bits == 1 else 'bits'},"
        f" the first in byte {mismatch.first}",
        "misdirected": f"it holds write {mismatch.found_generation} of {where}",
        "stale": f"it holds write {mismatch.found_generation}",
        "torn": f"only a part is of that; the first wrong byte is {mismatch.first}",
        "unwritten": f"it holds write {mismatch.found_generation}",
        "unstamped": "it holds zeroes" if mismatch.zeroes else "it holds no stamp",
        "foreign": f"it holds a block of run {mismatch.found_id:#x}",
    }[mismatch.kind]
    return f"{wanted}, {happened}"


def conclude(
    kernel: Kernel,
    request: Request,
    facts: Sequence[TargetFacts],
    info: RunInfo,
    progress: Progress,
    interrupts: Interrupts,
) -> VerifyResult:
    """After the load: read everything back, save the state, and summarize."""
    load = info.verify or VerifyInfo()
    wrong = [
        block_of(mismatch, "load", facts, request.config) for mismatch in kernel.mismatches(info.id)
    ]
    passed, trouble, state_file, state_trouble, skipped = None, "", "", "", 0
    if info.state is not RunState.DONE:
        trouble = "the device did not answer"
    else:
        if request.verify_state is not None:
            state_file, state_trouble = _save_state(
                request.verify_state, kernel, request.config, info, facts
            )
        if interrupts.count:
            trouble = "the run was interrupted"
        elif info.reason is Reason.DEVICE_GONE:
            trouble = "the device was removed"
    if not trouble:
        progress.note("reading everything back")
        spans, skipped = without_offline(
            spans_of(info),
            facts,
            info.grain_bytes,
            lambda: kernel.map_get(info.id),
            lambda disk: zones.offline(disk, request.rights.zones),
        )
        config = pass_config(request.config, spans, info.grain_bytes)
        runs = reads_of(config, spans, info.grain_bytes)
        blocks = blocks_of(spans, info)
        passed = final_pass(
            kernel,
            runs,
            facts,
            blocks,
            progress,
            interrupts,
            info.id,
            request.rights.zones,
        )
        trouble = passed.trouble
        wrong += passed.wrong
    total = load.mismatches + (passed.info.mismatches if passed else 0)
    complete = passed is not None and passed.complete
    return VerifyResult(
        mismatches=total,
        complete=complete,
        text=sentence(total, complete, trouble, skipped)
        + f"; the write states were not saved: {state_trouble}" * bool(state_trouble),
        stamp_id=info.stamp_id,
        grain_bytes=info.grain_bytes,
        map_bytes=sum(target.map_bytes for target in info.targets)
        // info.grain_bytes
        * STATE_BYTES,
        load=counts_of(load),
        waits=load.waits,
        final=counts_of(passed.info) if passed else None,
        first=wrong,
        state_file=state_file,
        state_trouble=state_trouble,
    )


def _save_state(
    path: Path, kernel: Kernel, config: RunConfig, info: RunInfo, facts: Sequence[TargetFacts]
) -> tuple[str, str]:
    """Save the write states. Return: the file that has them, and why that is not @path. The load
    may have taken hours: its result and the read-back do not depend on a disk that is full."""
    from spekctl.run import verify_state

    try:
        data = verify_state.encoded(kernel, config, info, facts)
    except (SpekError, MemoryError) as error:
        return "", recorded.text(str(error) or "out of memory")
    try:
        files.write(path, data)
    except SpekError as error:
        try:
            kept = files.keep([data], path.suffix)
        except OSError:
            return "", recorded.text(error.message)
        return kept, recorded.text(f"{error.message}; they are in {kept}")
    return recorded.text(str(path)), ""


def blocks_of(spans: Sequence[Span], info: RunInfo) -> int:
    """Logical blocks to be read in spans."""
    return sum(span.readable // info.targets[span.target].logical_block for span in spans)


def sentence(mismatches: int, complete: bool, trouble: str, skipped: int = 0) -> str:
    """The outcome in a sentence; @skipped: zones that were not read."""
    text = f"{mismatches:,} blocks are wrong" if mismatches else "all data correct"
    if mismatches == 1:
        text = "1 block is wrong"
    if complete:
        text += "; read-back complete"
        if skipped:
            zones_are = "zone that is" if skipped == 1 else "zones that are"
            text += f" except for {skipped:,} {zones_are} offline, where nothing was written"
        return text
    if not mismatches:
        text = "no wrong data found"
    return f"{text}, but the read-back is incomplete: {trouble or 'blocks are missing'}"
