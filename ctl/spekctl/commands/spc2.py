# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl spc2: large files, large database queries and video on demand, in MB per second."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

import click

from spekctl.commands import campaign, on_hosts, options
from spekctl.commands.campaign import CampaignOptions
from spekctl.errors import UsageError

if TYPE_CHECKING:
    from spekctl.campaigns.spc2.test import Spc2Test
    from spekctl.documents.spc2 import Parameters
    from spekctl.fleet.steps import FleetSteps
    from spekctl.workload.model import WorkloadFile

EPILOG = """\b
Examples:
  spekctl spc2 --device /dev/sdb --write --quick
  spekctl spc2 --device /dev/sdb --device /dev/sdc --write --streams 64 \\
      --system-price 12000
  spekctl spc2 --device /dev/sdb --parts ldq,vod --quick          (reads only)
  spekctl spc2 --fleet plan.toml --keys keys/controller --write --streams 48

\b
Parts, their tests, and the I/Os outstanding per stream:
  lfp  large file processing  write, mixed (half of the streams read; of an
                              odd number the last one does both), read; each
                              with transfers of 1024 and 256 KiB; 1 I/O
  ldq  large database query   read; 1024 KiB and 64 KiB, each with 4 I/Os and
                              with 1
  vod  video on demand        read; open loop: 256 KiB three times a second
                              per stream, 0.786432 MB/s each

\b
Defaults:             standard   --quick
  --streams                 16         8
  --ramp                    3m     500ms
  --time                    3m        2s
  --vod-time               30m       10s
  --search-time             3m        3s
  --resolution               0         5   per cent
Five and a half hours in total plus 6 minutes per point of the search; four
minutes with --quick.
"""

F = TypeVar("F", bound=Callable[..., Any])

# All options of a test but the devices.
test_options = options.together(
    options.load_options("write"),
    options.destroy,
    campaign.out("spc2 or spc2e"),
    campaign.resume,
    campaign.quick(),
    click.option(
        "--parts",
        metavar="LIST",
        help="Parts to run, in this order.  [default: lfp,ldq,vod]",
    ),
    click.option(
        "--streams",
        type=click.IntRange(1, 16384),
        metavar="N",
        help="Highest stream count of lfp and ldq. Each test also runs at 1/2, 1/4 and 1/8 of it,"
        " and with one stream.",
    ),
    click.option(
        "--vod-streams",
        type=click.IntRange(1, 16384),
        metavar="N",
        help="Streams of vod.  [default: the most without an underrun, found by a search]",
    ),
    click.option(
        "--vod-start",
        type=click.IntRange(1, 16384),
        default=1,
        show_default=True,
        metavar="N",
        help="First stream count of that search; it doubles from there.",
    ),
    click.option(
        "--vod-most",
        type=click.IntRange(1, 16384),
        default=16384,
        show_default=True,
        metavar="N",
        help="Highest stream count of that search.",
    ),
    campaign.resolution("one stream"),
    campaign.ramp,
    click.option(
        "--time", "time_ns", type=options.DURATION, help="Length of each run of lfp and ldq."
    ),
    click.option("--vod-time", "vod_ns", type=options.DURATION, help="Length of the runs of vod."),
    campaign.search_time,
    click.option(
        "--max-response",
        "response_ns",
        type=options.DURATION_WITH_UNIT,
        help="Response time above which a transfer of vod is late and its stream underruns."
        "  [default: 333ms, the interval between transfers: a stream buffers one transfer]",
    ),
    click.option(
        "--max-late",
        "late",
        type=options.PercentRange(0, 1, percent=False),
        default=0.0,
        show_default=True,
        metavar="SHARE",
        help="Share of late transfers that vod tolerates, e.g. 0.01 or 1%.",
    ),
    options.load_options("seed", "stripe_bytes", "backend", "polled", "batch", "spin_ns", "data"),
    options.metering,
    campaign.as_json,
    options.progress,
)


