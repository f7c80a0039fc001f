# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl energy spc1e: the SPC-1-like test with power, or its figures from existing numbers."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spekctl.commands import energy_use, on_hosts, spc1
from spekctl.commands.campaign import CampaignOptions
from spekctl.commands.energy_use import Terms
from spekctl.errors import UsageError

if TYPE_CHECKING:
    from spekctl.campaigns.benchmark import Benchmark
    from spekctl.campaigns.spc1.test import Spc1Test
    from spekctl.documents.energy import Spc1eReport
    from spekctl.documents.spc1 import Report
    from spekctl.fleet.steps import FleetSteps
    from spekctl.workload.model import WorkloadFile

EPILOG = """\b
Examples:
  spekctl energy spc1e --device /dev/sdb --write --quick
  spekctl energy spc1e --device asu1=/dev/nvme0n1 --device /dev/sdb --write
  spekctl energy spc1e --device /dev/sdb --write \\
      --site volts=/run/meter.csv:voltage \\
      --site power_factor=/run/meter.csv:pf \\
      --site celsius=/run/intake.csv:nct6775/temp2
  spekctl energy spc1e --from levels.toml --price 0.31
  spekctl energy spc1e --from spc1-sdb/report.json --idle-watts 225.53

\b
Example of a --from file:
  [heavy]              # at 80 % of the highest load
  watts = 236.965
  iops = 15999.51
  [moderate]           # at 50 %
  watts = 232.48
  iops = 9999.42
  [idle]
  watts = 225.53
Optional: price = 0.12 above the sections, and a section [site] with volts,
power_factor, first_celsius and last_celsius.

Defaults: --idle-time 10m, 10s with --quick; for all others see `spekctl spc1 --help`.
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@energy_use.use_options(
    "Do not measure: take the levels from a TOML file, or from a report of `spekctl spc1` or of"
    " this command.",
    on_hosts.fleet_options,
)
@spc1.method_options
def command(**given: Any) -> int:
    """Measure power at the loads of the SPC-1-like test: SPC-1/E-like figures.

    An idle test is followed by all of `spekctl spc1`, whose runs at 80 % and 50 % are the heavy and
    the moderate load. These and the hours of use give the nominal power, traffic and heat of three
    usage profiles, their mean, and the energy and cost of a year.

    With --fleet, all clients of the plan rest and are tested together. Power is the sum of theirs,
    from the power feeds in the plan.

    The report goes to standard output and into DIR (energy.json), the report of the test under load
    into DIR (report.json). Ctrl-C keeps the completed runs, and --resume continues. Without power
    measurement the report has performance only. Results are SPC-1/E-like and unaudited.

    The verdict of a test that missed a limit, and the exit code, are those of `spekctl spc1`; with
    --from the exit code is 0.
    """
    return energy_use.perform(_Spc1e(), given)


class _Spc1e:
    """What is particular to SPC-1/E."""

    def workload(self) -> WorkloadFile:
        from spekctl.documents.spc1 import WORKLOAD
        from spekctl.workload import file

        return file.load(WORKLOAD)

    def test_of(
        self,
        asked: CampaignOptions,
        given: dict[str, Any],
        idle_ns: int,
        hosts: FleetSteps | None,
    ) -> Spc1Test:
        return spc1.test_of(asked, given, "spc1e", idle_ns, hosts)

    def computed(self, source: Path, idle_watts: Fraction | None, terms: Terms) -> Spc1eReport:
        from spekctl.campaigns import inputs
        from spekctl.campaigns.energy import Facts
        from spekctl.campaigns.spc1e import levels as spc1e_levels
        from spekctl.campaigns.spc1e.report import build, typed_in
        from spekctl.documents import energy
        from spekctl.documents.document import Kind, identify, is_document

        if is_document(source):
            kind = identify(source, [Kind.SPC1, Kind.SPC1E], "energy is computed from")
            if kind is Kind.SPC1:
                return spc1e_levels.from_spc1(source, idle_watts, *terms.resolved())
            previous = energy.load_spc1e(source)
            return spc1e_levels.from_energy(previous, source, idle_watts, terms.price, terms.days)
        if idle_watts is not None:
            raise UsageError(f"--idle-watts belongs to a report; {source} has a section [idle]")
        levels, file_price, site = inputs.spc1e_levels(source)
        facts = Facts(source=str(source))
        return build(typed_in(levels), facts, *terms.resolved(file_price), site=site)

    def report_of(
        self, work: Benchmark[Any, Any, Report], load: Report | None, terms: Terms
    ) -> Spc1eReport:
        from spekctl.campaigns.spc1e import levels

        site, missing = work.site_of_report()
        remarks = [*work.remarks, *missing]
        prices = terms.resolved()
        return levels.build_report(work.folder, load, work.rest, *prices, remarks, site=site)
