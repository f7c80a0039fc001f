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
from spekctl.run import measuring
from spekctl.run.job import Request
from spekctl.workload import file
from spekctl.workload.resolve import Options, resolve


def test_power_needs_the_prober() -> None:
    assert measuring.power_of(("a",), "800mW").baseline_w == 0.8
    for feeds, baseline in ((("a",), None), ((), "5")):
        with pytest.raises(UsageError, match="and --no-prober exclude each other"):
            measuring.power_of(feeds, baseline, no_prober=True)
    with pytest.raises(UsageError, match="'5 J' is neither a power like"):
        measuring.power_of((), "5 J")


def test_looks_at_disks_have_a_least_interval() -> None:
    workload = file.load("random-read-4k")
    config = resolve(workload, Options(available_cpus=(0,)), [DISK])
    request = Request(workload, config, ())
    assert measuring.with_power_states(request, None).power_states_ns is None
    assert measuring.with_power_states(request, 10**8).power_states_ns == 10**8
    with pytest.raises(UsageError, match="--power-states must be at least 100ms"):
        measuring.with_power_states(request, 10**8 - 1)


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
