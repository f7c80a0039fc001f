# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl spc1: the complete SPC-1-like test, from the search for its level to the report."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import click
from click.core import ParameterSource

from spekctl.commands import campaign, on_hosts, options
from spekctl.commands.campaign import CampaignOptions
from spekctl.errors import UsageError

if TYPE_CHECKING:
    from spekctl.campaigns.campaign import Tools
    from spekctl.campaigns.spc1.test import Spc1Test
    from spekctl.documents.spc1 import Parameters
    from spekctl.fleet.steps import FleetSteps
    from spekctl.run.holding import Holding

EPILOG = """\b
Examples:
  spekctl spc1 --device /dev/sdb --write --quick
  spekctl spc1 --device /dev/sdb --device /dev/sdc --write --start-bsu 20 \\
      --folder array
  spekctl spc1 --device asu1=/dev/nvme0n1 --device /dev/sdb --write \\
      --limit unused_capacity=0.6
  spekctl spc1 --device /dev/sdb --device /dev/sdc --write --start-bsu 20 \\
      --folder array --resume
  spekctl spc1 --fleet plan.toml --keys keys/controller --write --start-bsu 20

\b
Defaults:             standard   --quick
  --sustain                 8h       45s
  --iops-time              10m       30s
  --phase-time             10m       20s
  --ramp                    3m        2s
  --search-time             3m        6s
  --resolution               0         2   per cent
About ten hours in total, or five minutes with --quick, plus the search: about
a dozen points.

\b
Defaults of --limit; shares are fractions, not per cent:
  left_over            0.01  growth of the queue in a phase, as a share of its
                             I/Os, or
  left_over_responses  5     times --max-response of work, whichever is larger
  intensity            0.05  relative deviation of a stream's share from the
                             workload's
  intensity_cov        0.2   coefficient of variation of that share in a phase
  repeat_iops          0.05  relative deviation of repeated IOPS
  repeat_lrt           0.05  relative deviation of repeated LRT, or
  repeat_lrt_ns        1e6   deviation in ns, whichever is larger
  unused_capacity      0.45  share of the capacity that is left unused
  chance_sigmas        5     standard deviations by which limits on counts are
                             widened
  lower_percent        5     per cent by which the level is lowered after a
                             missed limit
  lowered_at_most      10    times that the level is lowered
"""


F = TypeVar("F", bound=Callable[..., Any])

# All options of a test but the devices.
method_options = options.together(
    options.write,
    options.destroy,
    campaign.out("spc1 or spc1e"),
    campaign.resume,
    campaign.quick(),
    click.option(
        "--max-response",
        "response_ns",
        type=options.DURATION_WITH_UNIT,
        default="30ms",
        show_default=True,
        help="Limit of the mean response time of every phase.",
    ),
    click.option(
        "--limit",
        "limits",
        multiple=True,
        metavar="NAME=VALUE",
        help="Override a limit; names and defaults are listed below. Repeatable.",
    ),
    click.option(
        "--start-bsu",
        type=click.IntRange(1),
        default=1,
        show_default=True,
        metavar="N",
        help="First load of the search, which doubles it until a load is too high.",
    ),
    click.option(
        "--max-bsu",
        type=click.IntRange(1),
        default=60000,
        show_default=True,
        metavar="N",
        help="Highest load of the search, even if the device could sustain more.",
    ),
    campaign.resolution("1 BSU"),
    click.option(
        "--sustain", "sustain_ns", type=options.DURATION, help="Length of the sustained run."
    ),
    click.option(
        "--iops-time", "iops_ns", type=options.DURATION, help="Length of each run at 100 %."
    ),
    click.option(
        "--phase-time",
        "phase_ns",
        type=options.DURATION,
        help="Length of each run at 95 % to 10 %.",
    ),
    campaign.ramp,
    campaign.search_time,
    click.option(
        "--keep-going",
        is_flag=True,
        help="Continue even if a phase misses the response limit or has I/O errors; errors of any"
        " phase, also of the search, fail the test.",
    ),
    options.workers,
    options.cpus,
    options.seed,
    options.hrrw,
    options.iops_per_bsu,
    options.stripe,
    options.backend,
    options.polled,
    options.max_outstanding,
    options.batch,
    options.spin,
    options.data,
    options.metering,
    campaign.as_json,
    options.progress,
)


