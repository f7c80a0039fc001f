# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl pts: IOPS, throughput, latency and write saturation of solid-state storage."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from spekctl.commands import campaign, on_hosts, options
from spekctl.commands.campaign import CampaignOptions
from spekctl.errors import UsageError, at

if TYPE_CHECKING:
    from spekctl.block.device import Device
    from spekctl.campaigns.pts.test import PtsTest
    from spekctl.documents.pts import Parameters
    from spekctl.fleet.steps import FleetSteps
    from spekctl.workload.endings import Steady

EPILOG = """\b
Examples:
  spekctl pts --device /dev/nvme0n1 --write --quick
  spekctl pts --device /dev/nvme0n1 --write --tests iops,latency --depth 64 \\
      --workers 4
  spekctl pts --fleet plan.toml --keys keys/controller --write
  spekctl pts --device /dev/sdb --write --no-purge --until steady:range=10% \\
      --dry-run

\b
Tests, what is tracked for steady state, and what a round measures:
  iops        IOPS of 4 KiB random writes; --reads x --sizes, random
  throughput  bytes per second of writes; reads and writes, sequential, for
              each size a test
  latency     mean response time of 4 KiB random writes; --latency-reads x
              --latency-sizes, random, 1 I/O outstanding
  saturation  (no rounds) 4 KiB random writes from the purged state on

\b
Defaults:             standard                           --quick
  --time              1m                                 2s
  --rounds            25                                 10
  --precondition      200 per cent of the capacity       100 per cent
  --sizes             1M,128K,64K,32K,16K,8K,4K,512      128K,4K
  --reads             100,95,65,50,35,5,0                100,65,0
  --throughput-sizes  1M,128K                            1M
  --latency-sizes     8K,4K,512                          4K
  --latency-reads     100,65,0                           100,65,0
  --saturation-time   (none: --saturation 400 per cent)  1m
Default sizes below the logical block of a device are left out. A round of
iops takes 56 minutes.
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@on_hosts.plain_fleet_options
@options.load_options("write")
@options.destroy
@campaign.out("pts")
@campaign.resume
@campaign.quick("days")
@click.option(
    "--tests",
    "parts",
    metavar="LIST",
    help="Tests to do, in this order.  [default: iops,throughput,latency,saturation]",
)
@click.option(
    "--no-purge",
    is_flag=True,
    help="Do not discard all blocks before each test; the report says so. Without this, a device"
    " that does not support discards is refused.",
)
@click.option(
    "--precondition",
    "precondition_percent",
    type=options.PercentRange(0, 1000, whole=True),
    metavar="P",
    help="Sequential writes before the rounds of a test, in per cent of the capacity; 0: none.",
)
@click.option("--time", "time_ns", type=options.DURATION, help="Length of each measurement.")
@click.option("--rounds", type=click.IntRange(1, 1000), metavar="N", help="Most rounds of a test.")
@click.option(
    "--until",
    type=options.UNTIL,
    metavar="steady[:PART,...]",
    shell_complete=options.complete_until,
    help="Limits of steady state: window (in rounds), range and slope."
    "  [default: steady:window=5,range=20%,slope=10%]",
)
@click.option("--sizes", metavar="LIST", help="iops: block sizes.")
@click.option("--reads", metavar="LIST", help="iops: shares of reads in per cent.")
@click.option("--throughput-sizes", metavar="LIST", help="throughput: block sizes.")
@click.option("--latency-sizes", metavar="LIST", help="latency: block sizes.")
@click.option("--latency-reads", metavar="LIST", help="latency: shares of reads in per cent.")
@click.option(
    "--saturation",
    "saturation_percent",
    type=options.PercentRange(1, 100_000, whole=True),
    metavar="P",
    help="saturation: amount to write, in per cent of the capacity.",
)
@click.option(
    "--saturation-time",
    "saturation_ns",
    type=options.DURATION,
    help="saturation: write for this time instead. Samples are --time long.",
)
@click.option(
    "--depth",
    type=click.IntRange(1),
    default=32,
    show_default=True,
    metavar="N",
    help="I/Os outstanding in total; in latency 1 for each client.",
)
@options.load_options("workers", "seed", "stripe_bytes", "backend", "polled", "batch", "spin_ns")
@campaign.data
@options.metering
@campaign.as_json
@options.progress
@click.option(
    "--dry-run", is_flag=True, help="Check all input and print the plan, without sending any I/O."
)
def command(dry_run: bool, **given: Any) -> int:
    """Test solid-state storage by rules like those of the SNIA PTS.

    Each test starts from a purged device (all blocks are discarded), writes twice the capacity
    sequentially, and then measures in rounds until the metric that it tracks is in steady state:
    over the last 5 rounds, its range is within 20 % of the average, and the excursion of its
    least-squares line within 10 %. Figures are those of these rounds. Write saturation writes at
    random from the purged state on. All data on the devices is overwritten.

    With --fleet, all clients of the plan are tested together: --depth is their total, and in
    latency each has 1 I/O outstanding. Each client purges its own devices, of a shared device its
    slice; if one device cannot be purged, none is. --precondition and --saturation apply to the
    capacity of each client.

    The report goes to standard output and into DIR; `spekctl plot rounds` draws it. Results are
    PTS-like and unaudited.

    Ctrl-C keeps the completed runs; --resume continues after the last of them. The exit code is 0
    if every test reached steady state, 7 if one did not, and 1 if a run failed or had I/O errors.
    """

    def work(hosts: FleetSteps | None) -> int:
        asked, shape = CampaignOptions.split(given)
        test = _test_of(asked, shape, dry_run, hosts)
        if not dry_run:
            return campaign.perform(test, asked)
        if asked.as_json:
            from spekctl import files

            click.echo(files.encode(test.parameters).decode(), nl=False)
        else:
            _print_plan(test)
        return 0

    from spekctl.campaigns.pts import loads
    from spekctl.documents.pts import Step

    read = loads.load_of(Step("round", "iops", 1, 100, 4096), "uniform", 1)
    return on_hosts.perform(given, read, work)


def _test_of(
    asked: CampaignOptions, given: dict[str, Any], dry_run: bool, hosts: FleetSteps | None
) -> PtsTest:
    """The test that these options describe, checked as far as possible without the kernel."""
    from msgspec import structs

    from spekctl.campaigns.pts.test import PtsTest

    fields = asked.benchmark("pts", hosts)
    parameters, remarks = _parameters(given, asked.quick, fields["devices"])
    if hosts is not None:
        clients = len(hosts.names)
        parameters = structs.replace(parameters, fleet=hosts.told, clients=clients)
    work = PtsTest(parameters=parameters, **fields)
    work.remarks += remarks
    work.check(dry_run)
    return work


def _parameters(
    given: dict[str, Any], quick: bool, devices: Sequence[Device]
) -> tuple[Parameters, list[str]]:
    """The parameters, and what to remark on them."""
    from msgspec import structs

    from spekctl.campaigns.pts import plan
    from spekctl.documents.shape import Shape

    campaign.refuse_zero(given, {"time_ns": "--time", "saturation_ns": "--saturation-time"})
    if given["saturation_ns"] is not None and given["saturation_percent"] is not None:
        raise UsageError("--saturation and --saturation-time exclude each other: each ends writing")
    shape: Shape = Shape(**{name: given[name] for name in Shape.__struct_fields__})
    known = plan.standard(shape)
    if quick:
        changes = dict(plan.QUICK)
        if given["saturation_percent"] is not None:
            del changes["saturation_ns"]
        known = structs.replace(known, **changes)
    remarks = []
    least = max(device.logical_block for device in devices)
    for name in ("sizes", "throughput_sizes", "latency_sizes"):
        if given[name] is not None:
            known = structs.replace(known, **{name: _sizes(given[name], _flag(name))})
            continue
        fitting = [size for size in getattr(known, name) if size % least == 0]
        if fitting != getattr(known, name):
            remarks.append(f"{_flag(name)}: sizes below the logical block, {least} B, are left out")
            known = structs.replace(known, **{name: fitting})
    for name in ("reads", "latency_reads"):
        if given[name] is not None:
            known = structs.replace(known, **{name: _shares(given[name], _flag(name))})
    plain = ("time_ns", "rounds", "precondition_percent", "saturation_percent", "saturation_ns")
    changed = {name: given[name] for name in plain if given[name] is not None}
    known = structs.replace(
        known,
        parts=campaign.names_of(given["parts"], plan.PARTS, "--tests", "test"),
        purge=not given["no_purge"],
        depth=given["depth"],
        workers=given["workers"] or 1,
        **changed,
    )
    if given["until"] is not None:
        known = structs.replace(known, steady=_limits(given["until"]))
    if known.steady.window > known.rounds:
        raise UsageError(
            f"a window of {known.steady.window} rounds is more than the {known.rounds} of --rounds"
        )
    return known, remarks


def _flag(name: str) -> str:
    return "--" + name.replace("_", "-")


def _limits(steady: Steady) -> Any:
    from spekctl.run.until import criteria_of

    if steady.metrics:
        raise UsageError(
            f"--until: the test says what is tracked; leave out {steady.metrics[0]} and give"
            " window, range or slope"
        )
    return criteria_of(steady)


def _sizes(text: str, flag: str) -> list[int]:
    from spekctl import units
    from spekctl.workload.values import IO_BYTES_MAX

    sizes = []
    for word in text.split(","):
        with at(flag):
            size = units.parse_size(word)
        if not 0 < size <= IO_BYTES_MAX or size % 512:
            raise UsageError(
                f"{flag}: '{word.strip()}' is no block size: it is a multiple of 512 bytes, at most"
                f" {units.format_bytes(IO_BYTES_MAX)}"
            )
        if size in sizes:
            raise UsageError(f"{flag}: {word.strip()} is listed twice")
        sizes.append(size)
    return sizes


def _shares(text: str, flag: str) -> list[int]:
    from spekctl import units

    with at(flag):
        numbers = [int(number) for number in units.parse_numbers(text.replace("%", ""))]
    for share in numbers:
        if share > 100:
            raise UsageError(f"{flag}: {share} is more than 100 per cent")
    return numbers


def _print_plan(work: PtsTest) -> None:
    """What would be done, in lines."""
    from spekctl import units
    from spekctl.campaigns.pts import plan

    parameters = work.parameters
    click.echo(f"{work.title()}, unaudited")
    before = ["purge"] if parameters.purge else ["no purge"]
    for test in plan.tests_of(parameters):
        prepared = [*before]
        if parameters.precondition_percent:
            size = units.format_bytes(test.precondition_bytes)
            prepared.append(
                f"{parameters.precondition_percent} % of the capacity by sequential writes of"
                f" {size}"
            )
        steps = len(plan.round_of(test, 1))
        percent, size_bytes = test.tracked
        length = units.format_clock(steps * parameters.time_ns / 1e9)
        click.echo(
            f"  {test.name}: {', '.join(prepared)}; at most {parameters.rounds} rounds of {length}"
            f" ({steps} x {units.format_duration(parameters.time_ns)}), tracked: {test.metric} of"
            f" {units.format_bytes(size_bytes)}, {percent} % reads"
        )
    if "saturation" in parameters.parts:
        amount = (
            f"{parameters.saturation_percent} % of the capacity"
            if parameters.saturation_ns is None
            else units.format_duration(parameters.saturation_ns)
        )
        size = units.format_bytes(plan.SATURATION_BYTES)
        click.echo(f"  saturation: {before[0]}; random writes of {size} for {amount}")
    limits = parameters.steady
    click.echo(
        f"  steady state: {limits.window} rounds, range {100 * limits.range:.4g} %, slope"
        f" {100 * limits.slope:.4g} % of the average"
    )
    least = units.format_clock(plan.left_ns(parameters, []) / 1e9)
    click.echo(f"  at least {least}, besides purges and what ends by its amount")
    for remark in work.remarks:
        click.echo(f"  {remark}")
