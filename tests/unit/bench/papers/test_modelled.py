# SPDX-License-Identifier: GPL-2.0
"""Workloads on modelled drives without a kernel."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench.papers.modelled import idle_watts, requests_of, serve

from spekctl.drive import file
from spekctl.drive.model import Cache, Model
from spekctl.workload import file as workloads


@pytest.fixture(scope="module")
def model() -> Model:
    """Without its cache, so that each I/O needs the arm."""
    return replace(file.load("wd2001fass"), cache=Cache())


def test_requests_are_those_of_the_workload(model: Model) -> None:
    requests = requests_of(workloads.load("spc1"), model, 4000, bsu=1)
    assert 1 - requests["write"].mean() == pytest.approx(0.394, abs=0.03)
    assert (requests["lba"] % 8 == 0).all() and (requests["sectors"] % 8 == 0).all()
    assert int((requests["lba"] + requests["sectors"]).max()) <= model.capacity
    assert len(requests) / (int(requests["arrival_ns"][-1]) / 1e9) == pytest.approx(50, rel=0.1)
    # ASU-3 has the last tenth, and 28 % of the I/Os.
    last = requests["lba"] > model.capacity * 9 // 10
    assert last.mean() == pytest.approx(0.281, abs=0.03)


def test_slower_arrivals_wait_less_and_draw_less(model: Model) -> None:
    spc1 = workloads.load("spc1")
    few, many = (
        serve(model, requests_of(spc1, model, 2000, bsu=bsu, iops_per_bsu=10)) for bsu in (2, 8)
    )
    assert few.mean_ms < many.mean_ms and few.iops < many.iops
    assert idle_watts(model) < few.watts < many.watts
    assert few.mean_ms < few.worst_ms and few.hits == 0


def test_more_outstanding_get_more_done_in_longer_times(model: Model) -> None:
    requests = requests_of(workloads.load("random-read-4k"), model, 2000)
    alone, deep = serve(model, requests, 1), serve(model, requests, 16)
    assert alone.iops < deep.iops and alone.mean_ms < deep.mean_ms
    assert alone.bytes_per_s == pytest.approx(alone.iops * 4096)


def test_a_cache_serves_its_share(model: Model) -> None:
    cache = Cache(8, 2048, 2048, 0, 100_000, 1_706_667)
    requests = requests_of(workloads.load("emerald-hot-band"), model, 2000)
    assert serve(model, requests, 4).hits == 0
    assert 0 < serve(replace(model, cache=cache), requests, 4).hits < 1
