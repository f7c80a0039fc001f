# SPDX-License-Identifier: GPL-2.0
"""Operations beside plain reads and writes: the driver sees what was asked for, and the disk counts
what spek counts."""

from __future__ import annotations

import errno
import os
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pytest
from lib.guest.disks import null_disk, scsi_disk
from lib.guest.drive import queue_of
from lib.guest.netlink import DISK_MIB, MIB, asu, finished, new, stream, target
from lib.guest.netlink_raw import Refusal, Socket
from lib.guest.trace import request_log

from spekctl import cli
from spekctl.documents.result import Result
from spekctl.errors import ExitCode
from spekctl.kernel.gen.spek import Backend, Cmd, Operation, Pattern

BLOCK = 4096


@pytest.fixture(scope="module")
def disk(spek_module: Path) -> Iterator[str]:
    """A disk with a write cache and discards."""
    with null_disk(DISK_MIB, memory_backed=1, cache_size=1, discard=1) as node:
        (queue_of(node) / "scheduler").write_text("none")
        yield node


def other(operation: Operation, **changes: Any) -> dict[str, Any]:
    return stream(read_ppm=0, operation=int(operation), **changes)


def counted(nl: Socket, run: int) -> dict[int, tuple[int, int]]:
    """I/Os and bytes of each stream."""
    sums: dict[int, tuple[int, int]] = {}
    for cell in nl.dump(Cmd.STATS_GET, run=run).values:
        if "ios" in cell:
            ios, amount = sums.get(cell["stream"], (0, 0))
            sums[cell["stream"]] = ios + cell["ios"], amount + cell["bytes"]
    return sums


MIX = [
    stream(read_ppm=500_000, weight=4),
    stream(read_ppm=0, fua=1, weight=2),
    other(Operation.FLUSH),
    other(Operation.DISCARD, size=[{"bytes": MIB, "weight": 1}], align_bytes=MIB),
]


def test_operations_reach_the_driver_as_they_were_made(nl: Socket, disk: str) -> None:
    # One at a time: the block layer may send one flush for several.
    run = new(
        nl,
        disk,
        write=1,
        stream=MIX,
        time_ns=None,
        count=800,
        arrival=[{"law": 0, "depth": 1}],
        max_outstanding=1,
    )
    with request_log(disk) as log:
        info = finished(nl, run)
        traced = log.flags()

    ios = counted(nl, run)
    assert sum(count for count, _bytes in ios.values()) == 800
    (device,) = info["target"]
    assert (device["backend"], "only back end bio" in device["backend_reason"]) == (
        Backend.BIO,
        True,
    )
    assert (device["flushes"], device["discards"]) == (ios[2][0], ios[3][0])
    assert device["discard_bytes"] == ios[3][1] == ios[3][0] * MIB
    assert device["reads"] + device["writes"] == ios[0][0] + ios[1][0]

    kinds = Counter("".join(sorted(rwbs.replace("S", ""))) for rwbs, _sectors in traced)
    discarded = sum(sectors for rwbs, sectors in traced if "D" in rwbs)
    assert discarded * 512 == device["discard_bytes"]
    assert kinds["R"] == device["reads"]
    data = [rwbs for rwbs, sectors in traced if sectors and "W" in rwbs]
    assert len(data) == device["writes"]
    # FUA: as a flag where the driver has it, else as a flush after the write.
    assert sum(count for kind, count in kinds.items() if "F" in kind) >= ios[1][0] + ios[2][0]


def test_the_disk_agrees_and_auto_takes_bio(spek_module: Path, disk: str, tmp_path: Path) -> None:
    workload, out = tmp_path / "ops.toml", tmp_path / "out.json"
    workload.write_text(
        """
[workload]
name = "ops"
summary = "all operations"
[[arrival]]
name = "loop"
law = "closed"
depth = 8
[[stream]]
name = "data"
read = "50%"
share = 4
size = "4KiB"
[[stream]]
name = "sure"
read = "0%"
fua = true
size = "8KiB"
[[stream]]
name = "sync"
operation = "flush"
[[stream]]
name = "trim"
operation = "discard"
size = "1MiB"
"""
    )

    code = cli.run(
        *[["run", str(workload), "--device", disk, "--write", "--count", "1000", "--no-prober",
           "--progress", "none", "-o", str(out)]]
    )  # fmt: skip

    assert code == ExitCode.OK
    result = msgspec.json.decode(out.read_bytes(), type=Result)
    (device,) = result.targets
    assert (device.backend, device.disk_agrees) == ("bio", True), (device.disk, device)
    assert (
        device.disk is not None and device.disk.discard_sectors == device.discard_bytes // 512 > 0
    )
    assert device.flushes > 0
    assert result.totals.all.ios == 1000


