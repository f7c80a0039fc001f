# SPDX-License-Identifier: GPL-2.0
"""Paper 002: SPEK beside a generator of user space."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from bench import table3
from bench.papers import two_disks
from bench.papers.claims import NO, PARTLY, YES, Claim, near, no_figure, verdict
from bench.papers.two_disks import IBM, KIB, SEAGATE, SIZES, Disks
from bench.table3 import SPEK, Table3
from bench.table4 import SENDER, Row, Table4, megabytes

from spekctl.documents.curve import Curve
from spekctl.drive import file
from spekctl.drive.model import SECTOR

TITLE = "SPEK"
DEVICES = ("100us", "10us")
RIVALS = ("libaio", "io_uring")
# Of the highest IOPS that any of them reaches on a device.
SATURATED = 0.95
# Context switches per I/O, by load: of SPEK and of IoMeter.
TABLE_3 = {
    "sequential read": (1.98, 4.09),
    "sequential write": (2.01, 3.91),
    "random read": (2.03, 6.18),
    "random write": (2.02, 5.24),
}
# Workers of SPEK and of IoMeter that saturate a device, and how near the latter is met.
OURS, THEIRS = 2, 5
THEIRS_WITHIN = 0.25
NO_CALLS = 0.1  # of the guest per I/O: what else runs there makes some
WRITES_IOPS = 240.0
ZONES_MB_S = (55.0, 39.0)
SATURATED_MB_S = 53.0
PART = 0.05
SPREAD = 0.1
# Of each disk: GB, rpm, ms of half a turn and of a mean seek, MB/s inside and outside if printed.
TABLE_2 = {
    IBM: (9.1, 7200, 4.17, 7.0, 12.7, 20.2),
    SEAGATE: (18.4, 15_000, 2.0, 3.6),
}
TABLE_4 = ((18.0e6,), (15.5e6, 13.5e6), (9.0e6, 7.6e6, 6.5e6))  # bytes/s of each client
BUFFERED = (
    "IoMeter's I/Os pass through the buffer cache of Linux 2.4, which writes back after 30 s or"
    " when too much is dirty. The disks here are simulated without a kernel, so without its cache;"
    " where a kernel takes part, in Figure 7 and Table 3, fio's I/Os are direct."
)
RIVAL = "The rival here is fio, in place of IoMeter."


def claims(
    curves: Mapping[tuple[str, str], Curve],
    table: Table4 | None,
    counted: Table3 | None,
    disks: Disks,
) -> list[Claim]:
    """All of the paper. @curves: by device of Fig. 7 and generator; @table: Table 4, @counted:
    Table 3; None - not measured."""
    return [
        *_table_2(), *_two_disks(disks), *_figure_7(curves), *_table_3(counted), *_table_4(table),
        *_not_here(),
    ]  # fmt: skip


def _table_2() -> Iterator[Claim]:
    """The measured disks."""
    for name, paper in TABLE_2.items():
        model = file.load(name)
        rates = [model.sustained_rate(zone) / 1e6 for zone in (model.zones[-1], model.zones[0])]
        here = (
            model.capacity * SECTOR / 1e9, model.rpm, model.period_ps / 2e9,
            model.mean_seek_ns() / 1e6, *rates,
        )[: len(paper)]  # fmt: skip
        yield Claim(
            "Table 2", f"parameters of the {name}", _disk(paper), _disk(here),
            f"yes if each is within {PART:.0%}, partly if one is, else no",
            near(paper, here, [PART * value for value in paper]),
            "Of its buffer the paper prints the size alone; it is not modelled.",
        )  # fmt: skip


def _disk(facts: Sequence[float]) -> str:
    gigabytes, rpm, turn_ms, seek_ms, *rates = facts
    sustained = ", " + " to ".join(f"{rate:.1f}" for rate in rates) + " MB/s" if rates else ""
    return f"{gigabytes:.1f} GB, {rpm:,.0f} rpm, {turn_ms:.2f} ms, {seek_ms:.1f} ms{sustained}"


def _two_disks(disks: Disks) -> Iterator[Claim]:
    """Figures 3 to 6."""
    drive = "The module's generator feeds the drive's core, without a kernel; no rival is beside."
    iops = sum(disks.windows) / len(disks.windows)
    spread = (max(disks.windows) - min(disks.windows)) / iops
    yield Claim(
        "Figure 3", "random writes of 16 KiB over time", "240 IOPS, steady",
        f"{iops:.0f} IOPS, {min(disks.windows):.0f} to {max(disks.windows):.0f}",
        f"yes if the mean is within {SPREAD:.0%} of the paper's, and all windows of"
        f" {two_disks.WINDOW_S} s are within {SPREAD:.0%} of each other; partly if one holds",
        verdict(abs(iops - WRITES_IOPS) <= SPREAD * WRITES_IOPS, spread <= SPREAD), drive,
    )  # fmt: skip
    for load, rates in disks.zones.items():
        yield Claim(
            "Figure 4", f"{load} over the disk", "55 to 39 MB/s",
            ", ".join(f"{rate:.1f}" for rate in rates) + " MB/s",
            f"both ends within {PART:.0%}: yes, one: partly, else no",
            near(ZONES_MB_S, (rates[0], rates[-1]), [PART * rate for rate in ZONES_MB_S]), drive,
        )  # fmt: skip
    most = disks.curves[SEAGATE, "sequential read"][-1]
    yield Claim(
        "Figure 5", "where sequential reads saturate", "about 53 MB/s",
        f"{most:.1f} MB/s at {SIZES[-1] // KIB} KiB",
        f"yes within {PART:.0%}, else no",
        verdict(abs(most - SATURATED_MB_S) <= PART * SATURATED_MB_S),
        "Without an overhead of commands in the model that is so from the smallest block on.",
    )  # fmt: skip
    writes = disks.curves[SEAGATE, "random write"][SIZES.index(16 * KIB)] * 1e6 / (16 * KIB)
    yield Claim(
        "Figure 5", "random writes of 16 KiB agree with Figure 3", "consistent",
        f"{writes:.0f} IOPS, {iops:.0f} IOPS", f"yes within {PART:.0%}, else no",
        verdict(abs(writes - iops) <= PART * iops), drive,
    )  # fmt: skip
    for name, place in two_disks.DISKS.items():
        of = {load: disks.curves[name, load] for load in two_disks.LOADS}
        yield Claim(
            place, f"four loads over block size on the {name}",
            "curves" if name == SEAGATE else "similar to Figure 5",
            "; ".join(f"{load} {mb_s[0]:.1f} to {mb_s[-1]:.1f} MB/s" for load, mb_s in of.items()),
            "yes if random loads gain with each size of block and stay below sequential ones;"
            " partly if one of both holds",
            verdict(
                all(of[load] == sorted(of[load]) for load in ("random read", "random write")),
                all(
                    random < sequential
                    for what in ("read", "write")
                    for random, sequential in zip(
                        of[f"random {what}"], of[f"sequential {what}"], strict=True
                    )
                ),
            ),
            "The paper prints no numbers of these curves. " + drive,
        )  # fmt: skip


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
        yield _workers(device, most)


def _workers(device: str, most: Mapping[str, float]) -> Claim:
    """How many workers of the rival do what the paper's two do. @most: what each does alone."""
    needed = {name: OURS * most[SPEK] / most[name] for name in RIVALS}
    return Claim(
        "Section 4", f"{device}: workers of the rival that do what {OURS} of SPEK do",
        f"{THEIRS} of IoMeter for {OURS} of SPEK",
        ", ".join(f"{name} {count:.1f}" for name, count in needed.items())
        + "; a worker alone "
        + ", ".join(f"{name} {iops:,.0f} per second" for name, iops in most.items()),
        f"yes if each engine needs {THEIRS} within {THEIRS_WITHIN:.0%}, partly if each needs more"
        f" than {OURS}, else no",
        YES
        if all(abs(count - THEIRS) <= THEIRS_WITHIN * THEIRS for count in needed.values())
        else PARTLY
        if min(needed.values()) > OURS
        else NO,
        "Computed from the most I/Os per second of a single worker: each of the paper's had a"
        " machine of its own, and the guest has one processor, whose time is its instructions. "
        + RIVAL,
    )  # fmt: skip


