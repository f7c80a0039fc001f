# SPDX-License-Identifier: GPL-2.0
"""Paper 000: the SPC-1-like load of fiospc1, and disks under it."""

from __future__ import annotations

from collections.abc import Iterator
from math import sqrt

from bench.papers.claims import OPEN, Claim, near, no_figure, verdict

from spekctl.documents.curve import Curve, Point
from spekctl.documents.result import Result
from spekctl.kernel.records import Phase

TITLE = "A framework for disks under an SPC-1-like load"
ASUS = (0.596, 0.123, 0.281)
SPACE = (0.45, 0.45, 0.10)
READS = 0.394
MEAN_BYTES = (6.75 * 1024, 8.82 * 1024)
# A share of n I/Os is known to so many of its standard deviations.
SIGMAS = 3.0
IOPS_PER_BSU = 50.0
KEPT_UP = 0.03
PLATEAU = 0.9
STEEP = 10.0
TOY = "The disk is a null_blk of four times 2 ms without heads, not a disk of the paper."


def claims(fig1: Result, sweep: Curve) -> list[Claim]:
    """All of the paper. @fig1: the run at 20 BSU. @sweep: loads up to three times too much."""
    return [*_load(fig1), *_curves(sweep), *_not_here()]


def _load(fig1: Result) -> Iterator[Claim]:
    cells = [cell for cell in fig1.cells if cell.phase is Phase.MEASURE]
    count = sum(cell.ios for cell in cells)
    asu_of = [stream.asu for stream in fig1.config.streams]
    ios = [0] * len(fig1.config.asus)
    for cell in cells:
        ios[asu_of[cell.stream]] += cell.ios
    shares = [number / count for number in ios]
    chance = [SIGMAS * sqrt(share * (1 - share) / count) for share in (*ASUS, READS)]
    known = f"yes if each is within {SIGMAS:g} standard deviations, partly if one is, else no"
    yield Claim(
        "Section 2", "I/Os to ASU-1, ASU-2 and ASU-3", _percents(ASUS),
        f"{_percents(shares)} of {count:,}", known, near(ASUS, shares, chance[:3]),
    )  # fmt: skip
    total = sum(asu.bytes for asu in fig1.config.asus)
    space = [asu.bytes / total for asu in fig1.config.asus]
    yield Claim(
        "Section 2", "capacity of ASU-1, ASU-2 and ASU-3", _percents(SPACE), _percents(space),
        "yes if each is within 0.1 %, partly if one is, else no", near(SPACE, space, [0.001] * 3),
    )  # fmt: skip
    of = {way: [cell for cell in cells if cell.direction == way] for way in ("read", "write")}
    reads = sum(cell.ios for cell in of["read"]) / count
    yield Claim(
        "Section 2", "reads among the I/Os", f"{READS:.1%}", f"{reads:.1%}", known,
        near([READS], [reads], chance[3:]),
    )  # fmt: skip
    means = [
        sum(cell.bytes for cell in cells) / sum(cell.ios for cell in cells) for cells in of.values()
    ]
    yield Claim(
        "Section 2", "mean size of reads and of writes", _kib(MEAN_BYTES), _kib(means),
        "yes if both are within 2 %, partly if one is, else no",
        near(MEAN_BYTES, means, [0.02 * size for size in MEAN_BYTES]),
    )  # fmt: skip
    wanted = fig1.outcome.offered_iops or 0.0
    log_reads = sum(
        cell.ios for cell in of["read"] if asu_of[cell.stream] == len(fig1.config.asus) - 1
    )
    yield Claim(
        "Figure 1", "20 BSU send to all ASUs, and ASU-3 is only written",
        "1000 I/Os per second, no reads of ASU-3",
        f"{wanted:g} per second offered, {log_reads} reads of ASU-3",
        "yes if both hold, partly if one does, else no",
        verdict(wanted == 20 * IOPS_PER_BSU and all(ios), log_reads == 0),
        "The paper's disk has 1 TB, this one 1 GiB; addresses are drawn in fig1.",
    )  # fmt: skip


def _curves(sweep: Curve) -> Iterator[Claim]:
    points = sorted(sweep.points, key=lambda point: point.load.value)
    peak = max(points, key=lambda point: point.iops)
    # Of a plateau, its beginning: a load behind it is not kept up with.
    below = [point for point in points if point.stretch is not None and point.stretch <= 1.02]
    errors = [abs(point.iops / (IOPS_PER_BSU * point.load.value) - 1) for point in below]
    yield Claim(
        "Figures 3 and 4", "below the peak each BSU adds 50 I/Os per second",
        "the same rise for every configuration",
        f"up to {below[-1].load} within {max(errors):.1%}" if below else "no load is kept up with",
        f"yes if all loads that are kept up with are within {KEPT_UP:.0%}, partly if one is",
        verdict(*(error <= KEPT_UP for error in errors)) if below else verdict(False),
    )  # fmt: skip
    last = points[-1]
    yield Claim(
        "Figures 3 and 4", "beyond their peak SSDs stay on a plateau", "a plateau",
        f"peak {peak.iops:,.0f} IOPS at {peak.load}, {last.iops:,.0f} at {last.load}",
        f"yes if the highest load has at least {PLATEAU:.0%} of the peak, else no",
        verdict(last.iops >= PLATEAU * peak.iops),
        "A null_blk stands for SSDs in this, as it has no heads that more diverse addresses slow.",
    )  # fmt: skip
    low, high = _mean_ms(points[0]), _mean_ms(last)
    yield Claim(
        "Figures 3 and 4", "response times climb once a device cannot keep pace",
        "from 100 ms to seconds",
        f"{low:.2f} ms at {points[0].load}, {high:,.0f} ms at {last.load}",
        f"yes if they are {STEEP:g} times as long at the highest load, partly if longer, else no",
        verdict(high > low, high >= STEEP * low), TOY,
    )  # fmt: skip
    over = [point for point in points if point.stretch is not None and point.stretch > 1.1]
    yield Claim(
        "Section 4.A", "time that 30 s of requests take, at 100 BSU on x1, x3, x6",
        "130 s, 70 s, 37 s",
        ", ".join(f"{30 * (point.stretch or 0):.0f} s at {point.load}" for point in over),
        "not judged: its size is the disk's", OPEN, TOY,
    )  # fmt: skip


def _not_here() -> Iterator[Claim]:
    yield no_figure(
        "Figures 3 and 4", "peaks of HDDs x1, x3, x6 and of SSDs x1, x3",
        "30, 50, 80 BSU; 15k, 43k, 59k IOPS", TOY,
    )  # fmt: skip
    yield no_figure(
        "Figure 4", "share of the hardware RAID's IOPS that software RAID reaches",
        "33 %, 50 %, 65 %", "There is no model of a controller with a cache.",
    )  # fmt: skip
    yield no_figure(
        "Figure 5", "watts of each disk, and mW per IOPS",
        "HDD 8 to 11 W, 95 to 25 mW/IOPS; SSD 0.7 to 1.5 W, 80 to 0.1 mW/IOPS",
        "The null_blk of the sweep has no power; `spekctl sweep` on modelled drives measures both.",
    )  # fmt: skip


def _mean_ms(point: Point) -> float:
    return point.response.mean / 1e6 if point.response is not None else 0.0


def _percents(shares: tuple[float, ...] | list[float]) -> str:
    return ", ".join(f"{share:.1%}" for share in shares)


def _kib(sizes: tuple[float, ...] | list[float]) -> str:
    return ", ".join(f"{size / 1024:.2f} KiB" for size in sizes)
