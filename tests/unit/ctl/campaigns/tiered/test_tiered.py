# SPDX-License-Identifier: GPL-2.0
"""The tiered storage case: its map, its table, and the recipe as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from fractions import Fraction
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.energy_command import SHORT, of_output
from lib.fakes.machine import disk, use_fakes
from lib.fakes.power import FakePower
from lib.fakes.queue_kernel import QueueKernel

from spekctl.block import blkid, device, safety
from spekctl.campaigns import points
from spekctl.campaigns.dcse.figures import Inputs
from spekctl.campaigns.spc1e import levels
from spekctl.campaigns.tiered import layout
from spekctl.campaigns.tiered.compare import rows
from spekctl.documents.curve import Power
from spekctl.documents.result import Result
from spekctl.errors import ExitCode
from spekctl.power import span
from spekctl.workload.config import RunConfig

MAP = ("energy", "tiered", "map", "--slow", "/dev/fake0", "--fast", "/dev/fake1")
ROOT = Path(__file__).resolve().parents[5]


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> QueueKernel:
    fake = QueueKernel(capacity=1163.3)
    use_fakes(monkeypatch, fake, tmp_path)
    monkeypatch.chdir(tmp_path)
    return fake


# --- the map -------------------------------------------------------------------------------------


def lines_of(text: str) -> list[tuple[int, int, str, int]]:
    found = []
    for line in text.splitlines():
        start, length, kind, target, offset = line.split()
        assert kind == "linear"
        found.append((int(start), int(length), target, int(offset)))
    return found


def test_the_map_covers_the_slow_disk_and_uses_nothing_twice(
    spekctl: Spekctl, kernel: QueueKernel
) -> None:
    outcome = spekctl(*MAP, "--write")
    assert outcome.code == ExitCode.OK, outcome.err
    found = lines_of(outcome.out)
    at = 0
    for start, length, _, _ in found:
        assert start == at and length > 0
        at += length
    assert at == (1 << 30) // 512
    fast = [(offset, length) for _, length, target, offset in found if target == "250:1"]
    used = 0
    for offset, length in fast:
        assert offset == used
        used += length
    # Four dense ranges: three walks of 5 % of an asu, and the log.
    assert len(fast) == 4
    assert used * 512 / (1 << 30) == pytest.approx(0.1675, abs=0.01)
    assert all(offset == start for start, _, target, offset in found if target == "250:0")
    shares = [float(line.split(" with ")[1].split("%")[0]) for line in outcome.err.splitlines()]
    assert shares == [28.1, 21.0, 7.0, 28.1]


def test_the_dense_ranges_are_those_of_the_workload(
    spekctl: Spekctl, kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    from spekctl.run import request
    from spekctl.workload.options import Options

    config: RunConfig = request.build(
        request.find("spc1", ["/dev/fake0"]), Options(bsu=1, write=True)
    ).config
    hot = layout.hot_ranges(config, 1 << 30)
    walks = [one for one in config.streams if one.pattern == "walk"]
    for stream in walks:
        first = config.asus[stream.asu].extents[0].start + stream.range_start
        assert any(one.start <= first and first + stream.range_bytes <= one.end for one in hot)
    assert hot[-1].end == 1 << 30 or hot[-1].end >= config.asus[2].extents[0].start


@pytest.mark.parametrize(
    ("line", "code", "sentence"),
    [
        (MAP, ExitCode.REFUSED, "give --write"),
        ((*MAP[:-1], "/dev/fake0", "--write"), ExitCode.USAGE, "are both /dev/fake0"),
        ((*MAP, "--write", "--destroy", "S9"), ExitCode.REFUSED, "names none of"),
    ],
)
def test_a_wrong_pair_is_refused(
    line: tuple[str, ...], code: ExitCode, sentence: str, spekctl: Spekctl, kernel: QueueKernel
) -> None:
    outcome = spekctl(*line)
    assert (outcome.code, outcome.out) == (code, "")
    assert sentence in outcome.sentence


def test_a_disk_with_data_is_refused(
    spekctl: Spekctl, kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    found = [blkid.Signature("xfs", "filesystem", 0)]
    monkeypatch.setattr(
        safety,
        "signatures_on",
        lambda device, diskseq: found if device.path == "/dev/fake1" else [],
    )
    outcome = spekctl(*MAP, "--write")
    assert (outcome.code, outcome.out) == (ExitCode.REFUSED, "")
    assert "/dev/fake1 holds data: file system xfs" in outcome.sentence


def test_a_fast_disk_that_is_too_small_is_refused(
    spekctl: Spekctl, kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    sizes = {"/dev/fake0": 1 << 30, "/dev/fake1": 100 << 20}
    monkeypatch.setattr(device, "find", lambda path: disk(path, bytes=sizes[path]))
    outcome = spekctl(*MAP, "--write")
    assert outcome.code == ExitCode.USAGE
    assert "/dev/fake1 has 100 MiB; the dense ranges of /dev/fake0 need 17" in outcome.sentence


# --- the table -----------------------------------------------------------------------------------


def test_the_published_case_comes_out() -> None:
    """HP P9500: 128 disks of 146 GB, against 104 of them and 8 SSDs of 400 GB."""
    numbers = [
        Inputs(*(Fraction(one) for one in (18688, 1960, 2453, 35000))),
        Inputs(*(Fraction(one) for one in (18384, 1870, 2346, 61000))),
    ]
    table = {
        row.what: [one.text if one is not None else None for one in row.figures]
        for row in rows(*numbers)
    }
    assert table["I/Os per second"] == ["35000", "61000", "74.3"]
    assert table["power under load"] == ["2453.00", "2346.00", "-4.4"]
    assert table["DCsE workload"] == ["14.27", "26.00", "82.2"]
    assert table["DCsE capacity"] == ["9.53", "9.83", "3.1"]


def test_what_was_not_measured_has_no_figure() -> None:
    nothing = Inputs(gigabytes=Fraction(5), iops=Fraction(7))
    found = {row.what: row.figures for row in rows(nothing, nothing)}
    assert found["DCsE workload"] == (None, None, None)
    assert found["power under load"] == (None, None, None)
    assert found["I/Os per second"][0] is not None


# --- the recipe ----------------------------------------------------------------------------------


@pytest.fixture
def power(kernel: QueueKernel, monkeypatch: pytest.MonkeyPatch) -> FakePower:
    """Power of whatever is tested: that of a run stands in its point as well."""
    fake = FakePower()

    def power_point(result: Result) -> Power | None:
        found = fake.of_result(result)
        assert found is not None and found.total.mean_w is not None
        return Power(found.total.mean_w, {})

    monkeypatch.setattr(span, "connect", lambda *wish: (fake, ""))
    monkeypatch.setattr(levels, "power_of", fake.of_result)
    monkeypatch.setattr(points, "power_point", power_point)
    return fake


def test_two_tests_are_compared(spekctl: Spekctl, kernel: QueueKernel, power: FakePower) -> None:
    run = ("energy", "spc1e", "--device", "/dev/fake0", "--write", *SHORT)
    assert spekctl(*run, "--out", "single").code == ExitCode.OK
    kernel.capacity *= 2
    power.watts_per_iops /= 4
    assert spekctl(*run, "--out", "tiered").code == ExitCode.OK
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
    assert cells["power under load"][1:3] == [f"{one:.2f}" for one in watts]
    assert float(cells["DCsE workload"][2]) == pytest.approx(tiered / watts[1], abs=0.01)
    assert cells["power when idle"][:3] == ["W", "6.00", "6.00"]
    assert cells["DCsE workload"][3].startswith("+") and "…" not in outcome.out
    line = ("energy", "tiered", "compare", "single", "tiered", "--tiered-gigabytes", "2", "--json")
    found = of_output(spekctl(*line))
    assert found["given"]["gigabytes"] == "2" and found["source"] == "tiered against single"
    assert float(found["against"]["workload"]["text"]) > 0


def test_a_test_without_its_iops_phase_is_refused(
    spekctl: Spekctl, kernel: QueueKernel, power: FakePower
) -> None:
    kernel.capacity = 1.0
    run = ("energy", "spc1e", "--device", "/dev/fake0", "--write", *SHORT)
    spekctl(*run, "--out", "single")
    outcome = spekctl("energy", "tiered", "compare", "single", "single")
    assert outcome.code == ExitCode.USAGE
    assert (
        "single: the IOPS phase is missing (failed: the device cannot sustain even 1 BSU"
        in outcome.sentence
    )


STUB = """#!/bin/sh
echo "$(basename "$0") $*" >>"$CALLS"
case "$*" in
energy\\ tiered\\ map*) echo "0 8 linear 1:2 0" ;;
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
        timeout=60,
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
        "dmsetup create spek-tiered OUT/tiered.table",
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
