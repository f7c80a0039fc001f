# SPDX-License-Identifier: GPL-2.0
"""What QEMU's NVMe drive says of itself beside a run: it counts what the run sent, and the kernel
counts what the readings sent."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
from lib.guest.disks import emulated, mapped_disk
from lib.guest.trace import events

from spekctl import cli
from spekctl.block import device as devices
from spekctl.documents.nvme import UNIT_BYTES, NvmeDrive
from spekctl.documents.result import Result, load_result
from spekctl.errors import ExitCode
from spekctl.power import nvme_log

pytestmark = pytest.mark.usefixtures("spek_module")

# An admin command, by its thread: its queue is 0. Readings send these three kinds.
ADMIN = re.compile(r"-(\d+) +\[.*nvme_setup_cmd: nvme(\d+): .*qid=0, .*cmd=\((nvme_admin_\w+)")
KINDS = ("nvme_admin_identify", "nvme_admin_get_features", "nvme_admin_get_log_page")
AMBIENT_K = range(273, 373)


def run(node: str, path: Path, *words: str) -> Result:
    line = ["run", *words, "--device", node, "-o", str(path), "--progress", "none"]
    assert cli.run(line) == ExitCode.OK
    return load_result(path)


def drive_of(result: Result) -> NvmeDrive:
    assert result.nvme is not None
    (drive,) = result.nvme
    assert drive.text == ""
    return drive


@pytest.mark.parametrize("bs", [512, 4096])
def test_the_drive_counts_what_the_run_wrote(
    tmp_path: Path, capfd: pytest.CaptureFixture[str], bs: int
) -> None:
    node = emulated("nvme", bs)
    result = run(node, tmp_path / "r.json", "sequential-write-128k", "--write", "--count", "300")
    printed = capfd.readouterr().out
    drive = drive_of(result)
    before, after = drive.before, drive.after
    assert before is not None and after is not None
    (target,) = result.targets

    assert target.writes >= 300 and target.write_bytes == target.writes << 17
    assert after.host_writes - before.host_writes == target.writes
    # The drive rounds each of both counts up to a unit.
    units = after.data_units_written - before.data_units_written
    assert abs(units * UNIT_BYTES - target.write_bytes) < UNIT_BYTES
    assert after.host_reads == before.host_reads
    assert before.temperature_k in AMBIENT_K and after.temperature_k in AMBIENT_K
    assert all(sample.state == 0 for sample in drive.samples) and len(drive.levels) == 1
    assert before.at_ns < result.phases[0].start_ns < result.phases[-1].end_ns < after.at_ns
    assert drive.disks == [node] and drive.serial == target.facts.serial
    assert drive.power_before is None and after.energy_wh is None
    assert "the NVMe drives, by themselves" in printed
    assert cli.run(["show", str(tmp_path / "r.json")]) == ExitCode.OK
    assert "the NVMe drives, by themselves" in capfd.readouterr().out


def test_the_kernel_sees_no_more_commands_than_are_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They send no more than they say, and of these kinds only, at most at the stated rate."""
    monkeypatch.setattr(nvme_log, "INTERVAL_NS", 200_000_000)
    node = emulated("nvme", 512)
    place = nvme_log.controller_of(devices.find(node))
    assert place is not None
    with events("nvme") as seen:
        result = run(node, tmp_path / "r.json", "random-read-4k", "--time", "2s")
        text = seen.text()
    drive = drive_of(result)
    number = place.path.removeprefix("/dev/nvme")
    by_thread: dict[str, list[str]] = {}
    for thread, controller, kind in ADMIN.findall(text):
        if controller == number:
            by_thread.setdefault(thread, []).append(kind)
    # Other threads ask before the start: whether what is read was ever written.
    (kinds,) = [kinds for kinds in by_thread.values() if "nvme_admin_get_log_page" in kinds]
    span_ns = drive.samples[-1].at_ns - drive.samples[0].at_ns

    assert len(kinds) <= drive.commands and set(kinds) <= set(KINDS)
    # Before the start and after the end; how many there are in between is up to the guest's speed.
    assert 2 <= kinds.count("nvme_admin_get_log_page") <= drive.readings
    assert drive.readings - 2 <= span_ns / drive.interval_ns
    assert 0 < drive.commands_ns / drive.commands <= drive.command_max_ns
    print(
        f"{drive.commands} commands, {drive.commands_ns / drive.commands / 1000:.0f} us on average"
    )


def test_a_volume_has_the_drive_below(tmp_path: Path) -> None:
    node = emulated("nvme", 512)
    sectors = devices.find(node).bytes // 512
    with mapped_disk("below", f"0 {sectors} linear {node} 0") as volume:
        result = run(volume, tmp_path / "r.json", "random-read-4k", "--count", "10")
    drive = drive_of(result)
    assert drive.disks == [node]
    assert drive.before is not None and drive.after is not None
    assert drive.after.host_reads - drive.before.host_reads >= 10


def test_a_controller_without_a_node_is_a_reason(tmp_path: Path) -> None:
    """As in a container that has the disk alone."""
    node = emulated("nvme", 512)
    place = nvme_log.controller_of(devices.find(node))
    assert place is not None
    aside = Path(place.path + "-aside")
    Path(place.path).rename(aside)
    try:
        result = run(node, tmp_path / "r.json", "random-read-4k", "--count", "10")
    finally:
        aside.rename(place.path)
    assert result.nvme is not None
    assert result.nvme[0].text == f"{place.path}: No such file or directory"
    assert result.nvme[0].before is None and result.outcome.ok


def test_other_disks_have_no_readings(tmp_path: Path) -> None:
    node = emulated("virtio", 512)
    assert run(node, tmp_path / "r.json", "random-read-4k", "--count", "10").nvme is None
