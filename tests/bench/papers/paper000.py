# SPDX-License-Identifier: GPL-2.0
"""Paper 000: the SPC-1-like load of fiospc1, and disks under it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from math import sqrt

from bench.papers.arrays import (
    DRIVES,
    HDD,
    HDD_BSU,
    QUEUE,
    SSD,
    SSD_BSU,
    Curves,
    Point,
    peak_of,
)
from bench.papers.claims import OPEN, Claim, near, no_figure, verdict
from bench.papers.noticed import DEPTHS, Seen

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
FALL = 0.05
AROUND = 0.5
AROUND_PAPER = 0.25
NEAR = f"yes if each is within {AROUND_PAPER:.0%}, partly if one is, else no"
# What the paper prints.
PEAKS_BSU = (30, 50, 80)
SHARES = (0.33, 0.50, 0.65)
PEAKS_SSD = (15_000.0, 43_000.0, 59_000.0)
TOOK_S = {100: (130, 70, 37), 200: (330, 185, 130)}
HDD_W, SSD_W = (8.0, 11.0), (0.7, 1.5)
COSTS = (25.0, 0.1)
SHOWN_BSU = (5, 100, 200)
OUTSTANDING = 2  # of the paper for each BSU
HDD_MIB_S = 30.0
SSD_MS = 80.0
NO_CONTROLLER = (
    "The paper's controller has 512 MB of write-back cache and reads ahead. In which order it"
    " destages and what it keeps is not published, so it is not modelled: these are drives with"
    " their own caches."
)


LIMIT_MS = 1e3 * OUTSTANDING / IOPS_PER_BSU
GENERATOR = (
    f"The paper's generator keeps at most {OUTSTANDING} I/Os outstanding for the"
    f" {IOPS_PER_BSU:g} per second of a BSU. By Little's law their mean time from start to end"
    f" cannot exceed {LIMIT_MS:g} ms while the device keeps pace, whatever the device. The"
    " remainder passes in the generator, and so do the 80 ms of SSDs: see the row on fio."
)
BOARD = (
    "A photograph. There is no board here; `spek-daq` reads it by an emulated LabJack U6 in tests,"
    " and states what exceeds a transducer's rating."
)


def claims(
    fig1: Result,
    measured: Curves,
    full_random: float,
    uncached: Sequence[Point],
    noticed: Sequence[Seen],
) -> list[Claim]:
    """All of the paper. @fig1: the run at 20 BSU. Others: as those of of_arrays()."""
    board = no_figure(
        "Figure 2", "current sensor board: 14 rails, 6 A each", "19.8, 30 and 72 W a rail", BOARD
    )
    return [*_load(fig1), board, *of_arrays(measured, full_random, uncached, noticed)]


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


def of_arrays(
    measured: Curves, full_random: float, uncached: Sequence[Point], noticed: Sequence[Seen]
) -> Iterator[Claim]:
    """Those of Figures 3 to 5. @measured: the arrays in simulated time. @full_random: IOPS of a
    disk under random I/Os. @uncached: arrays of disks whose caches are off, about their peaks.
    @noticed: responses as the paper's generator sees them."""
    disks = {drives: measured[HDD, drives] for drives in DRIVES}
    ssds = {drives: measured[SSD, drives] for drives in DRIVES}
    yield _kept_up([*disks.values(), *ssds.values()])
    peaks = [peak_of(points) for points in disks.values()]
    yield Claim(
        "Figure 3", "peaks of HDDs x1, x3, x6", "30, 50, 80 BSU",
        ", ".join(str(peak.bsu) for peak in peaks) + " BSU", NEAR,
        _near(PEAKS_BSU, [peak.bsu for peak in peaks]), NO_CONTROLLER,
    )  # fmt: skip
    most = max(point.mib_per_s for point in disks[DRIVES[-1]])
    yield Claim(
        "Section 3.A", "highest throughput, x6", f"just over {HDD_MIB_S:g} MiB/s",
        f"{most:.1f} MiB/s", f"yes within {AROUND_PAPER:.0%}, else no",
        verdict(abs(most - HDD_MIB_S) <= AROUND_PAPER * HDD_MIB_S), NO_CONTROLLER,
    )  # fmt: skip
    software = [share * bsu * IOPS_PER_BSU for share, bsu in zip(SHARES, PEAKS_BSU, strict=True)]
    yield Claim(
        "Figure 4", "peak IOPS of HDDs x1, x3, x6 under software RAID",
        _numbers(software) + " (33, 50, 65 % of the peaks of Figure 3 at 50 per BSU)",
        _numbers([peak.iops for peak in peaks]), NEAR,
        _near(software, [peak.iops for peak in peaks]),
        "The division of the disk's 64 MB into read segments and room for writes, and the command"
        " queue of 32, are assumed.",
    )  # fmt: skip
    tops = [peak_of(points).iops for points in ssds.values()]
    yield Claim(
        "Figures 3 and 4", "peaks of SSDs x1, x3, x6", _numbers(PEAKS_SSD) + " IOPS",
        _numbers(tops) + " IOPS", NEAR, _near(PEAKS_SSD, tops),
        "The model's program time is usual for flash of its time; what its controller saves by"
        " compression is not modelled.",
    )  # fmt: skip
    falls = [1 - points[-1].iops / max(point.iops for point in points) for points in disks.values()]
    yield Claim(
        "Figures 3 and 4", "beyond their peak the IOPS of HDDs fall", "they fall, exponentially",
        ", ".join(f"-{fall:.0%}" for fall in falls) + f" at {HDD_BSU[-1]} BSU",
        f"yes if each array loses {FALL:.0%} or more, partly if one does, else no; the shape is not"
        " judged",
        verdict(*(fall >= FALL for fall in falls)),
    )  # fmt: skip
    kept = [points[-1].iops / max(point.iops for point in points) for points in ssds.values()]
    yield Claim(
        "Figures 3 and 4", "beyond their peak SSDs stay on a plateau", "a plateau",
        ", ".join(f"{share:.0%}" for share in kept) + f" of the peak at {SSD_BSU[-1]} BSU",
        f"yes if each array has at least {PLATEAU:.0%} of its peak, partly if one has, else no",
        verdict(*(share >= PLATEAU for share in kept)),
    )  # fmt: skip
    yield from _responses(disks)
    yield _responses_of_flash(ssds)
    yield _noticed(noticed)
    for bsu, paper in TOOK_S.items():
        took = [_at(points, bsu).took_s for points in disks.values()]
        yield Claim(
            "Section 3.A", f"time that 30 s of requests take, at {bsu} BSU on x1, x3, x6",
            ", ".join(f"{seconds} s" for seconds in paper),
            ", ".join(f"{seconds:.0f} s" for seconds in took), NEAR, _near(paper, took),
            NO_CONTROLLER,
        )  # fmt: skip
    single = max(point.iops for point in disks[1])
    yield Claim(
        "Figures 3 and 4", "a disk serves SPC-1's load faster than random I/Os, half reads",
        "better than 8 KiB random",
        f"{single:.0f} against {full_random:.0f} IOPS with {QUEUE} outstanding, x1",
        "yes if its peak is higher, else no", verdict(single > full_random),
    )  # fmt: skip
    yield from _power(disks[DRIVES[-1]], ssds[DRIVES[-1]])
    yield Claim(
        "Figure 4", "the same disks with their caches off", "not measured",
        f"{_numbers([point.iops for point in uncached])} IOPS at"
        f" {', '.join(str(point.bsu) for point in uncached)} BSU",
        "not judged", OPEN, "The paper's disks have their caches on, as those of the other rows.",
    )  # fmt: skip
    for place, what, printed, why in (
        (
            "Figure 3", "curves of the hardware RAID and its write-back cache", "drawn",
            NO_CONTROLLER,
        ),
        (
            "Section 3.A", "response of software RAID against the controller's",
            "a lot longer: x1 peaks at 1.7 s, the controller's at 5.2 s",
            "The two numbers contradict the sentence, and there is no controller here.",
        ),
        (
            "Section 3.A", "length of the disks' queues, by iostat", "correlates with responses",
            "Nothing is printed to judge by. `spekctl run` records it over time in its disk table.",
        ),
    ):  # fmt: skip
        yield no_figure(place, what, printed, why)


