# SPDX-License-Identifier: GPL-2.0
"""The file of what a run wrote: other devices and damage are refused."""

from __future__ import annotations

import base64
import json
import struct
import zlib
from pathlib import Path
from typing import Any

import pytest
from lib.ctl.verified import config_of, info_of
from lib.fakes.machine import disk

from spekctl.block.device import Device
from spekctl.errors import UsageError
from spekctl.kernel.records import MapInfo
from spekctl.run import verify_state

KIB, MIB, GIB = 1 << 10, 1 << 20, 1 << 30


class Written:
    """A kernel side that knows what was written."""

    def __init__(self, *parts: MapInfo) -> None:
        self.parts = list(parts)

    def map_get(self, run: int) -> list[MapInfo]:
        return self.parts


@pytest.fixture
def saved(tmp_path: Path) -> Path:
    path = tmp_path / "state"
    parts = [MapInfo(0, 0, 5, bytes(range(80))), MapInfo(0, 1, 0, b"\x02" + bytes(7))]
    info = info_of((0, GIB, GIB), (0, GIB, GIB))
    facts = [disk(f"/dev/fake{index}").facts(diskseq=1) for index in range(2)]
    config = config_of("random-write-4k")
    kernel: Any = Written(*parts)
    verify_state.save(path, kernel, config, info, facts)
    return path


def packed(*states: int) -> str:
    return base64.b64encode(zlib.compress(struct.pack(f"<{len(states)}Q", *states))).decode()


def test_what_was_written_survives_a_file(saved: Path) -> None:
    state = verify_state.load(saved)
    assert verify_state.parts_of(state, saved) == [
        MapInfo(0, 0, 5, bytes(range(80))),
        MapInfo(0, 1, 0, b"\x02" + bytes(7)),
    ]
    # Names may change, devices may not.
    verify_state.check_devices(saved, state, [disk("/dev/fake7"), disk("/dev/fake8")])


