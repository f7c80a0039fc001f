# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl augment create, attach and check: sets of devices."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar
from uuid import UUID

import click

from spekctl import units
from spekctl.commands import options
from spekctl.commands.options import DURATION, SIZE
from spekctl.errors import UsageError

if TYPE_CHECKING:
    from spekctl.augment.table import Policy

F = TypeVar("F", bound=Callable[..., Any])
BLOCK_BYTES = 4096
MS = 10**6
# Options of the policy: the parameter, its unit, and its help.
_SIZES = {
    "prefetch": "Read and copy this much behind a miss that is copied, up to 64KiB: the disks are"
    " awake anyway.",
    "stripe": "Data of a stripe of the RAID, up to 4MiB: its dirty blocks are destaged together."
    "  [default: what the kernel says of the RAID]",
    "sequential": "Sequential reads of this length and more are not copied to the SSD.",
    "high": "Destage when this much of the log is in use,",
    "low": "until no more than this is.",
}
_TIMES = {
    "age": "Destage what is older; 0: no limit.",
    "quiet": "Destage when all members are awake anyway and nothing was read from the RAID for"
    " this time; not again before something is read there or a member wakes, so that writes alone"
    " let members sleep.",
    "retry": "Pause after a destage that failed.",
}

CREATE_EPILOG = """\b
Examples:
  spekctl augment create nas --raid /dev/md0 --ssd /dev/sde1 \\
      --spare /dev/sda2 --spare /dev/sdb2
  spekctl augment create nas --raid /dev/md0 --ssd /dev/sde --destroy S4EV \\
      --spare /dev/vg/area0
"""
ATTACH_EPILOG = """\b
Examples:
  spekctl augment attach nas --scan --raid /dev/md0
  spekctl augment attach nas /dev/nvme0n1p3 /dev/sda2 \\
      --raid /dev/md0 --without member:1
"""
CHECK_EPILOG = """
Exit codes: 0 all devices are there and the log ends cleanly; 2 a device has no superblock, or the
devices are of different sets; 6 the log ends at a record that is torn, damaged or unreadable,
or one of the superblocks is; 8 a device is missing.

\b
Example:
  spekctl augment check /dev/nvme0n1p3 /dev/sda2 /dev/sdb2
"""


def _policy(function: F) -> F:
    for name, text in reversed(_TIMES.items()):
        declared = click.option(f"--{name}", f"{name}_ns", type=DURATION, help=text)
        function = declared(function)
    for name, text in reversed(_SIZES.items()):
        function = click.option(f"--{name}", f"{name}_bytes", type=SIZE, help=text)(function)
    function = click.option(
        "--wake",
        type=click.Choice(["turn", "last"]),
        help="Member that is woken for a write when all sleep: the next in turn, so that starts"
        " wear all alike, or the one that mirrored last.",
    )(function)
    return click.option(
        "--copy",
        type=click.Choice(["never", "first", "second"]),
        help="Copy what is read from the RAID to the SSD: never, when it is first read, or when it"
        " is read again.  [default: the module's, as of those below]",
    )(function)


def _take_policy(given: dict[str, Any]) -> Policy:
    from spekctl.augment.table import Policy

    values: dict[str, Any] = {name: given.pop(name) for name in ("copy", "wake")}
    for names, kind, unit, what in (
        (_SIZES, "bytes", BLOCK_BYTES, "4KiB"),
        (_TIMES, "ns", MS, "1ms"),
    ):
        for name in names:
            value = given.pop(f"{name}_{kind}")
            if value is not None and value % unit:
                raise UsageError(f"--{name} has to be a multiple of {what}")
            field = f"{name}_{'blocks' if kind == 'bytes' else 'ms'}"
            values[field] = None if value is None else value // unit
    return Policy(**values)


_RAID = click.option(
    "--raid",
    required=True,
    metavar="DEV",
    help="The RAID; it keeps its contents.",
    shell_complete=options.complete_device,
)


@click.command("create", no_args_is_help=True, epilog=CREATE_EPILOG)
@click.argument("name")
@_RAID
@click.option(
    "--ssd",
    required=True,
    metavar="DEV",
    help="The SSD, or a partition of it; overwritten.",
    shell_complete=options.complete_device,
)
@click.option(
    *("--spare", "spares"),
    required=True,
    multiple=True,
    metavar="DEV",
    help="Spare area of a member: a partition or volume beside its part of the RAID, on the same"
    " disk; overwritten. One for each of 1 to 8 members.",
    shell_complete=options.complete_device,
)
@click.option(
    "--log-size",
    "log_bytes",
    type=SIZE,
    help="Length of the log, 1MiB to 4TiB; each spare area holds 8 KiB more."
    "  [default: as long as the spare areas allow, at most half of the SSD]",
)
@click.option(
    "--destroy",
    multiple=True,
    metavar="SERIAL",
    help="Overwrite the SSD or spare area with this serial number or WWN although it holds data;"
    " `spekctl devices` lists them. Repeatable.",
)
@_policy
def create(
    name: str,
    raid: str,
    ssd: str,
    spares: tuple[str, ...],
    log_bytes: int | None,
    destroy: tuple[str, ...],
    **given: Any,
) -> int:
    """Make a cache of a RAID, an SSD and spare areas, and attach it; prints its node.

    The RAID may hold a file system: its contents stay as they are. The SSD and the spare areas are
    overwritten: one that holds any signature is refused (exit code 4) without --destroy. Devices
    that are mounted, open for writing or part of something else are refused.
    """
    from spekctl.augment import create as creating
    from spekctl.augment.mapper import Mapper
    from spekctl.block import device as devices
    from spekctl.run import opens
    from spekctl.run.candidates import runs_and_claims

    policy = _take_policy(given)
    mapper = Mapper()
    (raid_device, ssd_device, *members) = devices.targets([raid, ssd, *spares])
    wish = creating.Wish(
        name=name,
        raid=raid_device,
        ssd=ssd_device,
        spares=tuple(members),
        log_bytes=log_bytes,
        policy=policy,
        destroy=destroy,
    )
    created = creating.create(mapper, wish, *runs_and_claims(), count=opens.check_of_command)
    click.echo(created.node)
    for remark in created.remarks:
        click.echo(f"spekctl: {remark}", err=True)
    size = units.format_bytes(created.log_blocks * BLOCK_BYTES)
    click.echo(f"spekctl: set {created.uuid}, with a log of {size}", err=True)
    _say_next(name, created.node, raid)
    return 0


