# SPDX-License-Identifier: GPL-2.0
"""A disk that took another one's place: both are named."""

from __future__ import annotations

from typing import Any

import pytest
from lib.fakes.machine import disk

from spekctl.block import device as devices
from spekctl.block import replaced
from spekctl.block.device import Device
from spekctl.errors import RefusedError, UsageError

BEFORE = disk(serial="S123", wwn="W1", diskseq=7)
WHAT = "/dev/fake0 has just been replaced by another device"


def put(monkeypatch: pytest.MonkeyPatch, here: Device | None) -> None:
    """Have @here at the path of every device."""

    def find(path: str) -> Device:
        if here is None:
            raise UsageError(f"there is no device {path}")
        return here

    monkeypatch.setattr(devices, "find", find)


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"serial": "S999", "diskseq": 9}, "S999 (250:0/9)"),
        ({"serial": "S123", "diskseq": 9}, "S123 (250:0/9)"),
        ({"serial": "", "wwn": "W2", "diskseq": 9}, "W2 (250:0/9)"),
        ({"serial": "", "wwn": "", "diskseq": 9}, "250:0/9"),
        ({"minor": 5, "diskseq": 7}, "S123 (250:5/7)"),
        ({"serial": "S999", "diskseq": 0}, "S999 (250:0/0)"),
        ({"wwn": "W2", "diskseq": 0}, "S123 (250:0/0)"),
    ],
)
def test_another_disk_is_named_with_the_first(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any], named: str
) -> None:
    here = disk(**{"serial": "S123", "wwn": "W1", **changes})
    put(monkeypatch, here)
    text = f"{WHAT}: it was S123 (250:0/7), and is {named} now"
    assert replaced.now_at(BEFORE) == here
    assert replaced.sentence(BEFORE, here) == text
    error = replaced.refusal(BEFORE)
    assert (type(error), error.message) == (RefusedError, text)


@pytest.mark.parametrize(
    "changes",
    [
        {"diskseq": 7},
        # The sequence number alone decides where there is one: udev may find names late.
        {"diskseq": 7, "serial": "S999"},
        {"diskseq": 0},
        {"diskseq": 0, "serial": ""},
    ],
)
def test_the_same_disk_was_not_replaced(
    monkeypatch: pytest.MonkeyPatch, changes: dict[str, Any]
) -> None:
    put(monkeypatch, disk(**{"serial": "S123", "wwn": "W1", **changes}))
    assert replaced.now_at(BEFORE) is None


def test_a_disk_that_is_back_or_gone_is_still_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    put(monkeypatch, BEFORE)
    assert replaced.refusal(BEFORE).message == WHAT
    meanwhile = "it was S123 (250:0/7), and was disk 8 meanwhile"
    assert replaced.refusal(BEFORE, 8).message == f"{WHAT}: {meanwhile}"
    put(monkeypatch, None)
    assert replaced.now_at(BEFORE) is None
    gone = "it was S123 (250:0/7), and no block device is there now"
    assert replaced.refusal(BEFORE, 8).message == f"{WHAT}: {gone}"
