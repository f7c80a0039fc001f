# SPDX-License-Identifier: GPL-2.0
"""Two tests compared, and the recipe that runs both."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from lib.build.sources import ROOT
from lib.ctl.campaign_command import queue_kernel
from lib.ctl.command_line import Spekctl
from lib.ctl.energy_command import SHORT, of_output, with_power, without_power
from lib.fakes.power import FakePower
from lib.fakes.queue_kernel import QueueKernel
from lib.waiting import LONG_S

from spekctl.campaigns import points
from spekctl.campaigns.spc1e import levels
from spekctl.documents.curve import Power
from spekctl.documents.result import Result
from spekctl.errors import ExitCode

kernel = pytest.fixture(queue_kernel)


@pytest.fixture
def power(kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch) -> FakePower:
    """Power of whatever is tested: that of a run stands in its point as well."""
    fake = with_power(FakePower(), monkeypatch)

    def power_point(result: Result) -> Power | None:
        measured = fake.of_result(result)
        assert measured is not None and measured.total.mean_w is not None
        return Power(measured.total.mean_w, {})

    monkeypatch.setattr(levels, "power_of", fake.of_result)
    monkeypatch.setattr(points, "power_point", power_point)
    return fake


def test_two_tests_are_compared(spekctl: Spekctl, kernel: QueueKernel, power: FakePower) -> None:
    run = ("energy", "spc1e", "--device", "/dev/fake0", "--write", *SHORT)
    assert spekctl(*run, "--folder", "single").code == ExitCode.OK
    kernel.capacity *= 2
    power.watts_per_iops /= 4
    assert spekctl(*run, "--folder", "tiered").code == ExitCode.OK
    outcome = spekctl("energy", "tiered", "compare", "single", "tiered")
    assert outcome.code == ExitCode.OK, outcome.err
    title, head, *lines = outcome.out.splitlines()
    assert title == "SPC-1/E-like, unaudited: one tier against two"
    assert head.split() == ["unit", "single", "tier", "two", "tiers", "change"]
    cells = {line[:18].strip(): line[18:].split() for line in lines}
    single = json.loads(Path("single/report.json").read_text())["iops"]
    tiered = json.loads(Path("tiered/report.json").read_text())["iops"]
    assert cells["I/Os per second"][:3] == ["IOPS", f"{single:,.0f}", f"{tiered:,.0f}"]
    watts = [6 + 0.004 * single, 6 + 0.001 * tiered]
    assert cells["power under load"][1:3] == [f"{value:.2f}" for value in watts]
    assert float(cells["DCsE workload"][2]) == pytest.approx(tiered / watts[1], abs=0.01)
    assert cells["power when idle"][:3] == ["W", "6.00", "6.00"]
    assert cells["DCsE workload"][3].startswith("+") and "…" not in outcome.out
    line = ("energy", "tiered", "compare", "single", "tiered", "--tiered-gigabytes", "2", "--json")
    report = of_output(spekctl(*line))
    assert report["given"]["gigabytes"] == "2" and report["source"] == "tiered against single"
    assert float(report["against"]["workload"]["text"]) > 0
    assert report["remarks"] == []


def test_missing_power_has_a_reason(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = ("energy", "spc1e", "--device", "/dev/fake0", "--write", *SHORT)
    assert spekctl(*run, "--folder", "single").code == ExitCode.OK
    without_power(monkeypatch)
    monkeypatch.setattr(points, "power_point", lambda result: None)
    monkeypatch.setattr(levels, "power_of", lambda result: None)
    spekctl(*run, "--folder", "tiered")
    outcome = spekctl("energy", "tiered", "compare", "single", "tiered")
    assert outcome.code == ExitCode.OK, outcome.err
    reasons = [
        "tiered: no power under load: none was measured in the IOPS phase",
        "tiered: no power when idle: none was measured in the idle test",
    ]
    assert outcome.out.splitlines()[-2:] == [f"  {reason}" for reason in reasons]
    report = of_output(spekctl("energy", "tiered", "compare", "single", "tiered", "--json"))
    assert report["remarks"] == reasons and report["iops_per_watt"] is None


def test_tests_of_unlike_lengths_have_no_changes(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    run = ["energy", "spc1e", "--device", "/dev/fake0", "--write", *SHORT]
    assert spekctl(*run, "--folder", "single").code == ExitCode.OK
    at = run.index("--ramp")
    run[at + 1] = "2s"
    assert spekctl(*run, "--folder", "tiered").code == ExitCode.OK
    outcome = spekctl("energy", "tiered", "compare", "single", "tiered")
    *table, reason = outcome.out.splitlines()
    assert reason.startswith(
        "  no changes are given, as the loads are not comparable: the lengths of their parts differ"
        " (the ramp-up "
    )
    changes = {line[:18].strip(): line.split()[-1] for line in table[2:]}
    assert changes["capacity"] == "%" and changes["I/Os per second"] == "-"
    assert changes["DCsE workload"] == "-"
    report = of_output(spekctl("energy", "tiered", "compare", "single", "tiered", "--json"))
    assert report["against"] == {} and report["remarks"] == [reason.strip()]


def test_a_test_without_its_iops_phase_is_refused(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    kernel.capacity = 1.0
    run = ("energy", "spc1e", "--device", "/dev/fake0", "--write", *SHORT)
    spekctl(*run, "--folder", "single")
    outcome = spekctl("energy", "tiered", "compare", "single", "single")
    assert outcome.code == ExitCode.USAGE
    assert (
        "single: the IOPS phase is missing (failed: the device cannot sustain even 1 BSU"
        in outcome.sentence
    )


STUB = """#!/bin/sh
echo "$(basename "$0") $*" >>"$CALLS"
case "$*" in
energy\\ tiered\\ map*) echo "# uuid SPEK_TIERED-1"; echo "0 8 linear 1:2 0" ;;
energy\\ spc1e*/single\\ *)
    [ "$FAIL" = single ] && exit 4
    mkdir -p "$DIR/single"; : >"$DIR/single/state.json" ;;
