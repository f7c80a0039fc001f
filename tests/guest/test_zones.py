# SPDX-License-Identifier: GPL-2.0
"""Zoned devices: what a run leaves in their zones, what they are asked for, what is refused."""

from __future__ import annotations

import contextlib
import errno
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from lib.ctl.verified import contents_of
from lib.guest.disks import make_null, null_disk, remove_null, settle
from lib.guest.netlink import MIB, asu, delete, finished, new, remove, state, stream
from lib.guest.netlink_raw import Refusal, Socket
from lib.guest.trace import disk_stat
from lib.guest.zoned import (
    ACTIVE,
    BLKOPENZONE,
    BLKRESETZONE,
    EMPTY,
    EXPLICIT,
    SIZE,
    ZONE_MIB,
    Zone,
    command,
    zbc_disk,
    zones_of,
)
from lib.waiting import comes_true

from spekctl import cli
from spekctl.documents.result import Result
from spekctl.errors import ExitCode
from spekctl.kernel.gen.spek import Backend, Cmd, Data, Law, Operation, Pattern, RunState
from spekctl.kernel.records import Direction
from spekctl.log import buffer
from spekctl.log import file as log_file

DATA = (Operation.TRANSFER, Operation.ZONE_APPEND)


def reset_active(node: str) -> None:
    """Leave no zone open or closed: workers with other parts would not continue it."""
    for zone in zones_of(node):
        if zone.cond in ACTIVE:
            command(node, BLKRESETZONE, zone)
    settle()


@contextlib.contextmanager
def zoned_null(size_mb: int = 64, **changes: int) -> Iterator[str]:
    options = {"zoned": 1, "zone_size": ZONE_MIB, "memory_backed": 1, **changes}
    with null_disk(size_mb, 4096, **options) as node:
        yield node


KINDS = {
    "null": {"zone_max_open": 4, "zone_max_active": 4, "zone_nr_conv": 2},
    "null, capacity": {"zone_max_open": 4, "zone_max_active": 4, "zone_nr_conv": 2,
                       "zone_capacity": 3},
}  # fmt: skip


@pytest.fixture(scope="module", params=[*KINDS, "scsi_debug"])
def disk(spek_module: Path, request: pytest.FixtureRequest) -> Iterator[str]:
    """16 zones: 2 conventional ones, then those with write pointers; at most 4 of them open."""
    kind = request.param
    with zbc_disk() if kind == "scsi_debug" else zoned_null(**KINDS[kind]) as node:
        yield node


@pytest.fixture(scope="module")
def null(spek_module: Path) -> Iterator[str]:
    with zoned_null(**KINDS["null"]) as node:
        yield node


def on_zones(first: int = 2, nr: int = 14, open_zones: int = 3) -> dict[str, Any]:
    extent = [{"target": 0, "start": first * SIZE}]
    return asu(bytes=nr * SIZE, zone_bytes=SIZE, open_zones=open_zones, extent=extent)


def at_pointers(
    operation: Operation = Operation.TRANSFER, read_ppm: int = 0, size: int = 65536, **more: Any
) -> dict[str, Any]:
    return stream(
        pattern=int(Pattern.WRITE_POINTER),
        operation=int(operation),
        read_ppm=read_ppm,
        range_bytes=more.pop("range_bytes", 14 * SIZE),
        size=[{"bytes": size, "weight": 1}],
        **more,
    )


def zoned(nl: Socket, node: str, **changes: Any) -> int:
    values = {
        "write": 1, "time_ns": None, "count": 2000, "asu": [on_zones()], "stream": [at_pointers()],
        "log_records": 8192,
    }  # fmt: skip
    return new(nl, node, **{**values, **changes})


def log_of(run: int, workers: int) -> Any:
    """What the workers sent, in that order."""
    data = b""
    for worker in range(workers):
        path = Path(buffer.debugfs(), f"spek/{run}/worker{worker}")
        with path.open("rb", buffering=0) as file:
            while piece := file.read(1 << 20):
                data += piece
    records = np.frombuffer(data, log_file.record_type())
    return records[np.argsort(records["issue_ns"], kind="stable")]


