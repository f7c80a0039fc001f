# SPDX-License-Identifier: GPL-2.0
"""Figures 3 to 6 of paper 002 on modelled disks."""

from __future__ import annotations

from dataclasses import replace

import pytest
from bench.papers import paper002, two_disks
from bench.papers.claims import NO, PARTLY, YES, Claim
from bench.papers.modelled import requests_of
from bench.papers.two_disks import SEAGATE, Disks

from spekctl.drive import file


@pytest.fixture(scope="module")
def measured() -> Disks:
    return two_disks.disks()


def judged(disks: Disks) -> dict[str, Claim]:
    return {claim.what: claim for claim in paper002._two_disks(disks)}


def test_the_disks_are_those_of_the_paper(measured: Disks) -> None:
    claims = judged(measured)
    assert {claim.verdict for claim in claims.values()} == {YES}
    assert claims["random writes of 16 KiB over time"].here.startswith("238 IOPS")
    assert claims["sequential read over the disk"].here == "54.3, 47.4, 38.7 MB/s"


def test_all_loads_are_drawn_over_all_sizes(measured: Disks) -> None:
    assert len(measured.curves) == 8
    assert all(len(rates) == len(two_disks.SIZES) for rates in measured.curves.values())
    sheet = two_disks.sheet_of(measured)
    assert [plot.title.partition(":")[0] for plot in sheet.plots] == [
        *("Figure 3", "Figure 4", "Figure 5", "Figure 6")
    ]
    (strand,) = sheet.plots[2].strands
    assert [line.name for line in strand.lines] == list(two_disks.LOADS)
    assert list(strand.lines[2].ys) == measured.curves[SEAGATE, "random read"]


def test_requests_are_those_of_the_load() -> None:
    model = file.load(SEAGATE)
    writes = requests_of(two_disks.workload_of("random write", 16384), model, 500)
    assert writes["write"].all() and set(writes["sectors"]) == {32}
    reads = requests_of(two_disks.workload_of("sequential read", 4096), model, 500)
    assert not reads["write"].any() and (reads["lba"][1:] == reads["lba"][:-1] + 8).all()


@pytest.mark.parametrize(
    ("windows", "verdict"),
    [([238.0, 242.0], YES), ([0.0, 480.0], PARTLY), ([100.0, 101.0], PARTLY), ([0.0, 300.0], NO)],
)
def test_a_rate_over_time_is_judged_by_its_mean_and_its_spread(
    measured: Disks, windows: list[float], verdict: str
) -> None:
    claims = judged(replace(measured, windows=windows))
    assert claims["random writes of 16 KiB over time"].verdict == verdict


def test_a_disk_without_zones_refutes_figure_4(measured: Disks) -> None:
    zones = {"sequential read": [55.0, 55.0, 55.0], "sequential write": [70.0, 60.0, 50.0]}
    claims = judged(replace(measured, zones=zones))
    assert claims["sequential read over the disk"].verdict == PARTLY
    assert claims["sequential write over the disk"].verdict == NO


def test_curves_that_fall_refute_figures_5_and_6(measured: Disks) -> None:
    rates = list(reversed(measured.curves[SEAGATE, "random read"]))
    curves = measured.curves | {
        (SEAGATE, "random read"): rates,
        (SEAGATE, "sequential read"): [20.0] * len(rates),
    }
    claims = judged(replace(measured, curves=curves))
    assert claims["where sequential reads saturate"].verdict == NO
    assert claims[f"four loads over block size on the {SEAGATE}"].verdict == NO
