# SPDX-License-Identifier: GPL-2.0
"""--search of spekctl energy emerald: each phase runs with the options that were best for it."""

from __future__ import annotations

import errno
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.campaign_command import interrupt_in_run
from lib.ctl.command_line import Spekctl
from lib.ctl.emerald_command import RUN, LoopKernel, loop_kernel, loop_power
from lib.ctl.energy_command import of_file
from lib.fakes.power import FakePower, figures

from spekctl.campaigns.emerald import report
from spekctl.documents.power import PowerFigures
from spekctl.documents.result import Result
from spekctl.errors import ExitCode, error_from_errno
from spekctl.workload.config import RunConfig

kernel = pytest.fixture(loop_kernel)
power = pytest.fixture(loop_power)
PHASES = ("--phases", "random-read,sequential-read", "--conditioning", "0", "--prefill", "0")
LINE = (*RUN, *PHASES, "--folder", "t", "--depths", "2,4")

# An option, its values, of which the last is the best, and how a run shows that it has it.
DIMENSIONS: list[tuple[str, str, str, Callable[[RunConfig], bool]]] = [
    ("backend", "auto,mq,bio", "bio", lambda config: config.backend == "bio"),
    ("polled", "off,on", "on", lambda config: bool(config.polled)),
    ("batch", "1,8", "8", lambda config: config.batch == 8),
    ("spin", "0us,5us", "5us", lambda config: config.spin_ns == 5000),
    ("cpus", "0,1", "1", lambda config: list(config.cpus) == [1]),
]


def faster(kernel: LoopKernel, when: Callable[[RunConfig], bool]) -> None:
    """The device completes 380 I/Os per second, and 400 in runs that are @when."""

    def set_capacity(config: RunConfig) -> None:
        kernel.capacity = 400.0 if when(config) else 380.0

    kernel.before_run = set_capacity


@pytest.mark.parametrize(("name", "values", "best", "has"), DIMENSIONS)
def test_the_best_value_of_each_option_is_chosen(
    spekctl: Spekctl,
    kernel: LoopKernel,
    monkeypatch: pytest.MonkeyPatch,
    name: str,
    values: str,
    best: str,
    has: Callable[[RunConfig], bool],
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1})
    faster(kernel, has)
    outcome = spekctl(*LINE, "--search", f"{name}={values}")
    assert outcome.code == ExitCode.OK, outcome.err
    told = of_file(Path("t/energy.json"))
    for phase in told["phases"]:
        assert (phase["options"], phase["depth"]) == ({name: best}, 4)
        assert f"options of {phase['name']}: {name} {best}" in outcome.out
    tried = [trial["options"][name] for trial in told["trials"]]
    assert tried == 2 * [value for value in values.split(",") for _ in (2, 4)]
    measured = [config for config in kernel.runs_seen if config.time_ns == 2 * 10**9]
    assert has(measured[-1])


def test_each_phase_has_its_own_best(spekctl: Spekctl, kernel: LoopKernel) -> None:
    faster(kernel, lambda config: (config.backend == "bio") == ("random" in config.name))
    assert spekctl(*LINE, "--search", "backend=mq,bio").code == ExitCode.OK
    told = of_file(Path("t/energy.json"))
    options = {phase["name"]: phase["options"] for phase in told["phases"]}
    assert options == {"random-read": {"backend": "bio"}, "sequential-read": {"backend": "mq"}}
    assert told["parameters"]["search"] == ["backend=mq,bio"]


def test_of_equals_the_first_is_chosen(spekctl: Spekctl, kernel: LoopKernel) -> None:
    line = (*LINE, "--search", "backend=mq,bio", "--search", "batch=8,1")
    assert spekctl(*line).code == ExitCode.OK
    phases = of_file(Path("t/energy.json"))["phases"]
    assert {tuple(phase["options"].items()) for phase in phases} == {
        (("backend", "mq"), ("batch", "8"))
    }


def refuse(kernel: LoopKernel, monkeypatch: pytest.MonkeyPatch, number: int) -> None:
    """The module refuses polling with this errno."""
    plain = kernel.run_new

    def run_new(config: RunConfig, *rest: Any, **more: Any) -> int:
        if config.polled:
            raise error_from_errno(number, "The device has no poll queues.", "run-new")
        return plain(config, *rest, **more)

    monkeypatch.setattr(kernel, "run_new", run_new)


