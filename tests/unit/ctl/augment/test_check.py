# SPDX-License-Identifier: GPL-2.0
"""What is on the devices, without the module, and what scripts are told of it."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.core.augment_images import BLOCK, FOREIGN, LOG_START, SET, Images
from lib.ctl.augment import make_unreadable

from spekctl.augment import check
from spekctl.errors import ExitCode, UsageError


@pytest.fixture
def images(tmp_path: Path) -> Images:
    return Images(tmp_path / "set")


def test_a_whole_set_is_fine(images: Images) -> None:
    images.record(100, 4)
    images.record(102, 4, on=(0, 2))
    before = [Path(path).read_bytes() for path in images.paths]
    report = check.check([*images.paths[::-1], images.path(0)])
    assert check.exit_code(report) is ExitCode.OK
    assert (report.uuid, report.generation, report.members) == (str(SET), 1, 2)
    assert [(device.member, device.path) for device in report.devices] == [
        (None, images.path(0)),
        (0, images.path(1)),
        (1, images.path(2)),
    ]
    assert report.log is not None
    assert (report.log.records, report.log.dirty_blocks, report.log.used_blocks) == (2, 6, 10)
    assert report.log.ranges == [(100, 106)]
    assert [Path(path).read_bytes() for path in images.paths] == before


def test_a_torn_record_is_told(images: Images) -> None:
    place = images.record(100, 4)
    for number in (0, 1):
        images.damage(number, LOG_START + place + 1)
    report = check.check(images.paths)
    assert check.exit_code(report) is ExitCode.DATA_ERRORS
    assert report.log is not None and report.log.broken is not None
    assert (report.log.broken.seq, report.log.broken.place) == (1, 0)


def test_a_record_that_no_device_has_intact_is_counted(
    images: Images, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = LOG_START + images.record(100, 2)
    make_unreadable(monkeypatch, (images.path(0), first + 1), (images.path(1), first))
    report = check.check(images.paths)
    assert check.exit_code(report) is ExitCode.OK
    assert report.log is not None
    assert (report.log.records, report.log.scattered, report.log.single) == (1, 1, 0)


def test_a_torn_superblock_is_told(images: Images) -> None:
    images.damage(1, 1, at=60)
    report = check.check(images.paths)
    assert check.exit_code(report) is ExitCode.DATA_ERRORS
    assert [device.intact for device in report.devices] == [2, 1, 2]


def test_a_missing_member_leaves_it_undecided(images: Images) -> None:
    report = check.check(images.paths[:2])
    assert check.exit_code(report) is ExitCode.UNDECIDED
    assert report.missing == ["member:1"]
    assert report.log is not None


def test_without_ssd_and_member_the_log_is_not_known(images: Images) -> None:
    report = check.check(images.paths[2:])
    assert check.exit_code(report) is ExitCode.UNDECIDED
    assert (report.log, report.missing) == (None, ["ssd", "member:0"])


def test_a_stale_device_is_no_failure(images: Images) -> None:
    images.record(7, 1, on=(0, 2))
    images.lose(2)
    report = check.check(images.paths)
    assert check.exit_code(report) is ExitCode.OK
    assert [device.stale for device in report.devices] == [False, False, True]
    assert report.log is not None and report.log.records == 0


def test_other_devices_are_refused(images: Images, tmp_path: Path) -> None:
    empty = tmp_path / "empty"
    empty.write_bytes(bytes(4 * BLOCK))
    with pytest.raises(UsageError, match="empty has no intact superblock"):
        check.check([images.path(0), str(empty)])
    foreign = Images(tmp_path / "foreign", uuid=FOREIGN)
    with pytest.raises(UsageError, match="different sets"):
        check.check([images.path(0), foreign.path(1)])
