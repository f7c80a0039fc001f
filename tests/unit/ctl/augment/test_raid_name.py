# SPDX-License-Identifier: GPL-2.0
"""The name of a RAID in superblocks: what a disk says of itself, as one word."""

from __future__ import annotations

import re

import msgspec
import pytest
from lib.ctl.augment import Machine

from spekctl.augment import raid_name
from spekctl.augment.raid_name import Name
from spekctl.block.device import Device

NVME = "nvme.1b36-" + "31" * 20 + "-" + "51" * 40 + "-00000001"


@pytest.fixture
def disk(machine: Machine) -> Device:
    return msgspec.structs.replace(
        machine.devices[machine.path("md0")], wwn="naa.5000c500a1b2c3d4", serial="ZA 1,B\\2"
    )


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "wwn=naa.5000c500a1b2c3d4,serial=ZA%201%2CB%5C2"),
        ({"partition": 3}, "wwn=naa.5000c500a1b2c3d4,serial=ZA%201%2CB%5C2,part=3"),
        ({"wwn": "", "serial": "LVM-abc"}, "serial=LVM-abc"),
        ({"wwn": "", "serial": "\u00fc"}, "serial=%C3%BC"),
        ({"wwn": "", "serial": "", "partition": 3}, ""),
        # As udev has it.
        ({"wwn": "0x5000c500a1b2c3d4", "serial": ""}, "wwn=naa.5000c500a1b2c3d4"),
        ({"wwn": "eui.0x", "serial": ""}, "wwn=eui.0x"),
        # Paths to one unit have all names in common, and only the WWN says that they do.
        ({"shared": frozenset({"naa.5000c500a1b2c3d4", "ZA 1,B\\2"})}, "wwn=naa.5000c500a1b2c3d4"),
    ],
)
def test_a_name_is_one_word_and_comes_back(
    disk: Device, fields: dict[str, object], text: str
) -> None:
    name = raid_name.of_device(msgspec.structs.replace(disk, **fields))
    assert str(name) == text
    assert bool(name) == bool(text)
    assert raid_name.parse(text) == (name if text else Name())


def test_the_place_of_a_partition_is_part_of_its_name(disk: Device) -> None:
    (disk.sysfs / "start").write_text("2048\n")
    name = raid_name.of_device(msgspec.structs.replace(disk, partition=3, serial=""))
    assert str(name) == "wwn=naa.5000c500a1b2c3d4,part=3,start=2048"
    assert raid_name.parse(str(name)) == name
    assert raid_name.of_device(disk).start == ""


def test_the_longest_name_is_within_a_superblock(disk: Device) -> None:
    (disk.sysfs / "start").write_text(f"{(1 << 63) // 512}\n")
    names = {
        str(raid_name.of_device(msgspec.structs.replace(disk, partition=128, wwn=wwn, serial=wwn)))
        for wwn in (NVME, NVME + "0", "\u20ac" * 129)
    }
    assert len(names) == 3
    for text in names:
        assert len(text) <= 251 and re.fullmatch("[!-~]+", text)
        assert str(raid_name.parse(text)) == text


def test_what_a_later_version_adds_is_left_out() -> None:
    assert raid_name.parse("wwn=a,color=red,serial=b") == Name("a", "b")


@pytest.mark.parametrize(
    ("before", "here", "are_different", "are_comparable"),
    [
        (Name("a", "b"), Name("a", "b"), False, True),
        (Name("a", "b"), Name("a"), False, True),
        (Name("a"), Name("a", "b"), False, True),
        (Name("a"), Name("", "b"), False, False),
        (Name("a", "b"), Name("c", "b"), True, True),
        (Name("a", "b"), Name("a", "c"), True, True),
        (Name("a", "b", "1"), Name("a", "b", "2"), True, True),
        (Name("a", "b", "1"), Name("a", "b"), True, True),
        (Name("a", "b", "1", "64"), Name("a", "b", "1", "64"), False, True),
        (Name("a", "b", "1", "64"), Name("a", "b", "1", "2048"), True, True),
        (Name("a", "b", "1"), Name("a", "b", "1", "2048"), False, True),
        (Name("a"), Name(), False, False),
    ],
)
def test_names_are_compared_as_far_as_both_have_them(
    before: Name, here: Name, are_different: bool, are_comparable: bool
) -> None:
    assert raid_name.differ(before, here) == are_different
    assert raid_name.are_comparable(before, here) == are_comparable