@click.command(epilog=EPILOG, no_args_is_help=True)
@on_hosts.fleet_options
@method_options
@click.option(
    "--persistence",
    is_flag=True,
    help="Finally test persistence: write stamped blocks at 25 % of the level, and verify them"
    " after the devices were detached and reattached, by --reattach, or by hand before --resume.",
)
@click.option(
    "--persistence-time",
    "persistence_ns",
    type=options.DURATION,
    help="Length of the write phase of the persistence test.  [default: 10m, 20s with --quick]",
)
@click.option(
    "--reattach",
    metavar="COMMAND",
    help="Shell command that detaches and reattaches the devices, which must return within a"
    " minute.",
)
def command(**given: Any) -> int:
    """Run the complete SPC-1-like test on one device, or on several striped devices.

    The test first searches for the highest load (in BSUs of 50 I/Os per second) whose mean
    response time stays within the limit, by doubling, then by bisection. A load that makes the
    queue grow is too high as well. A sustained run and the IOPS phase follow at that level, then
    runs at 95, 90, 80, 50 and 10 % of it, and two repetitions at 10 and 100 %.

    If the sustained run or the IOPS phase misses the limit, the level is lowered by 5 %, at
    least 1 BSU, both are repeated, and the report says so.

    The report goes to standard output and into DIR: IOPS, LRT, response time against load,
    figures of each address range and stream, and each limit with its outcome. Results are
    SPC-1-like and unaudited.

    With --fleet, all clients of the plan are tested together: each has its part of the BSUs, at
    least one, so that --start-bsu is 10 for each of them, or more.

    Ctrl-C keeps the completed phases; --resume continues after them. The exit code is 0 if all
    limits are met, 7 if one is missed, 6 if the persistence test found wrong data, and 1 if a phase
    failed or the persistence test did not complete.
    """
    persistence = Spc1Persistence(
        given.pop("persistence"), given.pop("persistence_ns"), given.pop("reattach")
    )
    persistence.check()

    def work(hosts: FleetSteps | None) -> int:
        return _spc1(*CampaignOptions.split(given), persistence, hosts)

    if persistence.wanted and given["fleet_file"] is not None:
        raise UsageError("--persistence is not given with --fleet: it reattaches local devices")
    from spekctl.documents.spc1 import WORKLOAD
    from spekctl.workload import file

    return on_hosts.perform(given, file.load(WORKLOAD), work)


@dataclass(frozen=True, slots=True)
class Spc1Persistence:
    """Options of the persistence test."""

    wanted: bool
    time_ns: int | None
    reattach: str | None

    def check(self) -> None:
        """Refuse contradictory options."""
        if not self.wanted and (self.time_ns is not None or self.reattach is not None):
            raise UsageError("--persistence-time and --reattach need --persistence as well")
        if self.time_ns == 0:
            raise UsageError("--persistence-time must be more than 0")


def _spc1(
    given: CampaignOptions,
    shape: dict[str, Any],
    persistence: Spc1Persistence,
    hosts: FleetSteps | None,
) -> int:
    from spekctl.campaigns.spc1 import persistence as spc1_persistence
    from spekctl.kernel import client

    work = test_of(given, shape, hosts=hosts)
    default_ns = spc1_persistence.QUICK_NS if given.quick else spc1_persistence.STANDARD_NS

    time_ns = persistence.time_ns or default_ns
    # A resumption may have written already.
    if persistence.wanted and not given.resume:
        spc1_persistence.check(work, time_ns)

    def persist(tools: Tools, held: Holding | None) -> bool:
        return spc1_persistence.carry_out(
            *(work, client.connect, tools.view, tools.interrupts, held),
            *(time_ns, persistence.reattach),
        )

    then = persist if persistence.wanted else None
    return campaign.perform(work, given, then=then)


