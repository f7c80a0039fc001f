# SPDX-License-Identifier: GPL-2.0
"""The state of caches, with the names of their devices."""

from __future__ import annotations

import pytest
from lib.ctl.augment import UUID_TEXT, Machine
from lib.fakes.dmsetup import CLEAN, DIRTY

from spekctl.augment import state
from spekctl.augment.mapper import Mapper
from spekctl.documents.augment import CacheDevice, Mode
from spekctl.errors import NotFoundError


def test_a_cache_is_told_with_its_devices(machine: Machine) -> None:
    machine.attached(DIRTY.replace(" 7 6 1 ", " 7 4 2 "))
    (cache,) = state.report(Mapper(), "nas").caches
    assert (cache.name, cache.uuid, cache.raid) == ("nas", UUID_TEXT, machine.path("md0"))
    assert (cache.mode, cache.mirror, cache.dirty_blocks) == (Mode.NORMAL, 1, 12)
    assert cache.devices == [
        CacheDevice(None, machine.path("sdz"), True, None),
        CacheDevice(0, machine.path("sda2"), True, False),
        CacheDevice(1, machine.path("sdb2"), True, True),
    ]
    assert cache.hit_ratio == 0.9


def test_a_missing_and_a_lost_device_are_told(machine: Machine) -> None:
    table = "0 8 spek-augment 9:0 - 2 8:1 99:9 256 0"
    machine.dm.map("nas", table, CLEAN.replace(" 7 6 1 ", " 2 2 0 "))
    (cache,) = state.report(Mapper()).caches
    assert [(device.path, device.live) for device in cache.devices] == [
        ("", False),
        (machine.path("sda2"), True),
        ("99:9", False),
    ]
    assert cache.mirror is None


def test_all_caches_are_in_order(machine: Machine) -> None:
    machine.attached()
    machine.dm.map("box", "0 8 spek-augment 9:0 8:0 1 8:1 256 0")
    assert [cache.name for cache in state.report(Mapper()).caches] == ["box", "nas"]
    with pytest.raises(NotFoundError, match="attached are: box, nas"):
        state.report(Mapper(), "attic")


def test_without_caches_the_list_is_empty(machine: Machine) -> None:
    assert state.report(Mapper()).caches == []


def test_nothing_read_has_no_ratio(machine: Machine) -> None:
    machine.attached(CLEAN.replace(" 90 10 ", " 0 0 "))
    assert state.report(Mapper()).caches[0].hit_ratio is None
