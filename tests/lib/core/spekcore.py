"""The core of the kernel module, compiled for userspace: the real sources, bound by cffi.

wl = Workload([Asu(1 << 30)], [Arrival("poisson", rate=1000)], [Stream("uniform", 4096)])
ops = Generator(wl, seed=1).ops(100_000)      # numpy array of OP_DTYPE
"""

from __future__ import annotations

import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any, TypeAlias, get_args

import numpy as np
import numpy.typing as npt
from lib.build.declarations import opened
from lib.core.build import GENERATOR

from spekctl.contract import requests

Law: TypeAlias = requests.Law
Pattern: TypeAlias = requests.Pattern
Style: TypeAlias = requests.WalkStyle

SHIM = Path(__file__).with_name("spekcore_shim.c")
DRIVER = Path(__file__).with_name("spekcore_driver.c")

NEVER = 2**64 - 1
BLOCK = 4096

# Those of a trace, which are in no workload file, are set in the C object: see test_replay.py.
LAWS: tuple[Law, ...] = ("closed", "poisson", "constant", "burst")
PATTERN_CODES: tuple[Pattern, ...] = get_args(Pattern)
# Those of any device, without a trace.
PATTERNS: tuple[Pattern, ...] = PATTERN_CODES[: PATTERN_CODES.index("trace")]
STYLES: tuple[Style, ...] = ("classic", "fixed")

OP_DTYPE = np.dtype(
    [
        ("at_ns", "<u8"),
        ("addr", "<u8"),
        ("bytes", "<u4"),
        ("replica", "<u4"),
        ("stream", "<u2"),
        ("asu", "<u2"),
        ("arrival", "u1"),
        ("kind", "u1"),
        ("write", "<u2"),
    ]
)
Ops = npt.NDArray[np.void]


def compiled() -> tuple[str, Path]:
    """What library() loads: declarations and shared object; made where they are missing."""
    return GENERATOR.compiled(SHIM)


@functools.cache
def library() -> tuple[Any, Any]:
    """The compiled core: (ffi, lib)."""
    return opened(*compiled())


@dataclass(frozen=True, slots=True)
class Asu:
    """An address range: one extent on target 0, unless extents (target, start) are given."""

    bytes: int
    stripe_bytes: int = 0
    extents: Sequence[tuple[int, int]] = ((0, 0),)
    zone_bytes: int = 0
    open_zones: int = 0


@dataclass(frozen=True, slots=True)
class Arrival:
    """An arrival process; rate is in I/Os per second; curve: points of s and I/Os per second."""

    law: Law = "closed"
    depth: int = 0
    think_ns: int = 0
    rate: float = 0
    burst_length: int = 0
    burst_interval_ns: int = 0
    curve: Sequence[tuple[float, float]] = ()
    repeats: int = 0
    on_ns: int = 0
    off_ns: int = 0
    tail_milli: int = 0
    pause_ns: int = 0
    pause_every: int = 0
    pause_counts_completed: int = 0
    pause_after_ns: int = 0
    count: int = 0


@dataclass(frozen=True, slots=True)
class Stream:
    """A stream; sizes is one size or {bytes: weight}; range_bytes 0 means up to the asu's end."""

    pattern: Pattern = "uniform"
    sizes: int | dict[int, int] | Sequence[tuple[int, int]] = BLOCK
    asu: int = 0
    arrival: int = 0
    weight: int = 1
    replicas: int = 1
    read_ppm: int = 1_000_000
    range_start: int = 0
    range_bytes: int = 0
    align_bytes: int = BLOCK
    seq_ppm: int = 0
    stride_bytes: int = 0
    jitter_bytes: int = 0
    run_bytes: int = 0
    restart_bytes: int = 0
    run_align_bytes: int = 0
    walk_style: Style = "classic"
    parts: Sequence[tuple[int, int]] = ()
    spread: int = 0
    operation: int = 0
    fua: int = 0
    priority: int = 0
    priority_level: int = 0
    write_hint: int = 0
    own_data: int = 0
    compressible_ppm: int = 0
    duplicate_ppm: int = 0
    fill: bytes = b""
    atomic: int = 0
    zone_size_bytes: int = 0
    zone_range_bytes: int = 0
    zone_order: int = 0

    @classmethod
    def of(cls, stream: requests.StreamRequest) -> Stream:
        """A configured stream with all its members."""
        # A word is its number, and the default of each is 0.
        numbers = {name: getattr(stream, name) for name in _NUMBERS[cls]}
        codes = {name: 0 for name, value in numbers.items() if isinstance(value, str)}
        given = stream.attributes()
        return cls(
            stream.pattern,
            [(size.bytes, size.weight) for size in stream.sizes],
            range_bytes=stream.range_bytes,
            walk_style=stream.walk_style,
            parts=stream.parts,
            fill=bytes.fromhex(stream.fill),
            **{name: int(given.get(name, value)) for name, value in (numbers | codes).items()},
        )

    def size_weights(self) -> list[tuple[int, int]]:
        if isinstance(self.sizes, int):
            return [(self.sizes, 1)]
        return list(self.sizes.items() if isinstance(self.sizes, dict) else self.sizes)


