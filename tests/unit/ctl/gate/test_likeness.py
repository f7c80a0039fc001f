# SPDX-License-Identifier: GPL-2.0
"""Conditions that have to be equal for a comparison, each with its name for --vary."""

from __future__ import annotations

import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.fleets import Spec, facts_of, fleet_of, power_of, result_of
from lib.ctl.verdicts import A, changed, runs, sides
from msgspec.structs import replace

from spekctl.documents.result import Result
from spekctl.documents.result_parts import FeedResult, ReplayResult
from spekctl.documents.verdict import Difference
from spekctl.errors import ExitCode, RefusedError
from spekctl.fleet.merge import merge, of_host
from spekctl.gate import likeness
from spekctl.gate.judged import Run
from spekctl.kernel.records import FeedState


def target(**facts: Any) -> Callable[[Result], Result]:
    def change(result: Result) -> Result:
        device = result.targets[0]
        return replace(result, targets=[replace(device, facts=replace(device.facts, **facts))])

    return change


def environment(**facts: Any) -> Callable[[Result], Result]:
    return lambda result: changed(result, environment=facts)


def stream(**facts: Any) -> Callable[[Result], Result]:
    return lambda result: changed(
        result, config={"streams": [replace(result.config.streams[0], **facts)]}
    )


UNLIKE: list[tuple[str, Callable[[Result], Result], str]] = [
    ("workload", stream(read_ppm=700_000), "workloads differ: streams main read_ppm is 1000000 in"),
    (
        "workload",
        lambda result: changed(result, config={"time_ns": 5}),
        "time_ns is 3000000000 in a0",
    ),
    ("device", target(model="OTHER"), "devices differ: model is 'FAKE' in a0.json, and 'OTHER' in"),
    ("device", target(serial=""), "serial is 'S123' in a0.json, and not known in b0.json"),
    ("device", target(scheduler="bfq"), "scheduler is 'none' in a0.json, and 'bfq' in b0.json"),
    (
        "device",
        lambda result: replace(result, targets=result.targets * 2),
        "number of devices is 1 in a0",
    ),
    ("machine", environment(cpu_model="i486"), "machines differ: CPU model is 'AMD EPYC' in"),
    ("machine", environment(cpus_online="0"), "CPUs is '0-1' in a0.json, and '0' in b0.json"),
    ("host", environment(hostname="other"), "hosts differ: host name is 'vm' in a0.json, and"),
    ("kernel", environment(kernel="6.99"), "kernels differ: release is '6.18.44-fc-v657' in a0"),
    ("kernel", environment(kernel_command_line="slow"), "command line is 'quiet' in a0.json, and"),
    (
        "governor",
        environment(governors={"powersave": "0-1"}),
        "governors differ: powersave is none",
    ),
    ("clock", environment(clocksource="hpet"), "clock sources differ: clock source is 'tsc' in"),
    ("instrument", environment(module_version="9"), "instruments differ: version of spek.ko is '0"),
    (
        "instrument",
        lambda result: replace(result, log=None),
        "per-I/O log is true in a0.json, and false",
    ),
]


@pytest.mark.parametrize(("name", "change", "sentence"), UNLIKE)
def test_unlike_sides_are_refused_unless_allowed_by_name(
    spekctl: Spekctl, tmp_path: Path, name: str, change: Callable[[Result], Result], sentence: str
) -> None:
    words = sides(tmp_path, A, A, change)
    refused = spekctl("compare", *words)
    assert (refused.code, refused.out) == (ExitCode.REFUSED, "")
    assert sentence in refused.sentence
    assert refused.sentence.endswith(f"; --vary {name} allows it")
    allowed = spekctl("compare", "--vary", name, *words)
    assert (allowed.code, allowed.err) == (ExitCode.OK, "")
    assert f"\n{name}, " in allowed.out
    others = [kind for kind in likeness.NAMES if kind != name]
    flags = [word for kind in others for word in ("--vary", kind)]
    assert spekctl("compare", *flags, *words).code == ExitCode.REFUSED


