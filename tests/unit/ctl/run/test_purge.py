# SPDX-License-Identifier: GPL-2.0
"""A purge that needs no file: every block of its part of each device is discarded once."""

from __future__ import annotations

import dataclasses
import os
from pathlib import Path

import pytest
from lib.fakes.machine import disk

from spekctl.block import near
from spekctl.errors import UsageError
from spekctl.run import purge, replay_request
from spekctl.run.targets import Room
from spekctl.trace.columns import Op
from spekctl.workload.options import AUTO, Options

GIB = 1 << 30
SIZES = ((5 << 29) + 512, GIB)


@pytest.mark.parametrize(
    "rooms", [[], [Room(1 << 20, 2 * GIB), Room(GIB // 2, GIB // 4)]], ids=["all", "slices"]
)
def test_every_block_is_discarded_once(rooms: list[Room]) -> None:
    devices = [disk(f"/dev/fake{index}", bytes=size) for index, size in enumerate(SIZES)]
    options = Options(write=True)
    built = purge.build(purge.workload(), devices, rooms, options, ["S1"], can_discard=True)
    assert built.replay is not None and not built.replay.split and built.config.write
    assert [stream.operation for stream in built.config.streams] == ["discard", "discard"]
    ends = [room.start for room in rooms] or [0, 0]
    for block in built.replay.schedule.blocks(100):
        assert set(block.op) == {Op.DISCARD}
        for at in range(len(block)):
            target, length = int(block.target[at]), int(block.bytes[at])
            assert int(block.offset_bytes[at]) == ends[target] and 0 < length <= GIB
            ends[target] += length
    assert ends == ([room.start + room.bytes for room in rooms] or list(SIZES))


@pytest.mark.parametrize(
    ("given", "cpus"),
    [
        (Options(cpus=[8, 6, 4, 2, 1, 0]), [8, 6, 4, 2]),
        (Options(cpus=[3]), [3]),
        (Options(workers=9), [0, 1, 2, 3]),
        (Options(workers=9, cpus=AUTO), [0, 1, 2, 3]),
        (Options(), [0]),
    ],
)
def test_no_more_workers_than_discards_outstanding_are_asked_for(
    monkeypatch: pytest.MonkeyPatch, given: Options, cpus: list[int]
) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda pid: set(range(10)))
    monkeypatch.setattr(near, "order", lambda nears, available, roots: list(available))
    wanted = dataclasses.replace(given, write=True)
    built = purge.build(purge.workload(), [disk("/dev/fake0")], [], wanted, can_discard=True)
    assert built.config.cpus == cpus


def test_devices_without_discards_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="the device has no discards"):
        purge.build(purge.workload(), [disk("/dev/fake0")], [], Options(write=True))
    monkeypatch.setattr(replay_request, "discards", lambda device: True)
    assert purge.build(purge.workload(), [disk("/dev/fake0")], [], Options(write=True)).replay


def test_its_trace_has_a_name_and_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    built = purge.build(
        purge.workload(), [disk("/dev/fake0")], [], Options(write=True), can_discard=True
    )
    assert built.replay is not None and built.replay.trace.name == "purge.csv"
    assert built.replay.records == 1 and not list(tmp_path.iterdir())
