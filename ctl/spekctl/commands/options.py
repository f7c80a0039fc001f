# SPDX-License-Identifier: GPL-2.0
"""Parameter types of the command line."""

from __future__ import annotations

import math
from collections.abc import Collection
from typing import TYPE_CHECKING, Any

import click
from click.core import ParameterSource

from spekctl import units
from spekctl.errors import UsageError

if TYPE_CHECKING:
    from spekctl.power.meter import PowerOptions
    from spekctl.run.start import StartAt


class Duration(click.ParamType):  # type: ignore[type-arg]
    """``10s`` as nanoseconds."""

    name = "TIME"

    def __init__(self, bare_seconds: bool = True) -> None:
        self.bare_seconds = bare_seconds

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        if isinstance(value, int):
            return value
        try:
            return units.parse_duration_ns(str(value), bare_seconds=self.bare_seconds)
        except UsageError as error:
            self.fail(error.message, param, ctx)


class Size(click.ParamType):  # type: ignore[type-arg]
    """``64KiB`` as bytes."""

    name = "SIZE"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> int:
        if isinstance(value, int):
            return value
        try:
            return units.parse_size(str(value))
        except UsageError as error:
            self.fail(error.message, param, ctx)


class StartTime(click.ParamType):  # type: ignore[type-arg]
    """``+5s``, ``mono:NS`` or ISO 8601 as a start.StartAt."""

    name = "WHEN"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> StartAt:
        from spekctl.run import start

        try:
            return start.parse(str(value))
        except UsageError as error:
            self.fail(error.message, param, ctx)


class CpuList(click.ParamType):  # type: ignore[type-arg]
    """``0-3,8`` as CPU numbers."""

    name = "LIST"

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[int]:
        if isinstance(value, list):
            return value
        try:
            return units.parse_cpu_list(str(value))
        except UsageError as error:
            self.fail(error.message, param, ctx)


class Numbers(click.ParamType):  # type: ignore[type-arg]
    """``1,2,5`` or ``10-100:10`` as numbers."""

    name = "LIST"

    def __init__(self, whole: bool = True) -> None:
        self.whole = whole

    def convert(
        self, value: object, param: click.Parameter | None, ctx: click.Context | None
    ) -> list[int | float]:
        if isinstance(value, list):
            return value
        try:
            return units.parse_numbers(str(value), whole=self.whole)
        except UsageError as error:
            self.fail(error.message, param, ctx)


class FiniteRange(click.FloatRange):
    """A number in a range; for click NaN is in all of them."""

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> float:
        number = float(super().convert(value, param, ctx))
        if not math.isfinite(number):
            self.fail(f"'{value}' is not a number", param, ctx)
        return number


DURATION = Duration()
DURATION_WITH_UNIT = Duration(bare_seconds=False)
SIZE = Size()
CPU_LIST = CpuList()
WHOLE_NUMBERS = Numbers()
NUMBERS = Numbers(whole=False)


def refuse_others(option: str, allowed: Collection[str], why: str) -> None:
    """Refuse what was given besides @option and does not go with it; @allowed names parameters."""
    context = click.get_current_context()
    for one in context.command.params:
        given = context.get_parameter_source(one.name or "") is ParameterSource.COMMANDLINE
        if given and one.name not in allowed:
            raise UsageError(f"{option} and {max(one.opts, key=len)} exclude each other: {why}")


# --- options of run that other commands have, too -----------------------------------------------

