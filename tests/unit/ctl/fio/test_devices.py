# SPDX-License-Identifier: GPL-2.0
"""The block devices of what a job of fio names."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from lib.ctl.fio_jobs import plan

from spekctl.errors import UsageError
from spekctl.fio import arrivals, devices, replay


@pytest.fixture
def disks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine with two disks of SCSI."""
    (tmp_path / "sg1/device/block/sdq").mkdir(parents=True)
    (tmp_path / "1:0:0:2/device/block/sdr").mkdir(parents=True)
    monkeypatch.setattr(devices, "SCSI", {"/dev/sg": tmp_path, "/dev/bsg/": tmp_path})
    return tmp_path


def test_a_generic_device_is_the_disk_of_this_machine(
    disks: Path,
) -> None:
    known = plan(ioengine="sg", filename="/dev/sg1", rw="read")
    assert known.files == ["/dev/sdq"] and arrivals.SG in known.differences
    unknown = plan(ioengine="sg", filename="/dev/sg2", rw="read")
    assert unknown.files == ["/dev/sg2"]
    assert devices.NO_DISK.format("filename", "/dev/sg2") in unknown.differences
    assert not any("character device of SCSI" in text for text in known.differences)
    command = {"ioengine": "io_uring_cmd", "cmd_type": "bsg", "iodepth": 8, "rw": "read"}
    queued = plan(filename=r"/dev/bsg/1\:0\:0\:2", **command)
    assert (queued.files, queued.arrivals[0]["depth"]) == (["/dev/sdr"], 8)
    assert arrivals.SG in queued.differences and arrivals.PASSTHROUGH not in queued.differences
    assert plan(filename="/dev/sg1", rw="read").files == ["/dev/sg1"]


LOG = "fio version 3 iolog\n0 {0} add\n0 {0} open\n5 {0} read 0 4096\n9 {0} close\n"


@pytest.mark.parametrize(
    ("options", "name", "device"),
    [
        ({"ioengine": "sg"}, "/dev/sg1", "/dev/sdq"),
        ({"ioengine": "io_uring_cmd", "cmd_type": "bsg"}, "/dev/bsg/1:0:0:2", "/dev/sdr"),
        ({"ioengine": "io_uring_cmd"}, "/dev/ng0n1", "/dev/nvme0n1"),
        ({"ioengine": "libaio"}, "/dev/sg1", "/dev/sg1"),
    ],
)
def test_a_log_of_commands_goes_to_the_block_device(
    options: dict[str, Any], name: str, device: str, disks: Path, tmp_path: Path
) -> None:
    log = tmp_path / "l.iolog"
    log.write_text(LOG.format(name))
    # Of another machine, and without effect.
    options = {"read_iolog": log, "filename": "/dev/sg9", **options}
    for planned in (
        plan(**options),
        plan(**{**options, "read_iolog": tmp_path / "none", "replay_redirect": name}),
    ):
        assert planned.files == [device]
        assert not any("character device of SCSI" in text for text in planned.differences)


def test_a_disk_that_is_not_here_is_told_by_what_names_it(disks: Path, tmp_path: Path) -> None:
    log = tmp_path / "l.iolog"
    log.write_text(LOG.format("/dev/sg2"))
    logged = plan(ioengine="sg", read_iolog=log, filename="/dev/sg1")
    assert devices.NO_DISK.format(replay.LOG, "/dev/sg2") in logged.differences
    sent = plan(ioengine="sg", read_iolog=log, replay_redirect="/dev/sg3")
    assert devices.NO_DISK.format(replay.REDIRECT, "/dev/sg3") in sent.differences
    assert (logged.files, sent.files) == (["/dev/sg2"], ["/dev/sg3"])


@pytest.mark.parametrize(
    ("name", "direct", "depth"),
    [("/dev/sg2", 0, 8), ("/dev/sg2", 1, 1), ("/dev/sdb", 0, 1)],
)
def test_sg_waits_on_the_device_of_the_log(
    name: str, direct: int, depth: int, tmp_path: Path
) -> None:
    log = tmp_path / "l.iolog"
    log.write_text(LOG.format(name))
    for filename in ("/dev/sg1", "/dev/sda"):
        options = {"ioengine": "sg", "direct": direct, "filename": filename, "iodepth": 8}
        planned = plan(read_iolog=log, replay_no_stall=1, **options)
        assert planned.streams[0]["trace"]["closed"] == depth


@pytest.mark.parametrize("name", ["filename", "replay_redirect"])
def test_a_device_without_a_name_is_refused(name: str, tmp_path: Path) -> None:
    options = {"read_iolog": tmp_path / "log"} if name == replay.REDIRECT else {}
    for engine in ("libaio", "sg"):
        with pytest.raises(UsageError, match=f"{name} has no value"):
            plan(ioengine=engine, **{name: ""}, **options)
