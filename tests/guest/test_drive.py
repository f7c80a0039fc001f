# SPDX-License-Identifier: GPL-2.0
"""spek_drive.ko: modelled drives as SCSI disks of the kernel.

What commands say in detail is tested in userspace, tests/unit/drive; here it is what the kernel
makes of them, and that drives come and go whatever happens meanwhile.
"""

from __future__ import annotations

import contextlib
import errno
import json
import mmap
import os
import struct
import subprocess
import threading
import time
from collections import defaultdict
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest
from guest.daq import running
from guest.faults.times import TIMES
from guest.scsi_commands import send_random
from lib.guest.disks import settle
from lib.guest.modelled import (
    FLASH,
    SMALL,
    Disk,
    disk_of,
    make,
    modelled,
    send,
    served,
    simulated,
)
from lib.guest.netlink_raw import Refusal, Socket
from lib.guest.trace import events
from lib.harness.kernels import DEBUG_KERNELS
from lib.waiting import LONG_S, eventually

from spekctl import cli
from spekctl.drive import core
from spekctl.drive.model import Cache, Model, Zone
from spekctl.errors import ExitCode, SpekError
from spekctl.kernel.drives import Drives, Making, values_of
from spekctl.kernel.gen import spek_drive
from spekctl.kernel.gen.spek_drive import Cmd, DriveState, Fault

pytestmark = pytest.mark.usefixtures("drive_module")

MS, SECOND = 10**6, 10**9
DATA_PROTECT = 7
# make drives sends a million.
COMMANDS = int(os.environ.get("SPEK_SCSI_COMMANDS", "150"))
SECTORS = 524_800
TEST_UNIT_READY = bytes(6)
START, STOP = bytes([0x1B, 0, 0, 0, 1, 0]), bytes([0x1B, 0, 0, 0, 0, 0])
STANDBY = bytes([0x1B, 0, 0, 0, 0x30, 0])
REQUEST_SENSE = bytes([0x03, 0, 0, 0, 18, 0])
CHECK_POWER = bytes([0x85, 0x06, 0x20, *[0] * 11, 0xE5, 0])


@contextlib.contextmanager
def direct(node: str, flags: int = os.O_RDWR) -> Iterator[int]:
    fd = os.open(node, flags | os.O_DIRECT)
    try:
        yield fd
    finally:
        os.close(fd)


def aligned(data: bytes) -> mmap.mmap:
    """@data in memory that O_DIRECT takes."""
    buffer = mmap.mmap(-1, len(data))
    buffer[:] = data
    return buffer


def read(fd: int, offset: int, length: int) -> bytes:
    buffer = mmap.mmap(-1, length)
    assert os.preadv(fd, [buffer], offset) == length
    return bytes(buffer)


