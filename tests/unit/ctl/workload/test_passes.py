# SPDX-License-Identifier: GPL-2.0
"""An end by place: the count that follows, and the places that the core's generator has then been
at."""

from __future__ import annotations

import random
from collections import Counter
from dataclasses import replace
from fractions import Fraction
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from lib.core.config import core_of
from lib.core.spekcore import (
    PATTERNS,
    Arrival,
    Asu,
    Generator,
    Pattern,
    Stream,
    Workload,
    library,
)
from lib.ctl.command_line import Spekctl
from lib.ctl.resolved import DISK, GIB, HEAD, MIB, STREAM, run_config
from lib.fakes.kernel import FakeKernel

from spekctl.errors import UsageError
from spekctl.workload import passes

FFI, LIB = library()

SMALL = replace(DISK, bytes=MIB)
BLOCKS = MIB // 4096
RUN = "[run]\npasses = 2\n"
LOOP = '[[arrival]]\nname = "a"\ndepth = 4\n'


def stream(text: str, name: str = "t") -> str:
    return f'[[stream]]\nname = "{name}"\nsize = "4KiB"\n{text}\n'


def shared_out(core: Workload, count: int, workers: int) -> list[int]:
    """The I/Os of each worker, as kmod/load/run.c shares out those of a run with one process."""
    core.check(workers)
    passed = LIB.spek_share_passed(core.c, 0, workers, count)
    loads = [
        int(LIB.spek_share_count_load(core.c, 0, passed, worker, workers))
        for worker in range(workers)
    ]
    left, parts = FFI.new("u64 *", count), []
    for worker, load in enumerate(loads):
        parts.append(int(LIB.spek_share_part(left, load, sum(loads[worker:]))) if load else 0)
    assert sum(parts) == count
    return parts


