# SPDX-License-Identifier: GPL-2.0
"""What the commands of all campaigns share: lists of names, refusals by options' names, and one
claim on the devices for all of their runs."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import click
import pytest
from lib.ctl import (
    campaign_command,
    emerald_command,
    pts_command,
    spc1_command,
    spc1e_command,
    spc2_command,
    spc2e_command,
    sweep_command,
)
from lib.ctl.command_line import Spekctl, caller
from lib.fakes.kernel import FakeKernel
from lib.fakes.queue_kernel import QueueKernel

from spekctl import cli
from spekctl.block import blkid, safety
from spekctl.commands import campaign
from spekctl.errors import ExitCode, UsageError
from spekctl.power.course import Pace
from spekctl.run import collectors
from spekctl.run.collector import Collector

spekctl = pytest.fixture(caller)

PHASES = ("hot-band", "random-read", "ready-idle")


@pytest.mark.parametrize(
    ("text", "names"),
    [
        (None, list(PHASES)),
        ("ready-idle", ["ready-idle"]),
        (" ready-idle , hot-band", ["ready-idle", "hot-band"]),
    ],
)
def test_a_list_of_names_keeps_its_order(text: str | None, names: list[str]) -> None:
    assert campaign.names_of(text, PHASES, "--phases", "phase") == names


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        (
            "random-raed",
            "--phases: no phase is called 'random-raed'; did you mean 'random-read'?"
            " (they are hot-band, random-read, ready-idle)",
        ),
        ("", "--phases: no phase is called ''"),
        ("hot-band,ready-idle,hot-band", "--phases: hot-band is listed twice"),
    ],
)
def test_a_wrong_list_of_names_is_refused(text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)):
        campaign.names_of(text, PHASES, "--phases", "phase")


def test_a_parameter_of_0_is_refused_by_its_option() -> None:
    named = {"time_ns": "--time", "vod_ns": "--vod-time"}
    campaign.refuse_zero({"time_ns": None, "vod_ns": 5, "late": 0}, named)
    with pytest.raises(UsageError, match="--vod-time must be more than 0"):
        campaign.refuse_zero({"time_ns": None, "vod_ns": 0}, named)


# --- one claim for all runs ----------------------------------------------------------------------

Kernels = Callable[[pytest.MonkeyPatch, Path], QueueKernel]
FOLDER = ("--folder", "t")
SWEEP = ("--device", "/dev/fake0", "--write", "--time", "2s", *sweep_command.QUIET)
# Every command that makes several runs on devices.
CAMPAIGNS: dict[str, tuple[Kernels, tuple[str, ...]]] = {
    "sweep": (sweep_command.queue_kernel, ("sweep", "spc1", "--bsu", "1,2", *SWEEP)),
    "spc1": (campaign_command.queue_kernel, (*spc1_command.WRITE, *FOLDER)),
    "spc2": (spc2_command.streams_kernel, (*spc2_command.WRITE, *FOLDER)),
    "pts": (
        pts_command.settling_kernel,
        ("pts", "--device", "/dev/fake0", "--write", *pts_command.SHORT),
    ),
    "energy spc1e": (spc1e_command.queue_kernel, (*spc1e_command.RUN, *FOLDER)),
    "energy spc2e": (spc2e_command.streams_kernel, (*spc2e_command.RUN, *FOLDER)),
    "energy emerald": (emerald_command.loop_kernel, (*emerald_command.RUN, *FOLDER)),
}


def campaigns_in(group: click.Group, before: str = "") -> Iterator[str]:
    """All commands that resume tests of devices."""
    context = click.Context(group)
    for name in group.list_commands(context):
        command = group.get_command(context, name)
        if isinstance(command, click.Group):
            yield from campaigns_in(command, f"{before}{name} ")
        elif command is not None and {"resume", "devices"} <= {
            option.name for option in command.params
        }:
            yield before + name


def test_every_campaign_is_among_them() -> None:
    assert isinstance(cli.cli, click.Group)
    assert set(campaigns_in(cli.cli)) == set(CAMPAIGNS)


@pytest.fixture(params=CAMPAIGNS)
def planned(
    request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> tuple[QueueKernel, tuple[str, ...]]:
    """A kernel, and a campaign on it."""
    kernel, words = CAMPAIGNS[request.param]
    return kernel(monkeypatch, tmp_path), words


def check_one_claim(kernel: FakeKernel) -> None:
    assert kernel.claim_calls() == ["claim-new", "run-new", "claim-del"]
    assert kernel.claim is not None and not kernel.claimed


def test_a_campaign_holds_its_devices_from_the_first_run_to_the_last(
    spekctl: Spekctl, planned: tuple[QueueKernel, tuple[str, ...]]
) -> None:
    kernel, words = planned
    outcome = spekctl(*words)
    assert outcome.code in (ExitCode.OK, ExitCode.LIMIT_MISSED), outcome.err
    assert len(kernel.runs_seen) > 1
    check_one_claim(kernel)


def test_a_campaign_looks_at_power_states_as_it_is_told(
    spekctl: Spekctl,
    planned: tuple[QueueKernel, tuple[str, ...]],
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    paces: list[Pace] = []

    def looks(devices: object, pace: Pace) -> Collector:
        paces.append(pace)
        return Collector()

    monkeypatch.setattr(collectors, "DiskLooks", looks)
    kernel, words = planned
    outcome = spekctl(*words, "--power-states", "2s")
    assert outcome.code in (ExitCode.OK, ExitCode.LIMIT_MISSED), outcome.err
    assert len(paces) == len(kernel.runs_seen)
    assert set(paces) == {Pace(2 * 10**9)}


@pytest.mark.parametrize("end", [campaign_command.fail_in_run, campaign_command.interrupt_in_run])
def test_a_campaign_that_ends_early_gives_its_devices_back(
    spekctl: Spekctl,
    planned: tuple[QueueKernel, tuple[str, ...]],
    end: Callable[[int, QueueKernel], None],
) -> None:
    kernel, words = planned
    end(1, kernel)
    assert spekctl(*words).code not in (ExitCode.OK, ExitCode.LIMIT_MISSED)
    assert len(kernel.runs_seen) in (1, 2)
    check_one_claim(kernel)


def test_a_campaign_whose_device_is_in_use_sends_nothing(
    spekctl: Spekctl, planned: tuple[QueueKernel, tuple[str, ...]], monkeypatch: pytest.MonkeyPatch
) -> None:
    kernel, words = planned
    monkeypatch.setattr(
        safety, "signatures_on", lambda *asked: [blkid.Signature("xfs", "filesystem", 0)]
    )
    outcome = spekctl(*words)
    assert outcome.code == ExitCode.REFUSED and "holds data: file system xfs" in outcome.err
    assert kernel.claim_calls() == ["claim-new", "claim-del"]
