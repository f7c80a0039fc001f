# SPDX-License-Identifier: GPL-2.0
"""Sweeps and SPC-1-like tests on all hosts of a plan: one claim, each step one start and result."""

from __future__ import annotations

import itertools
import json
import re
from collections.abc import Iterator
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from lib.ctl.command_line import Spekctl
from lib.fakes.fleet_members import Members, commands_on
from lib.fakes.machine import disk

from spekctl.block import device
from spekctl.campaigns.emerald import plan
from spekctl.campaigns.emerald import report as emerald_report
from spekctl.errors import ExitCode
from spekctl.fleet import selector
from spekctl.fleet.steps import FleetSteps
from spekctl.kernel import traces
from spekctl.kernel.records import ReplayInfo
from spekctl.run import ending, replay, replay_request
from spekctl.trace.columns import Op

GIB = 1 << 30
FLEET = ("--fleet", "plan.toml", "--progress", "none")
SWEEP = ("sweep", "random-read-4k", *FLEET, "--time", "10s", "--folder", "f")


@pytest.fixture
def members(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Members]:
    engine = Members(["b", "a"])
    with commands_on(monkeypatch, tmp_path, engine):
        yield engine


def read(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_text())
    return document


def test_a_sweep_is_one_claim_and_each_load_one_result(
    spekctl: Spekctl, members: Members, tmp_path: Path
) -> None:
    outcome = spekctl(*SWEEP, "--rate", "100,400", "-o", "curve.json")
    assert outcome.code == ExitCode.OK, outcome.err
    curve = read(tmp_path / "curve.json")
    assert curve["complete"] and curve["cpus"] == []
    assert [point["load"] for point in curve["points"]] == [
        {"kind": "rate", "value": 100.0},
        {"kind": "rate", "value": 400.0},
    ]
    # Each host has half of the rate, and a point has the sum.
    assert [point["offered_iops"] for point in curve["points"]] == [100.0, 400.0]
    assert [point["ios"] for point in curve["points"]] == [1000, 4000]
    assert [target["path"] for target in curve["targets"]] == ["/dev/fake0", "/dev/fake0"]
    for kernel in members.kernels.values():
        assert [config.offered_rate for config in kernel.runs_seen] == [50.0, 200.0]
        assert kernel.claim_calls() == ["claim-new", "run-new", "claim-del"]
        assert not kernel.claimed and kernel.deleted
    first = read(tmp_path / "f/1-rate-100.json")
    second = read(tmp_path / "f/2-rate-400.json")
    assert [host["name"] for host in first["hosts"]] == ["a", "b"]
    planned = [{host["start"]["planned_ns"] for host in each["hosts"]} for each in (first, second)]
    assert len(planned[0]) == len(planned[1]) == 1 and planned[0] != planned[1]
    seeds = {host["run"]["config"]["seed"] for host in first["hosts"]}
    assert len(seeds) == 2
    assert first["totals"]["read"]["ios"] == 1000


def test_a_search_finds_the_limit_of_all_together(
    spekctl: Spekctl, members: Members, tmp_path: Path
) -> None:
    """Each host can do 1,000 per second."""
    outcome = spekctl(
        *(*SWEEP, "--rate", "500,8000", "--within", "latency < 20ms", "--resolution", "20"),
        *("-o", "curve.json"),
    )
    assert outcome.code == ExitCode.OK, outcome.err
    within = read(tmp_path / "curve.json")["within"]
    assert 1500 <= within["load"] < within["beyond"] <= 2500


def test_a_search_ends_at_a_load_that_all_hosts_can_have(
    spekctl: Spekctl, members: Members, tmp_path: Path
) -> None:
    outcome = spekctl(
        *(*SWEEP, "--depth", "8,64", "--within", "latency < 1ns", "--resolution", "0"),
        *("-o", "curve.json"),
    )
    assert outcome.code == ExitCode.LIMIT_MISSED, outcome.err
    curve = read(tmp_path / "curve.json")
    assert [point["load"]["value"] for point in curve["points"]] == [8, 4, 2]
    assert curve["complete"] and curve["within"]["text"] == "no load is within latency < 1ns"


