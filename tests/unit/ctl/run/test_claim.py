# SPDX-License-Identifier: GPL-2.0
"""A claim that the kernel refuses says what is at fault."""

from __future__ import annotations

import errno
from pathlib import Path

import msgspec
import pytest
from lib.ctl.results import DISK
from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk

from spekctl.errors import SpekError
from spekctl.kernel.client import Patience, endless
from spekctl.run.claim import claim
from spekctl.workload import file
from spekctl.workload.config import Extent, RunConfig
from spekctl.workload.resolve import Options, resolve


class RefusingKernel(FakeKernel):
    """It refuses every run for the same reason."""

    def __init__(self, text: str, blamed: tuple[str, int] | None) -> None:
        super().__init__()
        self.error = SpekError(text, errno=errno.ERANGE)
        self.error.blamed = blamed

    def run_new(
        self, config: RunConfig, patience: Patience = endless, claim: int | None = None
    ) -> int:
        raise self.error


@pytest.mark.parametrize(
    ("blamed", "said"),
    [
        (("stream", 0), "stream 'main': Too large (max_sectors_kb). max_sectors_kb of /dev/fake1"),
        (("target", 1), "/dev/fake1: Too large (max_sectors_kb). max_sectors_kb of /dev/fake1"),
        (("asu", 0), "asu 'all': Too large (max_sectors_kb). max_sectors_kb of /dev/fake1"),
    ],
)
def test_a_refusal_for_a_limit_has_its_value(
    tmp_path: Path, blamed: tuple[str, int], said: str
) -> None:
    disks = []
    for index, kilobytes in enumerate((512, 64)):
        queue = tmp_path / f"fake{index}" / "queue"
        queue.mkdir(parents=True)
        (queue / "max_sectors_kb").write_text(f"{kilobytes}\n")
        disks.append(disk(f"/dev/fake{index}", sysfs=queue.parent))
    config = resolve(file.load("random-read-4k"), Options(available_cpus=(0,)), [DISK])
    stream = msgspec.structs.replace(config.streams[0], name="main")
    extents = [Extent(1, 0)]
    asus = [msgspec.structs.replace(config.asus[0], name="all", extents=extents)]
    config = msgspec.structs.replace(config, streams=[stream], asus=asus)
    kernel = RefusingKernel("Too large (max_sectors_kb).", blamed)
    with pytest.raises(SpekError) as refusal:
        claim(kernel, config, disks)
    assert refusal.value.message == f"{said} is 64."


def test_a_refusal_without_a_part_names_the_limits_of_all_devices(tmp_path: Path) -> None:
    (tmp_path / "queue").mkdir()
    (tmp_path / "queue/max_open_zones").write_text("4\n")
    config = resolve(file.load("random-read-4k"), Options(available_cpus=(0,)), [DISK])
    kernel = RefusingKernel("Too many (max_open_zones) of (them).", None)
    with pytest.raises(SpekError) as refusal:
        claim(kernel, config, [disk(sysfs=tmp_path), disk("/dev/fake1")])
    assert refusal.value.message == (
        "Too many (max_open_zones) of (them). max_open_zones of /dev/fake0 is 4."
    )