energy\\ spc1e*)
    [ "$FAIL" = tiered ] && exit 1
    [ "$FAIL" = signal ] && kill -TERM 0
    exit 7 ;;
esac
exit 0
"""


def recipe(tmp_path: Path, fail: str = "") -> tuple[int, list[str]]:
    """Run the recipe with made-up spekctl and dmsetup; its code, and what it called."""
    tools, calls = tmp_path / "tools", tmp_path / "calls"
    tools.mkdir(exist_ok=True)
    calls.write_text("")
    for name in ("spekctl", "dmsetup"):
        (tools / name).write_text(STUB)
        (tools / name).chmod(0o755)
    environment = {
        **os.environ,
        "PATH": f"{tools}:{os.environ['PATH']}",
        "SPEKCTL": str(tools / "spekctl"),
        "CALLS": str(calls),
        "DIR": str(tmp_path / "out"),
        "FAIL": fail,
    }
    done = subprocess.run(
        [ROOT / "ctl/recipes/tiered-storage", "/dev/s", "/dev/f", tmp_path / "out", "--quick"],
        env=environment,
        check=False,
        timeout=LONG_S,
        stdout=sys.stderr,
        start_new_session=True,
    )
    out = str(tmp_path / "out")
    return done.returncode, calls.read_text().replace(out, "OUT").splitlines()


def test_the_recipe_measures_both_and_gives_the_device_back(tmp_path: Path) -> None:
    code, calls = recipe(tmp_path)
    assert code == 0
    assert calls == [
        "spekctl energy tiered map --slow /dev/s --fast /dev/f --write",
        "spekctl energy spc1e --write --folder OUT/single --device /dev/s --quick",
        "spekctl energy tiered map --slow /dev/s --fast /dev/f --write",
        "dmsetup create spek-tiered --uuid SPEK_TIERED-1 OUT/tiered.table",
        "spekctl energy spc1e --write --folder OUT/tiered --device /dev/mapper/spek-tiered --quick",
        "spekctl energy tiered compare OUT/single OUT/tiered",
        "dmsetup remove spek-tiered",
    ]
    _, again = recipe(tmp_path)
    # Device numbers may be those of other disks by now.
    assert again[0] == again[2] == calls[0]
    assert again[1].endswith("--folder OUT/single --device /dev/s --quick --resume")


@pytest.mark.parametrize(
    ("fail", "expected", "last"),
    [("single", 4, "--device /dev/s"), ("tiered", 1, "remove"), ("signal", 143, "remove")],
)
def test_the_recipe_ends_with_a_test_that_fails(
    tmp_path: Path, fail: str, expected: int, last: str
) -> None:
    code, calls = recipe(tmp_path, fail)
    assert code == expected
    assert last in calls[-1] and not any("compare" in call for call in calls)