def test_of(
    asked: CampaignOptions,
    given: dict[str, Any],
    name: str = "spc1",
    idle_ns: int = 0,
    hosts: FleetSteps | None = None,
) -> Spc1Test:
    """The requested test, checked as far as possible in advance.

    @name is what its folder is called after if the user gives no other, @idle_ns the length of the
    idle test before it.
    """
    from msgspec import structs

    from spekctl import recorded
    from spekctl.campaigns.spc1.test import Spc1Test
    from spekctl.documents.spc1 import WORKLOAD, Shape
    from spekctl.run import request
    from spekctl.run.placing import near_devices
    from spekctl.workload import file, own_devices
    from spekctl.workload.options import Options

    workload = file.load(WORKLOAD)
    if hosts is not None:
        subject = request.Subject(workload, hosts.devices)
    else:
        subject = request.on(workload, asked.devices)
    fields = asked.benchmark(name, hosts, subject.devices)
    if hosts is not None:
        _start_with_all(given, len(hosts.names))
    keep_going = given.pop("keep_going")
    shape = {name: given.pop(name) for name in ("workers", *Shape.__struct_fields__)}
    shape["hrrw"] = shape["hrrw"] or "classic"
    largest = Options(**shape, bsu=given["max_bsu"], write=asked.write)
    del shape["workers"]
    # Those of hosts are their own.
    shape["cpus"] = []
    remarks: list[str] = []
    if hosts is None:
        # Chosen once, so that all runs get the same CPUs and the report has the reason.
        largest, remarks = near_devices(largest, subject.devices)
        shape["cpus"] = request.build(subject, largest, asked.destroy).config.cpus
    parameters = _parameters(given, shape, asked.quick)
    if hosts is not None:
        parameters = structs.replace(parameters, fleet=hosts.told, clients=len(hosts.names))
    parameters = structs.replace(
        parameters, placed=recorded.text(own_devices.text(subject.workload))
    )
    work = Spc1Test(
        subject=subject,
        parameters=parameters,
        keep_going=keep_going,
        idle_ns=idle_ns,
        **fields,
    )
    work.remarks += remarks
    work.check()
    return work


def _start_with_all(given: dict[str, Any], clients: int) -> None:
    """Each host has a BSU at 10 % of the level."""
    least = 10 * clients
    context = click.get_current_context()
    if context.get_parameter_source("start_bsu") is not ParameterSource.COMMANDLINE:
        given["start_bsu"] = least
    elif given["start_bsu"] < least:
        raise UsageError(
            f"--start-bsu {given['start_bsu']} leaves less than a BSU for each of {clients} clients"
            f" at 10 %; it has to be {least} or more"
        )


def _parameters(given: dict[str, Any], shape: dict[str, Any], quick: bool) -> Parameters:
    """Presets and options as the parameters of the test."""
    from msgspec import structs

    from spekctl.documents.spc1 import QUICK, STANDARD, Durations, Limits, Parameters, Shape

    changed = {name: given[name] for name in Durations.__struct_fields__ if given[name] is not None}
    campaign.refuse_zero(
        given,
        {
            "sustain_ns": "--sustain",
            "iops_ns": "--iops-time",
            "phase_ns": "--phase-time",
            "search_ns": "--search-time",
            "response_ns": "--max-response",
        },
    )
    if given["start_bsu"] > given["max_bsu"]:
        raise UsageError(
            f"--start-bsu {given['start_bsu']} is more than --max-bsu {given['max_bsu']}"
        )
    return Parameters(
        durations=structs.replace(QUICK if quick else STANDARD, **changed),
        limits=structs.replace(
            Limits(response_ns=given["response_ns"]), **_limits(given.pop("limits"))
        ),
        shape=Shape(**shape),
        start_bsu=given["start_bsu"],
        max_bsu=given["max_bsu"],
    )


def _limits(texts: tuple[str, ...]) -> dict[str, float]:
    """NAME=VALUE pairs as fields of Limits."""
    from msgspec import structs

    from spekctl.documents.spc1 import Limits

    # --max-response has an option of its own.
    names = {
        field.name: field.default for field in structs.fields(Limits) if field.name != "response_ns"
    }
    limits: dict[str, float] = {}
    for text in texts:
        name, _, number = text.partition("=")
        if name not in names:
            raise campaign.unknown(f"--limit {text}", "limit", name, names)
        try:
            value = float(number)
        except ValueError:
            value = math.nan
        if not 0 <= value < math.inf:
            raise UsageError(f"--limit {text}: '{number}' is not a number of 0 or more")
        whole = isinstance(names[name], int)
        if whole and value != int(value):
            raise UsageError(f"--limit {text}: {name} is a whole number")
        limits[name] = int(value) if whole else value
    return limits
