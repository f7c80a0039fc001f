# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl energy emerald: work per watt in phases of load, and in ready idle."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spekctl import recorded
from spekctl.commands import campaign, energy_use, on_hosts, options
from spekctl.commands.campaign import CampaignOptions
from spekctl.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from spekctl.campaigns.emerald.test import EmeraldTest
    from spekctl.documents.energy import EmeraldParameters
    from spekctl.fleet.steps import FleetSteps

EPILOG = """\b
Examples:
  spekctl energy emerald --device /dev/sdb --write --quick
  spekctl energy emerald --device /dev/sdb --phases random-read,ready-idle \\
      --prefill 0 --conditioning 0 --quick
  spekctl energy emerald --fleet plan.toml --keys keys/controller --write
  spekctl energy emerald --from phases.toml --taxonomy 'Online 3' \\
      --disclose 'parity RAID=on'

\b
Phases and metrics:                      Example of a --from file:
  hot-band          EP_HB   IOPS/W         raw_gigabytes = 7300
  random-read       EP_RR   IOPS/W         [random-read]
  random-write      EP_RW   IOPS/W         iops = 10000
  sequential-read   EP_SR   MiB/s/W        watts = 713
  sequential-write  EP_SW   MiB/s/W        [sequential-read]
  mixed             EP_MW1  IOPS/W         mib_per_s = 2000
  mixed-25          EP_MW2  IOPS/W         watts = 690
  ready-idle        EP_RI   GB/W           [ready-idle]
                                           watts = 592.692

\b
Defaults:             standard   --quick
  --prefill                100         0   per cent of the capacity
  --conditioning           12h       20s
  --ramp                   11m        3s
  --time                   30m       20s
  --idle-time               2h       10s
  --search-time             3m        4s
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@on_hosts.plain_fleet_options
@energy_use.source_option(
    "Do not measure: compute from the work and watts of phases in a TOML file."
)
@options.write
@options.destroy
@campaign.out("emerald")
@campaign.resume
@campaign.quick("a day")
@click.option(
    "--phases",
    metavar="LIST",
    help="Phases to run, in this order.  [default: all, as listed below; for a fleet, all but"
    " ready-idle]",
)
@click.option(
    "--depths",
    type=options.WHOLE_NUMBERS,
    help="Depths that the search tries.  [default: 1,2,4,8,16,32,64,128,256; for a fleet, each"
    " times the number of clients]",
)
@click.option(
    "--workers",
    type=options.WHOLE_NUMBERS,
    help="Numbers of workers that the search tries, one CPU per worker.  [default: 1]",
)
@click.option(
    "--search",
    multiple=True,
    metavar="NAME=VALUE,...",
    help="Let the search of each phase choose among these values as well. NAME: backend, polled"
    " (off, on), batch, spin or cpus (auto, or a range). Repeatable: all combinations are tried.",
)
@click.option(
    "--prefill",
    "prefill_percent",
    type=options.PercentRange(0, 100, whole=True),
    metavar="P",
    help="Share of the capacity to fill first, in per cent.",
)
@click.option(
    "--conditioning",
    "conditioning_ns",
    type=options.DURATION,
    help="Length of the hot band load that then conditions the device.",
)
@click.option("--ramp", "warmup_ns", type=options.DURATION, help="Ramp-up before each measurement.")
@click.option("--time", "measure_ns", type=options.DURATION, help="Length of each active phase.")
@click.option("--idle-time", "idle_ns", type=options.DURATION, help="Length of ready idle.")
@click.option(
    "--search-time",
    "search_ns",
    type=options.DURATION,
    help="Length of each point of the search; 0: no search.",
)
@click.option(
    "--max-response",
    "mean_ns",
    type=options.DURATION_WITH_UNIT,
    default="20ms",
    show_default=True,
    help="Limit of the mean response time of random, mixed and hot-band phases.",
)
@click.option(
    "--max-window-response",
    "window_mean_ns",
    type=options.DURATION_WITH_UNIT,
    default="80ms",
    show_default=True,
    help="Limit of the mean response time of each window of such a phase.",
)
@click.option(
    "--window",
    "window_ns",
    type=options.DURATION,
    default="1m",
    show_default=True,
    help="Length of a window.",
)
@click.option(
    "--raw-gigabytes",
    metavar="GB",
    help="Raw capacity, 10^9 bytes.  [default: that of the devices]",
)
@click.option(
    "--taxonomy",
    metavar="TEXT",
    default="",
    help="For the report: category of the product in Emerald's taxonomy, such as 'Online 3'.",
)
@click.option(
    *("--disclose", "disclosed"),
    multiple=True,
    metavar="NAME=TEXT",
    help="For the report: a property of the system that the standard asks to disclose, such as"
    " 'parity RAID=on'; repeatable.",
)
@energy_use.site_option
@options.seed
@options.stripe
@options.backend
@campaign.data
@options.metering
@campaign.as_json
@energy_use.output_option
@options.progress
def command(source: Path | None, **given: Any) -> int:
    """Run an Emerald-like test: prefill, conditioning, active phases and ready idle.

    Each closed-loop phase starts with a search for the depth and the number of workers that give
    the most work per watt within the limits (the most work, without power measurement), and for
    the best values of --search; the phase then runs with them. The
    report goes to standard output and into DIR (energy.json). Ctrl-C keeps the completed runs, and
    --resume continues. Results are Emerald-like and unaudited.

    With --fleet, all clients of the plan are tested together: depths are totals, workers and
    --prefill apply to each. Power comes from the power feeds in the plan; ready idle is left out.

    Without power measurement the report has performance only, and ready idle is left out. The exit
    code is 0 if all phases completed within their limits, 7 if one missed a limit, and 1 if a run
    failed.
    """
    output = given.pop("output")
    site = given.pop("site")
    placed = given["devices"] or ((given["fleet_file"],) if given["fleet_file"] else ())
    energy_use.check_sources(source, placed, output)
    given["taxonomy"] = recorded.text(given["taxonomy"].strip())
    given["disclosures"] = disclosures_of(given.pop("disclosed"))
    if source is not None:
        return _compute(source, output, given)

    def work(hosts: FleetSteps | None) -> int:
        return _measure(*CampaignOptions.split(given), site, hosts)

    from spekctl.campaigns.emerald import loads

    return on_hosts.perform(given, loads.load_of("random-read", []), work)


def disclosures_of(words: Sequence[str]) -> dict[str, str]:
    """What --disclose gives, by name."""
    told: dict[str, str] = {}
    for word in words:
        name, _, text = (recorded.text(part.strip()) for part in word.partition("="))
        if not name or not text:
            raise UsageError(f"--disclose '{word}': write NAME=TEXT, for example 'parity RAID=on'")
        if name in told:
            raise UsageError(f"--disclose: '{name}' is given twice")
        told[name] = text
    return told


def _compute(source: Path, output: Path | None, given: Mapping[str, Any]) -> int:
    from spekctl import files
    from spekctl.campaigns import inputs
    from spekctl.campaigns.emerald.report import of_numbers
    from spekctl.commands.deliver import deliver
    from spekctl.render.document import print_contents

    files.check_writable(output)
    files.check_apart(output, [source])
    phases, gigabytes = inputs.emerald_inputs(source)
    report = of_numbers(phases, gigabytes, str(source), given["taxonomy"], given["disclosures"])
    deliver(report, print_contents, given["as_json"], output)
    return int(ExitCode.OK)


def _test_of(
    asked: CampaignOptions, given: dict[str, Any], hosts: FleetSteps | None
) -> EmeraldTest:
    """The requested test, checked as far as possible in advance."""
    from msgspec import structs

    from spekctl.campaigns.emerald.plan import IDLE
    from spekctl.campaigns.emerald.test import EmeraldTest

    fields = asked.benchmark("emerald", hosts)
    clients, capacity_bytes = 1, sum(device.bytes for device in fields["devices"])
    if hosts is not None:
        clients, capacity_bytes = len(hosts.names), hosts.capacity_bytes
    parameters = _parameters(given, asked.quick, capacity_bytes, clients)
    _check_search(parameters, hosts)
    if hosts is not None:
        if given["phases"] is None:
            # No meter measures all hosts while they send nothing.
            active = [phase for phase in parameters.phases if phase != IDLE]
            parameters = structs.replace(parameters, phases=active)
        parameters = structs.replace(parameters, fleet=hosts.told)
    test = EmeraldTest(parameters=parameters, **fields)
    test.check()
    return test


def _check_search(parameters: EmeraldParameters, hosts: FleetSteps | None) -> None:
    """Refuse to search over what is given, or what the plan of a fleet decides."""
    from spekctl.campaigns.emerald import choices

    for name in choices.names_of(parameters.search):
        if hosts is not None:
            raise UsageError(
                f"--search {name} is not given with --fleet: write {name} in [[host]], options"
            )
        if name == "backend" and parameters.backend != "auto":
            raise UsageError("--search backend and --backend exclude each other")


def _parameters(
    given: dict[str, Any], quick: bool, capacity_bytes: int, clients: int
) -> EmeraldParameters:
    from msgspec import structs

    from spekctl.campaigns.emerald import choices
    from spekctl.campaigns.emerald import figures as emerald
    from spekctl.campaigns.emerald.plan import DEPTHS, PHASES, QUICK, STANDARD
    from spekctl.campaigns.inputs import fraction_of
    from spekctl.documents.energy import EmeraldDurations, EmeraldLimits, EmeraldParameters
    from spekctl.documents.exact import decimal_text

    names = EmeraldDurations.__struct_fields__
    changed = {name: given[name] for name in names if given[name] is not None}
    campaign.refuse_zero(
        given,
        {
            "measure_ns": "--time",
            "idle_ns": "--idle-time",
            "mean_ns": "--max-response",
            "window_mean_ns": "--max-window-response",
            "window_ns": "--window",
        },
    )
    raw: Fraction = emerald.gigabytes(capacity_bytes)
    if given["raw_gigabytes"] is not None:
        raw = fraction_of(given["raw_gigabytes"], "--raw-gigabytes")
        if raw <= 0:
            raise UsageError(f"--raw-gigabytes must be more than 0, not {given['raw_gigabytes']}")
    for name in ("depths", "workers"):
        if given[name] and min(given[name]) < 1:
            raise UsageError(f"--{name} begin at 1, not at {min(given[name])}")
    return EmeraldParameters(
        durations=structs.replace(QUICK if quick else STANDARD, **changed),
        limits=EmeraldLimits(**{name: given[name] for name in EmeraldLimits.__struct_fields__}),
        phases=campaign.names_of(given["phases"], PHASES, "--phases", "phase"),
        depths=sorted(given["depths"] or [depth * clients for depth in DEPTHS]),
        workers=given["workers"] or [1],
        search=choices.parse(given["search"]),
        seed=given["seed"],
        stripe_bytes=given["stripe_bytes"],
        backend=given["backend"],
        data=given["data"],
        raw_gigabytes=decimal_text(raw),
        taxonomy=given["taxonomy"],
        disclosures=given["disclosures"],
    )


def _measure(
    asked: CampaignOptions,
    given: dict[str, Any],
    site: tuple[str, ...],
    hosts: FleetSteps | None,
) -> int:
    from spekctl.campaigns.folder import ENERGY_REPORT
    from spekctl.power.site import parse

    wish = parse(site)
    test = _test_of(asked, given, hosts)
    test.site = wish
    return campaign.perform(test, asked, ENERGY_REPORT, rests=hosts is None)
