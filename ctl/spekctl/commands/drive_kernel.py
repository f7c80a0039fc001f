# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl drive new, list, stats and delete: modelled drives in the kernel."""

from __future__ import annotations

import contextlib
import glob
import json
import os
import time
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from spekctl import units
from spekctl.commands import drive_model, options
from spekctl.errors import NotFoundError, SpekError, UsageError

if TYPE_CHECKING:
    from spekctl.kernel.drives import Drives
    from spekctl.kernel.gen.spek_drive_records import DriveInfo, StatsInfo

READY_S = 60.0
GONE_S = 10.0
NODE_S = 30.0
MOST_ATOMIC = 16 << 20
SCSI_HOSTS = "/sys/class/scsi_host"
_NUMBER = click.argument("drive", metavar="DRIVE")


@click.command("new", no_args_is_help=True)
@drive_model.argument
@drive_model.changes
@drive_model.schedule("Order of service of the queued requests.")
@click.option(
    "--queue-depth",
    type=click.IntRange(1, 256),
    default=32,
    show_default=True,
    metavar="N",
    help="Queue depth of the drive.",
)
@drive_model.max_wait
@click.option(
    "--spin",
    "spin_ns",
    type=options.DURATION_WITH_UNIT,
    default="0",
    show_default=True,
    help="Set the timer this long before an event and wait for it with interrupts off, at most"
    " 200us: for hosts whose timers are late, such as emulated guests.",
)
@click.option("--name", "label", metavar="NAME", help="Name of the drive.  [default: the model's]")
@click.option("--serial", metavar="TEXT", help="Serial number, at most 20 characters.")
@click.option(
    "--store",
    type=click.Choice(["none", "memory"]),
    default="memory",
    show_default=True,
    help="Where written data is kept; with none, reads return zeros.",
)
@click.option(
    "--store-size",
    "store_bytes",
    type=options.SIZE,
    default=0,
    help="Limit of the memory for the data of this drive.  [default: the module's limit]",
)
@click.option(
    "--atomic-write",
    "atomic_bytes",
    type=options.SIZE,
    default=0,
    help="Largest atomic write, which a power cut loses as a whole or not at all: a power of two"
    " from 512 bytes to 16 MiB.  [default: the drive has no atomic writes]",
)
@click.option(
    "--seed",
    type=click.IntRange(0, 2**32 - 1),
    metavar="S",
    help="Random seed of the initial angle of the platters."
    "  [default: the number of existing drives]",
)
@options.as_json()
def new(name: str, label: str | None, as_json: bool, **given: Any) -> int:
    """Create a SCSI disk that behaves like MODEL, and print its device node.

    This needs the kernel module spek_drive. The disk exists until `spekctl drive delete` or until
    the module is unloaded.
    """
    from spekctl.kernel.drives import MOST_SERIAL, Drives, Making
    from spekctl.kernel.gen.spek_drive import MAX_NAME, MAX_SPIN_NS
    from spekctl.kernel.gen.spek_drive_records import Policy, Store

    serial = given.pop("serial") or ""
    for option, text, most in (
        ("--serial", serial, MOST_SERIAL),
        ("--name", label or "", MAX_NAME),
    ):
        if len(text.encode()) > most:
            raise UsageError(f"{option} has {len(text.encode())} characters; allowed are {most}")
    if given["spin_ns"] > MAX_SPIN_NS:
        raise UsageError(
            f"--spin is {units.format_ns(given['spin_ns'])};"
            f" allowed are 0 to {units.format_ns(MAX_SPIN_NS)}"
        )
    atomic = given.pop("atomic_bytes")
    if atomic & (atomic - 1) or (atomic and not 512 <= atomic <= MOST_ATOMIC):
        raise UsageError(
            f"--atomic-write is {units.format_bytes(atomic)};"
            " allowed are powers of two from 512 bytes to 16 MiB"
        )
    seed = given.pop("seed")
    policy, store = Policy(given.pop("schedule")), Store(given.pop("store"))
    rest = {key: given.pop(key) for key in ("queue_depth", "max_wait_ns", "store_bytes", "spin_ns")}
    model = drive_model.take(name, given)
    with Drives() as link:
        phase = _phase(len(link.drives()) if seed is None else seed)
        making = Making(
            policy=policy,
            store=store,
            phase=phase,
            name=label or "",
            serial=serial,
            **rest,
            atomic_sectors=atomic // 512,
        )
        number = link.new(model, making)
        try:
            info = link.wait_ready(number, READY_S)
            node = _wait_for_node(info)
        except BaseException:
            with contextlib.suppress(SpekError):
                link.delete(number)
            raise
    if as_json:
        click.echo(json.dumps(_as_dict(info, node), indent=1))
    else:
        click.echo(node)
        click.echo(f"spekctl: drive {number}: {model.title}", err=True)
    return 0


