# SPDX-License-Identifier: GPL-2.0-or-later
"""spekctl energy spc2e: the SPC-2-like test with power, or its figures from a report."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from spekctl.commands import energy_use, spc2
from spekctl.commands.campaign import CampaignOptions
from spekctl.commands.energy_use import Terms

if TYPE_CHECKING:
    from spekctl.campaigns.benchmark import Benchmark
    from spekctl.campaigns.spc2.test import Spc2Test
    from spekctl.documents.spc2 import Report, Spc2eReport
    from spekctl.fleet.steps import FleetSteps
    from spekctl.workload.model import WorkloadFile

EPILOG = """\b
Examples:
  spekctl energy spc2e --device /dev/sdb --write --quick
  spekctl energy spc2e --device /dev/sdb --write --streams 64 --price 0.31
  spekctl energy spc2e --from spc2e-sdb/energy.json --price 0.25

Times if not given: --idle-time 10m, 10s with --quick. All else is as in `spekctl spc2 --help`.
"""


@click.command(epilog=EPILOG, no_args_is_help=True)
@energy_use.use_options(
    "Do not measure: take the levels from a report of the test under load (report.json), or from"
    " one of this command (energy.json)."
)
@spc2.test_options
def command(**given: Any) -> int:
    """Measure power at the loads of the SPC-2-like test: SPC-2/E-like figures.

    An idle test is followed by all of `spekctl spc2`, with video on demand also at half of its
    streams. The report has MB/s, watts and MB/s per watt of each part. The mean of the parts at
    the highest stream counts is the heavy load, that at half of them the moderate load. These and
    the hours of use give the nominal power, traffic and heat of three usage profiles, their mean,
    and the energy and cost of a year. The profiles are those of SPC-1/E.

    With --fleet, all clients of the plan rest and are tested together. Power is the sum of theirs,
    from the power feeds in the plan.

    The report goes to standard output and into DIR (energy.json), the report of the test under
    load into DIR (report.json). Ctrl-C keeps the completed runs, and --resume continues. Without
    power measurement the report has performance only. Results are SPC-2/E-like and unaudited.

    The verdict of a test that missed a limit, and the exit code, are those of `spekctl spc2`; with
    --from the exit code is 0.
    """
    return energy_use.perform(_Spc2e(), given)


class _Spc2e:
    """What is particular to SPC-2/E."""

    def workload(self) -> WorkloadFile:
        return spc2.workload()

    def test_of(
        self,
        asked: CampaignOptions,
        given: dict[str, Any],
        idle_ns: int,
        hosts: FleetSteps | None,
    ) -> Spc2Test:
        return spc2.test_of(asked, given, "spc2e", idle_ns, half=True, hosts=hosts)

    def computed(self, source: Path, idle_watts: Fraction | None, terms: Terms) -> Spc2eReport:
        from spekctl.campaigns.spc2e.report import from_energy, from_spc2
        from spekctl.documents.document import Kind, identify
        from spekctl.documents.spc2 import load_energy

        kind = identify(source, [Kind.SPC2, Kind.SPC2E], "energy is computed from")
        if kind is Kind.SPC2:
            return from_spc2(source, idle_watts, *terms.resolved())
        return from_energy(load_energy(source), source, idle_watts, terms.price, terms.days)

    def report_of(
        self, work: Benchmark[Any, Any, Report], load: Report | None, terms: Terms
    ) -> Spc2eReport:
        from spekctl.campaigns.spc2e.report import of_test

        # The report under load has the remarks of the test.
        remarks = [] if load is not None else work.remarks
        site, missing = work.site_of_report()
        said = [*remarks, *missing]
        return of_test(load, work.rest, *terms.resolved(), said, site)