def _saturates(iops: Mapping[int, float], most: float) -> int | None:
    """The lowest depth that gets SATURATED of @most; None: none does."""
    return min((depth for depth, got in iops.items() if got >= SATURATED * most), default=None)


def _table_3(table: Table3 | None) -> Iterator[Claim]:
    if table is None:
        yield no_figure(
            "Table 3", "context switches and system calls per I/O", "2.01, none; IoMeter 4.85, 14",
            "Its guest has not run to the end: `.ci/figures table3`.",
        )  # fmt: skip
        return
    ours = table.of(SPEK)
    for load, (paper, _) in TABLE_3.items():
        count = ours[load].switches
        off = abs(count - paper)
        yield Claim(
            "Table 3", f"context switches per I/O, one outstanding, {load}", f"{paper}",
            f"{count:.2f}", "yes within 0.1, partly within 0.5, else no",
            YES if off <= 0.1 else verdict(off <= 0.5, False),
            f"On a modelled {SEAGATE}, of the whole guest.",
        )  # fmt: skip
    rivals = {name: table.of(name) for name in table3.GENERATORS if name != SPEK}
    yield Claim(
        "Table 3", "context switches per I/O of the rival, by load",
        ", ".join(f"{theirs}" for _, theirs in TABLE_3.values()) + ": more than SPEK",
        "; ".join(
            f"{name} " + ", ".join(f"{rows[load].switches:.2f}" for load in TABLE_3)
            for name, rows in rivals.items()
        ),
        "yes if each engine has more than spek with every load, partly if one has with one, else"
        " no; by how many is not judged",
        verdict(
            *(
                rows[load].switches > ours[load].switches
                for rows in rivals.values()
                for load in TABLE_3
            )
        ),
        RIVAL,
    )  # fmt: skip
    most = max(row.syscalls for row in ours.values())
    least = {name: min(row.syscalls for row in rows.values()) for name, rows in rivals.items()}
    yield Claim(
        "Section 4", "system calls per I/O", "none; IoMeter 14",
        f"spek at most {most:.2f}; "
        + ", ".join(f"{name} at least {calls:.2f}" for name, calls in least.items()),
        f"yes if spek makes fewer than {NO_CALLS:g} with each load, and each engine one or more;"
        " partly if one of both holds; the 14 are not judged",
        verdict(most < NO_CALLS, min(least.values()) >= 1), RIVAL,
    )  # fmt: skip


