# SPDX-License-Identifier: GPL-2.0
"""The runs of a PTS-like test, and the discards of a purge."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.command_line import Spekctl
from lib.ctl.pts_command import Settling, call, report_of, settling_kernel

from spekctl.errors import ExitCode

kernel = pytest.fixture(settling_kernel)


def test_runs_are_what_their_steps_are_called(spekctl: Spekctl, kernel: Settling) -> None:
    call(spekctl, "--depth", "16", "--workers", "1", "--seed", "7")
    seen = {
        (config.name, config.streams[0].sizes[0].bytes, config.count > 0): config
        for config in kernel.runs_seen
    }
    fill = seen["pts-iops", 128 << 10, True]
    assert fill.streams[0].pattern == "sequential" and fill.streams[0].read_ppm == 0
    # Twice the capacity of 1 GiB.
    assert fill.count * (128 << 10) == 2 << 30 and fill.write and fill.data == "random"
    assert seen["pts-throughput-1024k", 1 << 20, True].count == 2 << 10
    small = seen["pts-iops", 4096, False]
    assert small.streams[0].pattern == "uniform" and small.arrivals[0].depth == 16
    assert seen["pts-latency", 4096, False].arrivals[0].depth == 1
    sequential = seen["pts-throughput-1024k", 1 << 20, False]
    assert sequential.streams[0].pattern == "sequential"
    seeds = [config.seed for config in kernel.runs_seen if config.streams[0].pattern != "trace"]
    assert len(seeds) == len(set(seeds)) and min(seeds) >= 7


def test_a_purge_discards_every_block_once(spekctl: Spekctl, kernel: Settling) -> None:
    call(spekctl, "--tests", "saturation")
    (purge, _) = kernel.runs_seen
    assert [stream.operation for stream in purge.streams] == ["discard"] and purge.write
    assert Path("t/purge.csv").read_text().splitlines()[1:] == ["0,0,0,1073741824,discard"]
    assert sum(map(len, kernel.feed.records)) == 24
    assert "all blocks were discarded before each test" in " ".join(report_of()["remarks"])


def test_a_purge_of_several_devices_reaches_the_end_of_each(
    kernel: Settling, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    from lib.fakes.machine import disk

    from spekctl.block import device
    from spekctl.campaigns.benchmark import Disks
    from spekctl.campaigns.pts.loads import purge_request, write_purge
    from spekctl.trace.columns import Op

    sizes = {"/dev/fake0": (5 << 29) + 512, "/dev/fake1": 1 << 30}
    monkeypatch.setattr(device, "find", lambda path: disk(path, bytes=sizes[path]))
    devices = [device.find(path) for path in sizes]
    write_purge(tmp_path, devices)
    wanted = purge_request(tmp_path, Disks(devices, True, ["S123"]))
    assert wanted.replay is not None and wanted.destroy == ["S123"] and wanted.config.write
    reached: dict[int, list[tuple[int, int]]] = {0: [], 1: []}
    for block in wanted.replay.schedule.blocks(100):
        assert set(block.op) == {Op.DISCARD}
        for at in range(len(block)):
            place = int(block.offset_bytes[at]), int(block.bytes[at])
            reached[int(block.target[at])].append(place)
    for index, size in enumerate(sizes.values()):
        end = 0
        for start, length in reached[index]:
            assert start == end and 0 < length <= 1 << 30
            end += length
        assert end == size


def test_saturation_writes_an_amount_by_default(spekctl: Spekctl, kernel: Settling) -> None:
    outcome = spekctl(
        *("pts", "--device", "/dev/fake0", "--write", "--tests", "saturation", "--quick"),
        *("--saturation", "300", "--folder", "t", "--progress", "none"),
    )
    assert outcome.code == ExitCode.OK
    assert kernel.runs_seen[-1].count == 3 * (1 << 30) // 4096