def pointers_after(
    before: list[Zone], records: Any, operations: list[Operation], first: int
) -> tuple[list[int], int]:
    """Pointers of all zones after a run, from the log alone, and how many zones were written again.

    A write at the start of a zone with data is one after a reset.
    """
    pointers = [zone.pointer for zone in before]
    again = 0
    for record in records:
        index, at = divmod(int(record["addr"]), SIZE)
        index += first
        operation = operations[record["stream"]]
        if not record["write"]:
            continue
        if operation in DATA:
            if at == 0 and pointers[index]:
                again += 1
            else:
                assert at == pointers[index], (index, at)
            pointers[index] = at + int(record["bytes"])
            assert pointers[index] <= before[index].capacity
        elif operation is Operation.ZONE_RESET:
            pointers[index] = 0
        elif operation is Operation.ZONE_FINISH:
            again += before[index].capacity == pointers[index]
            pointers[index] = before[index].capacity
    return pointers, again


MIXES = {
    "writes": ([Operation.TRANSFER], 1),
    "writes of two workers": ([Operation.TRANSFER], 2),
    "appends": ([Operation.ZONE_APPEND], 1),
    "writes, appends and resets": (
        [Operation.TRANSFER, Operation.ZONE_APPEND, Operation.ZONE_RESET],
        2,
    ),
}


@pytest.mark.sampled
@pytest.mark.parametrize("mix", MIXES)
def test_the_device_has_the_pointers_that_the_log_tells(nl: Socket, disk: str, mix: str) -> None:
    operations, workers = MIXES[mix]
    streams = [
        at_pointers(operation, 200_000 if operation is Operation.TRANSFER else 0,
                    weight=20 if operation in DATA else 1)
        for operation in operations
    ]  # fmt: skip
    if workers > 1:
        reset_active(disk)
    before, stat = zones_of(disk), disk_stat(disk)
    cpus = min(workers, os.cpu_count() or 1)
    run = zoned(nl, disk, stream=streams, worker=[{"cpu": cpu} for cpu in range(cpus)])
    (target,) = finished(nl, run)["target"]
    after, now = zones_of(disk), disk_stat(disk)
    records = log_of(run, cpus)
    remove(nl, run)

    assert target["backend"] == Backend.BIO
    pointers, again = pointers_after(before, records, operations, 2)
    assert [zone.pointer for zone in after if not zone.conventional] == pointers[2:]
    assert sum(zone.cond in ACTIVE for zone in after) <= 4
    assert {zone.cond for zone in after} & {EXPLICIT} == set()

    kinds = [operations[record["stream"]] for record in records]
    resets = sum(kind is Operation.ZONE_RESET for kind in kinds)
    assert target["zone_appends"] == sum(kind is Operation.ZONE_APPEND for kind in kinds)
    assert target["zone_misplaced"] == 0
    # Those that were asked for, and one before each zone that was written again.
    assert resets + again <= target["zone_resets"]
    assert again > 0 or resets
    sent = now[Direction.WRITE].since(stat[Direction.WRITE])
    assert (sent.ios, sent.sectors * 512) == (target["writes"], target["write_bytes"])
    assert now[Direction.READ].since(stat[Direction.READ]).ios == target["reads"]


def test_open_zones_stay_within_the_limit(nl: Socket, disk: str) -> None:
    reset_active(disk)
    operations = [Operation.TRANSFER, Operation.ZONE_OPEN, Operation.ZONE_CLOSE,
                  Operation.ZONE_FINISH]  # fmt: skip
    streams = [
        at_pointers(operation, weight=20 if operation in DATA else 1) for operation in operations
    ]
    run = zoned(nl, disk, stream=streams, asu=[on_zones(open_zones=4)])
    # The device refuses what would open one zone more, which would be an error of the run.
    (target,) = finished(nl, run)["target"]
    remove(nl, run)
    assert min(target["zone_opens"], target["zone_closes"], target["zone_finishes"]) > 10
    assert sum(zone.cond in ACTIVE for zone in zones_of(disk)) <= 4