@pytest.mark.parametrize(("name", "change", "sentence"), UNLIKE)
def test_a_side_is_of_one_kind_whatever_may_vary(
    name: str, change: Callable[[Result], Result], sentence: str
) -> None:
    left, right = runs(0, A), runs(1, A)
    right[3] = Run(right[3].path, change(right[3].result))
    with pytest.raises(Exception, match=r"one side mixes .* in 1\.json, and .* in 7\.json"):
        likeness.check(left, right, [name])


def metered(result: Result, baseline_w: float = 0.0, feed: str = "psu") -> Result:
    source = FeedResult(1, feed, "ina226", FeedState.OPEN, 0, 0, 0, 0, 0, 0)
    power = replace(power_of(10.0, 3.0), feeds=[source], baseline_w=baseline_w)
    return replace(result, power=power)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"baseline_w": 8.0}, "power baseline (W) is 0.0 in 0.json, and 8.0 in 1.json"),
        ({"feed": "12V"}, 'power feeds is ["psu"] in 0.json, and ["12V"] in 1.json'),
    ],
)
def test_power_less_another_baseline_or_of_another_feed_is_refused(
    change: dict[str, Any], sentence: str
) -> None:
    """The same device would be better by it."""
    left = [Run(run.path, metered(run.result)) for run in runs(0, A)]
    right = [Run(run.path, metered(run.result, **change)) for run in runs(1, A)]
    with pytest.raises(RefusedError, match=re.escape(sentence)):
        likeness.check(left, right, [])
    (difference,) = likeness.check(left, right, ["instrument"])
    assert difference.condition == "instrument"
    assert likeness.check(left, left, []) == []


def test_what_says_only_where_a_run_was_may_differ(spekctl: Spekctl, tmp_path: Path) -> None:
    def change(result: Result) -> Result:
        line = "BOOT_IMAGE=/b root=/dev/vda init=/x virtme.exec=`L2JpbiBh` quiet"
        result = changed(result, environment={"kernel_command_line": line})
        return changed(result, config={"seed": 99, "targets": []})

    assert spekctl("compare", *sides(tmp_path, A, A, change)).code == ExitCode.OK


def test_counts_need_the_same_seed(spekctl: Spekctl, tmp_path: Path) -> None:
    words = sides(tmp_path, A, A, lambda result: changed(result, config={"seed": 99}), counts=True)
    outcome = spekctl("compare", *words)
    assert outcome.code == ExitCode.REFUSED
    assert outcome.sentence == "the seeds differ: seed is 1 in a0.json, and 99 in b0.json"


def test_counts_do_not_depend_on_the_host(spekctl: Spekctl, tmp_path: Path) -> None:
    words = sides(tmp_path, A[:1] * 2, A[:1] * 2, environment(hostname="other"), counts=True)
    assert spekctl("compare", *words).code == ExitCode.OK


def test_counts_and_times_are_not_comparable(spekctl: Spekctl, tmp_path: Path) -> None:
    words = sides(tmp_path, A, A, environment(counts_instructions=True))
    flags = [word for name in likeness.NAMES for word in ("--vary", name)]
    outcome = spekctl("compare", *flags, *words)
    assert outcome.code == ExitCode.REFUSED
    assert outcome.sentence.startswith("b0.json counts instructions, and a0.json measures time")


def test_differences_that_may_be_are_told() -> None:
    left = runs(0, A)
    right = [Run(run.path, target(serial="")(run.result)) for run in runs(1, A)]
    assert likeness.check(left, left, likeness.NAMES) == []
    assert likeness.check(left, right, ["device"]) == [
        Difference("device", "serial", "'S123'", "not known")
    ]
    assert likeness.check(right, left, ["device"]) == [
        Difference("device", "serial", "not known", "'S123'")
    ]


