# SPDX-License-Identifier: GPL-2.0
"""Each fuzz target, shortly: the seeds in the tree and some thousand inputs made of them.

With one compiler, and where addresses can be fixed, the inputs are the same each time. make fuzz
looks further.
"""

from __future__ import annotations

import importlib.util
import shutil
from concurrent.futures import ThreadPoolExecutor

import pytest

from fuzz import c_build, runner
from fuzz.runner import Outcome


@pytest.fixture(scope="module")
def outcomes() -> dict[str, Outcome]:
    """All targets that this machine can run, two at once on two CPUs."""
    wanted = [name for name in runner.names() if not missing(name)]
    return runner.run_short(wanted)


def missing(name: str) -> str:
    """What a target lacks here; empty if nothing."""
    if name in runner.C:
        return "" if c_build.available() else "clang and its libFuzzer (libclang-rt-dev)"
    return "" if importlib.util.find_spec("atheris") else "atheris has no wheel for this Python"


@pytest.mark.parametrize("name", runner.names())
def test_nothing_breaks_it(name: str, outcomes: dict[str, Outcome]) -> None:
    if lacking := missing(name):
        pytest.skip(f"not here: {lacking}")
    outcome = outcomes[name]
    assert outcome.code == 0, f"{outcome.summary}\n{outcome.output[-6000:]}"
    assert "DONE" in outcome.summary


# One that finds other inputs with other addresses; those that see clocks and files.
@pytest.mark.parametrize(
    ("name", "runs"),
    [("daq_clock", 1000), ("daq_sysfs", 800), ("daq_push", 1000), ("py-rails", 100)],
)
def test_the_inputs_are_the_same_each_time(name: str, runs: int) -> None:
    if lacking := missing(name):
        pytest.skip(f"not here: {lacking}")
    if not runner.fixed_addresses():
        pytest.skip("setarch -R can't fix addresses here")
    with ThreadPoolExecutor(2) as pool:
        first, second = pool.map(lambda _: runner.run_once(name, runs), range(2))
    assert first.code == second.code == 0, first.output + second.output
    assert first.learnt
    assert first.learnt == second.learnt


def test_a_target_that_breaks_a_promise_is_found() -> None:
    """The machinery itself: without a target's name the program says so and fails."""
    if not c_build.available():
        pytest.skip("no clang here")
    assert shutil.which(c_build.compiler())
    outcome = runner.replay("core_sense", ["/nonexistent/seed"])
    assert outcome.code != 0