def _table_4(table: Table4 | None) -> Iterator[Claim]:
    if table is None:
        yield no_figure(
            "Table 4", "one, two, three clients of an iSCSI target", "18.0, 29.0, 23.2 MB/s",
            "Its guests have not run to the end: `.ci/figures table4`.",
        )  # fmt: skip
        return
    alone, two, three = table.rows
    yield _shares(table, alone, two, three)
    yield _fall(two, three)
    yield _full(table, alone, two, three)
    yield _sender(alone, two, three)


def _shares(table: Table4, alone: Row, two: Row, three: Row) -> Claim:
    return Claim(
        "Table 4", "MB/s of each client of an iSCSI target and of all: one, two, three clients",
        "; ".join(megabytes(each, 1) for each in TABLE_4),
        "; ".join(megabytes(row.bytes_per_s) for row in (alone, two, three)),
        "yes if two read more in all than one, each of them less than it, and each of three less"
        " than each of two; no if nothing of that holds, else partly",
        verdict(
            two.total() > alone.total(), max(two.bytes_per_s) < alone.total(),
            max(three.bytes_per_s) < min(two.bytes_per_s),
        ),
        f"What is full here is designed: the disk gives {table.most_bytes_per_s / 1e6:.2f} MB/s at"
        " most, less than emulated guests that share a few processors can do.",
    )  # fmt: skip


