"""The generator: addresses, order, closed loops, backlog."""

import itertools
import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from lib.core.spekcore import (
    BLOCK,
    NEVER,
    PATTERNS,
    SMIX,
    STYLES,
    Arrival,
    Asu,
    Generator,
    Ops,
    Pattern,
    Stream,
    Workload,
    WorkloadError,
    library,
    spc1,
)

FFI, LIB = library()
MIB, GIB = 1 << 20, 1 << 30
ASU = Asu(GIB)


def single_stream(stream: Stream, arrival: Arrival, asu: Asu = ASU) -> Workload:
    return Workload([asu], [arrival], [stream])


def all_workers(workload: Workload, nr_workers: int, count: int, seed: int = 1) -> list[Ops]:
    return [Generator(workload, seed, w, nr_workers).ops(count) for w in range(nr_workers)]


# ---- properties of any workload ----

SIZES = st.dictionaries(
    st.integers(1, 64).map(lambda n: n * 512), st.integers(1, 1000), min_size=1, max_size=16
)


@st.composite
def streams(draw: st.DrawFn, asus: list[Asu], nr_arrivals: int) -> Stream:
    pattern = draw(st.sampled_from(PATTERNS))
    asu = draw(st.integers(0, len(asus) - 1))
    align = 512 * draw(st.sampled_from([1, 1, 2, 3, 8]))
    start = align * draw(st.integers(0, asus[asu].bytes // align // 2))
    room = asus[asu].bytes - start
    common: dict[str, Any] = {
        "pattern": pattern,
        "asu": asu,
        "arrival": draw(st.integers(0, nr_arrivals - 1)),
        "weight": draw(st.integers(1, 100)),
        "replicas": draw(st.integers(1, 5)),
        "read_ppm": draw(st.sampled_from([0, 1, 300_000, 999_999, 1_000_000])),
        "align_bytes": align,
        "range_start": start,
    }
    aligned = draw(SIZES.map(lambda d: {b // 512 * align: w for b, w in d.items()}))
    if pattern == "walk":
        style = draw(st.sampled_from(STYLES))
        blocks = draw(st.integers(1024, max(1024, room // align)))
        return Stream(**common, sizes=align, range_bytes=blocks * align, walk_style=style)
    if pattern == "runs":
        unit = align * 2 ** draw(st.integers(0, 4))
        run = max(aligned) + unit + 512 * draw(st.integers(0, 100))
        restart = align + 512 * draw(st.integers(0, 1000))
        return Stream(
            **common,
            sizes=aligned,
            range_bytes=run + restart + 512 * draw(st.integers(0, 10)),
            run_bytes=run,
            restart_bytes=restart,
            run_align_bytes=unit,
        )
    length = draw(st.integers(1, room // 512)) * 512
    if pattern == "table":
        sizes = draw(SIZES)
        slots = (max(length, max(sizes)) - max(sizes)) // align + 1
        first = draw(st.integers(0, slots - 1))
        share = draw(st.integers(0, 2**40))
        parts = [(first, share), (slots - first, 2**40 - share)] if first else [(slots, 2**40)]
        return Stream(
            **common,
            sizes=sizes,
            range_bytes=max(length, max(sizes)),
            parts=parts,
            spread=int(slots <= 2**32 and draw(st.booleans())),
        )
    if pattern == "hotband":
        length = max(length, 512 * 1954)
        return Stream(**common, sizes=draw(SIZES), range_bytes=length)
    if pattern == "strided":
        stride = align * draw(st.integers(1, 100))
        jitter = align * draw(st.sampled_from([0, 1, 50]))
        order = draw(st.sampled_from([None, 0, 1, 2]))
        if order is not None:
            mix = align * draw(st.integers(1, 9)) if order == 2 else aligned
            largest = mix if isinstance(mix, int) else max(mix)
            return Stream(
                **common,
                sizes=mix,
                range_bytes=length,
                stride_bytes=stride,
                zone_size_bytes=512 * draw(st.integers(1, 500)),
                zone_range_bytes=largest + 512 * draw(st.integers(0, 500)),
                zone_order=order,
            )
        return Stream(
            **common,
            sizes=draw(SIZES),
            range_bytes=length,
            stride_bytes=stride,
            jitter_bytes=jitter,
        )
    if pattern == "once":
        return Stream(**common, sizes=align * draw(st.integers(1, 9)), range_bytes=length)
    if pattern == "uniform" and draw(st.booleans()):
        return Stream(**common, sizes=draw(SIZES), range_bytes=length)
    seq = draw(st.sampled_from([1, 500_000, 1_000_000])) if pattern == "uniform" else 0
    return Stream(**common, sizes=aligned, range_bytes=length, seq_ppm=seq)


ARRIVALS = st.one_of(
    st.builds(Arrival, st.just("closed"), depth=st.integers(1, 9), think_ns=st.integers(0, 1000)),
    st.builds(Arrival, st.sampled_from(["poisson", "constant"]), rate=st.floats(0.001, 1e9)),
    st.builds(
        Arrival,
        st.just("burst"),
        burst_length=st.integers(1, 9),
        burst_interval_ns=st.integers(1, 10**9),
    ),
)


@st.composite
def workloads(draw: st.DrawFn) -> Workload:
    asus = [Asu(512 * draw(st.integers(16 * 1024, 2**25))) for _ in range(draw(st.integers(1, 3)))]
    arrivals = [draw(ARRIVALS) for _ in range(draw(st.integers(1, 3)))]
    many = [draw(streams(asus, len(arrivals))) for _ in range(draw(st.integers(1, 6)))]
    # every arrival process needs a stream
    many += [Stream(arrival=i) for i in range(len(arrivals))]
    return Workload(asus, arrivals, many)


def check_addresses(workload: Workload, ops: Ops) -> None:
    for i, stream in enumerate(workload.streams):
        mine = ops[ops["stream"] == i]
        assert set(mine["asu"]) <= {stream.asu}
        assert set(mine["arrival"]) <= {stream.arrival}
        assert set(mine["bytes"]) <= {size for size, _ in stream.size_weights()}
        assert not (mine["addr"] % stream.align_bytes).any()
        assert (mine["replica"] < stream.replicas).all()
        if stream.read_ppm in (0, 1_000_000):
            assert set(mine["write"]) <= {int(stream.read_ppm == 0)}
        low, high = stream.range_start, stream.range_start + workload.c.stream[i].range_bytes
        assert (mine["addr"] >= low).all()
        assert (mine["addr"] + mine["bytes"] <= high).all()


@settings(max_examples=150, deadline=None, suppress_health_check=list(HealthCheck))
@given(workloads(), st.integers(0, 2**64 - 1), st.integers(1, 5))
def test_any_workload(workload: Workload, seed: int, nr_workers: int) -> None:
    try:
        workload.check(nr_workers)
    except WorkloadError as refusal:
        # drawn a little too large for its asu, or too small for the workers: nothing else
        assert refusal.errno in (34,), refusal
        assume(False)
    arrived = 0
    for worker in range(nr_workers):
        generator = Generator(workload, seed, worker, nr_workers, start_ns=10**9)
        ops = generator.ops(1000)
        assert len(ops) in (0, 1000)
        check_addresses(workload, ops)
        assert (ops["at_ns"] >= 10**9).all()
        assert (np.diff(ops["at_ns"].astype(np.int64)) >= 0).all()
        again = Generator(workload, seed, worker, nr_workers, start_ns=10**9).ops(1000)
        assert (ops == again).all()
        arrived += len(ops)
    assert arrived


def test_sequence_depends_on_seed_and_worker() -> None:
    workload = single_stream(Stream(), Arrival("poisson", rate=1000))
    seen = {
        Generator(workload, seed, worker, 2).ops(100).tobytes()
        for seed, worker in itertools.product(range(3), range(2))
    }
    assert len(seen) == 6


def test_start_time_moves_the_times_and_nothing_else() -> None:
    workload = spc1(3)
    early, late = (Generator(workload, 1, start_ns=t).ops(1000) for t in (0, 10**12))
    assert (late["at_ns"] - early["at_ns"] == 10**12).all()
    for name in ("addr", "bytes", "replica", "stream", "write"):
        assert (late[name] == early[name]).all()


def test_operations_of_a_process_do_not_depend_on_other_processes() -> None:
    walk = Stream("walk", read_ppm=500_000)
    rates = [Arrival("poisson", rate=100), Arrival("poisson", rate=777)]
    alone = Generator(Workload([ASU], rates[:1], [walk]), 1).ops(500)
    both = Generator(Workload([ASU], rates, [walk, Stream(arrival=1)]), 1).ops(6000)
    mine = both[both["arrival"] == 0][:500]
    assert (mine == alone).all()


# ---- patterns ----


def test_sequential_goes_through_its_range_and_begins_anew() -> None:
    stream = Stream("sequential", 2 * BLOCK, range_start=BLOCK, range_bytes=11 * BLOCK)
    ops = Generator(single_stream(stream, Arrival(depth=1)), 1).ops(12)
    # five I/Os fit in eleven blocks
    assert list(ops["addr"] // BLOCK) == [1, 3, 5, 7, 9] * 2 + [1, 3]


def test_sequential_sizes_follow_each_other_without_gaps() -> None:
    stream = Stream("sequential", SMIX)
    ops = Generator(single_stream(stream, Arrival(depth=1)), 1).ops(5000)
    assert (ops["addr"][1:] == (ops["addr"] + ops["bytes"])[:-1]).all()
    assert set(ops["bytes"]) == set(SMIX)


def test_strided_goes_from_start_to_start() -> None:
    stream = Stream("strided", BLOCK, range_bytes=40 * BLOCK, stride_bytes=16 * BLOCK)
    ops = Generator(single_stream(stream, Arrival(depth=1)), 1).ops(7)
    assert list(ops["addr"] // BLOCK) == [0, 16, 32] * 2 + [0]


@pytest.mark.parametrize("pattern", ["sequential", "strided", "backward"])
@pytest.mark.parametrize("nr_workers", [1, 2, 3, 7])
def test_workers_together_touch_each_position_once(pattern: Pattern, nr_workers: int) -> None:
    stride = 4 * BLOCK if pattern == "strided" else 0
    positions = 100
    step = 4 * BLOCK if pattern == "strided" else 2 * BLOCK
    stream = Stream(pattern, 2 * BLOCK, range_bytes=positions * step, stride_bytes=stride)
    rate = Arrival("constant", rate=1000)
    parts = []
    for ops in all_workers(single_stream(stream, rate), nr_workers, 2 * positions):
        addresses = ops["addr"]
        period = int(np.argmax(addresses[1:] == addresses[0])) + 1
        assert (addresses[period:] == addresses[:-period]).all()
        steps = np.diff(addresses[:period].astype(np.int64))
        assert (steps == (-step if pattern == "backward" else step)).all()
        parts.append(set(addresses.tolist()))
    assert set().union(*parts) == set(range(0, positions * step, step))
    assert sum(map(len, parts)) == positions


def test_backward_starts_at_the_last_position() -> None:
    stream = Stream("backward", 3 * BLOCK, range_start=BLOCK, range_bytes=11 * BLOCK)
    ops = Generator(single_stream(stream, Arrival(depth=1)), 1).ops(7)
    assert list(ops["addr"] // BLOCK) == [7, 4, 1] * 2 + [7]


def test_jitter_is_added_to_the_grid_and_not_to_the_next_stride() -> None:
    stream = Stream(
        "strided", range_bytes=44 * BLOCK, stride_bytes=16 * BLOCK, jitter_bytes=11 * BLOCK
    )
    ops = Generator(single_stream(stream, Arrival(depth=1)), 1).ops(3000)
    places = (ops["addr"] // BLOCK).astype(int)
    assert list(places // 16) == [0, 1, 2] * 1000
    assert set(places % 16) == set(range(12))


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 5000), st.integers(1, 5), st.integers(1, 4), st.integers(0, 2**64 - 1))
def test_once_touches_every_block_once_per_pass(
    blocks: int, nr_workers: int, replicas: int, seed: int
) -> None:
    """All workers and replicas together, each in a part of the same length in every pass."""
    stream = Stream("once", range_start=BLOCK, range_bytes=blocks * BLOCK + 512, replicas=replicas)
    workload = single_stream(stream, Arrival("constant", rate=1000), Asu(2 * GIB))
    assume(blocks >= replicas * nr_workers)
    parts = []
    for worker in range(nr_workers):
        ops = Generator(workload, seed, worker, nr_workers).ops(20_000)
        for replica in set(ops["replica"].tolist()):
            parts.append(ops[ops["replica"] == replica]["addr"] // BLOCK - 1)
    bounds = [blocks * part // len(parts) for part in range(len(parts) + 1)]
    sizes = [end - start for start, end in itertools.pairwise(bounds)]
    for number in range(3):
        touched = [
            part[number * size : (number + 1) * size]
            for part, size in zip(parts, sizes, strict=True)
        ]
        if all(
            len(blocks_touched) == size for blocks_touched, size in zip(touched, sizes, strict=True)
        ):
            assert sorted(np.concatenate(touched).tolist()) == list(range(blocks))
    assert len(parts[0]) >= sizes[0]


@pytest.mark.parametrize("blocks", [1, 2, 3, 4, 6, 30, 64, 1000, 1024, 1025])
def test_once_takes_another_order_in_every_pass(blocks: int) -> None:
    stream = Stream("once", range_bytes=blocks * BLOCK)
    passes = 40
    addresses = (
        Generator(single_stream(stream, Arrival(depth=1)), 3).ops(passes * blocks)["addr"] // BLOCK
    )
    orders = [tuple(order.tolist()) for order in addresses.reshape(passes, blocks)]
    assert all(set(order) == set(range(blocks)) for order in orders)
    if blocks > 60:
        assert len(set(orders)) == passes
        # Few blocks come after the same one as in the pass before: about one, as by chance.
        pairs = [set(itertools.pairwise(order)) for order in orders]
        common = [len(earlier & later) for earlier, later in itertools.pairwise(pairs)]
        assert sum(common) / len(common) < 5
    elif blocks > 2:
        assert len(set(orders)) >= 3


def test_once_depends_on_seed_and_stream_and_not_on_the_number_of_workers() -> None:
    streams = [Stream("once", range_bytes=1000 * BLOCK)] * 2
    workload = Workload([ASU], [Arrival(depth=1)], streams)
    orders = set()
    for seed in (1, 2):
        ops = Generator(workload, seed).ops(4000)
        orders |= {tuple(ops[ops["stream"] == i]["addr"][:900].tolist()) for i in (0, 1)}
    assert len(orders) == 4
    alone = single_stream(streams[0], Arrival("constant", rate=1000))
    whole = Generator(alone, 1).ops(1000)["addr"].tolist()
    halves = [Generator(alone, 1, worker, 2).ops(500)["addr"].tolist() for worker in (0, 1)]
    assert halves[0] + halves[1] == whole


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 3000), st.integers(0, 2**64 - 1))
def test_spreading_exchanges_addresses(slots: int, seed: int) -> None:
    """A table of single addresses that are never chosen but one: where it comes to lie."""
    places = set()
    for slot in range(min(slots, 40)):
        parts = [(slot, 0), (1, 2**40), (slots - slot - 1, 0)]
        stream = Stream(
            "table",
            range_bytes=slots * BLOCK,
            parts=[part for part in parts if part[0]],
            spread=1,
        )
        addresses = set(
            Generator(single_stream(stream, Arrival(depth=1)), seed).ops(20)["addr"].tolist()
        )
        assert len(addresses) == 1
        places |= addresses
    assert len(places) == min(slots, 40)


@pytest.mark.parametrize("slots", [2**32, 2**32 - 1, 2**32 - 5, 2**31 + 11])
def test_spreading_is_exact_up_to_its_limit(slots: int) -> None:
    """As exact arithmetic has it, for the addresses where rounding errors are largest."""
    stream = Stream("table", 512, range_bytes=slots * 512, align_bytes=512, parts=[(slots, 2**40)])
    workload = single_stream(replace(stream, spread=1), Arrival(depth=1), Asu(2**42))
    plain = single_stream(stream, Arrival(depth=1), Asu(2**42))
    spread = [int(a) // 512 for a in Generator(workload, 9).ops(20_000)["addr"]]
    drawn = [int(a) // 512 for a in Generator(plain, 9).ops(20_000)["addr"]]
    step = {
        (b - a) % slots: (d - c) % slots
        for (a, b), (c, d) in zip(
            itertools.pairwise(drawn), itertools.pairwise(spread), strict=True
        )
    }
    # The same sequence of draws: place = slot * factor + offset for one factor and one offset.
    factor = slots * 618033989 // 10**9
    while math.gcd(factor, slots) > 1:
        factor -= 1
    assert all(there == here * factor % slots for here, there in step.items())
    # The errors of the last address add up to the most.
    first, last = (
        spread_place(slots, parts)
        for parts in ([(1, 2**40), (slots - 1, 0)], [(slots - 1, 0), (1, 2**40)])
    )
    assert last == (first + (slots - 1) * factor) % slots


def spread_place(slots: int, parts: list[tuple[int, int]]) -> int:
    """Where the only address that is ever chosen comes to lie."""
    stream = Stream("table", 512, range_bytes=slots * 512, align_bytes=512, parts=parts, spread=1)
    (place,) = (
        Generator(single_stream(stream, Arrival(depth=1), Asu(2**42)), 9).ops(1)["addr"] // 512
    )
    return int(place)


def test_replicas_of_a_sequential_stream_have_parts_of_their_own() -> None:
    stream = Stream("sequential", replicas=4, range_bytes=64 * BLOCK)
    ops = Generator(single_stream(stream, Arrival(depth=1)), 1).ops(1000)
    for replica in range(4):
        blocks = ops[ops["replica"] == replica]["addr"] // BLOCK
        assert set(blocks) == set(range(16 * replica, 16 * replica + 16))
        assert list(blocks) == [16 * replica + i % 16 for i in range(len(blocks))]


def test_full_sequential_share_only_jumps_at_the_end() -> None:
    stream = Stream(seq_ppm=1_000_000, range_bytes=64 * BLOCK)
    ops = Generator(single_stream(stream, Arrival(depth=1)), 1).ops(1000)
    follows = ops["addr"][1:] == (ops["addr"] + ops["bytes"])[:-1]
    at_end = (ops["addr"] + ops["bytes"])[:-1] == 64 * BLOCK
    assert (follows | at_end).all()
    assert at_end.any()


def test_uniform_reaches_both_ends_of_its_range() -> None:
    stream = Stream(sizes={BLOCK: 1, 4 * BLOCK: 1}, range_start=8 * BLOCK, range_bytes=8 * BLOCK)
    ops = Generator(single_stream(stream, Arrival(depth=1)), 1).ops(2000)
    small, large = (ops[ops["bytes"] == n]["addr"] // BLOCK for n in (BLOCK, 4 * BLOCK))
    assert set(small) == set(range(8, 16))
    assert set(large) == set(range(8, 13))


def test_runs_follow_their_rules() -> None:
    stream = Stream(
        "runs",
        SMIX,
        range_start=3 * BLOCK,
        range_bytes=1000 * BLOCK,
        restart_bytes=700 * BLOCK,
        run_bytes=300 * BLOCK,
        run_align_bytes=16 * BLOCK,
    )
    ops = Generator(single_stream(stream, Arrival(depth=1)), 1).ops(20_000)
    first = np.concatenate([[True], ops["addr"][1:] != (ops["addr"] + ops["bytes"])[:-1]])
    starts = ops["addr"][first] // BLOCK
    # what would be rounded to before the range starts with it
    assert set(starts) == {3, *range(16, 703, 16)}
    # a run ends before its end is reached: rounded down, 300 blocks are 288 or 304
    lengths = np.add.reduceat(ops["bytes"], np.flatnonzero(first))[:-1] // BLOCK
    assert lengths.max() < 304
    # and what did not fit into it was kept for the next one
    after = ops["bytes"][first][1:] // BLOCK
    assert (lengths + after >= np.where(starts[:-1] == 3, 285, 288)).all()


# ---- arrivals ----


def test_closed_loop_keeps_its_depth() -> None:
    generator = Generator(single_stream(Stream(), Arrival(depth=3)), 1, start_ns=5)
    for _ in range(3):
        assert generator.next_ns == 5
        generator.next()
    assert generator.next_ns == NEVER
    generator.complete(0, 100)
    assert generator.next_ns == 100
    generator.complete(0, 200)
    assert generator.next().at_ns == 100
    assert generator.next().at_ns == 200
    assert generator.next_ns == NEVER


def test_closed_loop_thinks() -> None:
    generator = Generator(single_stream(Stream(), Arrival(depth=1, think_ns=1000)), 1)
    assert list(generator.ops(4)["at_ns"]) == [0, 1000, 2000, 3000]


def test_completion_beyond_the_depth_changes_nothing() -> None:
    generator = Generator(single_stream(Stream(), Arrival(depth=2)), 1)
    generator.complete(0, 50)
    assert [generator.next().at_ns for _ in range(2)] == [0, 0]
    assert generator.next_ns == NEVER


def test_ready_times_are_kept_in_order_over_many_rounds() -> None:
    generator = Generator(single_stream(Stream(), Arrival(depth=5, think_ns=7)), 1)
    outstanding: list[int] = []
    expected = [0] * 5
    for step in range(1000):
        while generator.next_ns != NEVER and len(outstanding) < 5:
            op = generator.next()
            assert op.at_ns == expected.pop(0)
            outstanding.append(op.arrival)
        generator.complete(outstanding.pop(), step)
        expected.append(step + 7)
    assert len(expected) + len(outstanding) == 5


def test_completion_does_nothing_to_an_open_loop() -> None:
    workload = single_stream(Stream(), Arrival("poisson", rate=1000))
    plain, told = Generator(workload, 1), Generator(workload, 1)
    for _ in range(100):
        a, b = plain.next(), told.next()
        told.complete(0, a.at_ns + 5)
        assert FFI.buffer(a)[:] == FFI.buffer(b)[:]


def test_a_preview_gives_each_of_several_loops_its_turns() -> None:
    """In proportion to their depths, and to open loops beside them what their rates are."""
    loops = [Arrival(depth=1), Arrival(depth=3), Arrival("constant", rate=5000)]
    streams = [Stream(arrival=arrival) for arrival in range(3)]
    ops = Generator(Workload([ASU], loops, streams), 1).ops(90)
    assert np.bincount(ops["arrival"]).tolist() == [20, 60, 10]
    assert (np.diff(ops["at_ns"].astype(np.int64)) >= 0).all()


def test_a_preview_of_a_single_loop_takes_no_time() -> None:
    ops = Generator(single_stream(Stream(), Arrival(depth=3)), 1).ops(9)
    assert ops["at_ns"].tolist() == [0] * 9


def test_two_processes_are_merged_by_time() -> None:
    loops = [Arrival("constant", rate=1000), Arrival(depth=1, think_ns=2_500_000)]
    ops = Generator(Workload([ASU], loops, [Stream(), Stream(arrival=1)]), 1).ops(10)
    assert list(zip(ops["at_ns"] / 1e6, ops["arrival"], strict=True)) == [
        (0, 0),
        (0, 1),
        (1, 0),
        (2, 0),
        (2.5, 1),
        (3, 0),
        (4, 0),
        (5, 0),
        (5, 1),
        (6, 0),
    ]


@pytest.mark.parametrize("nr_workers", [1, 2, 3, 7])
@pytest.mark.parametrize("rate", [3, 777.777, 1e6, 999_999.999, 1e9])
def test_constant_rate_has_no_drift(rate: float, nr_workers: int) -> None:
    workload = single_stream(Stream(), Arrival("constant", rate=rate))
    at = np.sort(np.concatenate([o["at_ns"] for o in all_workers(workload, nr_workers, 7000)]))
    milli = round(rate * 1000)
    assert [int(t) for t in at] == [k * 10**12 // milli for k in range(7000 * nr_workers)]


@pytest.mark.parametrize("nr_workers", [1, 2, 3, 8])
def test_bursts_are_whole_over_all_workers(nr_workers: int) -> None:
    workload = single_stream(Stream(), Arrival("burst", burst_length=7, burst_interval_ns=1000))
    at = [o["at_ns"] for o in all_workers(workload, nr_workers, 1000)]
    assert sum(map(len, at)) == 1000 * min(nr_workers, 7)
    together = np.concatenate([t[t < 100_000] for t in at])
    assert list(np.bincount(together // 1000)) == [7] * 100
    assert not (together % 1000).any()


def test_slow_poisson_keeps_its_mean() -> None:
    # one I/O in 1000 s: gaps beyond 2^32 ns take another way through the arithmetic
    at = Generator(single_stream(Stream(), Arrival("poisson", rate=0.001)), 1).ops(20_000)["at_ns"]
    assert np.diff(at, prepend=0).mean() == pytest.approx(1e12, rel=5 / np.sqrt(20_000))


def test_slow_and_fast_poisson_agree_at_their_border() -> None:
    # 0.233 and 0.232 I/Os per second lie on the two sides of a mean gap of 2^32 ns
    fast, slow = (
        Generator(single_stream(Stream(), Arrival("poisson", rate=r)), 1)
        .ops(1000)["at_ns"]
        .astype(float)
        for r in (0.233, 0.232)
    )
    assert slow / fast == pytest.approx(233 / 232, rel=1e-9)


# ---- backlog ----

LOOPS = [
    Arrival("poisson", rate=1e6),
    Arrival("poisson", rate=0.01),
    Arrival("constant", rate=777_777),
    Arrival("burst", burst_length=7, burst_interval_ns=5_000),
]


@pytest.mark.parametrize("loop", LOOPS, ids=str)
def test_backlog_is_exact(loop: Arrival) -> None:
    workload = single_stream(Stream(), loop)
    at = Generator(workload, 1).ops(3000)["at_ns"]
    generator = Generator(workload, 1)
    rng = np.random.default_rng(1)
    arrived = 0
    for now in [*np.sort(rng.choice(at[:2500], 200)).tolist(), int(at[-1]) - 1]:
        due = int(np.searchsorted(at, now, side="right"))
        # sometimes far behind, sometimes all made, sometimes early
        target = min(2900, max(arrived, due - int(rng.integers(-5, 100))))
        while arrived < target:
            assert generator.next().at_ns == at[arrived]
            arrived += 1
        assert generator.backlog(now) == max(0, due - arrived)


def test_backlog_is_that_of_the_mark_however_late_it_is_counted() -> None:
    """The generator runs while another thread counts."""
    loops = [*LOOPS, Arrival(depth=3)]
    workload = Workload([ASU], loops, [Stream(arrival=i) for i in range(len(loops))])
    late, prompt = Generator(workload, 1), Generator(workload, 1)
    backlogs, marks = [], []
    for now in range(10**5, 10**6, 10**5):
        for generator in (late, prompt):
            for _ in range(50):
                generator.next()
        backlogs.append(prompt.backlog(now))
        marks.append((late.mark(), now))
    for _ in range(1000):
        late.next()
    assert [late.backlog_at(mark, now) for mark, now in marks] == backlogs
    assert backlogs[-1] > backlogs[0] > 0


FAST_LOOPS = [
    Arrival("poisson", rate=1e9),
    Arrival("poisson", rate=333e6),
    Arrival("constant", rate=1e9),
    Arrival("constant", rate=777_777_777.777),
    Arrival("burst", burst_length=7_000_003, burst_interval_ns=5_000_001),
]


@pytest.mark.parametrize("loop", FAST_LOOPS, ids=str)
def test_backlog_of_a_rate_beyond_any_device_takes_a_bounded_time(loop: Arrival) -> None:
    generator = Generator(single_stream(Stream(), loop), 1)
    for arrived, now in enumerate((10**7, 3 * 10**15)):
        if loop.law == "burst":
            due = (now // loop.burst_interval_ns + 1) * loop.burst_length
        elif loop.law == "constant":
            due = ((now + 1) * round(loop.rate * 1000) - 1) // 10**12 + 1
        else:
            due = round(now * loop.rate / 1e9)
        backlog = generator.backlog(now)
        if loop.law == "poisson":
            assert backlog == pytest.approx(due - arrived, rel=0.005)
        else:
            assert backlog == due - arrived
        generator.next()


@pytest.mark.parametrize("draws", [1, 7, 2**32 - 1])
def test_backlog_is_the_same_in_steps_of_any_size(draws: int) -> None:
    loops = [*LOOPS, Arrival(depth=3)]
    many = [Stream(arrival=i) for i in range(len(loops))]
    counted, whole = (Generator(Workload([Asu(1 << 30)], loops, many), 3) for _ in range(2))
    for now in (10**5, 10**6, 10**6, 3 * 10**6):
        assert counted.backlog_at(counted.mark(), now, draws) == whole.backlog(now)
        for generator in (counted, whole):
            generator.ops(100)


def test_backlog_adds_up_over_processes_and_leaves_out_closed_loops() -> None:
    loops = [*LOOPS, Arrival(depth=3)]
    many = [Stream(arrival=i) for i in range(len(loops))]
    expected = sum(
        int((Generator(single_stream(Stream(), loop), 1).ops(2000)["at_ns"] <= 10**6).sum())
        for loop in (LOOPS[2], LOOPS[3])
    )
    generator = Generator(Workload([ASU], loops, many), 1)
    poisson = Generator(Workload([ASU], [LOOPS[0]], [Stream()]), 1).ops(3000)["at_ns"]
    assert generator.backlog(10**6) == expected + int((poisson <= 10**6).sum())


def test_asking_for_the_backlog_does_not_change_the_sequence() -> None:
    asked, plain = Generator(spc1(2), 1), Generator(spc1(2), 1)
    for i in range(100):
        asked.backlog(i * 10**7)
        assert FFI.buffer(asked.next())[:] == FFI.buffer(plain.next())[:]


def test_backlog_of_an_idle_worker_is_zero() -> None:
    generator = Generator(single_stream(Stream("walk"), Arrival("poisson", rate=1000)), 1, 1, 2)
    assert generator.next_ns == NEVER
    assert generator.backlog(NEVER) == 0