# enum spek_refusal_kind
REFUSAL_KINDS = ("run", "target", "worker", "stream", "asu", "arrival")


class WorkloadError(Exception):
    """A refusal by spek_workload_check()."""

    def __init__(self, errno: int, kind: str, index: int, text: str) -> None:
        super().__init__(text)
        self.errno, self.kind, self.index, self.text = errno, kind, index, text


# Members of the C structures that are set as they are.
_NUMBERS = {
    kind: [
        field.name for field in fields(kind) if field.type == "int" and field.name != "range_bytes"
    ]
    for kind in (Asu, Arrival, Stream)
}


def _fill_numbers(part: Asu | Arrival | Stream, c: Any) -> None:
    for name in _NUMBERS[type(part)]:
        setattr(c, name, getattr(part, name))


@dataclass(frozen=True)
class Workload:
    """struct spek_workload; `c` is the C object, which tests may also change by hand."""

    asus: Sequence[Asu]
    arrivals: Sequence[Arrival]
    streams: Sequence[Stream]
    c: Any = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        ffi, _ = library()
        wl = ffi.new("struct spek_workload *")
        object.__setattr__(self, "c", wl)
        wl.nr_asus, wl.nr_arrivals = len(self.asus), len(self.arrivals)
        wl.nr_streams = len(self.streams)
        for asu, c in zip(self.asus, wl.asu, strict=False):
            _fill_numbers(asu, c)
            c.nr_extents = len(asu.extents)
            for (target, start), extent in zip(asu.extents, c.extent, strict=False):
                extent.target, extent.start = target, start
        for arrival, c in zip(self.arrivals, wl.arrival, strict=False):
            _fill_numbers(arrival, c)
            c.law = LAWS.index(arrival.law)
            c.rate_milli = round(arrival.rate * 1000)
            c.first_point, c.nr_points = wl.nr_points, len(arrival.curve)
            for at_s, rate in arrival.curve:
                wl.point[wl.nr_points] = (round(at_s * 1e9), round(rate * 1000))
                wl.nr_points += 1
        for stream, c in zip(self.streams, wl.stream, strict=False):
            self._fill_stream(stream, c)

    def _fill_stream(self, stream: Stream, c: Any) -> None:
        _fill_numbers(stream, c)
        c.fill_bytes, c.fill[0 : len(stream.fill)] = len(stream.fill), stream.fill
        c.pattern = PATTERN_CODES.index(stream.pattern)
        c.walk_style = STYLES.index(stream.walk_style)
        c.range_bytes = stream.range_bytes
        if not stream.range_bytes and stream.asu < len(self.asus):
            c.range_bytes = max(0, self.asus[stream.asu].bytes - stream.range_start)
        sizes = stream.size_weights()
        c.nr_sizes = len(sizes)
        c.first_part, c.nr_parts = self.c.nr_parts, len(stream.parts)
        for number, entry in enumerate(stream.parts, start=self.c.nr_parts):
            self.c.part[number] = entry
        self.c.nr_parts += len(stream.parts)
        for (size, weight), entry in zip(sizes, c.size, strict=False):
            entry.bytes, entry.weight = size, weight

    def check(self, nr_workers: int = 1) -> None:
        """Raise WorkloadError with the core's sentence if the core refuses the workload."""
        ffi, lib = library()
        refusal = ffi.new("struct spek_refusal *")
        err = lib.spek_workload_check(self.c, nr_workers, refusal)
        if err:
            assert err == refusal.err
            text = ffi.string(refusal.text).decode()
            raise WorkloadError(-err, REFUSAL_KINDS[refusal.kind], refusal.index, text)

    def dump(self, path: Path) -> Path:
        """Write the struct as it is in memory, for the driver."""
        ffi, _ = library()
        path.write_bytes(bytes(ffi.buffer(self.c)))
        return path


def periods(
    workload: Workload, seed: int, count: int, arrival: int = 0
) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
    """The first @count on periods of an arrival process and the off periods after them, in ns."""
    ffi, lib = library()
    on_ns, off_ns = np.zeros(count, dtype=np.uint64), np.zeros(count, dtype=np.uint64)
    lib.shim_periods(
        workload.c.arrival + arrival,
        seed,
        arrival,
        ffi.cast("u64 *", on_ns.ctypes.data),
        ffi.cast("u64 *", off_ns.ctypes.data),
        count,
    )
    return on_ns, off_ns