def _fall(two: Row, three: Row) -> Claim:
    change = three.total() / two.total() - 1
    return Claim(
        "Table 4", "MB/s of all fall from two clients to three", "29.0 to 23.2, -20 %",
        f"{two.total() / 1e6:.2f} to {three.total() / 1e6:.2f}, {100 * change:+.0f} %",
        "yes if they fall by 10 % or more, partly if by 2 % or more, else no",
        YES if change <= -0.1 else PARTLY if change <= -0.02 else NO,
        "A disk that does one I/O at a time loses nothing by a third client; the paper's target"
        " lost it at a CPU that was full.",
    )  # fmt: skip


def _full(table: Table4, alone: Row, two: Row, three: Row) -> Claim:
    cpu, disk = (
        ", ".join(f"{100 * part:.0f} %" for part in parts)
        for parts in (
            [row.cpu_busy for row in (alone, two, three)],
            [row.disk_busy for row in (alone, two, three)],
        )
    )
    return Claim(
        "Table 4", "the target's CPU is what is full", "over 90 % with two clients, then near 100",
        f"CPU {cpu} with one, two, three; its disk {disk}",
        "yes if the CPU is busy for more than 90 % of the time with two and 95 % with three,"
        " partly if with three, else no",
        NO if three.cpu_busy <= 0.95 else YES if two.cpu_busy > 0.9 else PARTLY,
        f"Here it is the disk by design, {table.service_ns / 1e6:.0f} ms for each I/O. The CPU is"
        " an emulated one, and its time is that of the machine's clock, also while others run"
        " there.",
    )  # fmt: skip


def _sender(alone: Row, two: Row, three: Row) -> Claim:
    rows = (alone, two, three)
    return Claim(
        "Table 4", "the target's CPU is mostly in the thread that sends", "mostly",
        ", ".join(f"{100 * row.threads.get(SENDER, 0.0):.0f} %" for row in rows)
        + f" of the time of all threads in {SENDER}; most in "
        + ", ".join(next(iter(row.threads)) for row in rows),
        "yes if no thread has more with any number of clients, no if others have more with all,"
        " else partly",
        verdict(*(next(iter(row.threads)) == SENDER for row in rows)),
        "LIO has a thread that sends for each session. What interrupts do counts for the thread"
        " that they come to, and for none if the CPU is idle.",
    )  # fmt: skip


def _not_here() -> Iterator[Claim]:
    yield no_figure(
        "Figure 3", "IoMeter beside SPEK, random writes of 16 KiB", "175 IOPS, from 0 to 300",
        BUFFERED,
    )  # fmt: skip
    yield no_figure(
        "Figures 5 and 6", "IoMeter beside SPEK, four loads over block size",
        "33 against 53 MB/s in sequential reads, more in small sequential writes, alike in random"
        " reads; up to 600 % apart", BUFFERED,
    )  # fmt: skip
    yield no_figure(
        "Figure 1", "file system benchmarks", "vary with options of the file system",
        "Motivation: no block device is measured.",
    )  # fmt: skip
    yield no_figure(
        "Figure 2", "structure: controller, workers, probers", "a drawing",
        "`spekctl fleet` controls workers and probers of several hosts; Table 4 here is measured by"
        " it.",
    )  # fmt: skip
    yield no_figure(
        "Table 1", "machines: Pentium III of 800 and 866 MHz, Gigabit Ethernet", "a list",
        "Guests of emulated processors take their place, so no time of a processor is compared.",
    )  # fmt: skip
    yield no_figure(
        "Table 5", "benchmark tools in three categories", "a list", "There is nothing to measure.",
    )  # fmt: skip
    yield no_figure(
        "Section 4", "time of a context switch and of a system call, by HBBench",
        "4.27 ms and 0.440 ms on average",
        "It is a property of the paper's machine; `make bench` counts instructions per I/O.",
    )  # fmt: skip
