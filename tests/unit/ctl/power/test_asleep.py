# SPDX-License-Identifier: GPL-2.0
"""A disk sleeps until the kernel has sent it anything."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.fakes.power_disk import FakeDisk

from spekctl.errors import SpekError
from spekctl.power import asleep


@pytest.fixture
def fake(tmp_path: Path) -> FakeDisk:
    return FakeDisk(tmp_path)


def test_a_disk_sleeps_while_nothing_is_sent(fake: FakeDisk, tmp_path: Path) -> None:
    folder = tmp_path / "run/asleep"
    assert not asleep.sleeps(fake.disk, folder)
    asleep.note(fake.disk, folder)
    assert asleep.sleeps(fake.disk, folder)
    asleep.forget(fake.disk, folder)
    asleep.forget(fake.disk, folder)
    assert not asleep.sleeps(fake.disk, folder)


@pytest.mark.parametrize("what", ["command", "I/O", "another disk", "damaged"])
def test_anything_that_was_sent_wakes_it(fake: FakeDisk, tmp_path: Path, what: str) -> None:
    asleep.note(fake.disk, tmp_path / "asleep")
    (record,) = (tmp_path / "asleep").iterdir()
    if what == "command":
        fake.write("device/iorequest_cnt", "0x11")
    elif what == "I/O":
        fake.io(1)
    elif what == "another disk":
        record.rename(record.with_name("8:0-8"))
    else:
        record.write_text("{")
    assert not asleep.sleeps(fake.disk, tmp_path / "asleep")


def test_without_any_count_it_is_not_known(fake: FakeDisk, tmp_path: Path) -> None:
    fake.write("device/iorequest_cnt", "")
    fake.write("queue/iostats", "0")
    asleep.note(fake.disk, tmp_path / "asleep")
    assert not asleep.sleeps(fake.disk, tmp_path / "asleep")


def test_a_record_that_cannot_be_kept_is_an_error(fake: FakeDisk, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(SpekError, match="cannot create"):
        asleep.note(fake.disk, tmp_path / "file" / "asleep")
