# SPDX-License-Identifier: GPL-2.0
"""Paper 002: SPEK beside a generator of user space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from bench.papers.claims import NO, PARTLY, YES, Claim, no_figure, verdict

from spekctl.documents.curve import Curve

TITLE = "SPEK"
DEVICES = ("100us", "10us")
SPEK = "spek"
RIVALS = ("libaio", "io_uring")
# Of the highest IOPS that any of them reaches on a device.
SATURATED = 0.95
SWITCHES = 2.03
RIVAL = "The rival here is fio, in place of IoMeter."


def claims(curves: Mapping[tuple[str, str], Curve]) -> list[Claim]:
    """All of the paper. @curves: by device of Fig. 7 and generator."""
    return [*_figure_7(curves), *_switches(curves), *_not_here()]


def _iops(curve: Curve) -> dict[int, float]:
    return {int(point.load.value): point.iops for point in curve.points}


def _figure_7(curves: Mapping[tuple[str, str], Curve]) -> Iterator[Claim]:
    for device in DEVICES:
        of = {name: _iops(curves[device, name]) for name in (SPEK, *RIVALS)}
        ahead = [iops > max(of[name][depth] for name in RIVALS) for depth, iops in of[SPEK].items()]
        most = {name: max(iops.values()) for name, iops in of.items()}
        yield Claim(
            "Figure 7", f"{device}: I/Os per second of SPEK and of its rival",
            "SPEK more at every number of workers",
            "; ".join(f"{name} up to {iops:,.0f}" for name, iops in most.items())
            + f"; ahead at {sum(ahead)} of {len(ahead)} depths",
            "yes if spek is ahead of both engines at every depth, partly if at one, else no",
            verdict(*ahead), RIVAL,
        )  # fmt: skip
        needed = {name: _saturates(iops, max(most.values())) for name, iops in of.items()}
        ours = needed[SPEK]
        others = [needed[name] for name in RIVALS]
        sooner = [ours is not None and (theirs is None or ours < theirs) for theirs in others]
        later = [ours is None or (theirs is not None and ours > theirs) for theirs in others]
        yield Claim(
            "Section 4", f"{device}: what saturates the device", "2 workers of SPEK, 5 of IoMeter",
            ", ".join(f"{name} {depth or 'never'}" for name, depth in needed.items()),
            "I/Os outstanding for 95 % of the most: yes if spek needs fewer than both engines, no"
            " if more than one of them, else partly",
            YES if all(sooner) else NO if any(later) else PARTLY,
            "The axis here is I/Os outstanding on a single CPU, not workers.",
        )  # fmt: skip


def _saturates(iops: Mapping[int, float], most: float) -> int | None:
    """The lowest depth that gets SATURATED of @most; None: none does."""
    return min((depth for depth, got in iops.items() if got >= SATURATED * most), default=None)


def _switches(curves: Mapping[tuple[str, str], Curve]) -> Iterator[Claim]:
    place, what, paper = "Table 3", "context switches per random read, one outstanding", "2.03"
    (single,) = (point for point in curves["100us", SPEK].points if point.load.value == 1)
    count = single.switches_per_io
    if count is None:
        yield no_figure(place, what, paper, "No prober was beside the run.")
        return
    off = abs(count - SWITCHES)
    yield Claim(
        place, what, paper, f"{count:.2f}", "yes within 0.1, partly within 0.5, else no",
        YES if off <= 0.1 else verdict(off <= 0.5, False),
        "On scsi_debug of 100 us, not on the paper's disk.",
    )  # fmt: skip


def _not_here() -> Iterator[Claim]:
    disk = "The sweep of a modelled drive that it takes is not part of this command."
    for place, what, paper, why in (
        (
            "Figure 1", "file system benchmarks", "vary with options of the file system",
            "Motivation: no block device is measured.",
        ),
        (
            "Figure 3", "random writes of 16 KiB over time", "240 IOPS, steady; IoMeter 0 to 300",
            disk,
        ),
        ("Figure 4", "sequential rate over the disk", "55 to 39 MB/s", disk),
        ("Figures 5 and 6", "four loads over block size on two disks", "curves", disk),
        ("Table 3", "the three other loads", "1.98, 2.01, 2.02", disk),
        ("Section 4", "system calls per I/O", "none; IoMeter 14", "`make bench` counts them."),
        (
            "Table 4", "one, two, three clients of an iSCSI target", "18.0, 29.0, 23.2 MB/s",
            "It takes several machines: `spekctl fleet`.",
        ),
    ):  # fmt: skip
        yield no_figure(place, what, paper, why)