def test_a_refused_value_loses(
    spekctl: Spekctl, kernel: LoopKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(kernel, monkeypatch, errno.EOPNOTSUPP)
    outcome = spekctl(*LINE, "--search", "polled=on,off")
    assert outcome.code == ExitCode.OK, outcome.err
    told = of_file(Path("t/energy.json"))
    assert {phase["options"]["polled"] for phase in told["phases"]} == {"off"}
    refused = [trial for trial in told["trials"] if trial["refusal"]]
    # More depth does not help it.
    assert [(trial["options"], trial["depth"]) for trial in refused] == [({"polled": "on"}, 2)] * 2
    assert "refused: polled on: The device has no poll queues." in outcome.out
    kernel.runs_seen.clear()
    assert spekctl(*LINE, "--search", "polled=on,off", "--resume").code == ExitCode.OK
    assert not kernel.runs_seen


def test_a_probe_that_fails_otherwise_ends_the_test(
    spekctl: Spekctl, kernel: LoopKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(kernel, monkeypatch, errno.EIO)
    outcome = spekctl(*LINE, "--search", "polled=off,on")
    assert outcome.code == ExitCode.RUN_FAILED
    assert "--resume continues after random-read-search-1x4-polled=off" in outcome.err


def test_where_all_values_are_refused_the_test_ends(
    spekctl: Spekctl, kernel: LoopKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(kernel, monkeypatch, errno.EOPNOTSUPP)
    outcome = spekctl(*LINE, "--search", "polled=on")
    assert outcome.code == ExitCode.USAGE
    assert "The device has no poll queues." in outcome.err and not kernel.runs_seen


def test_where_nothing_keeps_the_limits_a_value_that_ran_is_taken(
    spekctl: Spekctl, kernel: LoopKernel, monkeypatch: pytest.MonkeyPatch
) -> None:
    refuse(kernel, monkeypatch, errno.EOPNOTSUPP)
    line = (*LINE, "--phases", "random-read", "--max-response", "1ms")
    outcome = spekctl(*line, "--search", "polled=on,off")
    assert outcome.code == ExitCode.LIMIT_MISSED
    (phase,) = of_file(Path("t/energy.json"))["phases"]
    assert (phase["options"], phase["depth"]) == ({"polled": "off"}, 2)


def test_a_refusal_does_not_hide_that_power_is_measured(
    spekctl: Spekctl, kernel: LoopKernel, power: FakePower, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Work alone would choose depth 16, which costs more than it does."""
    refuse(kernel, monkeypatch, errno.EOPNOTSUPP)
    kernel.capacity = 1600.0
    watts = {4: 5.0, 16: 50.0}

    def of_result(result: Result) -> PowerFigures:
        return figures(watts[result.config.arrivals[0].depth], 2.0)

    monkeypatch.setattr(report, "power_of", of_result)
    line = (*RUN, *PHASES, "--folder", "t", "--depths", "4,16")
    assert spekctl(*line, "--search", "polled=on,off").code == ExitCode.OK
    phases = of_file(Path("t/energy.json"))["phases"]
    assert {(phase["options"]["polled"], phase["depth"]) for phase in phases} == {("off", 4)}


def test_another_search_is_not_resumed(spekctl: Spekctl, kernel: LoopKernel) -> None:
    interrupt_in_run(3, kernel)
    first = spekctl(*LINE, "--search", "backend=mq,bio")
    assert first.code == ExitCode.INTERRUPTED
    for now, said in (("backend=mq", "backend=mq"), ("batch=1,2", "batch=1,2")):
        changed = spekctl(*LINE, "--search", now, "--resume")
        assert f"another --search: backend=mq,bio then, {said} now" in changed.sentence
    assert "another --search: backend=mq,bio then, none now" in spekctl(*LINE, "--resume").sentence
    kernel.before_run = lambda config: None
    assert spekctl(*LINE, "--search", "backend=mq,bio", "--resume").code == ExitCode.OK


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (("--search", "stripe=4k,8k"), "--search stripe: prefill and conditioning lie where"),
        (
            ("--search", "backend=mq,bio", "--backend", "bio"),
            "--search backend and --backend exclude each other",
        ),
        (
            ("--search", "batch=1,2", "--search-time", "0", "--depths", "1"),
            "choose among 2 combinations of --depths, --workers and --search",
        ),
        (("--search", "cpus=4000"), "CPU 4000 is offline or not allowed"),
        (("--search", "cpus=0", "--workers", "1,2"), "--workers 2 needs as many CPUs, but --cpus"),
    ],
)
def test_a_wrong_search_is_refused_before_anything_runs(
    spekctl: Spekctl, kernel: LoopKernel, words: tuple[str, ...], sentence: str
) -> None:
    refused = spekctl(*LINE, *words)
    assert refused.code == ExitCode.USAGE and sentence in refused.sentence
    assert "run-new" not in kernel.calls