_DEVICE_HELP = "Block device to test; give it again to stripe the workload over several."
devices = click.option(
    "--device", "-d", "devices", multiple=True, required=True, metavar="DEV", help=_DEVICE_HELP
)
optional_devices = click.option(
    "--device", "-d", "devices", multiple=True, metavar="DEV", help=_DEVICE_HELP
)
time = click.option(
    "--time",
    "time_ns",
    type=DURATION,
    help="Measure for so long: 500ms, 60s, 5m, 2h; a bare number is seconds. Default: what the"
    " workload says, else 60s.",
)
ramp = click.option("--ramp", "ramp_ns", type=DURATION, help="Run for so long before measuring.")
start_at = click.option(
    "--start-at",
    type=StartTime(),
    help="Open the devices, then start at WHEN: +5s (from the moment they are open),"
    " mono:NANOSECONDS of CLOCK_MONOTONIC, or an ISO 8601 time, local unless it has an offset,"
    " converted once with the clocks as they are when the devices are open. A time that has"
    " passed is refused.",
)
workers = click.option(
    "--workers", type=int, metavar="N", help="Worker threads, one CPU each.  [1]"
)
cpus = click.option(
    "--cpus", type=CPU_LIST, help="Their CPUs: 0-3,8. Without --workers one for each."
)
seed = click.option(
    "--seed",
    type=int,
    default=1,
    show_default=True,
    metavar="S",
    help="Same seed, workload and number of workers: same sequence of I/Os.",
)
write = click.option("--write", is_flag=True, help="Allow writing. Needed by workloads that write.")
destroy = click.option(
    "--destroy",
    multiple=True,
    metavar="SERIAL",
    help="Overwrite this device although it holds data: its serial number or WWN, as `spekctl"
    " devices` shows it (for devices without one that no other disk has: MAJ:MIN/DISKSEQ). Together"
    " with --write.",
)
backend = click.option(
    "--backend",
    type=click.Choice(["auto", "bio", "mq", "scsi"]),
    default="auto",
    show_default=True,
    help="How I/O reaches the device; auto chooses bio or mq, and the result says what and why."
    " scsi sends READ(16) and WRITE(16) to a SCSI disk, each tried once, and decodes its errors.",
)
polled = click.option("--polled", is_flag=True, help="Poll for completions; needs poll queues.")
interval = click.option(
    "--interval",
    "interval_ns",
    type=DURATION,
    help="Report interval; 0 reports only at the end.  [1s]",
)
max_outstanding = click.option(
    "--max-outstanding",
    type=int,
    metavar="N",
    help="I/Os that may be outstanding at once; arrivals beyond that wait and are counted as"
    " backlog.  [the depths of closed loops; up to 1024 more for open ones]",
)
batch = click.option("--batch", type=int, metavar="N", help="I/Os handed over in one go.")
spin = click.option(
    "--spin",
    "spin_ns",
    type=DURATION_WITH_UNIT,
    default="0ns",
    show_default=True,
    help="Spin instead of sleeping: so long before an arrival, and so long at first when waiting"
    " for a completion.  Exacter, costs CPU.",
)
max_errors = click.option(
    "--max-errors", type=int, default=0, metavar="N", help="End after N failed I/Os; 0: never."
)
data = click.option(
    "--data", type=click.Choice(["zero", "random"]), help="What writes write.  [zero]"
)
verify = click.option(
    "--verify",
    is_flag=True,
    help="Stamp every block that is written, check whatever is read, and read everything back at"
    " the end. Takes 8 bytes of kernel memory for each block; I/Os that meet on a block wait for"
    " each other, so times are not comparable.",
)
hrrw = click.option(
    "--hrrw", type=click.Choice(["classic", "fixed"]), help="Variant of random walks.  [classic]"
)
iops_per_bsu = click.option(
    "--iops-per-bsu", type=int, metavar="N", help="I/Os per second of one BSU.  [50]"
)
stripe = click.option(
    "--stripe",
    "stripe_bytes",
    type=SIZE,
    default="64KiB",
    show_default=True,
    help="Stripe unit over several devices, a power of two.",
)
prober_interval = click.option(
    "--prober-interval",
    "prober_ns",
    type=DURATION,
    default="1s",
    show_default=True,
    help="How often spek_prober samples the machine, if it is loaded.",
)
no_prober = click.option(
    "--no-prober", is_flag=True, help="Do not use spek_prober, which has the power as well."
)
power_feed = click.option(
    "--power-feed",
    "power_feeds",
    multiple=True,
    metavar="NAME",
    help="Power of this feed only; may be repeated.  [all feeds that are open]",
)
power_baseline = click.option(
    "--power-baseline",
    metavar="W",
    help="Take so many watts (12.5, or 800mW) off before power is compared with the load, or the"
    " mean of the RESULT named here: that of a run, idle or with the disks off.",
)


def power_of(feeds: tuple[str, ...], baseline: str | None) -> PowerOptions:
    """What --power-feed and --power-baseline ask for."""
    from spekctl.power.meter import PowerOptions

    return PowerOptions(feeds, _baseline_w(baseline) if baseline is not None else 0.0)


def _baseline_w(text: str) -> float:
    """Watts, or those of the result in a file."""
    from pathlib import Path

    from spekctl import files

    try:
        return units.parse_watts(text)
    except UsageError:
        path = Path(text)
        if not files.exists(path):
            raise UsageError(
                f"--power-baseline: '{text}' is neither a power like 12.5 or 800mW nor a file"
            ) from None

    from spekctl.plots import source

    source.expect(path, [source.Kind.RESULT], "a baseline")
    power = source.load_result(path).power
    if power is None or power.measure.total.mean_w is None:
        raise UsageError(f"--power-baseline: {path} has no power in it")
    return power.measure.total.mean_w


progress = click.option(
    "--progress",
    type=click.Choice(["auto", "live", "lines", "none"]),
    default="auto",
    show_default=True,
    help="View while it runs, on standard error: live on a terminal, else a line now and then.",
)