@contextlib.contextmanager
def load(disk: Disk, jobs: int = 3, sectors: int = SECTORS) -> Iterator[list[OSError]]:
    """Random direct reads and writes meanwhile; gives the errors that they end with."""
    stop = threading.Event()
    errors: list[OSError] = []

    def work(job: int) -> None:
        buffer = aligned(bytes([job]) * 4096)
        try:
            with direct(disk.node) as fd:
                block = job
                while not stop.is_set():
                    block = (block * 7919 + 12345) % (sectors // 8)
                    if block % 2:
                        os.pwritev(fd, [buffer], block * 4096)
                    else:
                        os.preadv(fd, [buffer], block * 4096)
        except OSError as error:
            errors.append(error)

    threads = [threading.Thread(target=work, args=(job + 1,)) for job in range(jobs)]
    for thread in threads:
        thread.start()
    try:
        yield errors
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_drive_is_a_disk_of_its_model(drives: Drives) -> None:
    with modelled(drives, serial="DISK0001", name="the first") as disk:
        info = drives.drive(disk.drive)

        assert int(Path("/sys/block", disk.name, "size").read_text()) == SECTORS
        assert (disk.queue / "rotational").read_text() == "1\n"
        assert (disk.device / "vendor").read_text().strip() == "SPEK"
        assert (disk.device / "model").read_text().strip() == "MODELLED DRIVE"
        assert b"DISK0001" in (disk.device / "vpd_pg80").read_bytes()
        assert (disk.device / "queue_depth").read_text() == "32\n"
        assert not (disk.queue / "independent_access_ranges").exists()
        assert (info.name, info.serial, info.sectors) == ("the first", "DISK0001", SECTORS)
        zones = values_of(SMALL, Making())["zones"]
        assert (info.zones, info.store_bytes) == (zones, 0)


def test_arms_with_lbas_of_their_own_are_access_ranges(drives: Drives) -> None:
    split = replace(SMALL.with_arms(2), channels=2, split=True)
    with modelled(drives, split) as disk:
        ranges = sorted((disk.queue / "independent_access_ranges").glob("[0-9]"))
        pairs = [
            tuple(int((folder / name).read_text()) for name in ("sector", "nr_sectors"))
            for folder in ranges
        ]

        assert pairs == [(0, SECTORS // 2), (SECTORS // 2, SECTORS // 2)]


@pytest.mark.debug_kernel_at_length
def test_what_is_written_is_read(drives: Drives) -> None:
    data = os.urandom(256 << 10)
    with modelled(drives) as disk:
        with direct(disk.node) as fd:
            os.pwritev(fd, [aligned(data)], 4096 * 3)
            os.pwritev(fd, [aligned(data[:512])], 4096 * 90 + 512)

            assert read(fd, 4096 * 3, len(data)) == data
            assert read(fd, 4096 * 90, 4096) == bytes(512) + data[:512] + bytes(4096 - 1024)
            assert read(fd, 0, 4096) == bytes(4096)
        # Who looks at a disk that was written is served and counted, too.
        settle()
        eventually(lambda: drives.drive(disk.drive).outstanding == 0, "requests stay")
        info = drives.drive(disk.drive)
        stats = drives.stats(disk.drive)

        assert info.stored_bytes == len(data) + 4096
        assert stats.writes >= 2
        assert stats.written_sectors == len(data) // 512 + 1
        assert stats.late_count == stats.reads + stats.writes


def test_accesses_take_the_time_of_the_model(drives: Drives) -> None:
    """Never less than seek and transfer, never more than a turn beyond but for lateness, which
    the drive knows."""
    far = 4096 * (SECTORS // 8 - 1)
    with (
        events("spek_drive") as seen,
        modelled(drives) as disk,
        direct(disk.node, os.O_RDONLY) as fd,
    ):
        read(fd, 0, 4096)
        spans = []
        for offset in (far, 0, far, 0, far, 0):
            before = time.monotonic_ns()
            read(fd, offset, 4096)
            spans.append((before, time.monotonic_ns()))
        stats = drives.stats(disk.drive)
        accesses = list(zip(*served(seen.text(), disk.drive), strict=True))[-len(spans) :]

        for (before, after), (access, late_ns) in zip(spans, accesses, strict=True):
            assert before <= access.arrival_ns == access.start_ns
            assert 6 * MS < access.end_ns - access.start_ns < 6 * MS + 9 * MS
            assert access.end_ns + late_ns <= after
        phases = {entry.phase.name: entry.ns for entry in stats.phases}
        assert sum(phases.values()) == stats.now_ns - stats.created_ns
        assert sum(entry.ns for entry in stats.conditions) == stats.now_ns - stats.created_ns
        assert stats.moved >= 6


CACHED = replace(
    SMALL,
    cache=Cache(segments=4, segment_sectors=256, ahead_sectors=128, hit_ns=50_000, sector_ps=10**6),
)


@pytest.mark.parametrize(
    ("model", "spin_ns"),
    [
        pytest.param(SMALL, 0, id="one arm"),
        pytest.param(SMALL, 100_000, id="early timer"),
        pytest.param(replace(SMALL.with_arms(3), channels=1, moving=2), 0, id="three arms"),
        pytest.param(CACHED, 0, id="read cache"),
    ],
)
def test_the_core_in_userspace_serves_the_same_requests_at_the_same_times(
    drives: Drives, model: Model, spin_ns: int
) -> None:
    """To the nanosecond, from the first sector that the disk driver read."""
    with events("spek_drive") as seen, modelled(drives, model, spin_ns=spin_ns) as disk:
        assert drives.drive(disk.drive).spin_ns == spin_ns
        with load(disk, jobs=4) as errors:
            eventually(lambda: drives.stats(disk.drive).served > 120, "no load")
            if model is CACHED:
                with direct(disk.node, os.O_RDONLY) as fd:
                    for block in range(40):
                        read(fd, block * 4096, 4096)
        settle()
        eventually(lambda: drives.drive(disk.drive).outstanding == 0, "requests stay")
        requests, late = served(seen.text(), disk.drive)
        stats = drives.stats(disk.drive)

    assert errors == []
    assert len(requests) == stats.late_count > 120
    assert sum(late) == stats.late_sum_ns
    assert {request.arm for request in requests} >= {*range(len(model.arm_angles))}
    assert model is not CACHED or any(request.arm is None for request in requests)
    assert simulated(model, core.Rule("sptf", window=32), requests) == requests


def test_energy_is_power_times_time(drives: Drives) -> None:
    """Of the account, and of the hwmon device that shows it."""
    with modelled(drives) as disk:
        info = drives.drive(disk.drive)
        with direct(disk.node, os.O_RDONLY) as fd:
            for block in range(8):
                read(fd, block * 4096 * 4000, 4096)
        stats = drives.stats(disk.drive)
        elapsed = stats.now_ns - stats.created_ns
        phases = {phase.phase.name.lower(): phase for phase in stats.phases}
        five, twelve = (energy.nj for energy in stats.energies)

        assert five == (3_000_000 * elapsed + 1_000_000 * phases["read"].ns) // 10**6
        assert twelve == (6_500_000 * elapsed + 5_000_000 * phases["seek"].ns) // 10**6
        hwmon = Path("/sys/class/hwmon", info.hwmon)
        names = {
            (kind, label): number
            for kind in ("in", "curr", "power", "energy")
            for number in range(3)
            for path in [hwmon / f"{kind}{number}_label"]
            if path.exists()
            for label in [path.read_text().strip()]
        }
        value = {
            key: int((hwmon / f"{key[0]}{number}_input").read_text())
            for key, number in names.items()
        }
        later = drives.stats(disk.drive)

        assert (value["in", "5V"], value["in", "12V"]) == (5000, 12000)
        assert (value["power", "5V"], value["power", "12V"]) == (3_000_000, 6_500_000)
        assert (value["curr", "5V"], value["curr", "12V"]) == (600, 542)
        assert twelve // 1000 <= value["energy", "12V"] <= later.energies[1].nj // 1000


def test_a_run_has_the_joules_of_the_model(
    drives: Drives,
    spek_module: Path,
    prober_module: Path,
    tmp_path: Path,
    capfd: pytest.CaptureFixture[str],
) -> None:
    """By spek-daq and the energy counters of hwmon: to 1 uJ and a sample, at each end.

    Outside of the measure phase, but for the access that is under way at its end, the drive is
    idle, so that the model's account of the phase follows from readings before and after the run.
    """
    sample_s, most_w, idle_w, access_s = 0.005, 15.7, 9.5, 0.03
    with modelled(drives) as disk:
        chip = drives.drive(disk.drive).hwmon
        rails = tmp_path / "rails.toml"
        rails.write_text(
            "".join(
                f'[[rail]]\nname = "{name}"\nchannel = "{chip}/energy{number}"\n'
                for number, name in enumerate(("5V", "12V"), start=1)
            )
        )
        with running(tmp_path, "-s", "hwmon", "-i", "5ms", "-r", str(rails)) as daq:
            daq.until("hwmon", 0.1)
            before = drives.stats(disk.drive)
            # Of a number of accesses, which take as much energy however slow the guest is.
            words = ["run", "random-read-4k", "--device", disk.node, "--count", "100", "--json"]
            capfd.readouterr()
            code = cli.run([*words, "--progress", "none", "--max-outstanding", "1"])
            result = json.loads(capfd.readouterr().out)
            after = drives.stats(disk.drive)
            daq.end()
        measured_s = (
            next(phase for phase in result["phases"] if phase["phase"] == "measure")["duration_ns"]
            / 1e9
        )
        used = sum(b.nj - a.nj for a, b in zip(before.energies, after.energies, strict=True)) / 1e9
        idle_s = (after.now_ns - before.now_ns) / 1e9 - measured_s
        measure = result["power"]["measure"]

        assert code == ExitCode.OK
        assert after.reads > before.reads
        assert [rail["name"] for rail in measure["rails"]] == ["5V", "12V"]
        assert measure["total"]["known_s"] == pytest.approx(measured_s)
        slack_j = 2 * (1e-6 + most_w * sample_s) + (most_w - idle_w) * access_s
        assert abs(measure["total"]["joules"] - (used - idle_w * idle_s)) <= slack_j
        assert measure["total"]["joules"] > idle_w * measured_s + 2 * slack_j


@pytest.mark.debug_kernel_at_length
def test_flash_forgets_what_is_discarded(drives: Drives) -> None:
    """blkdiscard by UNMAP: pages are invalid, data and its memory are gone."""
    with modelled(drives, FLASH) as disk:
        assert (disk.queue / "rotational").read_text() == "0\n"
        assert (disk.queue / "discard_granularity").read_text() == "4096\n"
        assert int((disk.queue / "discard_max_bytes").read_text()) >= 16 << 20
        with direct(disk.node) as fd:
            os.pwritev(fd, [aligned(b"f" * (1 << 20))], 0)
        assert drives.drive(disk.drive).stored_bytes == 1 << 20
        words = ["blkdiscard", "--offset", "6144", "--length", str(512 << 10), disk.node]
        subprocess.run(words, check=True)
        with direct(disk.node, os.O_RDONLY) as fd:
            data = read(fd, 0, 1 << 20)
        info, stats = drives.drive(disk.drive), drives.stats(disk.drive)
        hwmon = Path("/sys/class/hwmon", info.hwmon)

        assert data == b"f" * 6144 + bytes(512 << 10) + b"f" * ((512 << 10) - 6144)
        assert info.stored_bytes == (1 << 20) - (508 << 10)
        assert (stats.unmaps, stats.unmapped_sectors) == (1, 1024)
        assert stats.pages_programmed >= 256
        assert (info.flash_channels, info.page_sectors, info.zones) == (2, 8, b"")
        elapsed = stats.now_ns - stats.created_ns
        uw = {"read": 300_001, "write": 900_007, "erase": 500_003}
        own = sum(uw.get(phase.phase, 0) * phase.ns for phase in stats.phases)
        assert stats.energies[0].nj == (700_000 * elapsed + own) // 10**6
        assert stats.energies[1].nj == 0
        assert (hwmon / "energy1_input").exists()
        assert not (hwmon / "energy2_input").exists()


def test_flash_collects_until_it_is_discarded(drives: Drives) -> None:
    page = [aligned(b"g" * 4096)]
    with modelled(drives, FLASH) as disk, direct(disk.node) as fd:
        for at in range(0, 16 << 20, 1 << 20):
            os.pwritev(fd, [aligned(b"h" * (1 << 20))], at)
        filled = drives.stats(disk.drive)
        for write in range(1200):
            os.pwritev(fd, page, write * 7919 % 4096 * 4096)
        full = drives.stats(disk.drive)
        subprocess.run(["blkdiscard", "--force", disk.node], check=True)
        for write in range(1200):
            os.pwritev(fd, page, write * 7919 % 4096 * 4096)
        empty = drives.stats(disk.drive)

        assert (filled.pages_programmed, filled.pages_moved) == (4096, 0)
        assert full.pages_moved > 1000
        assert full.blocks_erased > 0
        assert empty.pages_moved == full.pages_moved


def test_tables_of_flash_share_the_memory_of_all_drives(drives: Drives) -> None:
    """Nearly a quarter of the limit each: the fifth drive does not fit, until another one goes."""
    limit = Path("/sys/module/spek_drive/parameters/store_limit_mib")
    before = limit.read_text()
    # A table has 4 bytes for each page of the flash and for each that the disk shows.
    pages = (16 << 20) * 22 // 100 // 8
    flash = FLASH.flash
    assert flash is not None
    blocks = pages * 21 // 20 // flash.block_pages // flash.channels
    model = replace(FLASH, sectors=pages * flash.page_sectors, flash=replace(flash, blocks=blocks))
    numbers: list[int] = []
    limit.write_text("16")
    try:
        for _ in range(4):
            numbers.append(make(drives, model).drive)
        with pytest.raises(SpekError, match="memory that all drives share"):
            make(drives, model)
        drives.delete(numbers[0])
        assert drives.wait_gone(numbers.pop(0), LONG_S)
        numbers.append(make(drives, model).drive)
    finally:
        limit.write_text(before)
        for drive in numbers:
            drives.delete(drive)
            assert drives.wait_gone(drive, LONG_S)


def test_a_drive_waits_for_no_other_drivers_probe(drives: Drives) -> None:
    module = Path(os.environ["SPEK_DISKS"], "spek_probing.ko")
    # With async_probe insmod itself does not wait.
    subprocess.run(["insmod", module, "async_probe"], check=True)
    try:
        with modelled(drives) as disk:
            assert Path(disk.node).exists()
    finally:
        subprocess.run(["rmmod", "spek_probing"], check=True)


def test_unmap_lists_and_attributes_of_flash_are_checked(drives: Drives) -> None:
    def unmap(lba: int, sectors: int) -> bytes:
        return struct.pack(">HH4xQI4x", 22, 16, lba, sectors)

    cdb = bytes([0x42, 0, 0, 0, 0, 0, 0, 0, 24, 0])
    with modelled(drives, FLASH) as disk, modelled(drives) as mechanical, Socket(spek_drive) as nl:
        assert send(disk.node, cdb, data=unmap(32767, 1)).status == 0
        assert send(disk.node, cdb, data=unmap(32767, 2)).code == (5, 0x21, 0)
        assert send(disk.node, cdb, data=unmap(0, 0)).status == 0
        assert send(mechanical.node, cdb, data=unmap(0, 8)).code == (5, 0x20, 0)
        assert drives.stats(disk.drive).unmaps == 1
        assert not int((mechanical.queue / "discard_max_bytes").read_text())
        good, plain = values_of(FLASH, Making()), values_of(SMALL, Making())
        for values, code, attr in (
            ({**good, "blocks": 40}, errno.ERANGE, ""),
            ({**good, "arms": 2}, errno.EINVAL, "arms"),
            ({**good, "zones": plain["zones"]}, errno.EINVAL, "zones"),
            ({**plain, "page_sectors": 8}, errno.EINVAL, "page_sectors"),
            ({**good, "sectors": 2**32, "blocks": 2**24}, errno.ENOMEM, ""),
            ({**good, "erase_uw": 2**31}, errno.ERANGE, "erase_uw"),
        ):
            with pytest.raises(Refusal) as caught:
                nl.ask(Cmd.DRIVE_NEW, **values)
            assert (caught.value.errno, caught.value.attr) == (code, attr)
            assert caught.value.text.endswith(".")


def test_a_stopped_drive_is_not_ready_until_it_is_started(drives: Drives) -> None:
    with modelled(drives) as disk:
        before = time.monotonic_ns()
        assert send(disk.node, STOP).status == 0
        assert time.monotonic_ns() - before >= 200 * MS
        assert send(disk.node, TEST_UNIT_READY).code == (2, 4, 2)
        assert send(disk.node, CHECK_POWER).sense[13] == 0
        before = time.monotonic_ns()
        assert send(disk.node, START).status == 0
        assert time.monotonic_ns() - before >= 300 * MS
        assert send(disk.node, TEST_UNIT_READY).status == 0
        assert send(disk.node, CHECK_POWER).sense[13] == 0xFF
        assert drives.stats(disk.drive).starts == 1


@pytest.mark.parametrize("command", [0xE0, 0xE1], ids=["standby", "idle"])
def test_ata_power_commands_return_their_registers(drives: Drives, command: int) -> None:
    """If the host asks for them (CK_COND), as hdparm does."""
    with modelled(drives) as disk:
        for wanted in (0x20, 0):
            ata = bytes([0x85, 0x06, wanted, *[0] * 11, command, 0])
            answer = send(disk.node, ata)
            assert answer.code == ((1, 0, 0x1D) if wanted else (0, 0, 0))
            assert answer.sense[8:10] + answer.sense[21:22] == (b"\x09\x0c\x50" if wanted else b"")


def test_an_access_ends_standby(drives: Drives) -> None:
    with modelled(drives) as disk:
        assert send(disk.node, STANDBY).status == 0
        told = send(disk.node, REQUEST_SENSE, length=18).data
        assert (told[2] & 15, told[12], told[13]) == (0, 0x5E, 4)
        before = time.monotonic_ns()
        with direct(disk.node, os.O_RDONLY) as fd:
            read(fd, 0, 4096)

        assert time.monotonic_ns() - before >= 300 * MS


@pytest.mark.debug_kernel_at_length
def test_start_stop_unit_under_load(drives: Drives) -> None:
    with modelled(drives) as disk, load(disk) as errors:
        for command in (STANDBY, START) * 3:
            assert send(disk.node, command).status == 0
        assert errors == []


def test_runtime_suspend_stops_the_spindle(drives: Drives) -> None:
    with modelled(drives) as disk:
        scsi_disk = Path("/sys/class/scsi_disk", disk.address)
        manage = scsi_disk / "manage_runtime_start_stop"
        if not manage.exists():
            manage = scsi_disk / "manage_start_stop"
        manage.write_text("1")
        # With no delay a disk that is resumed for a request suspends before it gets it.
        (disk.device / "power/autosuspend_delay_ms").write_text("100")
        (disk.device / "power/control").write_text("auto")
        status = disk.device / "power/runtime_status"
        eventually(lambda: status.read_text() == "suspended\n", "the disk does not suspend")
        stats = {
            condition.condition.name.lower(): condition.ns
            for condition in drives.stats(disk.drive).conditions
        }
        assert stats["stopped"] + stats["to_stopped"] > 0
        with direct(disk.node, os.O_RDONLY) as fd:
            assert read(fd, 0, 4096) == bytes(4096)
        (disk.device / "power/control").write_text("on")


def test_full_memory_is_no_space(drives: Drives) -> None:
    with modelled(drives, store_bytes=64 << 10) as disk, direct(disk.node) as fd:
        os.pwritev(fd, [aligned(b"x" * (64 << 10))], 0)
        with pytest.raises(OSError) as caught:
            os.pwritev(fd, [aligned(b"y" * 4096)], 1 << 20)

        assert caught.value.errno == errno.ENOSPC
        assert read(fd, 0, 4096) == b"x" * 4096


@pytest.mark.parametrize("tracks", [False, True], ids=["plain", "tracked"])
def test_an_atomic_write_without_space_writes_nothing(drives: Drives, tracks: bool) -> None:
    """Of a plain one the part that fits is there. A drive that loses what it caches needs copies of
    what was there, too."""
    room = 64 << 10
    cdb = bytes([0x9C, 0]) + (128 - 8).to_bytes(8, "big") + bytes([0, 0, 0, 32, 0, 0])
    cdb_plain = bytes([0x8A, 0]) + (128 - 8).to_bytes(8, "big") + (32).to_bytes(4, "big") + bytes(2)
    with (
        modelled(drives, store_bytes=room, atomic_sectors=32) as disk,
        direct(disk.node) as fd,
        Socket(spek_drive) as nl,
    ):
        os.pwritev(fd, [aligned(b"x" * room)], 0)
        if tracks:
            nl.ask(Cmd.DRIVE_SET, id=disk.drive, fault=[{"kind": int(Fault.FLUSH_IGNORED)}])
        whole = send(disk.node, cdb, data=b"y" * (16 << 10))
        assert whole.code[0] == DATA_PROTECT
        assert read(fd, room - 4096, 8192) == b"x" * 4096 + bytes(4096)
        part = send(disk.node, cdb_plain, data=b"y" * (16 << 10))
        assert part.code[0] == DATA_PROTECT
        assert read(fd, room - 4096, 8192) == b"y" * 4096 + bytes(4096)


def test_faults_fail_what_they_are_about(drives: Drives) -> None:
    with modelled(drives) as disk, direct(disk.node) as fd, Socket(spek_drive) as nl:
        nl.ask(
            Cmd.DRIVE_SET,
            id=disk.drive,
            fault=[{"kind": int(Fault.MEDIUM_ERROR), "lba": 4099, "sectors": 2}],
        )
        read_ten = struct.pack(">BBIBHB", 0x28, 0, 4096, 0, 8, 0)
        answer = send(disk.node, read_ten, length=4096)
        assert answer.code == (3, 0x11, 0)
        assert int.from_bytes(answer.sense[3:7]) == 4099
        assert read(fd, 4104 * 512, 4096) == bytes(4096)
        os.pwritev(fd, [aligned(b"z" * 4096)], 4096 * 512)
        assert read(fd, 4096 * 512, 4096) == b"z" * 4096
        with pytest.raises(Refusal) as caught:
            nl.ask(
                Cmd.DRIVE_SET,
                id=disk.drive,
                fault=[{"kind": int(Fault.ARM_FAILED), "number": 3}],
            )
        assert caught.value.errno == errno.ERANGE


def test_commands_that_a_disk_does_not_know_are_illegal_requests(drives: Drives) -> None:
    with modelled(drives) as disk:
        assert send(disk.node, bytes([0xC0, *[0] * 9])).code == (5, 0x20, 0)
        beyond = struct.pack(">BBIBHB", 0x28, 0, SECTORS, 0, 1, 0)
        assert send(disk.node, beyond, length=512).code == (5, 0x21, 0)
        assert drives.stats(disk.drive).errors >= 2


@pytest.mark.debug_kernel
def test_delete_under_load(drives: Drives) -> None:
    disk = disk_of(drives, drives.new(SMALL, Making()))
    with load(disk) as errors:
        eventually(lambda: drives.stats(disk.drive).reads > 3, "no load")
        drives.delete(disk.drive)
        assert drives.wait_gone(disk.drive, LONG_S)
        eventually(lambda: len(errors) == 3, "requests to a deleted drive hang")

    # A disk that has gone has no size: a write finds no space in it.
    assert {error.errno for error in errors} <= {
        errno.EIO, errno.ENODEV, errno.ENXIO, errno.ENOSPC,
    }  # fmt: skip


@pytest.mark.debug_kernel
def test_commands_that_time_out_are_taken_back_under_load(drives: Drives) -> None:
    """While another arm completes commands all the time."""
    two = replace(SMALL.with_arms(2), channels=2, moving=2, split=True)
    bad = SECTORS - 8
    with modelled(drives, two) as disk, Socket(spek_drive) as nl:
        nl.ask(
            Cmd.DRIVE_SET,
            id=disk.drive,
            fault=[{"kind": int(Fault.MEDIUM_ERROR), "lba": bad, "delay_ns": 5 * SECOND}],
        )
        (disk.device / "timeout").write_text("1")
        answers: list[bytes] = []
        with load(disk, sectors=SECTORS // 4) as errors, direct(disk.node, os.O_RDONLY) as fd:
            reader = threading.Thread(target=lambda: answers.append(read(fd, bad * 512, 4096)))
            reader.start()
            eventually(lambda: drives.stats(disk.drive).aborted, "no command times out")
            nl.ask(Cmd.DRIVE_SET, id=disk.drive, clear_faults=1)
            reader.join()

        # The disk driver has sent it again, and nothing of the first attempt is left.
        assert (answers, errors) == ([bytes(4096)], [])
        eventually(lambda: drives.drive(disk.drive).outstanding == 0, "the access stays")


@pytest.mark.debug_kernel
def test_drives_come_and_go(drives: Drives) -> None:
    # Each of them leaves udev 40 events, seconds of work under emulation.
    cycles = max(8, TIMES)
    with Socket(spek_drive) as listener:
        listener.join(spek_drive.GROUP_DRIVES)
        come_and_go(drives, cycles)
        told: dict[int, list[DriveState]] = defaultdict(list)
        while sum(states[-1] is DriveState.GONE for states in told.values()) < cycles:
            values = listener.notification().values
            told[values["id"]].append(DriveState(values["state"]))
    # A message tells the state in which the drive is when it is made.
    assert all(states == sorted(states) for states in told.values()), told
    assert all(DriveState.DELETING in states for states in told.values()), told


def come_and_go(drives: Drives, cycles: int) -> None:
    """Make drives and delete them: at once, under load, and at rest."""
    for cycle in range(cycles):
        number = drives.new(SMALL, Making())
        if cycle % 4 == 0:  # it is deleted while it is created
            drives.delete(number)
            continue
        disk = disk_of(drives, number)
        with direct(disk.node) as fd:
            os.pwritev(fd, [aligned(b"c" * 4096)], 4096 * cycle)
        if cycle % 4 == 1:
            with load(disk):
                drives.delete(number)
        else:
            drives.delete(number)
    eventually(lambda: drives.drives() == [], "drives do not go")


# Whatever a command asks for, it takes 3 ms at most.
QUICK = replace(
    SMALL,
    zones=(Zone(0, 8, 32768, 0, 0),),
    seek=((1, 1000), (7, 1000)),
    period_ps=10**9,
    settle_ns=0,
    head_switch_ns=0,
    watts=replace(SMALL.watts, starting_ns=MS, stopping_ns=MS),
)


@pytest.mark.debug_kernel
def test_no_command_breaks_a_drive(
    drives: Drives, record_property: Callable[[str, object], None], guest_kernel: str
) -> None:
    count = COMMANDS // 3 if guest_kernel in DEBUG_KERNELS else COMMANDS
    with modelled(drives, QUICK) as disk:
        sent = send_random(disk.node, count, seed=1)
        send(disk.node, TEST_UNIT_READY)  # takes an attention away
        assert send(disk.node, START).status == 0
        assert send(disk.node, TEST_UNIT_READY).status == 0
        with direct(disk.node) as fd:
            os.pwritev(fd, [aligned(b"f" * 4096)], 0)
            assert read(fd, 0, 4096) == b"f" * 4096
        eventually(lambda: drives.drive(disk.drive).outstanding == 0, "commands stay")

    record_property("count", f"{count} commands: {sent}")
    # What lies behind the checks was reached, and not only the checks.
    assert sent.good > count / 50
    assert sent.refused > count / 50


def test_refusals_name_what_was_wrong(drives: Drives) -> None:
    good = values_of(SMALL, Making(serial="TWIN"))
    with Socket(spek_drive) as nl, modelled(drives, serial="TWIN"):
        for values, code, attr in (
            (good, errno.EEXIST, "serial"),
            ({**good, "serial": "a b"}, errno.EINVAL, "serial"),
            ({**good, "zones": good["zones"][:-4]}, errno.EINVAL, "zones"),
            ({**good, "seek_points": bytes(8)}, errno.ERANGE, "seek_points"),
            ({**good, "arms": 2}, errno.EINVAL, "arm_angles"),
            ({**good, "heads": 65}, errno.ERANGE, "heads"),
            ({**good, "surfaces": 3}, errno.EINVAL, "surfaces"),
            ({**good, "sectors": SECTORS + 1}, errno.ERANGE, "sectors"),
            ({**good, "period_ps": 1}, errno.ERANGE, "period_ps"),
            ({**good, "settle_ns": 2 * SECOND}, errno.ERANGE, "settle_ns"),
            ({**good, "channels": 2}, errno.ERANGE, "channels"),
            ({**good, "stacks": 2}, errno.EINVAL, "stacks"),
            ({**good, "ahead_sectors": 8}, errno.ERANGE, "ahead_sectors"),
            ({**good, "sector_ps": 2**60}, errno.ERANGE, "sector_ps"),
            ({**good, "seek_uw": 2**31}, errno.ERANGE, "seek_uw"),
            ({**good, "stopping_ns": 2**62}, errno.ERANGE, "stopping_ns"),
            (
                {**good, "condition_power": [{"condition": 1, "uw_v12": 2**31}]},
                errno.ERANGE,
                "condition_power[0]",
            ),
            ({key: good[key] for key in good if key != "zones"}, errno.EINVAL, ""),
        ):
            with pytest.raises(Refusal) as caught:
                nl.ask(Cmd.DRIVE_NEW, **values)
            assert (caught.value.errno, caught.value.attr) == (code, attr)
            assert caught.value.text.endswith(".")
        with pytest.raises(Refusal) as caught:
            nl.ask(Cmd.DRIVE_GET, id=4711)
        assert caught.value.errno == errno.ENOENT
