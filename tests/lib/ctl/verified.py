# SPDX-License-Identifier: GPL-2.0
"""Configurations and targets of verified runs."""

from __future__ import annotations

import struct
from pathlib import Path
from typing import Any

from lib.fakes.kernel import FakeKernel
from lib.fakes.machine import disk

from spekctl.kernel.records import (
    MapInfo,
    Reason,
    RunInfo,
    RunState,
    TargetInfo,
)
from spekctl.run import verify_state
from spekctl.run.verify_state import SavedState
from spekctl.workload import file
from spekctl.workload.config import RunConfig
from spekctl.workload.resolve import Options, Target, resolve

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30
DISK = Target("/dev/fake0", 250, 0, GIB, 512, 5)


def config_of(name: str, *targets: Target, **options: Any) -> RunConfig:
    options.setdefault("verify", True)
    given = Options(write=True, available_cpus=(0, 1), **options)
    return resolve(file.load(name), given, targets or (DISK,))


def info_of(*spans: tuple[int, int, int], grain: int = 4096) -> RunInfo:
    """A run whose targets have (map_start, map_bytes, capacity)."""
    targets = tuple(
        TargetInfo(map_start=start, map_bytes=size, bytes=capacity, logical_block=512)
        for start, size, capacity in spans
    )
    return RunInfo(
        1, state=RunState.DONE, reason=Reason.COMPLETED, grain_bytes=grain, targets=targets
    )


STATES = MapInfo(0, 0, 0, b"\x04" + bytes(7))


class Written(FakeKernel):
    """Its runs have written the first block."""

    def map_get(self, run: int) -> list[MapInfo]:
        return [STATES]


def saved(path: Path, start: int = 0, size: int = 1 << 20) -> SavedState:
    """The state of a run on /dev/fake0 that could write @size bytes from @start on."""
    target = TargetInfo(map_start=start, map_bytes=size, bytes=1 << 30, logical_block=512)
    info = RunInfo(
        7, state=RunState.DONE, reason=Reason.COMPLETED, grain_bytes=4096, targets=(target,)
    )
    facts = [disk().facts(diskseq=0)]
    verify_state.save(path, Written(), config_of("random-write-4k"), info, facts)
    return verify_state.load(path)


def contents_of(path: Path) -> dict[int, list[int]]:
    """Bytes on the device where grains begin, by what was last left in them (enum spek_content),
    from a file of write states of one device."""
    saved = verify_state.load(path)
    (device,) = saved.devices
    places: dict[int, list[int]] = {}
    for part in verify_state.parts_of(saved, path):
        for index, (state,) in enumerate(struct.iter_unpack("=Q", part.states), part.first):
            if state:
                at = device.map_start + index * saved.grain_bytes
                places.setdefault(state & 3, []).append(at)
    return places