@dataclass(frozen=True, slots=True)
class Footprint:
    """I/Os of a stream, 4 KiB blocks that it touched before any other stream, address range."""

    ios: int
    blocks: int
    low: int
    high: int


class Generator:
    """struct spek_gen of one worker."""

    def __init__(
        self,
        workload: Workload,
        seed: int,
        worker: int = 0,
        nr_workers: int = 1,
        start_ns: int = 0,
    ) -> None:
        workload.check(nr_workers)
        ffi, self._lib = library()
        self._ffi = ffi
        self.workload = workload
        self.bytes = int(self._lib.spek_gen_size(workload.c, worker, nr_workers))
        self._memory = ffi.new("char[]", self.bytes + 64)
        address = int(ffi.cast("uintptr_t", self._memory))
        self._gen = ffi.cast("struct spek_gen *", address + -address % 64)
        self._lib.spek_gen_init(self._gen, workload.c, seed, worker, nr_workers)
        self._lib.spek_gen_start(self._gen, start_ns)
        self._backlog = ffi.new("struct spek_backlog *")
        self._lib.spek_backlog_init(self._backlog, workload.c, self._gen)

    def ops(self, count: int) -> Ops:
        """The next operations; a closed loop's complete at once. Empty without work."""
        ops = np.zeros(count, dtype=OP_DTYPE)
        pointer = self._ffi.cast("struct spek_op *", ops.ctypes.data)
        filled = self._lib.spek_gen_preview(self._gen, pointer, count)
        return ops[:filled]

    @property
    def zones(self) -> Any:
        """struct spek_zones of the worker's part of asu 0; null without one."""
        return self._gen.zones[0]

    @property
    def next_ns(self) -> int:
        return int(self._lib.shim_gen_next_ns(self._gen))

    def next(self) -> Any:
        """The next operation as struct spek_op; nothing completes."""
        op = self._ffi.new("struct spek_op *")
        self._lib.spek_gen_next(self._gen, op)
        self._lib.spek_gen_place(self._gen, op)
        return op

    def complete(self, arrival: int, done_ns: int) -> None:
        self._lib.spek_gen_complete(self._gen, arrival, done_ns)

    def begin_counts(self, worker: int = 0, nr_workers: int = 1, now_ns: int = 1) -> int:
        """Begin to count the parts of a worker; the completions until all have ended."""
        c = self.workload.c
        for arrival in range(c.nr_arrivals):
            if c.arrival[arrival].count:
                count = self._lib.spek_share_count(c, arrival, worker, nr_workers)
                self._lib.spek_gen_set_count(self._gen, arrival, count)
        return int(self._lib.spek_gen_begin_counts(self._gen, now_ns))

    def ended_ns(self, arrival: int) -> int:
        return int(self._lib.spek_gen_ended_ns(self._gen, arrival))

    def backlog(self, now_ns: int) -> int:
        return self.backlog_at(self.mark(), now_ns)

    def mark(self) -> Any:
        """Where the generator is: an array of struct spek_gen_mark."""
        mark = self._ffi.new("struct spek_gen_mark[]", self.workload.c.nr_arrivals)
        self._lib.spek_gen_mark(self._gen, mark)
        return mark

    def backlog_at(self, mark: Any, now_ns: int, draws: int = 1 << 14) -> int:
        """The backlog as it was at a mark; as in the kernel, where another thread counts it in
        steps of @draws."""
        count = self._ffi.new("struct spek_backlog_count *")
        while self._lib.spek_backlog_step(self._backlog, count, mark, now_ns, draws):
            pass
        return int(count.sum)

    def footprints(self, count: int) -> tuple[list[Footprint], int]:
        """Generate @count operations; returns those of each stream, and the time of the last."""
        prints = self._ffi.new("struct shim_footprint[]", len(self.workload.streams))
        blocks = [np.zeros(asu.bytes // BLOCK, dtype=np.uint8) for asu in self.workload.asus]
        owner = [self._ffi.cast("u8 *", b.ctypes.data) for b in blocks]
        end = self._lib.shim_footprints(self._gen, count, self._ffi.new("u8 *[]", owner), prints)
        return [Footprint(p.ios, p.blocks, p.low, p.high) for p in prints], end


@dataclass(frozen=True)
class WalkSeen:
    """struct shim_walk_seen: a walk followed from outside, summed over workers."""

    reads: int
    writes: int
    outside: int
    wrong_block: int
    wrong_leaf: int
    trials: int
    repeats: int
    read_level: npt.NDArray[np.int64]
    write_level: npt.NDArray[np.int64]
    chance: npt.NDArray[np.float64]


def walk_starts(
    workload: Workload, seed: int, stream: int, worker: int = 0, nr_workers: int = 1
) -> Any:
    """C array of (origin, leaf) of each replica of a walk that the worker has."""
    ffi, lib = library()
    starts = ffi.new("struct shim_walk_start[]", workload.streams[stream].replicas)
    lib.shim_walk_starts(workload.c, seed, worker, nr_workers, stream, starts)
    return starts


def follow_walk(
    workload: Workload,
    seed: int,
    stream: int,
    group: Sequence[float],
    parts: Sequence[Ops],
) -> WalkSeen:
    """Follow a walk through the operations of each worker from its first one on.

    group: see struct shim_walk_law.
    """
    ffi, lib = library()
    walk = workload.streams[stream]
    leaves = walk.range_bytes // walk.align_bytes // 8
    law = ffi.new("struct shim_walk_law *")
    law.is_fixed = walk.walk_style == "fixed"
    law.base = walk.range_start // walk.align_bytes
    law.levels = leaves.bit_length() - 1
    law.group = [*group, *[0.0] * (32 - len(group))]
    seen = ffi.new("struct shim_walk_seen *")
    for worker, ops in enumerate(parts):
        starts = walk_starts(workload, seed, stream, worker, len(parts))
        pointer = ffi.cast("struct spek_op *", ops.ctypes.data)
        lib.shim_walk_follow(
            workload.c, worker, len(parts), stream, law, starts,
            ffi.new("u8[]", leaves), pointer, len(ops), seen,
        )  # fmt: skip
    numbers = ("reads", "writes", "outside", "wrong_block", "wrong_leaf", "trials", "repeats")
    return WalkSeen(
        **{name: int(getattr(seen, name)) for name in numbers},
        read_level=np.array(list(seen.read_level), dtype=np.int64),
        write_level=np.array(list(seen.write_level), dtype=np.int64),
        chance=np.array(list(seen.chance)),
    )


SMIX = {BLOCK: 10, 2 * BLOCK: 6, 4 * BLOCK: 5, 8 * BLOCK: 2, 16 * BLOCK: 2}
SPC1_NAMES = ("1-1", "1-2", "1-3", "1-4", "2-1", "2-2", "2-3", "3-1")
SPC1_INTENSITY = (35, 281, 70, 210, 18, 70, 35, 281)


def spc1(
    bsus: int = 1,
    asu1_blocks: int = 11796480,
    asu3_blocks: int = 2621440,
    style: Style = "classic",
    iops_per_bsu: float = 50,
) -> Workload:
    """SPC-1 as eight streams with one replica for each BSU; ASU-2 is as large as ASU-1."""

    def hot(asu: int, percent: int, weight: int, read_ppm: int) -> Stream:
        return Stream(
            "walk",
            asu=asu,
            weight=weight,
            replicas=bsus,
            read_ppm=read_ppm,
            range_start=asu1_blocks * percent // 100 * BLOCK,
            range_bytes=asu1_blocks // 20 * BLOCK,
            walk_style=style,
        )

    def runs(asu: int, blocks: int, weight: int, read_ppm: int, start: int, *zone: int) -> Stream:
        restart, run = (blocks * percent // 100 * BLOCK for percent in zone)
        return Stream(
            "runs",
            SMIX,
            asu=asu,
            weight=weight,
            replicas=bsus,
            read_ppm=read_ppm,
            range_start=blocks * start // 100 * BLOCK,
            range_bytes=restart + run,
            restart_bytes=restart,
            run_bytes=run,
            run_align_bytes=16 * BLOCK if style == "classic" else BLOCK,
        )

    align = 2 * BLOCK if style == "fixed" else BLOCK
    return Workload(
        [Asu(blocks * BLOCK) for blocks in (asu1_blocks, asu1_blocks, asu3_blocks)],
        [Arrival("poisson", rate=iops_per_bsu * bsus)],
        [
            Stream(asu=0, weight=35, replicas=bsus, read_ppm=500_000),
            hot(0, 15, 281, 500_000),
            runs(0, asu1_blocks, 70, 1_000_000, 20, 40, 10),
            hot(0, 70, 210, 500_000),
            Stream(asu=1, weight=18, replicas=bsus, read_ppm=300_000, align_bytes=align),
            hot(1, 47, 70, 300_000),
            runs(1, asu1_blocks, 35, 1_000_000, 20, 40, 10),
            runs(2, asu3_blocks, 281, 0, 0, 70, 30),
        ],
    )
