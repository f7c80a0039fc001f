# SPDX-License-Identifier: GPL-2.0
"""The twin of a trace makes what the kernel module's own code makes of the same workload."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.core import spekcore
from lib.ctl.core_traces import of_core

from spekctl.trace import fit
from spekctl.trace.arrivals import Bursts, Constant, Poisson, Process
from spekctl.trace.columns import Batch, Op, concatenated
from spekctl.trace.twin import Twin, TwinStream, _chained

MIB = 1 << 20
STREAMS = [
    TwinStream(0, Op.READ, 5, 0, 64 * MIB, ((4096, 2), (8192, 1)), 4096, 0.6),
    TwinStream(0, Op.WRITE, 2, 64 * MIB, MIB, ((4096, 1),), 4096, 1.0),
    TwinStream(1, Op.WRITE, 3, 0, 128 * MIB, ((512, 1), (65536, 1)), 512, 0.0),
]
PROCESSES: list[Process] = [Poisson(500.0), Bursts(30, 31 * 10**6)]


def test_the_twin_makes_what_the_module_makes() -> None:
    """The same workload in both: the statistics agree."""
    core = spekcore.Workload(
        [spekcore.Asu(64 * MIB + MIB), spekcore.Asu(128 * MIB)],
        [
            spekcore.Arrival("poisson", rate=500),
            spekcore.Arrival("burst", burst_length=30, burst_interval_ns=31 * 10**6),
        ],
        [
            spekcore.Stream(
                "sequential" if stream.sequential >= 1 else "uniform",
                sizes=dict(stream.sizes),
                asu=stream.device,
                arrival=process,
                weight=stream.weight,
                read_ppm=10**6 * (stream.op is Op.READ),
                range_start=stream.start,
                range_bytes=stream.length,
                align_bytes=stream.align,
                seq_ppm=round(stream.sequential * 10**6) if stream.sequential < 1 else 0,
            )
            for process in range(2)
            for stream in STREAMS
        ],
    )
    theirs_batch = of_core(core, 60_000)
    theirs = fit.measured([theirs_batch])
    twin = Twin(STREAMS, PROCESSES, int(theirs_batch.at_ns[-1]))
    ours = fit.measured(twin.batches())
    off = {property_.name: property_.distance for property_ in fit._properties(theirs, ours)}
    assert off["rate (requests/s)"] < 0.02
    assert off["read share"] < 0.01
    assert off["sequential"] < 0.01
    assert off["sequential of 32"] < 0.01
    assert off["size distribution"] < 0.01
    assert off["address distribution"] < 0.02
    assert off["footprint (bytes)"] < 0.02
    assert off["dispersion at 1ms"] < 0.1
    assert off["dispersion at 10ms"] < 0.1
    for key, part in theirs.parts.items():
        assert ours.parts[key].requests == pytest.approx(part.requests, abs=6 * part.requests**0.5)


def test_a_chain_breaks_where_its_end_does_not_fit() -> None:
    rng = np.random.default_rng(1)
    for _ in range(300):
        count, length = 40, 20
        size = rng.integers(1, 5, count)
        fresh, last = rng.random(count) < 0.2, length - size
        restart = rng.integers(0, last + 1)
        before = int(rng.integers(-1, length + 1))
        expected, end = [], before
        for index in range(count):
            if fresh[index] or end < 0 or end > last[index]:
                end = int(restart[index])
            expected.append(end)
            end += int(size[index])
        assert _chained(fresh, restart, size, last, before).tolist() == expected


def requests_of(processes: list[Process], span_ns: int, seed: int = 1) -> Batch:
    return concatenated(list(Twin(STREAMS, processes, span_ns, seed).batches()))


@given(st.integers(1, 10**9), st.integers(0, 2**32))
def test_requests_keep_to_the_span_and_their_streams(span_ns: int, seed: int) -> None:
    batch = requests_of([Constant(2000.0), *PROCESSES], span_ns, seed)
    assert np.all(batch.at_ns[1:] >= batch.at_ns[:-1])
    assert int(batch.at_ns[-1]) <= span_ns
    for offset, size, device, op in zip(
        *(column.tolist() for column in (batch.offset_bytes, batch.bytes, batch.device, batch.op)),
        strict=True,
    ):
        (stream,) = (stream for stream in STREAMS if (stream.device, stream.op) == (device, op))
        assert size in dict(stream.sizes)
        assert stream.start <= offset
        assert offset + size <= stream.start + stream.length


def test_the_seed_makes_the_requests() -> None:
    first, again, different = (requests_of(PROCESSES, 10**9, seed) for seed in (1, 1, 2))
    assert np.array_equal(first.offset_bytes, again.offset_bytes)
    assert np.array_equal(first.at_ns, again.at_ns)
    assert not np.array_equal(first.offset_bytes[:100], different.offset_bytes[:100])


@pytest.mark.parametrize("process", [Constant(300_000.0), Bursts(3000, 10**7)])
def test_times_do_not_depend_on_where_a_batch_ends(process: Process) -> None:
    """Of 2^18 requests on average: the third second is in the last of three."""
    twin = Twin(STREAMS[2:], [process], 2 * 10**9)
    parts = list(twin.batches())
    assert len(parts) == 3
    at = concatenated(parts).at_ns.astype(np.int64)
    if isinstance(process, Constant):
        expected = np.arange(600_001) * 1e9 / process.rate
        assert np.abs(at - expected).max() < 2
    else:
        times, counts = np.unique(at, return_counts=True)
        assert times.tolist() == list(range(0, 2 * 10**9 + 1, 10**7))
        assert set(counts.tolist()) == {3000}


def test_a_sequential_stream_starts_again_at_its_end() -> None:
    stream = TwinStream(0, Op.READ, 1, MIB, 4 * 65536, ((65536, 1),), 4096, 1.0)
    batch = concatenated(list(Twin([stream], [Constant(1000.0)], 8 * 10**6).batches()))
    places = (batch.offset_bytes.astype(np.int64) - MIB) // 65536
    assert places.tolist() == [0, 1, 2, 3, 0, 1, 2, 3, 0]
