# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl prober: sample a machine without a load, as on the targets of somebody else's load."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spekctl.cli import Group
from spekctl.commands import options
from spekctl.commands.options import DURATION
from spekctl.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from spekctl.documents.prober import ProberReport
    from spekctl.kernel.prober import Prober
    from spekctl.run.disk_looks import Looks
    from spekctl.run.probe import Collector

SECOND = 10**9
TABLES = ("cpu", "memory", "net", "disk", "power", "task")
# Rows are fetched this often at least, and before the ring is half full.
_PAUSE_S = 1.0
# After the end the prober waits this long for power, and a little more passes here.
_LAST_ROW_S = 30.0

F = TypeVar("F", bound=Callable[..., Any])

EPILOG = """\b
Examples:
  spekctl prober start --for 10m -o machine.json
  # power states of all disks too
  spekctl prober start --for 1h --power-states 5s -o nas.json
  # for days; read it at any time
  spekctl prober start --detach --interval 10s --rows 100000
  spekctl prober watch
  spekctl prober stop -o machine.json && spekctl report machine.json
"""


@click.group(cls=Group, epilog=EPILOG)
def command() -> None:
    """Sample CPUs, memory, network, disks and power, without a run.

    Needs spek_prober only, not spek: a machine whose disks somebody else loads can be watched too.
    The samples become a document for `spekctl show` and `spekctl report`.
    """


def _chosen(function: F) -> F:
    """What is taken into the document, and where that goes."""
    for option in (
        options.as_json("Samples"),
        options.result("Write the samples as JSON to FILE."),
        click.option(
            *("--power-feed", "feeds"),
            multiple=True,
            metavar="NAME",
            help="Only the rails of this power feed; repeatable.  [default: all feeds]",
        ),
        click.option(
            *("--table", "tables"),
            multiple=True,
            type=click.Choice(TABLES),
            help="Only this table; repeatable.  [default: all tables]",
        ),
    ):
        function = option(function)
    return function


@command.command()
@click.option(
    "--interval",
    "interval_ns",
    type=DURATION,
    default="1s",
    show_default=True,
    help="Time from row to row, 1ms to 1h.",
)
@click.option("--for", "length_ns", type=DURATION, help="Stop after this time.  [default: Ctrl-C]")
@click.option(
    "--rows",
    type=click.IntRange(min=2),
    metavar="N",
    help="Rows that the kernel keeps until they are read; older ones are lost, and counted."
    "  [default: 4096, or what --detach --for needs]",
)
@click.option(
    "--detach",
    is_flag=True,
    help="Return at once; the prober runs until `spekctl prober stop`.",
)
@click.option(
    "--power-states",
    "power_states_ns",
    type=DURATION,
    help="Look at the power states of disks with this time between two looks, 100ms at least; see"
    " `spekctl power states`. Needs root.",
)
@click.option(
    *("--device", "-d", "disks"),
    multiple=True,
    metavar="DEV",
    help="With --power-states: look at this disk, or at those below this RAID or volume;"
    " repeatable.  [default: all disks]",
)
@_chosen
def start(
    interval_ns: int,
    length_ns: int | None,
    rows: int | None,
    detach: bool,
    power_states_ns: int | None,
    disks: tuple[str, ...],
    tables: tuple[str, ...],
    feeds: tuple[str, ...],
    output: Path | None,
    as_json: bool,
) -> int:
    """Start sampling, and show the samples at the end.

    Ctrl-C ends it and shows them. There is one probe at a time: none can start during a run that
    uses the prober.
    """
    import msgspec

    from spekctl import files
    from spekctl.kernel.prober import Prober

    if length_ns is not None and length_ns < interval_ns:
        raise UsageError("--for must be at least --interval")
    if detach and power_states_ns is not None:
        raise UsageError(
            "--power-states cannot be combined with --detach: the looks end with this command"
        )
    looks = _looks(power_states_ns, disks)
    if detach:
        names = ("interval_ns", "rows", "detach")
        options.refuse_others("--detach", names, "read and stop choose what is read, and when")
        with Prober() as prober:
            number = prober.start(interval_ns, ring_rows=rows, detached=True)
            kept = prober.info().ring_rows
        click.echo(
            f"spekctl: probe {number} samples until `spekctl prober stop`; the kernel keeps"
            f" the last {kept} rows",
            err=True,
        )
        return int(ExitCode.OK)
    files.check_writable(output)
    with Prober() as prober, looks or nullcontext():
        number = prober.start(interval_ns, ring_rows=rows)
        report = _sample(prober, number, length_ns, (tables, feeds))
        if looks is not None:
            looks.close()
            report = msgspec.structs.replace(report, power_states=looks.states())
            if looks.trouble:
                click.echo(f"spekctl: {looks.trouble}", err=True)
        _deliver(report, output, as_json)
        prober.delete(number)
    return int(ExitCode.OK)


