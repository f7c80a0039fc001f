# SPDX-License-Identifier: GPL-2.0
"""Documents of the PTS-like test: steps, runs and the report."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from lib.ctl.command_line import Spekctl
from lib.ctl.documents import read_back, refuse
from lib.ctl.pts_command import Settling, call, settling_kernel

from spekctl.documents import pts
from spekctl.documents.pts import Report, Run, Step, metric_of, size_text
from spekctl.errors import UsageError

kernel = pytest.fixture(settling_kernel)


@pytest.fixture
def path(spekctl: Spekctl, kernel: Settling) -> Path:
    """A report of the test of latency."""
    call(spekctl, "--tests", "latency")
    return Path("t/report.json")


def test_it_is_what_its_schema_says_and_is_read_back(path: Path) -> None:
    contents = read_back(path, Report, pts.SCHEMA_FILE)
    assert contents.notice == pts.NOTICE and contents == pts.load_report(path)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("tests.0.part", "writes"),
        ("tests.0.metric", "watts"),
        ("runs.0.step.kind", "rest"),
        ("runs.0.ios", 0.5),
        ("parameters.sizes", 4096),
    ],
)
def test_what_is_damaged_is_refused(path: Path, place: str, value: object) -> None:
    refuse(path, Report, pts.SCHEMA_FILE, place, value)


def test_the_state_of_a_test_is_no_report(path: Path) -> None:
    with pytest.raises(UsageError, match=r"state\.json is .*; expected .*`spekctl pts`"):
        pts.load_report(path.with_name("state.json"))


SIZES = st.integers(1, 2**16).map(lambda sectors: 512 * sectors)


@given(SIZES, SIZES)
def test_sizes_have_texts_of_their_own(first: int, second: int) -> None:
    assert (size_text(first) == size_text(second)) == (first == second)


@pytest.mark.parametrize(
    ("size", "text"), [(512, "512"), (1024, "1k"), (1536, "1536"), (1 << 20, "1024k")]
)
def test_whole_kibibytes_are_short(size: int, text: str) -> None:
    assert size_text(size) == text


STEPS = st.one_of(
    st.builds(Step, kind=st.sampled_from(["purge", "precondition"]), test=st.just("iops")),
    st.builds(
        Step,
        kind=st.just("round"),
        test=st.sampled_from(["iops", "throughput-1024k"]),
        round=st.integers(1, 30),
        read_percent=st.sampled_from([0, 5, 50, 100]),
        bytes=st.sampled_from([512, 1024, 4096, 5120]),
    ),
    st.just(Step(kind="saturation", test="saturation", bytes=4096)),
)


@given(STEPS, STEPS)
def test_a_step_has_a_name_of_its_own(first: Step, second: Step) -> None:
    assert (first.name == second.name) == (first == second)
    assert "/" not in first.name and " " not in first.name


def test_a_metric_is_read_from_a_run(path: Path) -> None:
    run = next(run for run in pts.load_report(path).runs if run.step.kind == "round")
    assert (metric_of(run, "iops"), metric_of(run, "bandwidth")) == (run.iops, run.bytes_per_s)
    assert metric_of(run, "latency") == run.mean_ns
    nothing: Run = msgspec.structs.replace(run, mean_ns=None)
    assert metric_of(nothing, "latency") == 0