def _say_next(name: str, node: str, raid: str) -> None:
    again = shlex.join(["spekctl", "augment", "attach", name, "--scan", "--raid", raid])
    for line in (
        f"use {node} instead of {raid} from now on: mounting {raid} would corrupt its contents",
        f"`spekctl augment monitor {name}` tells it which members sleep",
        f"after a restart: {again}",
    ):
        click.echo(f"spekctl: {line}", err=True)


@click.command("attach", no_args_is_help=True, epilog=ATTACH_EPILOG)
@click.argument("name")
@click.argument("paths", metavar="[DEV]...", nargs=-1)
@_RAID
@click.option("--scan", is_flag=True, help="Look for the devices among all that nobody uses.")
@click.option(
    "--wait",
    "wait_ns",
    type=DURATION,
    default="0",
    show_default=True,
    help="With --scan: look again for this time while a device is missing, as at boot.",
)
@click.option("--uuid", type=click.UUID, metavar="UUID", help="With --scan: the set to attach.")
@click.option(
    "--without",
    multiple=True,
    metavar="ssd|member:N",
    help="Attach although this device is missing; members count from 0. Repeatable.",
)
@click.option(
    "--give-up-unread",
    is_flag=True,
    help="Attach although the log cannot be read on, and who else may have it is missing, or"
    " records of it are damaged: what follows there is lost.",
)
@click.option(
    "--new-raid",
    metavar="SERIAL",
    help="Take the RAID with this serial number, UUID or WWN although the set was made with"
    " another one: its log is written there.",
)
@_policy
def attach(
    name: str,
    paths: tuple[str, ...],
    raid: str,
    scan: bool,
    wait_ns: int,
    uuid: UUID | None,
    without: tuple[str, ...],
    give_up_unread: bool,
    new_raid: str | None,
    **given: Any,
) -> int:
    """Attach a cache again, as after a restart, and print its device node.

    The devices, in any order, are recognized by their superblocks. A missing one has to be named by
    --without; stale ones cause a warning. What the log holds stays there until it is destaged;
    without the SSD or all members, it is written to the RAID first. A RAID that is not the one that
    the superblocks name is refused (exit code 4) without --new-raid. The policy is not kept on the
    devices: give it again.
    """
    from spekctl.augment import attach as attaching
    from spekctl.augment import sets
    from spekctl.augment.mapper import Mapper
    from spekctl.block import device as devices
    from spekctl.run import opens
    from spekctl.run.candidates import runs_and_claims

    if scan == bool(paths):
        raise UsageError("name the devices of the set, or give --scan instead")
    for option, given_here in (("--uuid", uuid is not None), ("--wait", wait_ns > 0)):
        if given_here and not scan:
            raise UsageError(f"{option} needs --scan as well")
    numbers = [sets.number_of(text) for text in without]
    policy = _take_policy(given)
    mapper = Mapper()

    def attempt() -> attaching.Attached:
        raid_device = attaching.raid_at(raid)
        wish = attaching.Wish(
            name=name,
            raid=raid_device,
            candidates=tuple(attaching.scan(uuid) if scan else devices.targets(paths)),
            without=numbers,
            policy=policy,
            gives_up=give_up_unread,
            new_raid=new_raid,
        )
        return attaching.attach(mapper, wish, *runs_and_claims(), count=opens.check_of_command)

    attached = attaching.patiently(attempt, wait_ns)
    click.echo(attached.node)
    for remark in attached.remarks:
        click.echo(f"spekctl: {remark}", err=True)
    return 0


@click.command("check", no_args_is_help=True, epilog=CHECK_EPILOG)
@click.argument("paths", metavar="DEV...", nargs=-1, required=True)
@options.output("Write the report as JSON to FILE.")
@options.as_json("Report")
def check(paths: tuple[str, ...], output: Path | None, as_json: bool) -> int:
    """Read superblocks and log of a set, without the module, and write nothing.

    DEV are the SSD and the spare areas, or images of them in files. Follows the log from its tail
    as the module does, and checks the checksums of headers and data: tells records, the blocks that
    the RAID lacks, and the first record that is broken. Of a cache that is attached, what is read
    may change meanwhile.
    """
    from spekctl import files
    from spekctl.augment import check as checking
    from spekctl.commands.deliver import deliver
    from spekctl.render.document import print_contents

    files.check_writable(output)
    report = checking.check(paths)
    deliver(report, print_contents, as_json, output)
    return int(checking.exit_code(report))
