# SPDX-License-Identifier: GPL-2.0
"""Every option that shapes the load changes what is sent to the kernel, or is refused.

A replay prepares its request by itself, and would ignore an option that it does not know."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.command_line import Outcome, Spekctl
from lib.fakes.kernel import FakeKernel

from spekctl.errors import ExitCode
from spekctl.workload.options import OPTIONS

PLAIN = ("random-read-4k",)
WRITES = ("oltp", "--write")
SPC1 = ("spc1", "--bsu", "1", "--write")

# A value of each that is not its default, and a workload for which it has a meaning.
TRIED: dict[str, tuple[str, tuple[str, ...]]] = {
    "bsu": ("--bsu=2", SPC1),
    "rate": ("--rate=77", PLAIN),
    "depth": ("--depth=5", PLAIN),
    "time_ns": ("--time=7s", PLAIN),
    "count": ("--count=77", PLAIN),
    "passes": ("--passes=2", PLAIN),
    "ramp_ns": ("--ramp=7s", PLAIN),
    "ramp_count": ("--ramp-count=7", PLAIN),
    "workers": ("--workers=2", PLAIN),
    "cpus": ("--cpus=1", PLAIN),
    "seed": ("--seed=7", PLAIN),
    "write": ("--write", ("oltp",)),
    "backend": ("--backend=scsi", PLAIN),
    "polled": ("--polled", PLAIN),
    "interval_ns": ("--interval=7s", PLAIN),
    "max_outstanding": ("--max-outstanding=77", PLAIN),
    "batch": ("--batch=7", PLAIN),
    "spin_ns": ("--spin=7us", PLAIN),
    "max_errors": ("--max-errors=7", PLAIN),
    "until": ("--until=steady", PLAIN),
    "stop_when": ("--stop-when=p99 > 1ms", PLAIN),
    "data": ("--data=random", WRITES),
    "verify": ("--verify", WRITES),
    "hrrw": ("--hrrw=fixed", SPC1),
    "iops_per_bsu": ("--iops-per-bsu=7", SPC1),
    "stripe_bytes": ("--stripe=8KiB", (*PLAIN, "--device", "/dev/fake1")),
}
# They end a run by its figures: they are judged here, and the kernel knows nothing of them.
JUDGED = {"until", "stop_when"}
# Of a replay: the times of the records that are fed, and the permission that they need. Both have
# tests in test_replay_request.py.
OF_RECORDS = {"rate", "write"}


def test_every_option_is_tried() -> None:
    assert set(TRIED) == set(OPTIONS)


@pytest.mark.parametrize("name", sorted(set(TRIED) - JUDGED))
def test_an_option_changes_the_request_of_a_run(
    spekctl: Spekctl, kernel: FakeKernel, name: str
) -> None:
    option, words = TRIED[name]
    assert planned(spekctl, *words, option) != planned(spekctl, *words)


@pytest.mark.parametrize("name", sorted(set(TRIED) - JUDGED - OF_RECORDS))
def test_an_option_changes_the_request_of_a_replay_or_is_refused(
    spekctl: Spekctl, kernel: FakeKernel, name: str, tmp_path: Path
) -> None:
    path = tmp_path / "io.csv"
    path.write_text("at_us,offset_bytes,bytes,op\n0,0,4096,write\n1000,8192,512,read\n")
    option, words = TRIED[name]
    others = [word for word in words if word in ("--device", "/dev/fake1")]
    replay = ("--trace", str(path), *others)
    outcome = plan(spekctl, *replay, option)
    if outcome.code == ExitCode.USAGE:
        assert option.partition("=")[0] in outcome.sentence
        return
    assert outcome.code == ExitCode.OK, outcome.err
    assert json.loads(outcome.out) != planned(spekctl, *replay)


def plan(spekctl: Spekctl, *words: str) -> Outcome:
    return spekctl("run", *words, "--device", "/dev/fake0", "--dry-run", "--json")


def planned(spekctl: Spekctl, *words: str) -> Any:
    """What the kernel would be sent."""
    outcome = plan(spekctl, *words)
    assert outcome.code == ExitCode.OK, outcome.err
    return json.loads(outcome.out)