def _looks(interval_ns: int | None, paths: tuple[str, ...]) -> Looks | None:
    """The looks at power states that are wanted, if any are."""
    from spekctl.block import device
    from spekctl.power.course import LEAST_NS, Pace
    from spekctl.run.disk_looks import Looks

    if interval_ns is None:
        if paths:
            raise UsageError("--device needs --power-states as well")
        return None
    if interval_ns < LEAST_NS:
        raise UsageError("--power-states must be at least 100ms")
    devices = [device.find(path) for path in paths] if paths else list(device.every())
    if not devices:
        raise UsageError("--power-states: this machine has no disk")
    return Looks(devices, Pace(interval_ns))


def _sample(
    prober: Prober,
    number: int,
    length_ns: int | None,
    chosen: tuple[tuple[str, ...], tuple[str, ...]],
) -> ProberReport:
    from spekctl.kernel.gen.spek_prober_records import ProbeState
    from spekctl.run.job import Interrupts
    from spekctl.run.probe import Collector

    collector = Collector(prober, number, *chosen)
    info = prober.info()
    half_full_s = info.interval_ns * info.ring_rows / SECOND / 2
    end_ns = None if length_ns is None else info.started_ns + length_ns
    with Interrupts() as interrupts:
        while not interrupts.count and info.state is ProbeState.RUNNING:
            left_s = _PAUSE_S if end_ns is None else (end_ns - time.monotonic_ns()) / SECOND
            if left_s <= 0:
                break
            time.sleep(max(0.001, min(_PAUSE_S, half_full_s, left_s)))
            collector.fetch()
            info = prober.info()
        _end(prober, number, collector)
    return collector.report()


def _end(prober: Prober, number: int, collector: Collector) -> None:
    """Stop the probe and fetch all of its rows; power of the last ones may still be on its way."""
    prober.stop(number)
    end_s = time.monotonic() + _LAST_ROW_S
    collector.fetch()
    while not collector.is_complete and time.monotonic() < end_s:
        time.sleep(0.05)
        collector.fetch()


@command.command()
@click.option("--count", type=click.IntRange(min=1), metavar="N", help="Exit after N samples.")
def watch(count: int | None) -> int:
    """Print the samples of the probe as they come, until it ends.

    Ctrl-C stops watching; the prober keeps running.
    """
    from spekctl.kernel.gen.spek_prober_records import ProbeState
    from spekctl.kernel.prober import Prober
    from spekctl.render import prober as render
    from spekctl.render.output import reader_left
    from spekctl.run.job import Interrupts
    from spekctl.run.probe import Collector, current

    shown = 0
    with Prober() as prober, Interrupts() as interrupts:
        info = current(prober)
        collector = Collector(prober, info.id)
        pause_s = min(_PAUSE_S, info.interval_ns / SECOND)
        # What there is already is for read.
        collector.fetch()
        collector.take()
        while not interrupts.count and not reader_left():
            ended = prober.info().state is not ProbeState.RUNNING and collector.is_complete
            if ended or (count is not None and shown >= count):
                return int(ExitCode.OK)
            time.sleep(pause_s)
            collector.fetch()
            samples = collector.take()
            for line in render.lines(samples, info.started_ns, heading=not shown):
                click.echo(line)
            sys.stdout.flush()
            shown += len(samples.start_ns)
        return int(interrupts.exit_code) if interrupts.count else int(ExitCode.OK)


@command.command()
@_chosen
def read(
    tables: tuple[str, ...], feeds: tuple[str, ...], output: Path | None, as_json: bool
) -> int:
    """Show the samples that the kernel still keeps; the prober keeps running."""
    from spekctl import files
    from spekctl.kernel.prober import Prober
    from spekctl.run.probe import Collector, current

    files.check_writable(output)
    with Prober() as prober:
        collector = Collector(prober, current(prober).id, tables, feeds)
        collector.fetch()
        _deliver(collector.report(), output, as_json)
    return int(ExitCode.OK)


@command.command()
@_chosen
def stop(
    tables: tuple[str, ...], feeds: tuple[str, ...], output: Path | None, as_json: bool
) -> int:
    """Stop the probe, and show its samples.

    Those of a probe that was not detached appear in the terminal that started it.
    """
    from spekctl import files
    from spekctl.kernel.prober import Prober
    from spekctl.run.probe import Collector, current

    files.check_writable(output)
    with Prober() as prober:
        info = current(prober)
        if not info.detached:
            options.refuse_others("stop", (), "the terminal that started the probe has its samples")
            prober.stop(info.id)
            click.echo(
                f"spekctl: probe {info.id} has ended; its samples appear where it was started",
                err=True,
            )
            return int(ExitCode.OK)
        collector = Collector(prober, info.id, tables, feeds)
        _end(prober, info.id, collector)
        _deliver(collector.report(), output, as_json)
        prober.delete(info.id)
    return int(ExitCode.OK)


def _deliver(report: ProberReport, output: Path | None, as_json: bool) -> None:
    from spekctl.commands.deliver import deliver
    from spekctl.render.document import print_contents

    deliver(report, print_contents, as_json, output, "samples")