def places(text: str, workers: int = 1, **options: Any) -> Counter[int]:
    """How often the I/Os of a run go to each block, as the kernel shares them out."""
    config = run_config(HEAD + text, SMALL, workers=workers, **options)
    assert not config.time_ns
    core = core_of(config)
    seen: Counter[int] = Counter()
    for worker, count in enumerate(shared_out(core, config.count, workers)):
        for op in Generator(core, 1, worker, workers).ops(count):
            seen[int(op["addr"]) // 4096] += 1
    return seen


@pytest.mark.parametrize("workers", [1, 2, 3, 4])
@pytest.mark.parametrize("pattern", ["sequential", "backward", "once"])
def test_every_block_is_passed_as_often_as_was_asked(pattern: str, workers: int) -> None:
    text = LOOP + stream(f'pattern = "{pattern}"')
    assert places(text, workers, passes=3) == dict.fromkeys(range(BLOCKS), 3)
    # A pass may begin anywhere in the range; two of them are two everywhere.
    assert places(RUN + text, workers) == dict.fromkeys(range(BLOCKS), 2)


@settings(max_examples=150, deadline=None)
@given(
    pattern=st.sampled_from(["sequential", "backward", "once", "strided"]),
    blocks=st.integers(24, 90),
    workers=st.integers(1, 4),
    depth=st.integers(1, 9),
    number=st.integers(1, 3),
    law=st.sampled_from(["closed", "poisson"]),
)
def test_every_part_is_passed_as_often_for_any_number_of_workers(
    pattern: str, blocks: int, workers: int, depth: int, number: int, law: str
) -> None:
    load = f"depth = {depth}" if law == "closed" else 'law = "poisson"\nrate = 1000'
    text = f'[[arrival]]\nname = "a"\n{load}\n'
    more = '\nstride = "8KiB"' if pattern == "strided" else ""
    text += stream(f'pattern = "{pattern}"\nrange = "{4 * blocks}KiB"' + more)
    step = 2 if pattern == "strided" else 1
    expected = dict.fromkeys(range(0, blocks, step), number)
    assert places(text, workers, passes=number) == expected
    # The end of a process is shared out as that of a run is.
    own = text.replace(load, f"{load}\npasses = {number}", 1)
    config = run_config(HEAD + own, SMALL, workers=workers)
    core = core_of(config)
    parts = [int(LIB.spek_share_count(core.c, 0, worker, workers)) for worker in range(workers)]
    assert parts == shared_out(core, config.arrivals[0].count, workers)


def blocks_in_core(core: Workload, parts: int) -> list[int]:
    """What blocks() of the pattern says of each part of the range of the only stream."""
    return [int(LIB.spek_share_count_load(core.c, 0, 0, part, parts)) for part in range(parts)]


@pytest.mark.parametrize("pattern", PATTERNS)
def test_the_core_counts_the_blocks_of_patterns_in_an_order(pattern: Pattern) -> None:
    """Of others a range is passed by bytes."""
    core = Workload([Asu(GIB)], [Arrival(depth=1)], [Stream(pattern, 4096, stride_bytes=8192)])
    assert any(blocks_in_core(core, 1)) == (pattern in passes.IN_ORDER)


@settings(max_examples=300, deadline=None)
@given(
    pattern=st.sampled_from(passes.IN_ORDER),
    align=st.sampled_from([512, 4096]),
    size=st.integers(1, 9),
    gap=st.integers(0, 9),
    jitter=st.integers(0, 20),
    rest=st.integers(0, 300),
    parts=st.integers(1, 7),
)
def test_the_core_counts_as_many_blocks_in_each_part_of_a_range(
    pattern: str, align: int, size: int, gap: int, jitter: int, rest: int, parts: int
) -> None:
    """Sizes are in units of @align, the range is as small as the core allows, and up to @rest
    larger."""
    step, jitter = (size + gap, jitter) if pattern == "strided" else (size, 0)
    text = f'pattern = "{pattern}"\nalign = {align}\n'
    text += f"range = {align * (parts * (3 * step + jitter) + rest)}\n"
    if pattern == "strided":
        text += f"stride = {align * step}\n"
    if jitter:
        text += f"jitter = {align * jitter}\n"
    text = f'[[arrival]]\nname = "a"\ndepth = {parts}\n' + stream(text)
    text = text.replace('"4KiB"', str(align * size))
    config = run_config(HEAD + text, DISK)
    core = core_of(config)
    core.check(parts)
    blocks = blocks_in_core(core, parts)
    assert all(blocks)
    assert blocks == passes.blocks_of_parts(config.streams[0], parts)


@settings(max_examples=200, deadline=None)
@given(
    order=st.sampled_from(["sequential", "random", "once"]),
    size=st.integers(1, 9),
    zone=st.integers(1, 60),
    length=st.integers(0, 40),
    stride=st.integers(1, 50),
    rest=st.integers(0, 300),
    parts=st.integers(1, 7),
)
def test_the_core_counts_as_many_blocks_in_the_zones_of_each_part(
    order: str, size: int, zone: int, length: int, stride: int, rest: int, parts: int
) -> None:
    """In units of 512 bytes."""
    length = length + size if length or order != "sequential" else 0
    span = parts * (2 * stride + zone + length + size) + rest
    text = f'pattern = "strided"\nalign = 512\nrange = {512 * span}\nstride = {512 * stride}\n'
    text += f'zone_size = {512 * zone}\nzone_order = "{order}"\n'
    text += f"zone_range = {512 * length}\n" if length else ""
    text = f'[[arrival]]\nname = "a"\ndepth = {parts}\n' + stream(text)
    config = run_config(HEAD + text.replace('"4KiB"', str(512 * size)), DISK)
    core = core_of(config)
    core.check(parts)
    blocks = blocks_in_core(core, parts)
    assert all(blocks)
    assert blocks == passes.blocks_of_parts(config.streams[0], parts)


@pytest.mark.parametrize("workers", [1, 2, 3])
@pytest.mark.parametrize("order", ["sequential", "once"])
def test_every_zone_is_passed_as_often_as_was_asked(order: str, workers: int) -> None:
    keys = f'pattern = "strided"\nstride = "32KiB"\nzone_size = "12KiB"\nzone_order = "{order}"'
    seen = places(LOOP + stream(keys), workers, passes=3)
    assert seen == {block: 3 for block in range(BLOCKS) if block % 8 < 3}


def test_blocks_of_several_sizes_pass_zones_on_average() -> None:
    sizes = 'sizes = [{ size = "4KiB", share = 3 }, { size = "12KiB", share = 1 }]\n'
    keys = 'pattern = "strided"\nstride = "8MiB"\nzone_size = "1MiB"\n'
    text = stream(keys + sizes).replace('size = "4KiB"\n', "", 1)
    config = run_config(HEAD + text, DISK, passes=8)
    ops = Generator(core_of(config), 1).ops(config.count)
    visited = np.count_nonzero(np.diff((ops["addr"] >> np.uint64(23)).astype(np.int64))) + 1
    assert visited == pytest.approx(8 * DISK.bytes >> 23, rel=0.005)


def test_half_a_pass_is_half_of_the_blocks() -> None:
    assert places(stream('pattern = "sequential"'), passes=0.5) == dict.fromkeys(range(128), 1)
    assert len(places(stream('pattern = "once"'), passes=0.5)) == 128


def test_a_stride_takes_its_place_at_a_time() -> None:
    text = stream('pattern = "strided"\nstride = "64KiB"')
    assert places(text, passes=2) == dict.fromkeys(range(0, BLOCKS, 16), 2)


@pytest.mark.parametrize(
    ("text", "number", "count"),
    [
        # What fio's io_size is for random I/Os: bytes.
        (stream('pattern = "uniform"'), 2, 512),
        (stream('pattern = "uniform"\nrange = "50%"'), 2, 256),
        (stream('pattern = "zipf"\ntheta = 1.1'), 1.5, 384),
        # A rest at the end that holds no block is left out by streams in an order only.
        (stream('pattern = "sequential"').replace("4KiB", "12KiB"), 1, 85),
        (stream('pattern = "uniform"\nalign = 4096').replace("4KiB", "12KiB"), 1, 86),
        # Streams share their range, or each has its own.
        (stream('pattern = "sequential"\nread = "100%"', "a") + stream('read = "0%"', "b"), 1, 256),
        (
            stream('range = "25%"', "a") + stream('start = "50%"\nrange = "50%"', "b"),
            *(1, 192),
        ),
        # 3 of 4 I/Os transfer.
        (stream("share = 3", "a") + stream("", "f").replace(
            'size = "4KiB"', 'operation = "flush"\nshare = 1'), 3, 1024),
        # Processes: the sum.
        (
            LOOP
            + '[[arrival]]\nname = "b"\n'
            + stream('arrival = "a"', "a")
            + stream('arrival = "b"', "c").replace("4KiB", "8KiB"),
            *(1, 256 + 128),
        ),
        # 16 KiB on average.
        (
            '[[stream]]\nname = "m"\n'
            'sizes = [{size = "4KiB", share = 1}, {size = "28KiB", share = 1}]\n',
            *(1, 64),
        ),
    ],
)  # fmt: skip
def test_a_pass_is_as_many_ios_as_have_its_bytes(text: str, number: float, count: int) -> None:
    assert run_config(HEAD + text, SMALL, passes=number).count == count


def test_an_end_of_the_command_line_replaces_that_of_the_file() -> None:
    text = HEAD + RUN + STREAM
    assert run_config(text, SMALL).count == 512
    assert run_config(text, SMALL, passes=1).count == 256
    assert run_config(text, SMALL, count=5).count == 5
    assert run_config(text, SMALL, time_ns=7).time_ns == 7
    timed = HEAD + '[run]\ntime = "5s"\n' + STREAM
    config = run_config(timed, SMALL, passes=0.1)
    assert (config.time_ns, config.count) == (0, 26)


def test_a_run_may_end_by_time_or_by_its_ios() -> None:
    both = HEAD + RUN + 'time = "5s"\n' + STREAM
    config = run_config(both, SMALL)
    assert (config.time_ns, config.count) == (5 * 10**9, 512)
    config = run_config(both, SMALL, time_ns=7)
    assert (config.time_ns, config.count) == (7, 0)
    config = run_config(HEAD + STREAM, SMALL, time_ns=7, passes=1)
    assert (config.time_ns, config.count) == (7, 256)
    config = run_config(HEAD + STREAM, SMALL, time_ns=7, count=3)
    assert (config.time_ns, config.count) == (7, 3)
    assert run_config(HEAD + STREAM, SMALL, count=3).time_ns == 0


def test_a_decimal_is_what_was_written() -> None:
    assert passes.exact(0.1) == Fraction(1, 10)
    big = replace(DISK, bytes=10**15 // 4096 * 4096)
    assert run_config(HEAD + STREAM, big, passes=0.1).count == -(-(10**15 // 4096) // 10)


@pytest.mark.parametrize(
    ("text", "options", "sentence"),
    [
        (STREAM, {"passes": 0}, "--passes: it is a number above 0, not 0"),
        (STREAM, {"passes": -1}, "--passes: it is a number above 0, not -1"),
        (STREAM, {"passes": 1, "count": 5}, "--count and --passes exclude each other"),
        (STREAM, {"passes": 1e30}, "I/Os are too many"),
        (RUN + "count = 5\n" + STREAM, {}, "count and passes exclude each other"),
        ("[run]\npasses = 0\n" + STREAM, {}, "it is a number above 0, not 0"),
        ("[run]\npasses = inf\n" + STREAM, {}, "it is a number above 0, not inf"),
        (stream('operation = "flush"').replace('size = "4KiB"', ""), {"passes": 1}, "only flushes"),
        (
            LOOP + stream('pattern = "sequential"'),
            {"passes": 0.5, "workers": 3},
            "--passes on 3 workers needs one block size, whole passes and I/Os that stay within a"
            " worker's part, or else a depth and a number of blocks that are multiples of 3; use"
            " one worker",
        ),
        (
            LOOP.replace("4", "3") + stream('pattern = "once"'),
            *({"passes": 1.5, "workers": 2}, "use one worker"),
        ),
        # The last I/O of each part but the last would reach into the next one.
        (
            LOOP + stream('pattern = "strided"\nstride = "4KiB"\njitter = "4KiB"'),
            *({"passes": 1, "workers": 2}, "use one worker"),
        ),
        (
            LOOP
            + '[[stream]]\nname = "m"\npattern = "sequential"\n'
            + 'sizes = [{size = "4KiB", share = 1}, {size = "28KiB", share = 1}]\n',
            *({"passes": 1, "workers": 3}, "use one worker"),
        ),
    ],
)
def test_what_has_no_such_end_is_refused(text: str, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as refusal:
        run_config(HEAD + text, SMALL, **options)
    assert sentence in refusal.value.message


def test_the_command_line_has_it(spekctl: Spekctl, kernel: FakeKernel) -> None:
    run = ("run", "random-read-4k", "--device", "/dev/fake0")
    assert spekctl(*run, "--passes", "0.25").code == 0
    assert kernel.config is not None
    assert (kernel.config.time_ns, kernel.config.count) == (0, GIB // 4096 // 4)
    assert spekctl(*run, "--set", "run.passes=2").code == 0
    assert kernel.config.count == GIB // 4096 * 2
    sweep = ("sweep", *run[1:], "--depth", "1,2", "--passes", "3")
    assert spekctl(*sweep).code == 0
    assert (kernel.config.time_ns, kernel.config.count) == (0, GIB // 4096 * 3)


def test_streams_that_scale_by_bsu_have_no_passes() -> None:
    with pytest.raises(UsageError, match="scales by BSU"):
        run_config("spc1", bsu=1, passes=1)


ZONED = replace(DISK, bytes=6 * MIB, zone_bytes=MIB, open_zones_max=8)
POINTERS = 'pattern = "write-pointer"\nread = "0%"'


def at_pointers(text: str, *capacities: int, passes: float = 1, **options: Any) -> int:
    disk = replace(ZONED, capacities=capacities or None)
    return run_config(HEAD + text, disk, passes=passes, **options).count


@pytest.mark.parametrize(
    ("text", "capacities", "number", "count"),
    [
        # Not known yet: whole zones.
        (stream(POINTERS), (), 1, 6 * BLOCKS),
        # Two conventional zones, and one that is offline.
        (stream(POINTERS), (0, 0, MIB, MIB, 0, MIB), 2, 6 * BLOCKS),
        (stream(POINTERS), (MIB // 2,) * 6, 0.5, 6 * BLOCKS // 4),
        # The last write of a zone is of what is left.
        (stream(POINTERS), (4096 * 3 + 512, 512, 0, 0, 0, 4096), 3, 3 * (4 + 1 + 1)),
        (
            stream('pattern = "write-pointer"\nread = "0%"', "a")
            + stream('pattern = "write-pointer"\nread = "0%"', "b").replace("4KiB", "12KiB"),
            # The last write to a zone is cut by 3 KiB on average.
            *((MIB,) * 6, 1, -(-6 * (MIB + 3072) // 8192)),
        ),
        # A read takes nothing.
        (stream(POINTERS.replace("0%", "75%")), (MIB,) * 6, 1, 4 * 6 * BLOCKS),
        # The zones of its asu only.
        ('[[asu]]\nname = "z"\nstart = "50%"\nsize = "50%"\n' + stream(POINTERS),
         (MIB, MIB, MIB, 4096, 8192, 4096), 1, 4),
        # A range beside them.
        ('[[asu]]\nname = "z"\nsize = "50%"\n[[asu]]\nname = "r"\nsize = "50%"\n'
         + stream(POINTERS + '\nasu = "z"', "a")
         + stream('read = "100%"\nasu = "r"', "b"), (4096,) * 6, 1, 3 + 3 * BLOCKS),
    ],
)  # fmt: skip
def test_a_pass_at_write_pointers_is_the_capacity_of_the_zones(
    text: str, capacities: tuple[int, ...], number: float, count: int
) -> None:
    assert at_pointers(text, *capacities, passes=number) == count


@pytest.mark.parametrize(
    "sizes", [{4096: 1, 12288: 1}, {4096: 60, 65536: 40}, {8192: 3, 12288: 2, 131072: 1}]
)
def test_writes_of_several_sizes_fill_a_zone_on_average(sizes: dict[int, int]) -> None:
    mix = ", ".join(f'{{size = "{size}", share = {share}}}' for size, share in sizes.items())
    text = stream(POINTERS).replace('size = "4KiB"', f"sizes = [{mix}]")
    count = at_pointers(text, *(MIB,) * 6)
    rng, zones = random.Random(7), 4000
    lengths, shares = list(sizes), list(sizes.values())
    writes = 0
    for _ in range(zones):
        left = MIB
        while left > 0:
            left -= rng.choices(lengths, shares)[0]
            writes += 1
    assert count == pytest.approx(6 * writes / zones, rel=0.005, abs=1)


def test_each_process_has_its_own_passes_at_write_pointers() -> None:
    text = '[[arrival]]\nname = "a"\npasses = 2\n' + stream(POINTERS)
    config = run_config(HEAD + text, replace(ZONED, capacities=(4096, 8192, 0, 0, 0, 1)))
    assert config.arrivals[0].count == 2 * 4


def test_workers_pass_zones_that_hold_the_same() -> None:
    text = LOOP + stream(POINTERS)
    assert at_pointers(text, *(MIB, 0, MIB) * 2, workers=2) == 4 * BLOCKS
    with pytest.raises(UsageError, match="each of 2 workers writes zones of its own"):
        at_pointers(text, *(MIB, MIB, MIB, MIB, MIB, 0), workers=2)
    with pytest.raises(UsageError, match="each of 2 workers writes zones of its own"):
        at_pointers(text.replace("4\n", "3\n", 1), *(MIB,) * 6, workers=2)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('pattern = "write-pointer"\noperation = "zone-reset"', "has zone commands"),
        ('pattern = "write-pointer"\nread = "100%"', "only reads below write pointers"),
        (POINTERS, "no zone of stream 't' can be written"),
    ],
)
def test_what_passes_no_zones_is_refused(text: str, why: str) -> None:
    table = stream(text)
    if "operation" in text:
        table = table.replace('size = "4KiB"\n', "")
    with pytest.raises(UsageError, match=why):
        at_pointers(table, *(0,) * 6)