def test_conventional_zones_take_any_write(nl: Socket, disk: str) -> None:
    before = zones_of(disk)
    anywhere = stream(read_ppm=0, range_bytes=2 * SIZE)
    finished(nl, run := new(nl, disk, write=1, time_ns=None, count=500, stream=[anywhere]))
    remove(nl, run)
    assert zones_of(disk)[2:] == before[2:]


def test_streams_beside_those_at_pointers_keep_to_no_zone(nl: Socket, disk: str) -> None:
    """Flushes have no address, and writes to conventional zones may be in another worker's part."""
    reset_active(disk)
    before = zones_of(disk)
    streams = [
        at_pointers(weight=4, range_bytes=16 * SIZE),
        stream(read_ppm=0, range_bytes=2 * SIZE),
        stream(read_ppm=0, operation=int(Operation.FLUSH)),
    ]
    cpus = min(2, os.cpu_count() or 1)
    workers = [{"cpu": cpu} for cpu in range(cpus)]
    run = zoned(nl, disk, asu=[on_zones(0, 16, 2)], stream=streams, worker=workers)
    (target,) = finished(nl, run)["target"]
    records = log_of(run, cpus)
    remove(nl, run)
    for number in range(3):
        assert (records["stream"] == number).sum() > 200, number
    at = records[records["stream"] == 0]
    pointers, again = pointers_after(before, at, [Operation.TRANSFER], 0)
    assert [zone.pointer for zone in zones_of(disk)][2:] == pointers[2:]
    assert again <= target["zone_resets"]


def test_reads_go_anywhere(nl: Socket, null: str) -> None:
    finished(nl, run := new(nl, null, time_ns=None, count=500))
    remove(nl, run)


def test_a_run_that_is_stopped_leaves_no_command_behind(nl: Socket, null: str) -> None:
    # Finished zones have old data: nearly every operation waits for a reset.
    streams = [at_pointers(Operation.ZONE_FINISH), at_pointers(Operation.ZONE_APPEND)]
    for _ in range(20):
        run = zoned(nl, null, stream=streams, count=None, time_ns=3600 * 10**9, log_records=None)
        nl.ask(Cmd.RUN_START, id=run)
        nl.ask(Cmd.RUN_STOP, id=run)
        assert comes_true(lambda run=run: state(nl, run) is RunState.DONE)  # type: ignore[misc]
        delete(nl, run)


def test_acquiring_the_blocks_of_a_zone_is_not_service_time(nl: Socket, spek_module: Path) -> None:
    """The disk holds nothing, so a reset takes next to no time, and its 65536 blocks take long."""
    size = 256 * MIB
    resets = at_pointers(Operation.ZONE_RESET, range_bytes=4 * size)
    with zoned_null(1024, zone_size=256, memory_backed=0) as node:
        run = zoned(
            nl,
            node,
            data=int(Data.STAMPED),
            asu=[asu(bytes=4 * size, zone_bytes=size, open_zones=1)],
            arrival=[{"law": int(Law.CLOSED), "depth": 1}],
            stream=[resets],
            count=50,
        )
        finished(nl, run)
        log = log_of(run, workers=1)
        remove(nl, run)
    assert len(log) == 50
    waited = np.median(log["issue_ns"] - log["at_ns"])
    assert np.median(log["done_ns"] - log["issue_ns"]) < waited / 4