def _phase(seed: int) -> int:
    """An angle in 2^-64 turn: drives that are created in succession do not rotate in step."""
    z = (seed + 1) * 0x9E3779B97F4A7C15 % 2**64
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9 % 2**64
    z = (z ^ (z >> 27)) * 0x94D049BB133111EB % 2**64
    return z ^ (z >> 31)


def node_of(info: DriveInfo) -> str | None:
    """The disk of a drive, /dev/sdX."""
    paths = glob.glob(f"{SCSI_HOSTS}/host{info.host}/device/target*/*/block/*")
    return f"/dev/{os.path.basename(paths[0])}" if paths else None


def _wait_for_node(info: DriveInfo) -> str:
    end = time.monotonic() + NODE_S
    while time.monotonic() < end:
        node = node_of(info)
        if node is not None and os.path.exists(node):
            return node
        time.sleep(0.05)
    raise SpekError(f"drive {info.id} has no disk after {NODE_S:g} s; is the module sd_mod loaded?")


def _as_dict(info: DriveInfo, node: str | None) -> dict[str, object]:
    fields = {key: value for key, value in asdict(info).items() if not isinstance(value, bytes)}
    return {"disk": node, **fields}


@click.command("list")
@options.as_json()
def list_drives(as_json: bool) -> int:
    """List the modelled drives in the kernel."""
    from spekctl.kernel.drives import Drives

    with Drives() as link:
        drives = link.drives()
    if as_json:
        click.echo(json.dumps([_as_dict(drive, node_of(drive)) for drive in drives], indent=1))
        return 0
    from spekctl.render import tables

    numbers = ("drive", "capacity", "rpm", "arms")
    # As wide as a terminal of 80 columns: what else is known of a drive, stats prints.
    table = tables.table(
        *("drive", "disk", "name", "state", "capacity", "rpm", "arms", "hwmon"),
        right=numbers,
        whole=("disk", "hwmon"),
    )
    for drive in drives:
        table.add_row(
            *(str(drive.id), node_of(drive) or "-", drive.name, _state_of(drive)),
            f"{drive.sectors * 512 / 1e9:,.1f} GB",
            f"{60e12 / drive.period_ps:,.0f}" if drive.period_ps else "flash",
            *(str(drive.arms or "-"), drive.hwmon or "-"),
        )
    if drives:
        tables.show(table)
    else:
        click.echo("spekctl: no drives; `spekctl drive new` creates one", err=True)
    return 0


@click.command("stats", no_args_is_help=True)
@_NUMBER
@options.as_json()
def stats(drive: str, as_json: bool) -> int:
    """Show activity and energy of DRIVE (number or device node) since its creation.

    Energy is that of the model, exact to the nanojoule. Lateness is the time from the end of an
    access in the model to its completion in the kernel.
    """
    from spekctl.kernel.drives import Drives

    with Drives() as link:
        info = _find(link, drive)
        counted = link.stats(info.id)
    if as_json:
        values = asdict(counted)
        del values["hist"]
        click.echo(json.dumps({**values, "lateness": _lateness(counted)}, indent=1))
    else:
        _print_stats(info, counted)
    return 0


@click.command("fault", no_args_is_help=True)
@click.argument("drive")
@click.option(
    *("--arm", "arms"),
    multiple=True,
    type=click.IntRange(0),
    metavar="N",
    help="Make arm N fail after its current access; the first arm is 0. Repeatable.",
)
@click.option("--clear", is_flag=True, help="Remove all faults of the drive first.")
def fault(drive: str, arms: tuple[int, ...], clear: bool) -> int:
    """Make arms of DRIVE fail, or repair them; DRIVE is a number or a device node.

    The remaining arms serve the requests that they can reach; all other requests fail.
    """
    from spekctl.contract.drive_requests import ChangeRequest, FaultRequest
    from spekctl.kernel.drives import Drives

    if not arms and not clear:
        raise UsageError("give the arms to fail (--arm), or --clear")
    if len(set(arms)) < len(arms):
        raise UsageError("--arm: an arm is given twice")
    with Drives() as link:
        info = _find(link, drive)
        faults = [FaultRequest("arm-failed", number=arm) for arm in arms]
        link.change(ChangeRequest(info.id, faults, int(clear)))
    return 0


@click.command("delete")
@click.argument("drives", metavar="DRIVE...", nargs=-1)
@click.option("--all", "every", is_flag=True, help="Delete all drives.")
def delete(drives: tuple[str, ...], every: bool) -> int:
    """Delete drives, given by number or device node.

    The disk disappears at once; its outstanding requests fail.
    """
    from spekctl.kernel.drives import Drives

    if every == bool(drives):
        raise UsageError("name the drives to delete, or give --all instead")
    with Drives() as link:
        numbers = [drive.id for drive in link.drives()] if every else []
        numbers += [_find(link, text).id for text in drives]
        for number in numbers:
            link.delete(number)
        for number in numbers:
            if not link.wait_gone(number, GONE_S):
                click.echo(
                    f"spekctl: drive {number} will be deleted when its disk is closed", err=True
                )
    return 0


