# SPDX-License-Identifier: GPL-2.0
"""A fleet whose hosts are guests: one start, exact totals, and a host that is killed."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from fleet.host import FIRST, PORT
from fleet.rig import BOOT_S, TOGETHER_S, Rig
from lib.waiting import eventually

from spekctl.errors import ExitCode
from spekctl.vm import network

HOSTS = int(os.environ.get("SPEK_FLEET_HOSTS", "2"))
assert 2 <= HOSTS <= network.PORTS + 1, "SPEK_FLEET_HOSTS"
LAST = network.name(HOSTS)
LOST = f"{LAST} is lost at"
RATE = 500
RATES = (200, 600)  # of a sweep, by all hosts
TIME_S = 10
SECTOR = 512
# A promise of a clock ages by 500 ppm, and guests on a busy machine take TOGETHER_S to join.
MAX_SKEW_NS = 1_000_000_000
RUN_S = 400.0
CALM_NS = 200_000_000
# All guests boot, one after the other, join, and then run.
BOOTS_S = HOSTS * BOOT_S
LIMIT_S = BOOTS_S + 2 * TOGETHER_S


def spekctl(*words: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "spekctl", *words], check=True, capture_output=True, text=True
    )
    return done.stdout


def boot(rig: Rig, time_s: int, ends: int, command: Sequence[str] = ()) -> None:
    """A fleet whose guests have a disk each; @ends: guests, beside the first, that will end;
    @command: as of fleet.host.

    They boot one after the other: together, each takes as many times as long as there are guests
    for a CPU, and the first one would wait in vain for the last. They join once all have booted.
    """
    rig.life_s = LIMIT_S
    names = [network.name(number) for number in range(1, HOSTS + 1)]
    spekctl("fleet", "init", str(rig.folder / "keys"), *names)
    plan = [
        "[fleet]",
        f'listen = "tls://{FIRST}:{PORT}"',
        'workload = "random-read-4k"',
        f'max_skew = "{MAX_SKEW_NS}ns"',
        "[fleet.options]",
        f'time = "{time_s}s"',
        f'rate = "{RATE}"',
    ]
    for name in names:
        plan += ["[[host]]", f'name = "{name}"', 'devices = ["/dev/nullb0"]']
    (rig.folder / "plan.toml").write_text("".join(f"{line}\n" for line in plan))
    for number in range(1, HOSTS + 1):
        words = ["fleet.host", str(number), str(rig.folder), "{disk1}"]
        words += [str(HOSTS), str(ends), str(BOOTS_S), *command]
        rig.boot(number, ["--disk", "null_blk,size=256"], words, "1G")
        eventually(partial(rig.is_ready, number), f"guest {number} does not boot", BOOT_S)


def await_run(rig: Rig) -> None:
    """Until all hosts have told of an interval."""
    line = re.compile(rf"^ *[\d:]+ {HOSTS} of {HOSTS} hosts", re.MULTILINE)

    def measuring() -> bool:
        assert rig.guests[0].poll() is None, rig.output(1)
        return line.search(rig.output(1)) is not None

    eventually(measuring, "no run", TOGETHER_S)


def told(rig: Rig, number: int) -> dict[str, Any]:
    """What a guest has written in its end."""
    answer: dict[str, Any] = json.loads((rig.folder / f"{number}.json").read_text())
    return answer


def result(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def of_phases(host: dict[str, Any], amount: str, *names: str) -> int:
    """What a host has done in phases of these names, or in all."""
    phases = host["run"]["phases"]
    return sum(phase[amount] for phase in phases if not names or phase["phase"] in names)


def grown(told: dict[str, Any], start_ns: int, until_ns: int | None = None) -> dict[str, int]:
    """What a disk has counted since shortly before a start of CLOCK_REALTIME, to the end, or to
    shortly before the next start."""
    after = told["looks"][-1][1] if until_ns is None else _before(told, until_ns)
    before = _before(told, start_ns)
    return {name: after[name] - before[name] for name in after}


def _before(told: dict[str, Any], start_ns: int) -> dict[str, int]:
    counted: dict[str, int]
    _, counted = [look for look in told["looks"] if look[0] < start_ns - CALM_NS][-1]
    return counted


@pytest.mark.timeout(LIMIT_S)
def test_a_fleet_counts_what_its_disks_count(rig: Rig) -> None:
    boot(rig, TIME_S, HOSTS - 1)
    for number in range(1, HOSTS + 1):
        assert rig.guests[number - 1].wait(RUN_S) == 0, rig.output(number)
    ends = [told(rig, number) for number in range(1, HOSTS + 1)]
    assert ends[0]["run"] == ExitCode.OK, rig.output(1)
    assert [end["join"] for end in ends] == [ExitCode.OK] * HOSTS

    fleet = result(rig.folder / "fleet.json")
    counted = [
        grown(end, host["start"]["actual_ns"])
        for end, host in zip(ends, fleet["hosts"], strict=True)
    ]
    for host, own in zip(fleet["hosts"], counted, strict=True):
        assert own["reads"] == of_phases(host, "ios")
        assert own["read_sectors"] * SECTOR == of_phases(host, "bytes")
    read = fleet["totals"]["read"]
    # The others have ended after the measure phase.
    drained = sum(of_phases(host, "ios", "drain") for host in fleet["hosts"])
    assert read["ios"] + drained == sum(own["reads"] for own in counted)
    assert not any(own["writes"] for own in counted)
    assert read["errors"] == fleet["totals"]["write"]["ios"] == 0
    # Poisson: ten standard deviations.
    offered = HOSTS * RATE * TIME_S
    assert abs(read["ios"] - offered) < 10 * offered**0.5

    common = fleet["common"]
    assert common["whole"] and common["all"]["ios"] == read["ios"]
    assert 0 < common["bound_ns"] <= MAX_SKEW_NS
    assert 0 <= common["spread_ns"] <= 2 * common["skew_ns"] < 2 * MAX_SKEW_NS
    for end, host in zip(ends, fleet["hosts"], strict=True):
        off = end["clock"]
        assert abs(off["ahead_ns"]) - off["unsure_ns"] <= host["clock"]["bound_ns"]
        assert host["clock"]["stepped_ns"] == 0
        assert end["free"]
    shown = spekctl("show", str(rig.folder / "fleet.json"))
    assert f"{HOSTS} hosts" in shown and f"{read['ios']:,}" in shown
    assert "clocks are right to" in shown


@pytest.mark.timeout(LIMIT_S)
def test_each_step_of_a_sweep_counts_what_its_disks_count(rig: Rig) -> None:
    folder = rig.folder / "sweep"
    words = ["sweep", "random-read-4k", "--rate", ",".join(map(str, RATES)), "--time", "5s"]
    words += ["--fleet", str(rig.folder / "plan.toml"), "--folder", str(folder)]
    boot(rig, TIME_S, HOSTS - 1, words)
    for number in range(1, HOSTS + 1):
        assert rig.guests[number - 1].wait(TOGETHER_S) == 0, rig.output(number)
    ends = [told(rig, number) for number in range(1, HOSTS + 1)]
    assert ends[0]["run"] == ExitCode.OK, rig.output(1)
    assert [end["join"] for end in ends] == [ExitCode.OK] * HOSTS
    assert all(end["free"] for end in ends)

    points = result(folder / "curve.json")["points"]
    assert [point["load"]["value"] for point in points] == list(RATES)
    steps = [result(folder / point["result_file"]) for point in points]
    for place, end in enumerate(ends):
        hosts = [step["hosts"][place] for step in steps]
        starts = [host["start"]["actual_ns"] for host in hosts]
        for host, start_ns, until_ns in zip(hosts, starts, [*starts[1:], None], strict=True):
            own = grown(end, start_ns, until_ns)
            assert own["reads"] == of_phases(host, "ios")
            assert own["read_sectors"] * SECTOR == of_phases(host, "bytes")
            assert own["writes"] == 0
    for point, step in zip(points, steps, strict=True):
        measured = sum(of_phases(host, "ios", "measure") for host in step["hosts"])
        assert point["ios"] == step["totals"]["read"]["ios"] == measured
        # The load is that of all hosts together. Poisson: ten standard deviations.
        offered = point["load"]["value"] * 5
        assert abs(measured - offered) < 10 * offered**0.5


@pytest.mark.timeout(LIMIT_S)
def test_a_guest_that_is_killed_is_lost(rig: Rig) -> None:
    boot(rig, 6 * TIME_S, HOSTS - 2)
    await_run(rig)
    rig.signal(HOSTS, signal.SIGKILL)
    assert rig.guests[-1].wait(60) == ExitCode.GUEST_FAILED, rig.output(HOSTS)
    for number in range(1, HOSTS):
        assert rig.guests[number - 1].wait(RUN_S) == 0, rig.output(number)

    ends = [told(rig, number) for number in range(1, HOSTS)]
    said = rig.output(1)
    assert ends[0]["run"] == ExitCode.HOST_LOST, said
    assert [end["join"] for end in ends] == [ExitCode.OK] * (HOSTS - 1)
    lost = re.search(rf"incomplete: {LAST} lost at ([\d.]+) s: (.+)", said)
    assert lost, said

    fleet = result(rig.folder / "fleet.json")
    *others, gone = fleet["hosts"]
    assert gone["name"] == LAST and gone["loss"]["text"] == lost[2]
    at_s = (gone["loss"]["at_ns"] - gone["start"]["planned_ns"]) / 1e9
    assert abs(at_s - float(lost[1])) < 0.1 and 1 < at_s < 5 * TIME_S
    assert gone["run"] is None and sum(gone["rows"]["read"]["ios"]) > 0
    for end, host in zip(ends, others, strict=True):
        assert host["loss"] is None
        own = grown(end, host["start"]["actual_ns"])["reads"]
        assert own == of_phases(host, "ios") < RATE * 6 * TIME_S
    assert f"{LAST} lost at {lost[1]} s" in spekctl("show", str(rig.folder / "fleet.json"))


@pytest.mark.timeout(LIMIT_S)
def test_a_guest_that_hangs_is_lost_and_ends_once_it_is_back(rig: Rig) -> None:
    boot(rig, 6 * TIME_S, HOSTS - 1)
    await_run(rig)
    rig.signal(HOSTS, signal.SIGSTOP)
    eventually(lambda: LOST in rig.output(1), "it is not missed", RUN_S)
    rig.signal(HOSTS, signal.SIGCONT)
    for number in range(1, HOSTS + 1):
        assert rig.guests[number - 1].wait(RUN_S) == 0, rig.output(number)

    ends = [told(rig, number) for number in range(1, HOSTS + 1)]
    assert ends[0]["run"] == ExitCode.HOST_LOST, rig.output(1)
    assert ends[-1]["join"] in (ExitCode.OK, ExitCode.HOST_LOST), rig.output(HOSTS)
    *_, gone = result(rig.folder / "fleet.json")["hosts"]
    assert "silent" in gone["loss"]["text"] and gone["run"] is None
    assert ends[-1]["free"]
    # Its run has ended with its worker, long before its own end.
    start_ns = gone["start"]["planned_ns"]
    assert 0 < grown(ends[-1], start_ns)["reads"] < RATE * 4 * TIME_S


@pytest.mark.timeout(LIMIT_S)
def test_hosts_end_with_the_guest_of_their_controller(rig: Rig) -> None:
    """The network goes with it, so that nothing says that the controller is gone."""
    long_s = 60 * TIME_S
    boot(rig, long_s, 0)
    await_run(rig)
    rig.signal(1, signal.SIGKILL)
    assert rig.guests[0].wait(60) == ExitCode.GUEST_FAILED, rig.output(1)
    for number in range(2, HOSTS + 1):
        assert rig.guests[number - 1].wait(RUN_S) == 0, rig.output(number)
        end = told(rig, number)
        assert end["join"] in (ExitCode.OK, ExitCode.HOST_LOST), rig.output(number)
        assert end["free"] and end["clock"] is None
        (_, before), *_, (_, after) = end["looks"]
        # Its run was to last ten minutes.
        assert 0 < after["reads"] - before["reads"] < RATE * long_s / 2
    assert not (rig.folder / "fleet.json").exists()
