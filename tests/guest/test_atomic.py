# SPDX-License-Identifier: GPL-2.0
"""Atomic writes on disks and arrays whose limits the kernel derives: scsi_debug, md.

What a modelled drive makes of them, and torn ones, are in test_power_cut.py.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from typing import Any

import pytest
from lib.guest.disks import (
    array_disk,
    partition,
    scsi_disk,
)
from lib.guest.drive import queue_of
from lib.guest.modelled import SMALL, modelled
from lib.guest.netlink import MIB, asu, delete, new, state, stream
from lib.guest.netlink_raw import Refusal, Socket
from lib.guest.scsi import WRITE_16, command_log
from lib.guest.trace import events
from lib.waiting import eventually

from spekctl.kernel.drives import Drives
from spekctl.kernel.gen import spek
from spekctl.kernel.gen.spek import Backend, Cmd, RunState

KIB = 1 << 10
WRITE_10, WRITE_ATOMIC = 0x2A, 0x9C
WRITES = (WRITE_10, WRITE_16, WRITE_ATOMIC)
OPCODE = re.compile(r"scsi_dispatch_cmd_start: .* raw=([0-9a-f]{2}) ")
COUNT = 100
MAX = "atomic_write_unit_max_bytes"


@pytest.fixture
def nl(spek_module: object) -> Iterator[Socket]:
    with Socket(spek) as nl:
        yield nl


def atomic_run(*sizes: int, backend: Backend = Backend.BIO) -> dict[str, Any]:
    """Of new(): writes of these sizes, each at a multiple of its own."""
    one = stream(
        range_bytes=4 * MIB,
        align_bytes=max(sizes),
        size=[{"bytes": size, "weight": 1} for size in sizes],
        read_ppm=0,
        atomic=1,
    )
    common = {"write": 1, "time_ns": None, "count": COUNT, "max_errors": 1}
    return {"asu": [asu(bytes=4 * MIB)], "stream": [one], "backend": int(backend), **common}


def complete(nl: Socket, node: str, **values: Any) -> None:
    """Make a run that ends without an error, and delete it."""
    run = new(nl, node, **values)
    nl.ask(Cmd.RUN_START, id=run)
    eventually(lambda: state(nl, run) is RunState.DONE, "the run does not end")
    assert nl.ask(Cmd.RUN_GET, id=run).values[0]["errors"] == 0
    delete(nl, run)


def limit(node: str, name: str = MAX) -> int:
    """Of the queue; 0 where the kernel has no such limit, or the disk none."""
    path = queue_of(node) / name
    return int(path.read_text()) if path.exists() else 0


def assert_refused(nl: Socket, node: str, why: str, values: dict[str, Any]) -> None:
    with pytest.raises(Refusal, match=why):
        new(nl, node, **values)


@pytest.fixture
def atomic_disk() -> Iterator[str]:
    """scsi_debug that writes 32 KiB atomically, in units of 4 KiB. Before 6.11 it can't."""
    blocks = {"atomic_wr_max_length": 64, "atomic_wr_gran": 8, "atomic_wr_align": 8}
    with scsi_disk(size_mb=16, atomic_wr=1, **blocks) as node:
        if not (queue_of(node) / MAX).exists():
            pytest.skip("this kernel has no atomic writes: Linux has them from 6.11 on")
        yield node


@pytest.mark.parametrize("backend", [Backend.BIO, Backend.MQ, Backend.SCSI])
def test_scsi_debug_gets_atomic_writes(nl: Socket, atomic_disk: str, backend: Backend) -> None:
    """Each as one command of its own size."""
    assert limit(atomic_disk) == 32 * KIB
    with command_log(atomic_disk) as log:
        complete(nl, atomic_disk, **atomic_run(4 * KIB, 16 * KIB, 32 * KIB, backend=backend))
        written = [command for command in log.read() if command.cdb[0] in WRITES]
    blocks = [int.from_bytes(command.cdb[12:14], "big") for command in written]

    assert {command.cdb[0] for command in written} == {WRITE_ATOMIC}
    assert len(written) == COUNT and set(blocks) == {8, 32, 64}
    assert all(command.block % 64 == 0 for command in written)


@pytest.mark.parametrize("backend", [Backend.BIO, Backend.MQ, Backend.SCSI])
def test_what_is_not_a_unit_is_refused(nl: Socket, atomic_disk: str, backend: Backend) -> None:
    refused = partial(assert_refused, nl, atomic_disk)
    refused(f"above what the device writes .*{MAX}", atomic_run(64 * KIB, backend=backend))
    refused("below what the device writes", atomic_run(2 * KIB, backend=backend))


def test_a_partition_between_units_has_none(nl: Socket, atomic_disk: str) -> None:
    for start, works in ((2048, True), (2049, False)):
        with partition(atomic_disk, 1, start, 16384) as node:
            if works:
                complete(nl, node, **atomic_run(32 * KIB))
            else:
                assert_refused(nl, node, "partition is not aligned", atomic_run(32 * KIB))


@pytest.mark.usefixtures("drive_module")
@pytest.mark.parametrize("chunk", [8 * KIB, 64 * KIB])
def test_a_striped_array_writes_atomically_within_a_chunk(
    nl: Socket, drives: Drives, chunk: int
) -> None:
    """Where md has limits, from 6.13 on, they are the smaller of its disks' and of the chunk."""
    unit = 16 * KIB
    with (
        modelled(drives, SMALL, atomic_sectors=unit // 512) as one,
        modelled(drives, SMALL, atomic_sectors=unit // 512) as two,
        array_disk(0, chunk, one.node, two.node) as array,
    ):
        most = limit(array)
        if not most:
            assert_refused(nl, array, "Linux has them from 6.11|no atomic writes", atomic_run(4096))
            return
        assert most == min(chunk, unit)
        with events("scsi") as trace:
            complete(nl, array, **atomic_run(4 * KIB, most))
            sent = OPCODE.findall(trace.text())
        written = [int(opcode, 16) for opcode in sent if int(opcode, 16) in WRITES]
        assert written == [WRITE_ATOMIC] * COUNT
        assert_refused(nl, array, "above what the device writes", atomic_run(2 * most))