def _kept_up(curves: Sequence[Sequence[Point]]) -> Claim:
    worst = []
    for points in curves:
        most = max(point.iops for point in points)
        below = [point for point in points if IOPS_PER_BSU * point.bsu < most]
        errors = [abs(point.iops / (IOPS_PER_BSU * point.bsu) - 1) for point in below]
        worst.append(max(errors, default=1.0))
    return Claim(
        "Figures 3 and 4", "below the peak each BSU adds 50 I/Os per second",
        "the same rise for every configuration",
        f"within {max(worst):.1%} on all arrays at loads of less than their peak IOPS",
        f"yes if each array is within {KEPT_UP:.0%}, partly if one is, else no",
        verdict(*(error <= KEPT_UP for error in worst)),
    )  # fmt: skip


def _responses(disks: Mapping[int, Sequence[Point]]) -> Iterator[Claim]:
    low = [point for point in disks[1] if point.bsu < 10]
    yield Claim(
        "Section 3.A", "response of a disk below 10 BSU", "about 100 ms, constant",
        ", ".join(f"{point.mean_ms:.0f} ms at {point.bsu}" for point in low),
        f"yes if each load is within {AROUND:.0%}, partly if one is, else no",
        near([100.0] * len(low), [point.mean_ms for point in low], [100 * AROUND] * len(low)),
        GENERATOR,
    )  # fmt: skip
    pairs = [(points[0].mean_ms, points[-1].mean_ms) for points in disks.values()]
    yield Claim(
        "Figures 3 and 4", "response times climb once a device cannot keep pace",
        "from 100 ms to seconds",
        ", ".join(f"{first:.0f} ms to {last / 1e3:.0f} s" for first, last in pairs),
        f"yes if each array's are {STEEP:g} times as long at the highest load, partly if one's"
        " are, else no",
        verdict(*(last >= STEEP * first for first, last in pairs)),
    )  # fmt: skip
    yield _more_disks(disks)