@pytest.mark.parametrize("data", [Data.ZERO, Data.STAMPED])
@pytest.mark.parametrize("operation", DATA)
def test_a_bad_block_fails_one_write_and_its_zone_is_left(
    nl: Socket, spek_module: Path, operation: Operation, data: Data
) -> None:
    """Later writes of a zone are at its pointer only if the earlier ones have succeeded."""
    options = {"zoned": 1, "zone_size": ZONE_MIB, "memory_backed": 1, **KINDS["null"]}
    node, item = make_null(64, 4096, **options)
    bad = 4 * SIZE + SIZE // 2
    (item / "badblocks").write_text(f"+{bad // 512}-{bad // 512 + 7}")
    try:
        run = zoned(nl, node, stream=[at_pointers(operation)], count=500, data=int(data))
        nl.ask(Cmd.RUN_START, id=run)
        assert comes_true(lambda: state(nl, run) is RunState.DONE)
        info = nl.ask(Cmd.RUN_GET, id=run).values[0]
        records = log_of(run, 1)
        remove(nl, run)
        zones = zones_of(node)
    finally:
        settle()
        remove_null(item)

    assert info["errors"] == 1, info
    (failed,) = records[records["error"] != 0]
    assert int(failed["addr"]) == bad - 2 * SIZE
    inside = (records["addr"] // SIZE == 2) & (records["issue_ns"] > failed["issue_ns"])
    assert inside.sum() == 0
    assert zones[4].pointer == 0
    assert sum(zone.cond in ACTIVE for zone in zones) <= 3
    assert info["target"][0]["zone_resets"] == 1


def test_the_end_of_a_reset_wakes_the_worker(nl: Socket, spek_module: Path) -> None:
    """It does not look for it again and again: a reset takes as long as 200 of such looks."""
    streams = [at_pointers(Operation.ZONE_FINISH), at_pointers(Operation.ZONE_APPEND)]
    loop = [{"law": int(Law.CLOSED), "depth": 1}]
    with zoned_null(irqmode=2, completion_nsec=20_000_000, **KINDS["null"]) as node:
        finished(nl, first := zoned(nl, node, stream=streams, arrival=loop, count=40))
        remove(nl, first)
        run = zoned(nl, node, stream=streams, arrival=loop, count=40)
        info = finished(nl, run)
        remove(nl, run)
    assert info["target"][0]["zone_resets"] > 10
    assert info["worker"][0]["voluntary"] < 200, info["worker"]


ZONES = """
[workload]
name = "zones"
summary = "log and trim"
[[asu]]
name = "all"
size = "100%"
[[arrival]]
name = "loop"
law = "closed"
depth = 4
[[stream]]
name = "log"
read = "20%"
share = 50
size = "64KiB"
pattern = "write-pointer"
open_zones = 2
[[stream]]
name = "append"
share = 50
size = "16KiB"
operation = "zone-append"
pattern = "write-pointer"
[[stream]]
name = "trim"
operation = "zone-reset"
pattern = "write-pointer"
"""


def result_of(disk: str, folder: Path, *options: str) -> Result:
    (folder / "zones.toml").write_text(ZONES)
    run = ["run", str(folder / "zones.toml"), "--device", disk, "--count", "2000", "--no-prober"]
    out = folder / "out.json"
    code = cli.run(*[[*run, *options, "--write", "--progress", "none", "-o", str(out)]])
    assert code == ExitCode.OK
    return msgspec.json.decode(out.read_bytes(), type=Result)


def test_resets_are_not_taken_for_lost_data(disk: str, tmp_path: Path) -> None:
    """Verified: nothing is found wrong; what is lost behind spek's back is found."""
    reset_active(disk)
    workers, state = str(min(2, os.cpu_count() or 1)), tmp_path / "state"
    result = result_of(
        disk, tmp_path, "--verify", "--verify-state", str(state), "--workers", workers
    )
    verify = result.verify
    assert verify is not None and verify.final is not None
    assert (verify.mismatches, verify.complete) == (0, True), verify
    assert verify.load.checked > 0 and verify.final.checked > 0
    (target,) = result.targets
    assert target.zone_resets > 0 == target.zone_misplaced
    # What was reset and not written again, and what no write has reached.
    assert verify.final.discarded > 0 and verify.final.never_written > 0

    stamped = contents_of(state)[0]
    zone = next(entry for entry in zones_of(disk) if entry.start <= stamped[0] < entry.start + SIZE)
    command(disk, BLKRESETZONE, zone)
    settle()
    check = ["verify", "--device", disk, "--from", str(state), "--progress", "none", "--json"]
    assert cli.run(*[[*check, "-o", str(tmp_path / "report")]]) == ExitCode.DATA_ERRORS
    report = json.loads((tmp_path / "report").read_text())
    assert set(report["counts"]["by_kind"]) == {"unstamped"}
    assert all(0 <= mismatch["offset"] - zone.start < SIZE for mismatch in report["first"])
    inside = [at for at in stamped if 0 <= at - zone.start < SIZE]
    assert report["counts"]["mismatches"] == len(inside) > 0


def test_a_result_tells_what_was_done_to_zones(disk: str, tmp_path: Path) -> None:
    reset_active(disk)
    result = result_of(disk, tmp_path)
    (target,) = result.targets
    assert (target.backend, target.disk_agrees) == ("bio", True), (target.disk, target)
    assert result.totals.all.ios == 2000
    assert min(target.zone_appends, target.zone_resets) > 0 == target.zone_misplaced
    assert (target.zone_finishes, target.zone_opens, target.zone_closes) == (0, 0, 0)


PASSES = """
[workload]
name = "passes"
summary = "every zone to its end"
[[asu]]
name = "zones"
start = "8MiB"
size = "56MiB"
[[stream]]
name = "log"
read = "0%"
size = "112KiB"
align = "16KiB"
pattern = "write-pointer"
open_zones = 2
"""


def passed(disk: str, folder: Path, text: str, *options: str) -> tuple[int, int]:
    """The I/Os of a run on empty zones, and the bytes that the disk counted."""
    for zone in zones_of(disk):
        if not zone.conventional:
            command(disk, BLKRESETZONE, zone)
    settle()
    before = disk_stat(disk)[Direction.WRITE].sectors
    (folder / "passes.toml").write_text(text)
    out = folder / "out.json"
    run = ["run", str(folder / "passes.toml"), "--device", disk, "--write", "--no-prober"]
    code = cli.run(*[[*run, *options, "--progress", "none", "-o", str(out)]])
    assert code == ExitCode.OK
    result = msgspec.json.decode(out.read_bytes(), type=Result)
    (target,) = result.targets
    assert target.zone_misplaced == 0
    return result.totals.all.ios, (disk_stat(disk)[Direction.WRITE].sectors - before) * 512


@pytest.mark.parametrize("workers", ["1", "2"])
def test_passes_write_every_zone_to_its_end(disk: str, tmp_path: Path, workers: str) -> None:
    """The last write of a zone is cut: 112 KiB divide neither its length nor its capacity."""
    if int(workers) > (os.cpu_count() or 1):
        pytest.skip("the guest has a single CPU")
    text = PASSES + '[[arrival]]\nname = "loop"\ndepth = 4\n'
    ios, written = passed(disk, tmp_path, text, "--passes", "2", "--workers", workers)
    zones = [zone for zone in zones_of(disk) if not zone.conventional]
    capacity = sum(zone.capacity for zone in zones)
    assert len(zones) == 14 and written == 2 * capacity
    assert ios == 2 * 14 * -(-zones[0].capacity // (112 << 10))
    assert all(zone.pointer == zone.capacity for zone in zones)


def test_a_process_passes_half_of_its_zones(disk: str, tmp_path: Path) -> None:
    text = PASSES.replace("open_zones = 2", "open_zones = 1").replace("112KiB", "64KiB")
    text += '[[arrival]]\nname = "loop"\ndepth = 2\npasses = 0.5\n'
    _ios, written = passed(disk, tmp_path, text)
    zones = [zone for zone in zones_of(disk) if not zone.conventional]
    assert written == sum(zone.capacity for zone in zones[:7])
    assert [zone.pointer for zone in zones] == [zone.capacity for zone in zones[:7]] + [0] * 7


def test_writes_anywhere_are_refused_by_a_sentence(
    disk: str, capsys: pytest.CaptureFixture[str]
) -> None:
    run = ["run", "--device", disk, "--write", "--read", "0%", "--time", "1s", "--no-prober"]
    assert cli.run(*[[*run, "--progress", "none"]]) == ExitCode.USAGE
    assert "must be written sequentially: it needs pattern write-pointer" in capsys.readouterr().err


REFUSED: dict[str, tuple[dict[str, Any], int, str]] = {
    "anywhere": (
        {"stream": [stream(read_ppm=0)], "asu": [asu()]},
        *(errno.EOPNOTSUPP, "must be written sequentially"),
    ),
    "discards": (
        {"stream": [stream(read_ppm=0, operation=int(Operation.DISCARD))], "asu": [asu()]},
        *(errno.EOPNOTSUPP, "The device does not support discards"),
    ),
    "mq": ({"backend": int(Backend.MQ)}, errno.EOPNOTSUPP, "The device is zoned"),
    "polled": ({"polled": 1}, errno.EOPNOTSUPP, "can't be polled"),
    "not for writing": ({"write": 0}, errno.EPERM, "not allowed to write"),
    "too many open": ({"asu": [on_zones(open_zones=5)]}, errno.ERANGE, "max_open_zones"),
    "other zones": (
        {"asu": [asu(bytes=14 * SIZE, zone_bytes=SIZE // 2, open_zones=1)]},
        *(errno.EINVAL, "another size than the run gives"),
    ),
    "only conventional": (
        {"asu": [on_zones(0, 2, 1)], "stream": [at_pointers(range_bytes=2 * SIZE)]},
        *(errno.ERANGE, "fewer zones with a write pointer"),
    ),
    "overlap": (
        {
            "asu": [on_zones(nr=10), on_zones(8, 8, 1)],
            "stream": [
                at_pointers(range_bytes=10 * SIZE),
                at_pointers(asu=1, range_bytes=8 * SIZE),
            ],
        },
        *(errno.EINVAL, "overlap on their device"),
    ),
    "too large": ({"stream": [at_pointers(size=2 * MIB)]}, errno.ERANGE, "can't be cut"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_can_not_be_done_is_refused(nl: Socket, null: str, case: str) -> None:
    changes, code, text = REFUSED[case]
    before = zones_of(null)
    with pytest.raises(Refusal) as no:
        zoned(nl, null, **changes)
    assert (no.value.errno, text in no.value.text) == (code, True), no.value
    assert zones_of(null) == before


def test_zones_that_others_left_open_count(nl: Socket, spek_module: Path) -> None:
    with zoned_null(**KINDS["null"]) as node:
        zones = zones_of(node)
        # One in the range, which is continued, and one outside, which is not.
        command(node, BLKOPENZONE, zones[14])
        command(node, BLKOPENZONE, zones[2])
        common: dict[str, Any] = {"stream": [at_pointers(range_bytes=8 * SIZE)]}
        with pytest.raises(Refusal) as no:
            zoned(nl, node, asu=[on_zones(nr=8, open_zones=4)], **common)
        assert (no.value.errno, "reset or finish them" in no.value.text) == (errno.EBUSY, True)
        finished(nl, run := zoned(nl, node, asu=[on_zones(nr=8, open_zones=3)], **common))
        remove(nl, run)
        command(node, BLKRESETZONE, zones[14])
        assert zones_of(node)[14].cond == EMPTY


def test_a_device_without_zones_has_no_pointers(nl: Socket, disks: list[str]) -> None:
    with pytest.raises(Refusal) as no:
        zoned(nl, disks[0], asu=[on_zones(0, 14, 1)])
    assert (no.value.errno, "not zoned" in no.value.text) == (errno.EOPNOTSUPP, True)
