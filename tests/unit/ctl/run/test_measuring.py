# SPDX-License-Identifier: GPL-2.0
"""What the options of measuring ask for."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.fleets import three
from lib.ctl.plot_files import write_result
from lib.ctl.results import DISK

from spekctl import files
from spekctl.errors import UsageError
from spekctl.fleet.merge import merge
from spekctl.power.course import BESIDE_LOADS, Pace
from spekctl.power.look import RECENT_NS
from spekctl.run import measuring
from spekctl.run.job import Request
from spekctl.workload import file
from spekctl.workload.options import Measuring
from spekctl.workload.resolve import Options, resolve


def test_power_needs_the_prober() -> None:
    assert measuring.power_of(("a",), "800mW").baseline_w == 0.8
    for feeds, baseline in ((("a",), None), ((), "5")):
        with pytest.raises(UsageError, match="and --no-prober exclude each other"):
            measuring.power_of(feeds, baseline, no_prober=True)
    with pytest.raises(UsageError, match="'5 J' is neither a power like"):
        measuring.power_of((), "5 J")


def test_disks_are_looked_at_unless_that_is_off() -> None:
    workload = file.load("random-read-4k")
    config = resolve(workload, Options(available_cpus=(0,)), [DISK])
    request = Request(workload, config, ())
    assert request.power_states == measuring.with_power_states(request, None).power_states
    assert request.power_states == BESIDE_LOADS
    # So that a disk that was up at a look is known to be up at the next one.
    assert BESIDE_LOADS.interval_ns < RECENT_NS
    assert measuring.with_power_states(request, "off").power_states is None
    assert measuring.with_power_states(request, "100ms").power_states == Pace(10**8)
    with pytest.raises(UsageError, match="--power-states must be at least 100ms"):
        measuring.with_power_states(request, "99ms")
    with pytest.raises(UsageError, match="'never' is neither a time with its unit"):
        measuring.check(Measuring(power_states="never"), (), 0)


def test_a_baseline_for_another_program_is_no_file(tmp_path: Path) -> None:
    path = str(write_result(tmp_path / "idle.json", []))
    assert measuring.power_of((), "5W", of_file=False).baseline_w == 5
    with pytest.raises(UsageError, match=r"is not a power like 12\.5 or 800mW$"):
        measuring.power_of((), path, of_file=False)


def test_a_fleet_is_no_baseline(tmp_path: Path) -> None:
    path = tmp_path / "fleet.json"
    path.write_bytes(files.encode(merge(three())))
    with pytest.raises(UsageError, match="--power-baseline takes the result of one machine"):
        measuring.power_of((), str(path))