def test_write_zeroes_leaves_zeroes_and_nothing_else_changes(nl: Socket, spek_module: Path) -> None:
    with scsi_disk(64, lbpws=1) as node:
        most = int((queue_of(node) / "write_zeroes_max_bytes").read_text())
        assert most >= BLOCK
        before = bytes([0xA5]) * (64 * MIB)
        with open(node, "r+b") as raw:
            raw.write(before)
            os.fsync(raw.fileno())
        run = new(
            nl,
            node,
            write=1,
            time_ns=None,
            count=256,
            asu=[asu(bytes=64 * MIB)],
            stream=[
                other(
                    Operation.WRITE_ZEROES,
                    pattern=int(Pattern.ONCE),
                    range_start=8 * MIB,
                    range_bytes=MIB,
                )
            ],
        )
        (device,) = finished(nl, run)["target"]
        with open(node, "rb") as raw:
            os.posix_fadvise(raw.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            after = raw.read()

    assert (device["writes"], device["write_bytes"]) == (256, MIB)
    assert after[8 * MIB : 9 * MIB] == bytes(MIB)
    assert after[: 8 * MIB] == before[: 8 * MIB] and after[9 * MIB :] == before[9 * MIB :]


REFUSED: list[tuple[dict[str, Any], int, str]] = [
    ({"backend": int(Backend.MQ)}, errno.EOPNOTSUPP, "Only back end bio has"),
    ({"polled": 1}, errno.EOPNOTSUPP, "can't be polled"),
    ({"stream": [other(Operation.WRITE_ZEROES)]}, errno.EOPNOTSUPP, "does not support write-zer"),
    ({"stream": [stream(fua=1)]}, errno.EINVAL, "no writes of data"),
    ({"stream": [stream(operation=2)]}, errno.EINVAL, "it must be 0"),
    ({"stream": [stream(operation=9)]}, errno.ERANGE, "out of range"),
    ({"write": 0}, errno.EPERM, "not allowed to write"),
]


@pytest.mark.parametrize(("changes", "code", "text"), REFUSED)
def test_what_can_not_be_done_is_refused(
    nl: Socket, disk: str, changes: dict[str, Any], code: int, text: str
) -> None:
    values = {"write": 1, "stream": [other(Operation.DISCARD)], **changes}
    with pytest.raises(Refusal) as no:
        new(nl, disk, **values)
    assert (no.value.errno, text in no.value.text) == (code, True), no.value


def test_a_striped_range_has_only_forced_writes(nl: Socket, disks: Sequence[str]) -> None:
    two = [target(node) for node in disks[:2]]
    extents = [{"target": index, "start": 0} for index in range(2)]
    striped = asu(bytes=32 * MIB, stripe_bytes=64 * 1024, extent=extents)
    common: dict[str, Any] = {"target": two, "asu": [striped], "write": 1, "time_ns": None}
    for operation in (Operation.FLUSH, Operation.DISCARD, Operation.WRITE_ZEROES):
        with pytest.raises(Refusal) as no:
            new(nl, disks[0], count=10, stream=[other(operation, range_bytes=32 * MIB)], **common)
        assert "A striped address range has no" in no.value.text

    run = new(
        nl, disks[0], count=64, stream=[stream(read_ppm=0, fua=1, range_bytes=32 * MIB)], **common
    )
    assert sum(device["writes"] for device in finished(nl, run)["target"]) == 64


def test_a_device_without_discards_is_refused(nl: Socket, disks: Sequence[str]) -> None:
    with pytest.raises(Refusal) as no:
        new(nl, disks[0], write=1, stream=[other(Operation.DISCARD)])
    assert "does not support discards" in no.value.text
