# SPDX-License-Identifier: GPL-2.0
"""The documents of `spekctl augment`."""

from __future__ import annotations

from pathlib import Path

import pytest
from lib.ctl.augment import CHECK, STATUS
from lib.ctl.documents import read_back, refuse
from lib.ctl.report_files import written

from spekctl.documents import augment
from spekctl.documents.augment import AugmentCheck, AugmentStatus, Mode


@pytest.fixture
def status(tmp_path: Path) -> Path:
    return written(tmp_path / "status.json", STATUS)


@pytest.fixture
def check(tmp_path: Path) -> Path:
    return written(tmp_path / "check.json", CHECK)


def test_a_state_is_what_its_schema_says_and_is_read_back(status: Path) -> None:
    contents = read_back(status, AugmentStatus, augment.SCHEMA_FILE)
    assert contents.caches == STATUS.caches
    assert contents.caches[0].mode is Mode.NORMAL


def test_a_check_is_what_its_schema_says_and_is_read_back(check: Path) -> None:
    contents = read_back(check, AugmentCheck, augment.SCHEMA_FILE)
    assert contents.log == CHECK.log


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("caches.0.mode", "asleep"),
        ("caches.0.log_blocks", 0),
        ("caches.0.dirty_blocks", -1),
        ("caches.0.devices.0.live", None),
        ("caches.0.mirror", "sda"),
        ("hostname", None),
    ],
)
def test_other_states_are_refused(status: Path, place: str, value: object) -> None:
    refuse(status, AugmentStatus, augment.SCHEMA_FILE, place, value)


@pytest.mark.parametrize(
    ("place", "value"),
    [
        ("generation", 0),
        ("members", 9),
        ("devices", []),
        ("devices.0.intact", 3),
        ("log.ranges", [[1]]),
        ("log.broken.reasons", []),
        ("log.tail_seq", 0),
        ("missing", None),
    ],
)
def test_other_checks_are_refused(check: Path, place: str, value: object) -> None:
    refuse(check, AugmentCheck, augment.SCHEMA_FILE, place, value)
