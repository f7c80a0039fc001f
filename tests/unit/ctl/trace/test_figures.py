# SPDX-License-Identifier: GPL-2.0
"""Figures of traces against plain arithmetic, whatever the batches are."""

from __future__ import annotations

import math
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.traces import batch, read_text

from spekctl.ranges import Ranges
from spekctl.trace import figures
from spekctl.trace.columns import Batch, Op
from spekctl.trace.figures import Buckets, Figures, Footprint, Windows
from spekctl.trace.trace import open_trace


@st.composite
def cut_traces(draw: Any) -> tuple[Batch, list[Batch]]:
    """Records, and the same in pieces."""
    rows, at = [], 0
    for _ in range(draw(st.integers(1, 60))):
        at += draw(st.integers(0, 4_000_000))
        op = draw(st.sampled_from([Op.READ, Op.READ, Op.WRITE, Op.FLUSH, Op.DISCARD]))
        offset, size = draw(st.integers(0, 40)) * 2048, draw(st.integers(0, 4)) * 2048
        rows.append((at, draw(st.integers(0, 2)), offset, size, int(op)))
    whole = batch(rows).replace()
    whole = whole.replace(at_ns=whole.at_ns - whole.at_ns[0])
    cuts = sorted(draw(st.lists(st.integers(0, len(rows)), max_size=4)))
    bounds = [0, *cuts, len(rows)]
    parts = [whole.take(slice(start, end)) for start, end in pairwise(bounds)]
    return whole, parts


