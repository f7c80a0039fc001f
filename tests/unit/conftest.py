# SPDX-License-Identifier: GPL-2.0
"""What tests of programs share; a file that needs another kernel or caller has its own."""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl, caller_in_tmp_path
from lib.daq.build import checked_program
from lib.daq.program import HANG_S, Sysfs, check_sanitizers, put_zones
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import use_fakes


@pytest.fixture
def kernel(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> FakeKernel:
    """The kernel that spekctl finds: one run of the test's making, no devices."""
    fake = FakeKernel()
    use_fakes(monkeypatch, fake, tmp_path)
    return fake


@pytest.fixture
def spekctl(
    capfd: pytest.CaptureFixture[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Spekctl:
    """spekctl called in this process, in @tmp_path."""
    return caller_in_tmp_path(capfd, tmp_path, monkeypatch)


@pytest.fixture(scope="session")
def program() -> Path:
    """spek-daq with sanitizers."""
    return checked_program()


@pytest.fixture
def daq(program: Path) -> Callable[..., subprocess.CompletedProcess[str]]:
    """daq(*arguments) runs it to its end."""

    def run(*arguments: object) -> subprocess.CompletedProcess[str]:
        command = [str(program), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=HANG_S)
        check_sanitizers(done.stderr)
        return done

    return run


@pytest.fixture
def sysfs(tmp_path: Path) -> Sysfs:
    """With sensors of each kind."""
    tree = Sysfs(tmp_path / "sys")
    tree.put("class/hwmon/hwmon0/name", "nvme")
    tree.put("class/hwmon/hwmon0/temp1_input", 41000)
    tree.put("class/hwmon/hwmon1/name", "ina226")
    for file, value in {"power1_input": 5_250_000, "curr1_input": 450, "in1_input": 11_900}.items():
        tree.put(f"class/hwmon/hwmon1/{file}", value)
    tree.put("class/hwmon/hwmon2/name", "acpi")
    tree.put("class/hwmon/hwmon2/power1_average", 80_000_000)
    put_zones(tree, {"intel-rapl:0": "package-0", "intel-rapl:0:0": "core"})
    return tree