@pytest.mark.parametrize(
    ("devices", "sentence"),
    [
        ([disk()], "is about 2 devices, 1 were given"),
        ([disk(), disk(serial="other")], "its serial number is other, that of /dev/fake1 was S123"),
        ([disk(bytes=5), disk()], "its capacity is 5 bytes"),
        ([disk(logical_block=4096), disk()], "its logical block is 4096 bytes"),
    ],
)
def test_other_devices_are_refused(saved: Path, devices: Any, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        verify_state.check_devices(saved, verify_state.load(saved), devices)


def state_of(path: Path, *devices: Any) -> verify_state.SavedState:
    info = info_of(*((0, GIB, GIB) for _ in devices))
    kernel: Any = Written(MapInfo(0, 0, 5, bytes(8)))
    facts = [device.facts(diskseq=1) for device in devices]
    verify_state.save(path, kernel, config_of("random-write-4k"), info, facts)
    return verify_state.load(path)


@pytest.mark.parametrize("name", ["serial", "wwn"])
def test_a_name_counts_if_it_was_known(tmp_path: Path, name: str) -> None:
    """An md array of which no UUID was known then has one."""
    path = tmp_path / "state"
    without, array, another = (
        disk(**{"serial": "", "wwn": "", name: text}) for text in ("", "a1:b2", "c3:d4")
    )
    state = state_of(path, without)
    verify_state.check_devices(path, state, verify_state.in_order(state, [array]))
    for now, told in ((another, "c3:d4"), (without, "missing")):
        with pytest.raises(UsageError, match=f"is {told}, that of /dev/fake0 was a1:b2"):
            verify_state.check_devices(path, state_of(path, array), [now])


def test_a_device_without_a_name_does_not_take_the_place_of_a_named_device(tmp_path: Path) -> None:
    array, drive = disk("/dev/fake0", serial=""), disk("/dev/fake1", serial="S1")
    state = state_of(tmp_path / "state", array, drive)
    named = disk("/dev/fake2", serial="a1:b2")
    assert verify_state.in_order(state, [drive, named]) == [named, drive]
    assert verify_state.in_order(state, [named, disk(serial="S9")])[0] is named


def test_devices_are_put_into_the_order_of_the_file(tmp_path: Path) -> None:
    path = tmp_path / "state"
    info = info_of((0, GIB, GIB), (0, GIB, GIB), (0, GIB, GIB))
    written = [disk(f"/dev/fake{index}", serial=f"S{min(index, 1)}") for index in range(3)]
    kernel: Any = Written(MapInfo(0, 0, 5, bytes(8)))
    facts = [each.facts(diskseq=1) for each in written]
    verify_state.save(path, kernel, config_of("random-write-4k"), info, facts)
    state = verify_state.load(path)
    first, second, third = written
    assert verify_state.in_order(state, [second, third, first]) == [first, second, third]
    # What nothing tells apart stays as it is given.
    assert verify_state.in_order(state, [third, second, first]) == [first, third, second]
    other = disk(serial="other")
    assert verify_state.in_order(state, [second, other, first]) == [second, other, first]
    assert verify_state.in_order(state, [second, first]) == [second, first]


def test_states_of_version_2_are_converted(saved: Path) -> None:
    """2 * generation, plus 1 if the last write had failed."""
    fields = json.loads(saved.read_text())
    data = packed(0, 2 * 7, 2 * 9 + 1)
    fields["devices"][0]["states"] = [{"first": 4, "count": 3, "data": data}]
    fields.update(version=2, devices=fields["devices"][:1])
    saved.write_text(json.dumps(fields))
    (part,) = verify_state.parts_of(verify_state.load(saved), saved)
    assert part == MapInfo(0, 0, 4, struct.pack("=3Q", 0, 4 * 7, 4 * 9 + 1))


@pytest.mark.parametrize(
    ("damage", "sentence"),
    [
        (lambda state: state.update(kind="other"), "is not a spek file; expected a state file of"),
        (lambda state: state.update(version=9), "has version 9"),
        (lambda state: state["devices"][0]["states"][0].update(data="!"), "is damaged"),
        (lambda state: state["devices"][0]["states"][0].update(data="AAAA"), "is damaged"),
        (
            lambda state: (
                state.update(version=2),
                state["devices"][0]["states"][0].update(data="!"),
            ),
            "is damaged",
        ),
        (
            lambda state: state["devices"][0]["states"][0].update(count=3),
            "number of states is wrong",
        ),
        (
            lambda state: (
                state.update(version=2),
                state["devices"][0]["states"][0].update(data=packed(1 << 63), count=1),
            ),
            "too big",
        ),
        (lambda state: state["devices"][0]["states"][0].update(first=-1), "first"),
        (lambda state: state["devices"][0]["states"][0].update(first=1 << 64), "first"),
        (lambda state: state["devices"][0].update(map_start=-4096), "map_start"),
        (lambda state: state["devices"][0].update(map_bytes=-1), "map_bytes"),
        (lambda state: state.update(grain_bytes=0), "grain_bytes"),
        (lambda state: state.update(grain_bytes=-4096), "grain_bytes"),
        (lambda state: state.update(grain_bytes=2 << 20), "grain_bytes"),
        (lambda state: state.update(grain_bytes=3000), "not a power of two"),
        (lambda state: state.update(seed=-1), "must be 0 to 2"),
        (lambda state: state.update(stamp_id=1 << 64), "must be 0 to 2"),
    ],
)
def test_a_damaged_file_is_refused(saved: Path, damage: Any, sentence: str) -> None:
    state = json.loads(saved.read_text())
    damage(state)
    saved.write_text(json.dumps(state))
    with pytest.raises(UsageError, match=sentence):
        verify_state.parts_of(verify_state.load(saved), saved)


# --- partitions of one disk ----------------------------------------------------------------------


def partition(folder: Path, number: int, name: str = "fake", **changes: Any) -> Device:
    """A partition of a disk that is cut into equal parts: it has the names of the disk."""
    sysfs = folder / f"part{number}"
    sysfs.mkdir(parents=True, exist_ok=True)
    (sysfs / "start").write_text(f"{2048 * number}\n")
    named = {"path": f"/dev/{name}{number}", "name": f"{name}{number}", "partition": number}
    return disk(**{**named, "disk": name, "sysfs": sysfs, **changes})


def without_places(path: Path) -> verify_state.SavedState:
    """As earlier versions wrote the file."""
    fields = json.loads(path.read_text())
    for entry in fields["devices"]:
        del entry["facts"]["start_bytes"]
    path.write_text(json.dumps(fields))
    return verify_state.load(path)


@pytest.mark.parametrize("old", [False, True])
def test_partitions_are_put_into_the_order_of_the_file(tmp_path: Path, old: bool) -> None:
    path = tmp_path / "state"
    first, second = (partition(tmp_path, number) for number in (1, 2))
    state = state_of(path, first, second)
    if old:
        state = without_places(path)
    # The disk has another name after a reboot.
    first, second = (partition(tmp_path, number, "new") for number in (1, 2))
    ordered = verify_state.in_order(state, [second, first])
    assert ordered == [first, second]
    assert verify_state.alike(ordered) == []
    verify_state.check_devices(path, state, ordered)


@pytest.mark.parametrize(
    ("old", "told"),
    [
        (False, "its place on the disk is byte 2097152, that of /dev/fake1 was byte 1048576"),
        (True, "its place on the disk is partition 2, that of /dev/fake1 was partition 1"),
    ],
)
def test_another_partition_of_the_disk_is_refused(tmp_path: Path, old: bool, told: str) -> None:
    """It is as large and has the same serial number: its blocks would all be reported as wrong."""
    path = tmp_path / "state"
    state = state_of(path, partition(tmp_path, 1))
    if old:
        state = without_places(path)
    devices = verify_state.in_order(state, [partition(tmp_path, 2)])
    with pytest.raises(UsageError) as refusal:
        verify_state.check_devices(path, state, devices)
    assert told in refusal.value.message


def test_a_partition_that_became_known_by_a_name_keeps_its_place(tmp_path: Path) -> None:
    """Of an md array without a UUID then."""
    path = tmp_path / "state"
    state = state_of(path, *(partition(tmp_path, number, serial="") for number in (1, 2)))
    first, second = (partition(tmp_path, number, serial="a1:b2") for number in (1, 2))
    assert verify_state.in_order(state, [second, first]) == [first, second]


def test_what_nothing_tells_apart_is_named() -> None:
    first, second, third = disk(), disk("/dev/fake1"), disk("/dev/fake2", serial="S2")
    assert verify_state.alike([first, third, second]) == [first, second]