@given(cut_traces())
def test_figures_are_those_of_the_whole(both: tuple[Batch, list[Batch]]) -> None:
    whole, parts = both
    summed = Figures()
    for part in parts:
        summed.add(part)
    columns = (whole.at_ns, whole.device, whole.offset_bytes, whole.bytes, whole.op)
    rows = list(zip(*(column.tolist() for column in columns), strict=True))
    placed = [row for row in rows if row[4] != Op.FLUSH and row[3]]
    assert summed.requests == len(rows)
    assert {op: tally.requests for op, tally in summed.ops.items()} == {
        op: sum(row[4] == op for row in rows) for op in {row[4] for row in rows}
    }
    ends: dict[int, list[int]] = {}
    once = many = 0
    for _, device, offset, size, _ in placed:
        before = ends.setdefault(device, [])
        once += bool(before) and before[-1] == offset
        many += offset in before[-32:]
        before.append(offset + size)
    assert (summed.sequential, summed.sequential_of_many) == (once, many)
    for footprint, ops in (
        (summed.all, set(Op)),
        (summed.read, {Op.READ}),
        (summed.written, {Op.WRITE}),
    ):
        touched = {
            (device, byte)
            for _, device, offset, size, op in placed
            if op in ops
            for byte in range(offset, offset + size, 2048)
        }
        assert footprint.bytes == 2048 * len(touched)
    gaps = np.diff(whole.at_ns).astype(float)
    assert summed.gaps.total == len(gaps)
    if len(gaps) > 1 and gaps.sum():
        assert summed.gaps.cv == pytest.approx(gaps.std() / gaps.mean(), abs=1e-6)
    dispersion = summed.windows[0].dispersion()
    number = int(whole.at_ns[-1]) // 10**6
    counts = np.bincount(whole.at_ns // np.uint64(10**6), minlength=number)[:number]
    if number >= 10:
        assert dispersion is not None
        assert (dispersion.windows, dispersion.peak) == (number, counts.max())
        assert dispersion.index == pytest.approx(counts.var(ddof=1) / counts.mean())
    else:
        assert dispersion is None


@given(st.lists(st.integers(0, 2**63 - 1), min_size=1, max_size=50), st.floats(0.01, 1))
def test_buckets_are_exact_to_one_in_128(values: list[int], share: float) -> None:
    buckets = Buckets()
    buckets.add(np.array(values, np.uint64))
    exact = sorted(values)[max(1, math.ceil(len(values) * share - 1e-9)) - 1]
    assert abs(buckets.quantile(share) - exact) <= exact / 128 + 1e-9
    assert buckets.most == max(values)


def test_a_footprint_of_too_many_ranges_is_estimated_and_says_so(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Footprint, "MOST", 4000)
    rng = np.random.default_rng(1)
    footprint, exact = Footprint(), Ranges()
    for _ in range(40):
        # Anywhere in a TiB, some of it across pieces, and again and again the same GiB.
        first = rng.integers(0, 1 << 40, 1000, np.uint64)
        end = first + rng.choice([512, 65536, 1 << 20], 1000).astype(np.uint64)
        footprint.add(0, first, end)
        exact.add(first, end)
        footprint.add(1, np.array([5 << 30], np.uint64), np.array([6 << 30], np.uint64))
        footprint.bound()
        assert sum(device.held for device in footprint._devices.values()) <= 2 * Footprint.MOST
    assert footprint.sampled >= 8
    assert footprint.of(0) == pytest.approx(exact.total, rel=0.05)
    assert footprint.of(1) == pytest.approx(1 << 30, rel=0.4)
    assert footprint.of(2) == 0
    assert footprint.bytes == footprint.of(0) + footprint.of(1)


def test_poisson_arrivals_have_an_index_of_one_and_bursts_more() -> None:
    rng = np.random.default_rng(1)
    for burst, low, high in ((1, 0.9, 1.1), (50, 40, 60)):
        window = Windows(10**7)
        times = np.cumsum(rng.exponential(burst * 10**5, 100_000)).astype(np.uint64)
        window.add(np.repeat(times, burst))
        dispersion = window.dispersion()
        assert dispersion is not None
        assert low < dispersion.index < high


def test_the_document_has_names_and_defects(tmp_path: Path) -> None:
    text = "0,8,4096,r,0\n1,8,4096,w,0.5\nnonsense\n0,16,512,w,1\n"
    _, trace = read_text(tmp_path, text)
    info = figures.info(trace)
    assert (info.requests, info.bytes, info.span_ns) == (3, 8704, 10**9)
    assert info.iops == 3.0
    assert info.read_share == pytest.approx(1 / 3)
    assert [device.name for device in info.devices] == ["0", "1"]
    assert info.devices[0].end_bytes == 16 * 512 + 512
    assert info.devices[0].footprint_bytes == 4096 + 512
    assert info.size_bytes is not None
    assert (info.size_bytes.p50, info.sizes[0].requests) == (4096, 2)
    assert info.places.sequential == pytest.approx(1 / 3)
    assert (info.defects.bad, info.defects.first) == (
        1,
        f"{tmp_path / 'trace'}: line 3: expected 5 fields, found 1",
    )


def test_a_trace_of_bad_lines_has_figures_of_nothing(tmp_path: Path) -> None:
    (tmp_path / "t").write_text("x,y\n" * 5)
    from spekctl.trace.formats.format import ReadOptions

    info = figures.info(open_trace([tmp_path / "t"], ReadOptions(format="spc")))
    assert (info.requests, info.iops, info.size_bytes, info.gap_cv) == (0, 0.0, None, None)
    assert info.defects.bad == 5


def test_thousands_of_devices_are_told_apart() -> None:
    rng = np.random.default_rng(1)
    device = rng.integers(0, 5000, 50_000)
    rows = batch([(n, int(device[n]), 4096 * (n % 7), 4096, n % 2) for n in range(50_000)])
    summed = Figures()
    for start in range(0, 50_000, 10_000):
        summed.add(rows.take(slice(start, start + 10_000)))
    assert {number: tally.requests for number, tally in summed.devices.items()} == dict(
        zip(*np.unique(device, return_counts=True), strict=True)
    )
    assert sum(tally.reads for tally in summed.devices.values()) == 25_000