def _more_disks(disks: Mapping[int, Sequence[Point]]) -> Claim:
    """Of one, three and six, at all loads that are simulated of each."""
    loads = sorted(set.intersection(*({point.bsu for point in disks[key]} for key in DRIVES)))
    means = {bsu: [_at(disks[drives], bsu).mean_ms for drives in DRIVES] for bsu in loads}
    holds = [
        three <= single / 2 and single / three > three / six
        for single, three, six in means.values()
    ]
    shown = "; ".join(
        ", ".join(f"{mean:,.0f}" for mean in means[bsu]) + f" ms at {bsu} BSU" for bsu in SHOWN_BSU
    )
    return Claim(
        "Section 3.A", "more disks shorten responses",
        "greatly from x1 to x3, slightly from x3 to x6",
        f"{shown}; so at {sum(holds)} of {len(holds)} loads",
        "yes if x3 takes half or less of x1 and gains more than x6 on x3 at each load, partly at"
        " one, else no",
        verdict(*holds),
        "Below the peak of x1 no array has a queue, and beyond that of x6 all have. In between, the"
        " fourth to sixth drive can end the queue, so that the second step is the larger one.",
    )  # fmt: skip


def _responses_of_flash(ssds: Mapping[int, Sequence[Point]]) -> Claim:
    before = [
        max(
            point.mean_ms
            for point in points
            if point.iops >= (1 - KEPT_UP) * IOPS_PER_BSU * point.bsu
        )
        for points in ssds.values()
    ]
    return Claim(
        "Section 3.A", "response of SSDs at loads with which they keep pace",
        f"{SSD_MS:g} ms, consistently",
        f"at most {', '.join(f'{ms:.1f}' for ms in before)} ms on x1, x3, x6", NEAR,
        _near([SSD_MS] * len(before), before),
        "A drive that needs 80 ms for each I/O reaches the paper's 15,000 IOPS only with 1,200 I/Os"
        " outstanding, more than its 32 commands: most of the 80 ms passes above the drive.",
    )  # fmt: skip


