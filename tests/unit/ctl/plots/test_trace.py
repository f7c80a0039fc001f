# SPDX-License-Identifier: GPL-2.0
"""The picture of a trace: nothing is lost as slices and points are thinned out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.command_line import Spekctl
from lib.ctl.traces import batch

from spekctl.errors import ExitCode
from spekctl.plots import trace
from spekctl.plots.style import Origin
from spekctl.trace.columns import Batch, Op


def parts(times: list[int], size: int) -> Iterator[Batch]:
    rows = [(at, 0, n * 512, 512 << n % 3, (Op.READ, Op.WRITE, Op.FLUSH)[n % 3]) for n, at in
            enumerate(sorted(times))]  # fmt: skip
    for start in range(0, len(rows), size):
        yield batch(
            [(at, dev, off, size, int(op)) for at, dev, off, size, op in rows[start : start + size]]
        )


def seen_of(times: list[int], size: int) -> trace.Seen:
    seen = trace.Seen(Origin("x", "trace", ()))
    for part in parts(times, size):
        seen.add(part)
    return seen


@given(st.lists(st.integers(0, 10**12), min_size=1, max_size=60), st.integers(1, 20))
def test_every_request_is_in_a_slice(times: list[int], size: int) -> None:
    seen = seen_of(times, size)
    assert seen.rate.counts.sum() == len(times)
    at = np.array(sorted(times))
    expected = np.bincount(at // seen.rate.slice_ns, minlength=trace._SLICES)
    assert np.array_equal(seen.rate.counts.sum(axis=0), expected)
    assert seen.rate.slice_ns == 10**6 or at[-1] >= seen.rate.slice_ns * trace._SLICES // 2


def test_points_are_thinned_out_evenly(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(trace, "MOST_POINTS", 50)
    seen = seen_of(list(range(0, 9000, 3)), 100)
    at = np.concatenate([part[0] for part in seen.points])
    assert 25 <= len(at) <= 50
    # Two of three requests have a place.
    assert seen.every == 64
    assert np.array_equal(at // 3, np.array([n for n in range(3000) if n % 3 != 2])[:: seen.every])


def test_a_trace_is_drawn_from_any_format(
    spekctl: Spekctl, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("x.spc").write_text("0,8,4096,r,0.5\n1,8,4096,w,0.75\nbad\n")
    outcome = spekctl("plot", "trace", "x.spc")
    assert (outcome.code, outcome.out.split()) == (ExitCode.OK, ["x-trace.png", "x-trace.svg"])
    svg = Path("x-trace.svg").read_text()
    assert "1 could not be read" in svg
    assert spekctl("trace", "convert", "x.spc", "-o", "x.parquet").code == ExitCode.RUN_FAILED
    assert spekctl("plot", "x.parquet").out.split() == ["x-trace.png", "x-trace.svg"]


def test_a_trace_without_requests_is_not_drawn(spekctl: Spekctl, tmp_path: Path) -> None:
    path = tmp_path / "x.csv"
    path.write_text("at_ns,offset_bytes,bytes,op\n")
    outcome = spekctl("plot", "trace", str(path))
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence.endswith("x.csv has no requests to draw")
