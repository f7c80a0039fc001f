# SPDX-License-Identifier: GPL-2.0
"""--cpus auto: workers near their devices, and the remark that says so."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.fakes.kernel import FakeKernel
from lib.fakes.nvme_controller import Machine

from spekctl.block import near
from spekctl.documents.result import load_result
from spekctl.errors import ExitCode
from spekctl.run.placing import near_devices
from spekctl.workload.options import AUTO, Options

LINE = ("run", "random-read-4k", "--device", "/dev/fake0", "--time", "3s")


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    """CPU 2 and 3 are on the node of the disk."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: {0, 1, 2, 3})
    machine = Machine(tmp_path)
    for path, text in (
        ("devices/pci0/numa_node", "1"),
        ("devices/system/node/node1/cpulist", "2-3"),
    ):
        file = machine.roots.sys / path
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text + "\n", encoding="ascii")
    return machine


@pytest.mark.parametrize(
    ("workers", "cpus"), [(None, [2]), (2, [2, 3]), (3, [2, 3, 0]), (4, [2, 3, 0, 1])]
)
def test_as_many_cpus_as_workers_and_the_nearest(
    machine: Machine, workers: int | None, cpus: list[int]
) -> None:
    given = Options(cpus=AUTO, workers=workers)
    options, (remark,) = near_devices(given, [machine.volume()], machine.roots)
    assert options.cpus == cpus and list(options.available_cpus) == [0, 1, 2, 3]
    assert "nvme0n1 is on NUMA node 1 (CPU 2-3)" in remark
    assert ("is on another node" in remark) == (len(cpus) > 2)


def test_without_auto_nothing_is_chosen(machine: Machine) -> None:
    for cpus in (None, [1]):
        options, remarks = near_devices(Options(cpus=cpus), [machine.device()], machine.roots)
        assert (options.cpus, remarks) == (cpus, [])


def test_more_workers_than_cpus_are_left_to_resolving(machine: Machine) -> None:
    given = Options(cpus=AUTO, workers=5)
    assert near_devices(given, [machine.device()], machine.roots)[0].cpus == AUTO


def test_a_result_says_which_cpus_were_chosen_and_why(
    spekctl: Spekctl, kernel: FakeKernel, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "r.json"
    last = max(os.sched_getaffinity(0))
    monkeypatch.setattr(near, "order", lambda nears, available, roots: [last, 0])
    assert spekctl(*LINE, "--cpus", "auto", "-o", str(path)).code == ExitCode.OK
    result = load_result(path)
    assert result.config.cpus == [last]
    (remark,) = [text for text in result.remarks if text.startswith("--cpus auto")]
    assert remark == f"--cpus auto: workers on CPU {last}: /dev/fake0 has no known NUMA node"


def test_too_many_workers_are_refused(spekctl: Spekctl, kernel: FakeKernel) -> None:
    outcome = spekctl(*LINE, "--cpus", "auto", "--workers", "256")
    assert outcome.code == ExitCode.USAGE
    assert "--workers 256 needs as many CPUs, but spekctl may use" in outcome.err
    assert "run-new" not in kernel.calls