def test_no_curve_takes_the_place_of_the_plan(
    spekctl: Spekctl, members: Members, tmp_path: Path
) -> None:
    before = (tmp_path / "plan.toml").read_bytes()
    outcome = spekctl(*SWEEP, "--rate", "100", "-o", "plan.toml")
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence == "--output plan.toml would overwrite the input plan.toml"
    assert (tmp_path / "plan.toml").read_bytes() == before


def test_an_interrupted_sweep_is_resumed_with_hosts_that_join_again(
    spekctl: Spekctl, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    with commands_on(monkeypatch, tmp_path, Members(["a", "b"])):
        assert spekctl(*SWEEP, "--rate", "100").code == ExitCode.OK
    state = read(tmp_path / "f/state.json")
    state["parameters"]["loads"].append({"kind": "rate", "value": 400.0})
    (tmp_path / "f/state.json").write_text(json.dumps(state))
    again = Members(["a", "b"])
    with commands_on(monkeypatch, tmp_path, again):
        outcome = spekctl(*SWEEP, "--rate", "100,400", "--resume", "-o", "curve.json")
    assert outcome.code == ExitCode.OK, outcome.err
    assert len(again.kernels["a"].runs_seen) == 1
    assert [point["ios"] for point in read(tmp_path / "curve.json")["points"]] == [1000, 4000]


def test_a_sweep_whose_devices_are_not_free_in_the_end_says_so(
    spekctl: Spekctl, members: Members, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(ending, "outstanding", lambda kernel, run, claim: int(run == 100))
    outcome = spekctl(*SWEEP, "--rate", "100", "-o", "curve.json")
    assert outcome.code == ExitCode.RUN_FAILED
    assert "b has not said that its devices are free: 1 I/O is still outstanding" in outcome.err
    assert [point["ios"] for point in read(tmp_path / "curve.json")["points"]] == [1000]


def test_a_host_that_is_lost_ends_the_sweep_and_is_named(
    spekctl: Spekctl, members: Members, tmp_path: Path
) -> None:
    kernel = members.kernels["b"]

    def lose(second: int) -> None:
        if len(kernel.runs_seen) == 2 and second == 3:
            kernel.on_wait = lambda _: None
            members.lose("b")

    kernel.on_wait = lose
    outcome = spekctl(*SWEEP, "--rate", "100,200,400", "-o", "curve.json")
    assert outcome.code == ExitCode.HOST_LOST
    curve = read(tmp_path / "curve.json")
    assert not curve["complete"] and [point["ok"] for point in curve["points"]] == [True, False]
    assert "b lost at" in curve["points"][1]["text"]
    # The first load is kept, and the others were stopped and gave their devices back.
    assert read(tmp_path / "f/1-rate-100.json")["totals"]["read"]["ios"] == 1000
    assert not members.kernels["a"].claimed and len(members.kernels["a"].runs_seen) == 2


def test_wrong_data_of_a_step_come_before_the_loss_of_a_host(
    spekctl: Spekctl, members: Members, monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel = members.kernels["b"]

    def lose(second: int) -> None:
        if second == 3:
            kernel.on_wait = lambda _: None
            members.lose("b")

    kernel.on_wait = lose
    # The host that is left is stopped, and has verified what it had written.
    monkeypatch.setattr(ending, "exit_code_of", lambda *_, **more: ExitCode.DATA_ERRORS)
    outcome = spekctl(*SWEEP, "--rate", "100", "-o", "curve.json")
    assert outcome.code == ExitCode.DATA_ERRORS
    (said,) = [line for line in outcome.err.splitlines() if "incomplete: b lost at" in line]
    assert said.startswith("spekctl: the run of a host has failed: a: ")


@pytest.mark.parametrize(
    ("unreleased", "code"), [("", ExitCode.LIMIT_MISSED), ("a: held", ExitCode.RUN_FAILED)]
)
def test_a_clock_that_left_max_skew_in_a_step_has_an_exit_code(
    spekctl: Spekctl,
    members: Members,
    monkeypatch: pytest.MonkeyPatch,
    unreleased: str,
    code: ExitCode,
) -> None:
    monkeypatch.setattr(FleetSteps, "strayed", "a: at the end its clock may be off")
    monkeypatch.setattr(FleetSteps, "unreleased", unreleased)
    assert spekctl(*SWEEP, "--rate", "100").code == code


def test_a_step_that_one_host_refuses_runs_nowhere(
    spekctl: Spekctl, members: Members, tmp_path: Path
) -> None:
    from spekctl.errors import RefusedError

    kernel = members.kernels["b"]

    def refuse(config: Any) -> None:
        if kernel.runs_seen:
            raise RefusedError("the device is gone")

    kernel.before_run = refuse
    outcome = spekctl(*SWEEP, "--rate", "100,200", "-o", "curve.json")
    assert outcome.code == ExitCode.REFUSED
    assert "b: the device is gone" in outcome.err and "--resume continues after" in outcome.err
    assert len(members.kernels["a"].runs_seen) == 2 and members.kernels["a"].start_ns
    for each in members.kernels.values():
        assert not each.claimed


def test_a_claim_that_one_host_refuses_holds_nothing(
    spekctl: Spekctl, members: Members, tmp_path: Path
) -> None:
    from spekctl.errors import RefusedError

    members.kernels["b"].refuse["claim-new"] = RefusedError("The device is in use.")
    outcome = spekctl(*SWEEP, "--rate", "100,200")
    assert outcome.code == ExitCode.REFUSED and "b: The device is in use." in outcome.err
    assert not members.kernels["a"].claimed


def test_a_test_of_spc1_is_of_all_hosts(spekctl: Spekctl, members: Members, tmp_path: Path) -> None:
    words = ("--write", "--quick", "--start-bsu", "20", "--max-bsu", "24", "--resolution", "50")
    times = ("--sustain", "5s", "--iops-time", "5s", "--phase-time", "5s", "--search-time", "5s")
    outcome = spekctl("spc1", *FLEET, *words, *times, "--folder", "t")
    assert outcome.code in (ExitCode.OK, ExitCode.LIMIT_MISSED), outcome.err
    report = read(tmp_path / "t/report.json")
    assert len(report["targets"]) == 2 and report["parameters"]["clients"] == 2
    sustain = next(phase for phase in report["phases"] if phase["step"]["kind"] == "sustain")
    bsu = sustain["step"]["bsu"]
    assert sustain["point"]["offered_iops"] == bsu * 50
    for kernel in members.kernels.values():
        assert kernel.claim_calls() == ["claim-new", "run-new", "claim-del"]
        assert all(config.write for config in kernel.runs_seen)
    results = sorted((tmp_path / "t").glob("[0-9]*.json"))
    assert len(results) == len(report["phases"])
    assert all(len(read(path)["hosts"]) == 2 for path in results)
    assert report["capacity"]["devices_bytes"] == 2 * GIB
    assert report["capacity"]["used_share"] == pytest.approx(1.0, abs=1e-4)
    assert sum(asu["bytes"] for asu in sustain["asus"]) == report["capacity"]["asus_bytes"]


def test_a_device_that_hosts_share_counts_once_in_the_capacity_of_spc1(
    spekctl: Spekctl, members: Members, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for module in (device, selector):
        monkeypatch.setattr(module, "find", lambda path, *roots: disk(path, wwn="naa.1"))
    kernel = members.kernels["a"]

    def lose(second: int) -> None:
        if len(kernel.runs_seen) == 2:
            kernel.on_wait = lambda _: None
            members.lose("b")

    kernel.on_wait = lose
    times = ("--search-time", "2s", "--sustain", "2s", "--ramp", "1s", "--max-bsu", "20")
    spekctl("spc1", *FLEET, "--write", *times, "--folder", "t")
    report = read(tmp_path / "t/report.json")
    assert len(report["targets"]) == 2
    assert report["capacity"]["devices_bytes"] == GIB
    assert report["capacity"]["used_share"] == pytest.approx(1.0, abs=1e-4)


def test_streams_of_spc2_are_dealt_out_equally(
    spekctl: Spekctl, members: Members, tmp_path: Path
) -> None:
    times = ("--ramp", "1s", "--time", "1s", "--vod-time", "2s", "--search-time", "1s")
    outcome = spekctl(
        *(
            "spc2",
            *FLEET,
            *times,
            "--parts",
            "ldq,vod",
            "--streams",
            "8",
            "--vod-start",
            "15",
            "--vod-most",
            "40",
        ),
        *("--folder", "t"),
    )
    assert outcome.code in (ExitCode.OK, ExitCode.LIMIT_MISSED), outcome.err
    report = read(tmp_path / "t/report.json")
    assert report["parameters"]["clients"] == 2 and report["parameters"]["fleet"]
    counts = {run["step"]["streams"] for run in report["runs"] if run["step"]["part"] == "ldq"}
    assert counts == {8, 4, 2}
    assert report["vod_streams"] == 40
    for kernel in members.kernels.values():
        own = [sum(stream.replicas for stream in each.streams) for each in kernel.runs_seen]
        assert own == [run["step"]["streams"] // 2 for run in report["runs"]]
        assert kernel.claim_calls() == ["claim-new", "run-new", "claim-del"]
    seeds = [[each.seed for each in kernel.runs_seen] for kernel in members.kernels.values()]
    assert len({seed for own in seeds for seed in own}) == 2 * len(report["runs"])


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--streams", "7"), "--streams 7 cannot be divided equally among 2 clients"),
        (("--vod-streams", "3"), "it must be a multiple of 2"),
        (("--vod-most", "1"), "--vod-most 1 leaves less than a stream for each of 2 clients"),
    ],
)
def test_streams_of_spc2_that_cannot_be_dealt_out_are_refused(
    spekctl: Spekctl, members: Members, words: tuple[str, ...], sentence: str
) -> None:
    outcome = spekctl("spc2", *FLEET, "--parts", "ldq,vod", *words)
    assert outcome.code == ExitCode.USAGE and sentence in outcome.err
    assert not any(verb == "claim" for _, verb in members.asked)


def test_rounds_of_pts_are_of_all_hosts(spekctl: Spekctl, members: Members, tmp_path: Path) -> None:
    words = ("--write", "--no-purge", "--quick", "--time", "1s", "--depth", "9")
    outcome = spekctl("pts", *FLEET, *words, "--tests", "iops,latency", "--folder", "t")
    assert outcome.code in (ExitCode.OK, ExitCode.LIMIT_MISSED), outcome.err
    report = read(tmp_path / "t/report.json")
    assert report["parameters"]["clients"] == 2 and report["parameters"]["fleet"]
    assert len(report["targets"]) == 2
    # The plan has b first, which gets what is left.
    for name, depth in (("b", 5), ("a", 4)):
        kernel = members.kernels[name]
        assert kernel.claim_calls() == ["claim-new", "run-new", "claim-del"]
        for config in kernel.runs_seen:
            single = config.name == "pts-latency" and not config.count
            assert config.arrivals[0].depth == (1 if single else depth)
        # Each host fills its own device of 1 GiB.
        assert {config.count for config in kernel.runs_seen if config.count} == {8 << 10}
    rounds = [run for run in report["runs"] if run["step"]["kind"] == "round"]
    assert all(read(tmp_path / "t" / run["result_file"])["hosts"] for run in rounds)


PURGED = ("pts", *FLEET, "--write", "--tests", "saturation", "--quick", "--saturation-time", "2s")


class Discards:
    """What hosts are fed, by the numbers of their runs: those of Members are 100 and 101."""

    def __init__(self) -> None:
        self.records: dict[int, list[tuple[int, int, int]]] = {}

    def feed(self, run: int, worker: int, records: bytes) -> int:
        table = np.frombuffer(bytes(records), replay.RECORD)
        fed = [(int(each["op"]), int(each["addr"]), int(each["bytes"])) for each in table]
        self.records.setdefault(run, []).extend(fed)
        return len(table)

    def end(self, run: int, count: int) -> None:
        """All were fed."""

    def close(self) -> None:
        """Nothing to do."""


@pytest.fixture
def discards(monkeypatch: pytest.MonkeyPatch, members: Members) -> Discards:
    fake = Discards()
    monkeypatch.setattr(traces, "connect", lambda: fake)
    monkeypatch.setattr(replay_request, "discards", lambda device: True)
    for kernel in members.kernels.values():
        kernel.replay = ReplayInfo(fed=1, issued=1, ended=1)
    return fake


def test_each_host_of_a_fleet_purges_its_own_devices_under_its_claim(
    spekctl: Spekctl, members: Members, discards: Discards, tmp_path: Path
) -> None:
    outcome = spekctl(*PURGED, "--folder", "t")
    assert outcome.code == ExitCode.OK, outcome.err
    assert discards.records == {100: [(Op.DISCARD, 0, GIB)], 101: [(Op.DISCARD, 0, GIB)]}
    for kernel in members.kernels.values():
        operations = [[stream.operation for stream in each.streams] for each in kernel.runs_seen]
        assert operations == [["discard"], ["transfer"]]
        assert kernel.claim_calls() == ["claim-new", "run-new", "claim-del"]
    purge = read(tmp_path / "t/0001-saturation-purge.json")
    assert {host["name"]: host["run"]["replay"]["issued"] for host in purge["hosts"]} == {
        "a": 1,
        "b": 1,
    }
    assert purge["replay"]["records"] == 2 and purge["replay"]["complete"]
    report = read(tmp_path / "t/report.json")
    assert report["parameters"]["purge"] and report["runs"][0]["step"]["kind"] == "purge"
    # No file travels, and none is left.
    assert not (tmp_path / "t/purge.csv").exists()


def test_hosts_that_share_a_device_purge_a_slice_each(
    spekctl: Spekctl, discards: Discards, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Together all of its blocks, also those behind the last whole MiB."""
    size = GIB + 700 * 1024
    facts = {"wwn": "naa.1", "bytes": size}
    monkeypatch.setattr(selector, "find", lambda text, *roots: disk(text, **facts))
    monkeypatch.setattr(device, "find", lambda path, *roots: disk(path, **facts))
    assert spekctl(*PURGED, "--folder", "t").code == ExitCode.OK
    half = GIB // 2
    # The plan has b first.
    assert discards.records == {
        100: [(Op.DISCARD, 0, half)],
        101: [(Op.DISCARD, half, size - half)],
    }


def test_hosts_with_different_numbers_of_devices_purge_all_of_them(
    spekctl: Spekctl, members: Members, discards: Discards, tmp_path: Path
) -> None:
    path = tmp_path / "plan.toml"
    before, devices, after = path.read_text().rpartition('["/dev/fake0"]')
    path.write_text(f'{before}["/dev/fake0", "/dev/fake1"]{after}')
    outcome = spekctl(*PURGED, "--folder", "t")
    assert outcome.code == ExitCode.OK, outcome.err
    assert devices and discards.records[100] == [(Op.DISCARD, 0, GIB)]
    assert discards.records[101] == [(Op.DISCARD, 0, GIB)] * 2
    purge = read(tmp_path / "t/0001-saturation-purge.json")
    assert [stream["name"] for stream in purge["config"]["streams"]] == ["discard"]
    own = {host["name"]: host["run"]["config"]["streams"] for host in purge["hosts"]}
    assert sorted(len(streams) for streams in own.values()) == [1, 2]
    assert purge["replay"]["complete"]


def test_a_fleet_with_a_device_that_cannot_be_purged_erases_nothing(
    spekctl: Spekctl, members: Members, discards: Discards, monkeypatch: pytest.MonkeyPatch
) -> None:
    known = itertools.count()
    monkeypatch.setattr(replay_request, "discards", lambda device: next(known) > 0)
    outcome = spekctl(*PURGED, "--folder", "t")
    assert outcome.code == ExitCode.USAGE
    assert re.search("/dev/fake0 of [ab] cannot be purged: no support for", outcome.sentence)
    assert "claim" not in {verb for _, verb in members.asked} and not discards.records


def test_all_devices_that_cannot_be_purged_are_named(spekctl: Spekctl, members: Members) -> None:
    outcome = spekctl(*PURGED, "--folder", "t")
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence == (
        "/dev/fake0 of a, /dev/fake0 of b cannot be purged: no support for discards; with"
        " --no-purge the test starts from the present state of all devices, and the report says so"
    )


def test_a_host_that_has_not_discarded_all_blocks_is_named(
    spekctl: Spekctl, members: Members, discards: Discards
) -> None:
    members.kernels["a"].replay = ReplayInfo(fed=1, issued=0, ended=1)
    outcome = spekctl(*PURGED, "--folder", "t")
    assert outcome.code == ExitCode.RUN_FAILED
    assert "saturation-purge: not all blocks were discarded on a: " in outcome.err
    for kernel in members.kernels.values():
        assert len(kernel.runs_seen) == 1 and not kernel.claimed


def test_phases_of_emerald_are_of_all_hosts(
    spekctl: Spekctl, members: Members, tmp_path: Path
) -> None:
    times = ("--ramp", "1s", "--time", "1s", "--search-time", "1s", "--conditioning", "0")
    outcome = spekctl(
        *(
            "energy",
            "emerald",
            *FLEET,
            *times,
            "--phases",
            "random-read,sequential-read,ready-idle",
        ),
        *("--prefill", "50", "--write", "--folder", "t", "--depths", "2,4"),
    )
    assert outcome.code in (ExitCode.OK, ExitCode.LIMIT_MISSED), outcome.err
    report = read(tmp_path / "t/energy.json")
    assert report["parameters"]["fleet"] and float(report["raw_gigabytes"]) > 2.1
    by_name = {phase["name"]: phase for phase in report["phases"]}
    assert float(by_name["random-read"]["work"]) > 0
    assert by_name["ready-idle"]["text"] == "skipped: power is not measured"
    workers = {name: len(each.runs_seen[0].cpus) for name, each in members.kernels.items()}
    for name in ("random-read", "sequential-read"):
        assert by_name[name]["workers_by_host"] == workers
        assert by_name[name]["workers"] == sum(workers.values()) == 2
    assert {trial["workers"] for trial in report["trials"]} == {2}
    for kernel in members.kernels.values():
        assert kernel.runs_seen[0].count == (1 << 29) // (256 << 10)
        assert {config.arrivals[0].depth for config in kernel.runs_seen} == {1, 2}
        assert kernel.claim_calls() == ["claim-new", "run-new", "claim-del"]


EMERALD = ("energy", "emerald", *FLEET, "--ramp", "1s", "--time", "1s", "--search-time", "0")


def test_a_device_that_hosts_share_is_in_the_raw_capacity_once(
    spekctl: Spekctl, members: Members, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    for module in (device, selector):
        monkeypatch.setattr(module, "find", lambda path, *roots: disk(path, wwn="naa.1"))
    words = ("--conditioning", "0", "--prefill", "0", "--depths", "2", "--phases", "random-read")
    outcome = spekctl(*EMERALD, *words, "--folder", "t")
    assert outcome.code == ExitCode.OK, outcome.err
    assert float(read(tmp_path / "t/energy.json")["raw_gigabytes"]) == GIB / 1e9


def test_ready_idle_of_hosts_is_left_out_of_all_phases(
    spekctl: Spekctl, members: Members, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """It would have no power, and a test whose other phases have it be performance only."""
    monkeypatch.setattr(plan, "PHASES", ["random-read", "ready-idle"])
    monkeypatch.setattr(emerald_report, "watts_of", lambda power: Fraction(7))
    words = ("--conditioning", "0", "--prefill", "0", "--depths", "2")
    outcome = spekctl(*EMERALD, *words, "--folder", "t")
    assert outcome.code == ExitCode.OK, outcome.err
    report = read(tmp_path / "t/energy.json")
    assert [phase["name"] for phase in report["phases"]] == ["random-read"]
    assert (report["verdict"], report["complete"]) == ("complete", True)


def test_a_depth_that_not_all_hosts_can_have_is_refused_before_conditioning(
    spekctl: Spekctl, members: Members
) -> None:
    words = ("--write", "--depths", "1,2,4", "--phases", "random-read", "--folder", "t")
    outcome = spekctl(*EMERALD[:-1], "1s", *words)
    assert outcome.code == ExitCode.USAGE
    assert outcome.sentence == "--depth must be 2 to 131072 for 2 clients together, not 1"
    assert not any(kernel.runs_seen for kernel in members.kernels.values())


@pytest.mark.parametrize("name", ["backend=bio,mq", "polled=off,on", "cpus=0,1"])
def test_options_of_hosts_are_not_searched_over(
    spekctl: Spekctl, members: Members, name: str
) -> None:
    words = ("--phases", "random-read", "--folder", "t", "--search", name)
    outcome = spekctl(*EMERALD[:-1], "1s", *words)
    option = name.partition("=")[0]
    assert (outcome.code, outcome.sentence) == (
        ExitCode.USAGE,
        f"--search {option} is not given with --fleet: write {option} in [[host]], options",
    )
    assert not any(kernel.runs_seen for kernel in members.kernels.values())


def test_numbers_and_a_fleet_exclude_each_other(
    spekctl: Spekctl, members: Members, tmp_path: Path
) -> None:
    (tmp_path / "n.toml").write_text("raw_gigabytes = 1")
    outcome = spekctl("energy", "emerald", *FLEET, "--from", "n.toml")
    assert outcome.code == ExitCode.USAGE and "--fleet" in outcome.err and members.asked == []


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (
            ("--device", "/dev/fake0"),
            "--device is not given with --fleet: the plan has the devices",
        ),
        (("--cpus", "0"), "--cpus is not given with --fleet: write cpus in [[host]], options"),
        (("--no-prober",), "--no-prober is not given with --fleet: write no-prober in"),
        (("--destroy", "S1"), "--destroy is not given with --fleet: write destroy in [[host]]"),
        (("--depth", "1"), "exclude each other"),
    ],
)
def test_what_the_plan_has_is_not_given_twice(
    spekctl: Spekctl, members: Members, words: tuple[str, ...], sentence: str
) -> None:
    outcome = spekctl(*SWEEP, "--rate", "100", *words)
    assert outcome.code == ExitCode.USAGE and sentence in outcome.err
    assert members.asked == []


def test_loads_that_cannot_be_dealt_out_are_refused_before_any_claim(
    spekctl: Spekctl, members: Members
) -> None:
    outcome = spekctl(*SWEEP, "--depth", "1,2")
    assert outcome.code == ExitCode.USAGE
    assert "--depth must be 2 to 131072 for 2 clients together, not 1" in outcome.err
    assert not any(verb == "claim" for _, verb in members.asked)


def test_the_load_of_the_plan_is_not_that_of_the_command(
    spekctl: Spekctl, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    engine = Members(["a", "b"])
    extra = 'options = {time = "1h", rate = "7", workers = "1"}'
    with commands_on(monkeypatch, tmp_path, engine, extra):
        outcome = spekctl(*SWEEP, "--depth", "3")
    assert outcome.code == ExitCode.OK, outcome.err
    assert "rate, time of the plan are not used" in outcome.err
    depths = [kernel.runs_seen[0].arrivals[0].depth for kernel in engine.kernels.values()]
    assert depths == [2, 1]


def test_without_a_plan_devices_are_needed_and_keys_are_not(spekctl: Spekctl) -> None:
    words = ("sweep", "random-read-4k", "--depth", "1")
    missing = spekctl(*words)
    assert missing.code == ExitCode.USAGE and "--device" in missing.err
    alone = spekctl(*words, "--device", "/dev/fake0", "--keys", ".")
    assert alone.code == ExitCode.USAGE and "--keys needs --fleet as well" in alone.err


def test_each_client_of_a_test_of_spc1_has_a_bsu_at_10_percent(
    spekctl: Spekctl, members: Members
) -> None:
    outcome = spekctl("spc1", *FLEET, "--write", "--start-bsu", "19")
    assert outcome.code == ExitCode.USAGE
    assert "a BSU for each of 2 clients at 10 %; it has to be 20 or more" in outcome.err
    unset = spekctl("spc1", *FLEET, "--write", "--max-bsu", "19")
    assert unset.code == ExitCode.USAGE and "--start-bsu 20 is more than --max-bsu 19" in unset.err


def test_a_test_of_persistence_is_of_one_machine(spekctl: Spekctl, members: Members) -> None:
    outcome = spekctl("spc1", *FLEET, "--write", "--persistence")
    assert (
        outcome.code == ExitCode.USAGE and "--persistence is not given with --fleet" in outcome.err
    )