REPLAY = ReplayResult(
    files=["a.csv"],
    format="msr",
    pace="original",
    speed=1.0,
    rate=None,
    depth=None,
    map="wrap",
    records=5,
    fed=5,
    issued=5,
    complete=True,
    skipped={},
    shifted=0,
    grown=0,
    bad=0,
    unordered=0,
    underruns=0,
    underrun_ns=0,
    underrun_first_ns=0,
    underrun_last_ns=0,
    dry_ns=0,
    text="",
)


def replaying(**facts: Any) -> list[Run]:
    (run,) = runs(0, A[:1])
    return [Run(run.path, replace(run.result, replay=replace(REPLAY, **facts)))]


def test_the_workload_of_a_replay_is_its_trace_as_well() -> None:
    with pytest.raises(RefusedError, match=r"the workloads differ: trace speed is 1\.0 in"):
        likeness.check(replaying(), replaying(speed=2.5), [])
    (difference,) = likeness.check(replaying(), replaying(speed=2.5), ["workload"])
    assert (difference.a, difference.b) == ("1.0", "2.5")
    with pytest.raises(RefusedError, match="the workloads differ: trace think is false in"):
        likeness.check(replaying(), replaying(think=True), [])
    with pytest.raises(RefusedError, match="the workloads differ: trace max_idle_ns is 0 in"):
        likeness.check(replaying(), replaying(max_idle_ns=10**9), [])
    with pytest.raises(RefusedError, match="the workloads differ: trace share is 'address' in"):
        likeness.check(replaying(), replaying(share="time"), [])
    with pytest.raises(RefusedError, match="the workloads differ: trace format is none in"):
        likeness.check(runs(0, A[:1]), replaying(), [])


def test_how_well_a_trace_was_fed_is_a_measurement() -> None:
    late = replaying(underruns=3, issued=4, complete=False, files=["/other/a.csv"])
    assert likeness.check(replaying(), late, []) == []


def test_streams_of_other_number_and_name_are_unlike() -> None:
    def two(result: Result) -> Result:
        first = result.config.streams[0]
        return changed(result, config={"streams": [first, replace(first, name="other")]})

    left = runs(0, A[:1])
    right = [Run(run.path, two(run.result)) for run in left]
    with pytest.raises(RefusedError, match="number of streams is 1 in"):
        likeness.check(left, right, [])
    differences = likeness.check(left, right, ["workload"])
    assert differences[0] == Difference("workload", "number of streams", "1", "2")
    assert "streams other name" in [difference.field for difference in differences]


def fleet(change: Callable[[Result], Result]) -> Run:
    """Of two hosts; the first is changed."""
    alpha = of_host(change(result_of(Spec("alpha"))), facts_of(Spec("alpha")))
    return Run(Path("fleet.json"), merge([alpha, fleet_of(Spec("beta"))]))


def depth(result: Result) -> Result:
    (arrival,) = result.config.arrivals
    return changed(result, config={"arrivals": [replace(arrival, depth=3)]})


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (depth, "the workloads differ: alpha arrivals .* depth is 16 in fleet.json, and 3 in"),
        (target(scheduler="bfq"), "the devices differ: alpha device scheduler is 'none'"),
        (environment(kernel="6.9"), "the kernels differ: release is"),
    ],
)
def test_a_host_of_a_fleet_that_is_unlike_is_refused(
    change: Callable[[Result], Result], words: str
) -> None:
    same = fleet(lambda result: result)
    assert likeness.check([same], [same], ()) == []
    with pytest.raises(RefusedError, match=words):
        likeness.check([same], [fleet(change)], ())


def test_fleets_of_other_hosts_are_refused() -> None:
    whole, less = fleet(lambda result: result), Run(Path("one.json"), fleet_of(Spec("alpha")))
    with pytest.raises(RefusedError):
        likeness.check([whole], [less], ())
    vary = ("host", "workload", "device")
    differences = likeness.check([whole], [less], vary)
    assert Difference("host", "hosts", "'alpha, beta'", "'alpha'") in differences