def _noticed(noticed: Sequence[Seen]) -> Claim:
    """Responses of a single drive as fio sees them."""
    shown = []
    for drive in dict.fromkeys(each.drive for each in noticed):
        rows = [each for each in noticed if each.drive == drive]
        each_depth = "; ".join(
            f"{depth}: " + ", ".join(f"{row.noticed_ms[place]:.0f}" for row in rows) + " ms"
            for place, depth in enumerate(DEPTHS)
        )
        loads = ", ".join(str(row.bsu) for row in rows)
        shown.append(f"{drive} at {loads} BSU, outstanding for each {each_depth}")
    return Claim(
        "Section 3.A", "responses of a disk and of an SSD at low loads as fio of 2010 sees them",
        "about 100 ms and 80 ms, constant", "; ".join(shown), "a fit: not judged", OPEN,
        "It looks for completions only when its queue is full (iodepth_batch_complete=1), so it"
        " sees how long the queue takes to fill: the same for disks and SSDs, and at each load."
        f" With the {OUTSTANDING} I/Os for each BSU that the paper states that is half of the"
        f" paper's or less; {DEPTHS[-1]} of them fit its 80 ms.",
    )  # fmt: skip


def _power(disks: Sequence[Point], ssds: Sequence[Point]) -> Iterator[Claim]:
    for name, points, (least, most) in (("HDD", disks, HDD_W), ("SSD", ssds, SSD_W)):
        watts = [point.drive_w for point in points]
        rails = [[point.watts[rail] for point in points] for rail in (0, 1)]
        yield Claim(
            "Figure 5", f"watts of each {name} of x6", f"{least:g} to {most:g} W",
            f"{min(watts):.2f} to {max(watts):.2f} W: 5 V {min(rails[0]):.2f} to"
            f" {max(rails[0]):.2f}, 12 V {min(rails[1]):.2f} to {max(rails[1]):.2f}",
            "a fit: not judged", OPEN,
            "The model's watts were fitted to this range and to the data sheet.",
        )  # fmt: skip
    watts = [point.drive_w for point in disks]
    peak = peak_of(list(disks))
    yield Claim(
        "Figure 5", "watts are lowest at low loads, highest around the peak, and drop after it",
        "so for the HDDs",
        f"{watts[0]:.2f} W at {disks[0].bsu} BSU, {peak.drive_w:.2f} W at the peak, {peak.bsu},"
        f" {watts[-1]:.2f} W at {disks[-1].bsu}",
        "yes if the lowest load has the least, and the peak more than the highest load; partly if"
        " one holds",
        verdict(watts[0] == min(watts), peak.drive_w > watts[-1]),
    )  # fmt: skip
    costs = [min(point.mw_per_iops for point in points) for points in (disks, ssds)]
    yield Claim(
        "Figure 5", "best mW per IOPS of HDDs and SSDs x6", "25, 0.1",
        f"{costs[0]:.1f}, {costs[1]:.2f} (from {disks[0].mw_per_iops:,.0f} at {disks[0].bsu} BSU,"
        f" {ssds[0].mw_per_iops:.1f} at {ssds[0].bsu})",
        NEAR, _near(COSTS, costs),
        "The paper starts from 95 and 80 at loads that it does not name, so that is not judged.",
    )  # fmt: skip


def _at(points: Sequence[Point], bsu: int) -> Point:
    return next(point for point in points if point.bsu == bsu)


def _near(paper: Sequence[float], here: Sequence[float]) -> str:
    return near(paper, here, [AROUND_PAPER * value for value in paper])


def _numbers(values: Sequence[float]) -> str:
    return ", ".join(f"{value:,.0f}" for value in values)


def _percents(shares: tuple[float, ...] | list[float]) -> str:
    return ", ".join(f"{share:.1%}" for share in shares)


def _kib(sizes: tuple[float, ...] | list[float]) -> str:
    return ", ".join(f"{size / 1024:.2f} KiB" for size in sizes)
