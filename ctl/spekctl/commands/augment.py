# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl augment: an SSD in front of a RAID, so that its disks may sleep."""

from __future__ import annotations

import sys
import time

import click

from spekctl.cli import Group
from spekctl.commands import augment_set, options
from spekctl.commands.options import DURATION
from spekctl.errors import ExitCode, NotFoundError, UsageError

SECOND = 10**9
LEAST_LOOK_NS = 10**8

EPILOG = """\b
Examples:
  spekctl augment create nas --raid /dev/md0 --ssd /dev/sde1 \\
      --spare /dev/sda2 --spare /dev/sdb2
  spekctl augment status
  spekctl augment monitor nas --every 5s
  spekctl augment detach nas
  spekctl augment attach nas --scan --raid /dev/md0
"""

_NAME = click.argument("name")
_TIMEOUT = click.option("--timeout", "timeout_ns", type=DURATION, help="Give up after this time.")


@click.group(cls=Group, epilog=EPILOG)
def command() -> None:
    """Put an SSD in front of a RAID, so that its disks may sleep.

    The SSD takes all writes, each mirrored in the spare area of a member that is awake, and keeps
    copies of what was read. /dev/mapper/NAME is used instead of the RAID. This needs root, dmsetup
    and the kernel module spek_augment; `check` needs neither.
    """


for subcommand in (augment_set.create, augment_set.attach, augment_set.check):
    command.add_command(subcommand)


@command.command()
@click.argument("name", required=False)
@options.as_json()
def status(name: str | None, as_json: bool) -> int:
    """Show caches: mode, devices, what the RAID lacks, hits and wakes.

    Hits and misses are blocks read since attach: hits came from the SSD or a spare area. Dirty
    blocks are those that the RAID lacks.
    """
    from spekctl.augment import state
    from spekctl.augment.mapper import Mapper
    from spekctl.commands.deliver import deliver
    from spekctl.render.document import print_contents

    deliver(state.report(Mapper(), name), print_contents, as_json, None)
    return 0


@command.command(no_args_is_help=True)
@_NAME
@click.option(
    "--wait",
    "wait_ns",
    type=DURATION,
    help="Wait until the RAID lacks nothing, at most this long; later exit code 1.",
)
def destage(name: str, wait_ns: int | None) -> int:
    """Write to the RAID what it lacks. Its disks wake up."""
    from spekctl.augment import detach as detaching
    from spekctl.augment.mapper import Mapper

    mapper = Mapper()
    before = detaching.destage(mapper, name)
    if wait_ns is None:
        click.echo(f"spekctl: {name} destages {before.dirty_blocks:,} blocks", err=True)
        return 0
    detaching.wait_clean(mapper, name, wait_ns)
    click.echo(f"spekctl: {name}: the RAID has all that was written", err=True)
    return 0


@command.command(no_args_is_help=True)
@_NAME
@_TIMEOUT
def detach(name: str, timeout_ns: int | None) -> int:
    """Destage everything, wait for it, and remove /dev/mapper/NAME.

    After this the RAID is whole without the cache. A cache that is mounted or open is refused
    (exit code 4). After --timeout the cache stays as it is (exit code 1). The SSD and the spare
    areas keep their superblocks, so that `attach` finds them again.
    """
    from spekctl.augment import detach as detaching
    from spekctl.augment.mapper import Mapper
    from spekctl.run.candidates import runs_and_claims

    mapper = Mapper()
    detaching.detach(mapper, name, timeout_ns, *runs_and_claims())
    click.echo(f"spekctl: {name} is detached: the RAID is whole without it", err=True)
    return 0


@command.command(no_args_is_help=True)
@_NAME
@click.option(
    *("--lost", "blocks"),
    type=click.IntRange(min=1),
    metavar="N",
    required=True,
    help="Number of blocks that are lost, as status has it: no others are given up.",
)
def forget(name: str, blocks: int) -> int:
    """Give up blocks that no device of a failed cache can read.

    `status` lists them. What the RAID has of them counts again, which is older, and the cache
    accepts writes. Until then a failed cache serves reads of all other blocks, and the records
    stay on the devices, so that another `attach` may still read them.
    """
    from spekctl.augment import lost
    from spekctl.augment.mapper import Mapper

    lost.forget(Mapper(), name, blocks)
    click.echo(f"spekctl: {name}: {blocks:,} blocks are given up", err=True)
    return 0


@command.command(no_args_is_help=True)
@_NAME
@click.option(
    "--every",
    "interval_ns",
    type=DURATION,
    default="5s",
    show_default=True,
    help="Time between two looks, 100ms at least.",
)
@click.option("--for", "length_ns", type=DURATION, help="Stop after this time.  [default: Ctrl-C]")
@click.option(
    *("--member-disk", "disks"),
    multiple=True,
    metavar="DEV",
    help="Disk of a member; give those of all, in the order of the spare areas."
    "  [default: the disks that the spare areas lie on]",
    shell_complete=options.complete_device,
)
@click.option(
    *("--idle-timeout", "idle_ns"),
    type=DURATION,
    help="Put a disk into standby when it has done no I/O for this time.  [default: leave that to"
    " the disks' own timers]",
)
@click.option(
    "--starts-per-day",
    type=click.IntRange(min=1),
    metavar="N",
    help="With --idle-timeout: let a disk that has started N times within 24 hours stay awake."
    " Starts before this command do not count.",
)
def monitor(
    name: str,
    interval_ns: int,
    length_ns: int | None,
    disks: tuple[str, ...],
    idle_ns: int | None,
    starts_per_day: int | None,
) -> int:
    """Tell the cache NAME which of its members are awake, and let idle ones sleep.

    Looks at the disks as `spekctl power states` does, which wakes none, and tells the cache each
    change: writes are mirrored on a member that is awake, and none is woken for them. Prints
    changes, and what woke a member. Ends when the cache is detached.
    """
    from spekctl.augment import monitor as monitoring
    from spekctl.augment.mapper import Mapper
    from spekctl.augment.rest import Rules
    from spekctl.render.output import reader_left
    from spekctl.run.job import Interrupts

    if interval_ns < LEAST_LOOK_NS:
        raise UsageError("--every must be at least 100ms")
    if idle_ns is not None and idle_ns < interval_ns:
        raise UsageError("--idle-timeout must be at least as long as --every")
    if starts_per_day is not None and idle_ns is None:
        raise UsageError("--starts-per-day needs --idle-timeout as well")
    rules = None if idle_ns is None else Rules(idle_ns, starts_per_day)
    mapper = Mapper()
    mapper.state(name)
    watch = monitoring.Monitor(mapper, name, monitoring.disks_of(mapper.table(name), disks), rules)
    end_ns = None if length_ns is None else time.monotonic_ns() + length_ns
    with Interrupts() as interrupts:
        while not interrupts.count and not reader_left():
            try:
                told = watch.step()
            except NotFoundError:
                click.echo(f"spekctl: {name} is detached", err=True)
                return 0
            for each in told:
                how = "awake" if each.awake else "asleep"
                why = f" ({each.why})" if each.why else ""
                click.echo(f"member {each.member}  {each.disk}  {each.state}: {how}{why}")
            sys.stdout.flush()
            next_ns = time.monotonic_ns() + interval_ns
            if end_ns is not None and next_ns > end_ns:
                return 0
            while not interrupts.count and (left_ns := next_ns - time.monotonic_ns()) > 0:
                time.sleep(min(left_ns / SECOND, 0.2))
        if interrupts.count and length_ns is not None:
            return int(interrupts.exit_code)
    return int(ExitCode.OK)
