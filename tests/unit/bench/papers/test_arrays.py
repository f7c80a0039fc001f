# SPDX-License-Identifier: GPL-2.0
"""Figures 3 to 5 of paper 000: how requests are striped, and what an array of drives does."""

from __future__ import annotations

import numpy as np
import pytest
from bench.papers import arrays, modelled
from bench.papers.arrays import CHUNK
from bench.papers.modelled import REQUESTS

from spekctl.drive import file
from spekctl.drive.core import Rule, Simulation
from spekctl.workload import file as workloads


def requests(*rows: tuple[int, int, int, int]) -> np.ndarray:
    return np.array(list(rows), REQUESTS)


def test_raid_0_sends_each_chunk_to_the_next_drive() -> None:
    drive, number, parts = arrays.parts_of(
        requests((0, 0, 8, 0), (5, CHUNK - 8, 24, 1), (9, 3 * CHUNK + 5, 1, 0)), 3
    )
    assert [tuple(map(int, row)) for row in zip(drive, number, strict=True)] == [
        (0, 0), (0, 1), (1, 1), (0, 2),
    ]  # fmt: skip
    assert parts.tolist() == [
        (0, 0, 8, 0), (5, CHUNK - 8, 8, 1), (5, 0, 16, 1), (9, CHUNK + 5, 1, 0),
    ]  # fmt: skip


@pytest.mark.parametrize("drives", [2, 3, 6])
def test_each_sector_is_where_md_has_it(drives: int) -> None:
    """Requests of many chunks, whose chunks on a drive are one part."""
    rows = [(0, 7 * number, 3 + 5 * number, 0) for number in range(40)]
    drive, number, parts = arrays.parts_of(requests(*rows), drives)
    for index, (_, lba, sectors, _) in enumerate(rows):
        wanted: dict[int, list[int]] = {}
        for sector in range(lba, lba + sectors):
            chunk, rest = divmod(sector, CHUNK)
            wanted.setdefault(chunk % drives, []).append(chunk // drives * CHUNK + rest)
        got = {
            int(drive[at]): list(
                range(int(parts["lba"][at]), int(parts["lba"][at] + parts["sectors"][at]))
            )
            for at in np.flatnonzero(number == index)
        }
        assert got == wanted and sum(number == index) == len(wanted)


def test_a_single_drive_gets_whole_requests() -> None:
    rows = requests((0, CHUNK - 8, 24, 1), (9, 3 * CHUNK + 5, 1, 0))
    drive, number, parts = arrays.parts_of(rows, 1)
    assert parts.tolist() == rows.tolist()
    assert list(drive) == [0, 0] and list(number) == [0, 1]


def test_all_sectors_are_kept() -> None:
    model = file.load(arrays.HDD)
    sent = modelled.requests_of(workloads.load("spc1"), model, 3000, bsu=10, drives=3, stripe=CHUNK)
    _, number, parts = arrays.parts_of(sent, 3)
    assert int(parts["sectors"].sum()) == int(sent["sectors"].sum())
    assert len(np.unique(number)) == len(sent)
    assert int((parts["lba"] + parts["sectors"]).max()) <= model.capacity
    assert int(sent["lba"].max()) > 2 * model.capacity


def test_a_single_drive_is_that_of_the_core() -> None:
    model = file.load(arrays.HDD)
    sent = modelled.requests_of(workloads.load("spc1"), model, 400, bsu=2)
    point = arrays.serve(model, 1, sent, 2, 0.0)
    drive = Simulation(model, Rule("sptf", window=arrays.QUEUE))
    drive.feed(sent.tobytes())
    drive.drain()
    account = drive.account()
    assert point.took_s == pytest.approx(account.now_ns / 1e9)
    assert point.mean_ms == pytest.approx(account.sum_ns[0] / 400 / 1e6)
    assert point.watts == pytest.approx([nj / account.now_ns for nj in account.energy_nj])
    assert point.mw_per_iops == pytest.approx(1e3 * point.drive_w / point.iops)


def test_a_drive_that_ends_early_rests_until_the_last_one_has_ended() -> None:
    """All requests are for the first of two drives."""
    model = file.load(arrays.HDD)
    even, each = ([(0, step * c * CHUNK, 8, 0) for c in range(0, 400, 40)] for step in (2, 1))
    sent = requests(*even)
    point = arrays.serve(model, 2, sent, 1, 2.0)
    assert point.took_s == 2.0
    lone = arrays.serve(model, 1, requests(*each), 1, 2.0)
    idle_w = modelled.idle_watts(model)
    assert 2 * point.drive_w == pytest.approx(lone.drive_w + idle_w)


def test_more_drives_and_flash_do_more() -> None:
    single, six = (arrays.array(arrays.HDD, drives, 30, 2.0) for drives in (1, 6))
    assert six.iops > 2 * single.iops and six.mean_ms < single.mean_ms
    flash = arrays.array(arrays.SSD, 1, 30, 1.0)
    assert flash.iops == pytest.approx(1500, rel=0.02) and flash.watts[1] == 0


def test_a_disk_with_its_cache_off_is_slower(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "UNCACHED_BSU", {1: 5})
    monkeypatch.setattr(arrays, "HDD_S", 2.0)
    arrays.uncached.cache_clear()
    (uncached,) = arrays.uncached()
    arrays.uncached.cache_clear()
    cached = arrays.array(arrays.HDD, 1, 5, 2.0)
    assert cached.mean_ms < uncached.mean_ms / 2


def test_random_ios_gain_by_a_queue(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(arrays, "RANDOM", 600)
    arrays.full_random.cache_clear()
    random = arrays.full_random()
    arrays.full_random.cache_clear()
    for name in (arrays.HDD, arrays.SSD):
        iops = [random[name, depth] for depth in arrays.DEPTHS]
        assert iops == sorted(iops) and iops[-1] > 1.2 * iops[0]
    assert random[arrays.SSD, 1] > 10 * random[arrays.HDD, 1]


def test_the_peak_of_a_plateau_is_its_beginning() -> None:
    low, first, last = (
        arrays.Point(bsu, iops, 0, 0, 1, 1, (0, 0), 1)
        for bsu, iops in ((1, 50), (9, 300), (20, 301))
    )
    assert arrays.peak_of([low, first, last]) is first


def test_each_figure_has_a_line_for_each_array() -> None:
    measured = {
        (name, drives): [arrays.Point(5, 250.0, 2.0, 9.0, 30.0, 30.0, (2.0, 6.0), drives)]
        for name in (arrays.HDD, arrays.SSD)
        for drives in arrays.DRIVES
    }
    random = {
        (name, depth): 100.0 * depth for name in (arrays.HDD, arrays.SSD) for depth in arrays.DEPTHS
    }
    sheet = arrays.sheet_of(measured, random)
    assert [plot.title for plot in sheet.plots][:2] == [
        "Figures 3 and 4: IOPS over load, disks",
        "Figures 3 and 4: throughput over load, disks",
    ]
    iops = [plot for plot in sheet.plots if plot.key.endswith("-iops")]
    assert len(iops) == 2  # of disks and SSDs
    for plot in iops:
        (strand,) = plot.strands
        assert [line.name for line in strand.lines] == [
            *("x1", "x3", "x6"),
            *(f"random 8 KiB, 50 % reads, x1, {depth} outstanding" for depth in arrays.DEPTHS),
        ]
        assert [line.ys[0] for line in strand.lines[3:]] == [100, 800, 3200]
    watts = next(plot for plot in sheet.plots if plot.key == f"arrays-{arrays.HDD}-watts")
    assert list(watts.strands[0].lines[0].ys) == [8.0]