def _find(link: Drives, text: str) -> DriveInfo:
    known = link.drives()
    real = os.path.realpath(text)
    for drive in known:
        if text == str(drive.id) or (not text.isdigit() and node_of(drive) == real):
            return drive
    there = ", ".join(str(drive.id) for drive in known) or "none"
    raise NotFoundError(f"there is no drive {text}; the numbers are: {there}")


def _lateness(answer: StatsInfo) -> dict[str, float] | None:
    """Mean and percentiles of the lateness, ns; None: nothing has completed."""
    from spekctl.documents import histogram
    from spekctl.kernel.records import Histogram

    if not answer.late_count:
        return None
    counts = {
        answer.hist_first + index: int.from_bytes(answer.hist[at : at + 8], "little")
        for index, at in enumerate(range(0, len(answer.hist), 8))
    }
    counts = {index: count for index, count in counts.items() if count}
    times = Histogram(answer.hist_bits, counts, answer.late_sum_ns, 0, answer.late_max_ns)
    return {
        "mean_ns": answer.late_sum_ns / answer.late_count,
        "p50_ns": histogram.percentile(times, 500_000),
        "p99_ns": histogram.percentile(times, 990_000),
        "max_ns": answer.late_max_ns,
    }


def _state_of(info: DriveInfo) -> str:
    """What a drive does: its condition, once it is ready."""
    return info.condition if info.state == "ready" else info.state


def _print_stats(info: DriveInfo, counted: StatsInfo) -> None:
    from spekctl.render import tables

    seconds = (counted.now_ns - counted.created_ns) / 1e9
    click.echo(f"drive {info.id}: {info.name}, {node_of(info) or 'no disk'}, {_state_of(info)}")
    click.echo(
        f"  serial {info.serial}, {info.hwmon or 'no sensors'}, outstanding {info.outstanding},"
        f" data {units.format_bytes(info.stored_bytes)}"
    )
    moved = "" if info.flash_channels else f", {counted.moved:,} of them with a seek"
    click.echo(f"  {seconds:.1f} s, {counted.served:,} accesses{moved}")
    click.echo(
        f"  reads {counted.reads:,} ({units.format_bytes(counted.read_sectors * 512)}), writes"
        f" {counted.writes:,} ({units.format_bytes(counted.written_sectors * 512)}), errors"
        f" {counted.errors:,}, aborted {counted.aborted:,}, spindle started {counted.starts} times"
    )
    if info.flash_channels:
        programmed = counted.pages_programmed
        factor = (programmed + counted.pages_moved) / programmed if programmed else 1.0
        click.echo(
            f"  flash: {programmed:,} pages programmed, {counted.pages_moved:,} moved,"
            f" {counted.blocks_erased:,} blocks erased, write amplification {factor:.2f};"
            f" {counted.unmaps:,} discards ({units.format_bytes(counted.unmapped_sectors * 512)})"
        )
    if counted.hits or counted.accepted:
        click.echo(
            f"  cache: {counted.hits:,} reads and {counted.accepted:,} writes, {counted.destages:,}"
            f" destages, {counted.lost:,} lost"
        )
    late = _lateness(counted)
    if late is not None:
        words = (f"{name} {units.format_ns(late[f'{name}_ns'])}" for name in ("mean", "p50", "p99"))
        click.echo(f"  late: {', '.join(words)}, max {units.format_ns(late['max_ns'])}")
    click.echo()
    table = tables.table("rail", "energy", "mean", "now", right=("energy", "mean", "now"))
    for rail in counted.energies:
        table.add_row(
            rail.rail.removeprefix("v") + " V",
            units.format_joules(rail.nj / 1e9),
            units.format_watts(rail.nj / 1e9 / seconds) if seconds else "-",
            units.format_watts(rail.power_uw / 1e6),
        )
    tables.show(table)
    click.echo()
    columns = ("time", "share", "energy")
    table = tables.table("channels" if info.flash_channels else "arms", *columns, right=columns)
    mechanical, flash_only = ("seek", "rotate"), ("erase",)
    for phase in counted.phases:
        if phase.phase in (mechanical if info.flash_channels else flash_only):
            continue
        number = max(1, info.flash_channels or info.arms)
        table.add_row(
            phase.phase,
            units.format_ns(phase.ns),
            f"{phase.ns / 1e9 / seconds / number:.1%}" if seconds else "-",
            units.format_joules(phase.nj / 1e9),
        )
    tables.show(table)
    used = [condition for condition in counted.conditions if condition.ns]
    if len(used) > 1:
        click.echo()
        table = tables.table("condition", "time", right=("time",))
        for condition in used:
            table.add_row(condition.condition, units.format_ns(condition.ns))
        tables.show(table)