@click.command(epilog=EPILOG, no_args_is_help=True)
@on_hosts.plain_fleet_options
@test_options
@click.option(
    "--system-price",
    metavar="N",
    help="Price of the storage system, for its price per MB/s.",
)
def command(system_price: str | None, **given: Any) -> int:
    """Measure streams of large sequential I/O by rules like those of SPC-2.

    Each stream starts at a random address, transfers an eighth of the capacity sequentially, and
    starts again at another address. Large files and database queries run in closed loop at a
    series of stream counts; the result of a part is the mean of its tests at the highest count.
    Video on demand is paced: a search finds the most streams without an underrun, and a long run
    confirms them. If it misses the limit, it is repeated with 5 % fewer streams, and the report
    says so. The SPC-2-like MBPS is the mean of the three parts, in 10^6 bytes per second.

    The report goes to standard output and into DIR. A device may answer reads of blocks that were
    never written without accessing its medium, so fill it before testing ldq and vod alone.
    Results are SPC-2-like and unaudited.

    With --fleet, all clients of the plan are tested together. Stream counts are those of all, and
    each client has an equal part of them, at least one stream.

    Ctrl-C keeps the completed runs; --resume continues after the last of them. The exit code is 0
    if all runs completed and no transfer of vod was late, 7 if transfers were late, and 1 if a
    run failed.
    """
    from spekctl.campaigns.inputs import fraction_of

    price = fraction_of(system_price, "--system-price") if system_price is not None else None
    if price is not None and price <= 0:
        raise UsageError(f"--system-price must be more than 0, not {system_price}")

    def work(hosts: FleetSteps | None) -> int:
        asked, shape = CampaignOptions.split(given)
        test = test_of(asked, shape, hosts=hosts)
        test.price = price
        return campaign.perform(test, asked)

    return on_hosts.perform(given, workload(), work)


def workload() -> WorkloadFile:
    """That of a step."""
    from spekctl.campaigns.spc2 import loads, plan

    return loads.load_of(plan.step_of(plan.VOD, 1, 0, 1))


def test_of(
    asked: CampaignOptions,
    given: dict[str, Any],
    name: str = "spc2",
    idle_ns: int = 0,
    half: bool = False,
    hosts: FleetSteps | None = None,
) -> Spc2Test:
    """The test that these options describe, checked as far as possible without the kernel.

    @name: first part of the default folder's name. @idle_ns: length of the idle test before it.
    @half: run vod at half of its streams as well.
    """
    from msgspec import structs

    from spekctl.campaigns.spc2.test import Spc2Test

    fields = asked.benchmark(name, hosts)
    clients = len(hosts.names) if hosts is not None else 1
    parameters = _parameters(given, asked.quick, half, clients)
    if hosts is not None:
        parameters = structs.replace(parameters, fleet=hosts.told)
    work = Spc2Test(parameters=parameters, idle_ns=idle_ns, **fields)
    work.check()
    return work


def _parameters(given: dict[str, Any], quick: bool, half: bool, clients: int) -> Parameters:
    from msgspec import structs

    from spekctl.campaigns.spc2.plan import (
        LIMITS,
        PARTS,
        QUICK,
        QUICK_STREAMS,
        STANDARD,
        STREAMS,
        dealt,
    )
    from spekctl.documents.shape import Shape
    from spekctl.documents.spc2 import Durations, Parameters

    changed = {name: given[name] for name in Durations.__struct_fields__ if given[name] is not None}
    campaign.refuse_zero(
        given,
        {
            "time_ns": "--time",
            "vod_ns": "--vod-time",
            "search_ns": "--search-time",
            "response_ns": "--max-response",
        },
    )
    if given["vod_start"] > given["vod_most"]:
        raise UsageError(
            f"--vod-start {given['vod_start']} is more than --vod-most {given['vod_most']}"
        )
    for name in ("streams", "vod_streams"):
        if given[name] is not None and given[name] % clients:
            raise UsageError(
                f"--{name.replace('_', '-')} {given[name]} cannot be divided equally among"
                f" {clients} clients; it must be a multiple of {clients}"
            )
    if given["vod_most"] < clients:
        raise UsageError(
            f"--vod-most {given['vod_most']} leaves less than a stream for each of {clients}"
            f" clients; it must be {clients} or more"
        )
    limits = {"late": given["late"]}
    if given["response_ns"] is not None:
        limits["response_ns"] = given["response_ns"]
    return Parameters(
        durations=structs.replace(QUICK if quick else STANDARD, **changed),
        limits=structs.replace(LIMITS, **limits),
        shape=Shape(**{name: given[name] for name in Shape.__struct_fields__}),
        parts=campaign.names_of(given["parts"], PARTS, "--parts", "part"),
        streams=given["streams"] or dealt(QUICK_STREAMS if quick else STREAMS, clients),
        vod_streams=given["vod_streams"],
        vod_start=given["vod_start"],
        vod_most=given["vod_most"],
        half=half,
        clients=clients,
    )
