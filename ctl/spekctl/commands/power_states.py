# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl power states and set: power states of disks, seen without waking them, and changed."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from spekctl.commands import options
from spekctl.commands.options import DURATION
from spekctl.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from spekctl.power.course import Course
    from spekctl.power.disk import Disk

SECOND = 10**9
TARGETS = ("active", "idle", "standby", "sleep")
# Between the two readings of the counters of I/O that a single look consists of.
WINDOW_S = 1.0

STATES_EPILOG = """\b
Examples:
  spekctl power states /dev/sda /dev/sdb
  spekctl power states /dev/sd[a-d] --every 5s --for 1h -o states.json
  spekctl show states.json
"""
SET_EPILOG = """\b
Examples:
  spekctl power set /dev/sda standby
  spekctl power set /dev/sda idle --timer 10m
"""

_PROTOCOL = click.option(
    *("--protocol", "protocol_name"),
    type=click.Choice(["ata", "scsi"]),
    help="How a SCSI disk is asked.  [default: ata if its translation layer says that it is one]",
)


@click.command("states", no_args_is_help=True, epilog=STATES_EPILOG)
@click.argument("devices", metavar="DEV...", nargs=-1, required=True)
@click.option(
    "--every",
    "interval_ns",
    type=DURATION,
    help="Look again and again, with this time between two looks, 100ms at least.",
)
@click.option("--for", "length_ns", type=DURATION, help="Stop after this time.  [default: Ctrl-C]")
@_PROTOCOL
@options.output("Write times, transitions and spin-ups as JSON to FILE.")
@options.as_json("States")
def states(
    devices: tuple[str, ...],
    interval_ns: int | None,
    length_ns: int | None,
    protocol_name: str | None,
    output: Path | None,
    as_json: bool,
) -> int:
    """Show power states of disks, and wake none.

    Suspended disks are sent nothing, disks with I/O are not asked, and all others get one command
    that changes no power condition: CHECK POWER MODE, REQUEST SENSE, or Get Features of NVMe.
    A disk that did I/O within a second, or since the last look, is active, else idle. With --every,
    each change is printed, and at the end the time in each state, transitions and spin-ups.

    Needs root, except for disks that are suspended or have I/O. A disk that another program than
    spekctl put to sleep (hdparm -Y) cannot be recognized, and wakes up.
    """
    from spekctl import files
    from spekctl.commands.deliver import deliver
    from spekctl.power import course
    from spekctl.power.look import Observer
    from spekctl.render.document import print_contents

    if interval_ns is None and length_ns is not None:
        raise UsageError("--for needs --every as well")
    if interval_ns is not None and interval_ns < course.LEAST_NS:
        raise UsageError("--every must be at least 100ms")
    if interval_ns is not None and length_ns is not None and length_ns < interval_ns:
        raise UsageError("--for must be at least --every")
    files.check_writable(output)
    courses = [course.of_disk(Observer(disk)) for disk in _disks(devices, protocol_name)]
    for each in courses:
        each.observer.count()
    time.sleep(WINDOW_S if interval_ns is None else min(WINDOW_S, interval_ns / SECOND))
    started = course.clocks()
    code = ExitCode.OK
    if interval_ns is None:
        for each in courses:
            each.look()
    else:
        code = _follow(courses, interval_ns, length_ns, quiet=as_json)
    ended = course.clocks()
    report = course.report(courses, interval_ns or 0, started, ended)
    deliver(report, print_contents, as_json, output, "power states")
    return int(code)


def _disks(devices: tuple[str, ...], protocol_name: str | None) -> list[Disk]:
    from spekctl.power import disk

    protocol = disk.Protocol(protocol_name) if protocol_name else None
    chosen: dict[str, Disk] = {}
    for path in devices:
        each = disk.find(path, protocol)
        chosen.setdefault(each.node, each)
    return list(chosen.values())


def _follow(
    courses: list[Course], interval_ns: int, length_ns: int | None, quiet: bool
) -> ExitCode:
    """Look until the time is over or Ctrl-C ends it, which is no failure without --for."""
    from spekctl.render import power_states as render
    from spekctl.render.output import reader_left
    from spekctl.run.job import Interrupts

    started_ns = time.monotonic_ns()
    next_ns = started_ns
    with Interrupts() as interrupts:
        while not interrupts.count and not reader_left():
            for each in courses:
                change = each.look()
                if change is not None and not quiet:
                    click.echo(render.line(each.disk.node, change, started_ns))
            sys.stdout.flush()
            if length_ns is not None and next_ns - started_ns >= length_ns:
                return ExitCode.OK
            # Looks that a slow disk delays are left out.
            now_ns = time.monotonic_ns()
            next_ns += interval_ns * max(1, -(-(now_ns - next_ns) // interval_ns))
            if length_ns is not None:
                next_ns = min(next_ns, started_ns + length_ns)
            while not interrupts.count and (left_ns := next_ns - time.monotonic_ns()) > 0:
                time.sleep(min(left_ns / SECOND, 0.2))
        if interrupts.count and length_ns is not None:
            return interrupts.exit_code
    return ExitCode.OK


@click.command("set", no_args_is_help=True, epilog=SET_EPILOG)
@click.argument("device", metavar="DEV")
@click.argument("target", metavar="STATE", type=click.Choice(TARGETS))
@click.option(
    "--timer",
    "timer_ns",
    type=DURATION,
    help="With idle or standby: the disk's own standby timer, after which it goes into standby by"
    " itself; 0: off.",
)
@click.option("--force", is_flag=True, help="Also if the disk is in use, or suspended.")
@_PROTOCOL
def change(
    device: str, target: str, timer_ns: int | None, force: bool, protocol_name: str | None
) -> int:
    """Put a disk into STATE: active, idle, standby or sleep.

    A disk in use is refused (exit code 4): mounted, swap, part of RAID, LVM or the like, open in a
    process, in a run or claim of spek, or claimed by another path to it.

    ATA disks get IDLE, STANDBY or SLEEP; a disk that sleeps answers nothing until it is reset,
    which `set DEV active` does. SCSI disks get START STOP UNIT; sleep stops them until they are
    started. NVMe disks: active is power state 0, idle the first non-operational one, standby the
    last one. Needs root.
    """
    from spekctl.power import change as power_change
    from spekctl.power.look import Observer
    from spekctl.run.candidates import runs_and_claims

    (chosen,) = _disks((device,), protocol_name)
    power_change.check(chosen, target, timer_ns)
    if not force:
        power_change.refuse_used(chosen, *runs_and_claims())
    power_change.put(chosen, target, timer_ns, force, known=runs_and_claims)
    look = Observer(chosen).look()
    click.echo(f"{chosen.node}: {look.state}" + (f" ({look.detail})" if look.detail else ""))
    return 0
