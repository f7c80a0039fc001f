# SPDX-License-Identifier: GPL-2.0
"""The flat description of a drive: its layout, and the model that the core makes of it."""

from __future__ import annotations

import msgspec
import pytest
from lib.core.drivecore import Drive, Refused, library

from spekctl.contract.drive_requests import ConditionPowerRequest, DescriptionRequest
from spekctl.drive.file import load

WORDS = {"layout": "banded", "policy": "clook", "store": "none"}
ZONES = [(1, 2, 3, 0, 4, 5), (6, 7, 8, 0, 9, 10)]


def numbered() -> DescriptionRequest:
    """Every number with a value of its own."""
    values: dict[str, object] = dict(WORDS)
    for index, field in enumerate(msgspec.structs.fields(DescriptionRequest)):
        if isinstance(field.default, int):
            values[field.name] = 1000 + index
    values |= {"name": "N" * 31, "vendor": "V" * 8, "product": "P" * 16, "revision": "R" * 4}
    values |= {"serial": "S" * 20, "zones": ZONES, "seek_points": [(1, 2), (3, 4), (5, 6)]}
    values |= {"head_angles": [11, 12], "arm_angles": [13, 14, 15]}
    values["condition_powers"] = [ConditionPowerRequest("stopped", 16, 17)]
    return msgspec.convert(values, DescriptionRequest)


def test_every_member_is_where_c_has_it() -> None:
    ffi, _ = library()
    request = numbered()
    data = request.packed()
    assert len(data) == ffi.sizeof("struct spek_drive_description")
    c = ffi.new("struct spek_drive_description *")
    ffi.memmove(c, data, len(data))
    compared = 0
    for field in msgspec.structs.fields(DescriptionRequest):
        value = getattr(request, field.name)
        if isinstance(value, int):
            assert getattr(c, field.name) == value, field.name
            compared += 1
        elif field.name not in WORDS and isinstance(value, str):
            assert ffi.string(getattr(c, field.name)).decode() == value
    assert compared > 40
    assert (c.layout, c.policy, c.store) == (2, 3, 0)
    zones = [
        (z.first_cylinder, z.cylinders, z.sectors_per_track, z.reserved, z.track_skew,
         z.cylinder_skew)
        for z in c.zones[0 : c.nr_zones]
    ]  # fmt: skip
    assert zones == ZONES
    points = [(p.distance, p.ns) for p in c.seek_points[0 : c.nr_seek_points]]
    assert points == request.seek_points
    assert list(c.head_angles[0 : c.nr_head_angles]) == [11, 12]
    assert list(c.arm_angles[0 : c.nr_arm_angles]) == [13, 14, 15]
    power = c.condition_power[0]
    assert (c.nr_condition_powers, power.condition, power.uw_v5, power.uw_v12) == (1, 2, 16, 17)


class Described:
    """A description and the model made of it; the structures own their memory."""

    def __init__(self, **changes: object) -> None:
        ffi, lib = library()
        request = msgspec.structs.replace(load("barracuda-es").description(), **changes)
        self.c = ffi.new("struct spek_drive_description *")
        ffi.memmove(self.c, request.packed(), ffi.sizeof("struct spek_drive_description"))
        self.model = ffi.new("struct spek_drive_model *")
        self._zones = ffi.new("struct spek_drive_zone[]", 256)
        self._points = ffi.new("struct spek_drive_seek_point[]", 4096)
        self.model.mechanics.geometry.zones = self._zones
        self.model.mechanics.seek.points = self._points
        refusal = ffi.new("struct spek_refusal *")
        self.err = lib.spek_drive_describe(self.model, self.c, refusal)
        self.field = refusal.kind
        self.text = ffi.string(refusal.text).decode() if self.err else ""


def test_what_was_left_out_is_filled_in() -> None:
    drive = Described(
        arms=3, channels=2, arm_angles=[], head_angles=[], moving=0, window=0, queue_depth=7
    )
    third = (2**64 - 1) // 3 + 1
    assert drive.err == 0
    assert (drive.c.window, drive.c.moving, drive.model.rule.window) == (7, 2, 7)
    assert list(drive.c.arm_angles)[:3] == [0, third, 2 * third]
    assert list(drive.model.mechanics.arm_angle)[:3] == [0, third, 2 * third]
    assert (drive.c.nr_arm_angles, drive.c.nr_head_angles) == (3, 1)


TWICE = [ConditionPowerRequest("stopped", 1, 2), ConditionPowerRequest("stopped", 1, 2)]


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        ({"arms": 2}, "ARM_ANGLES", "one angle for each arm"),
        ({"heads_per_surface": 2}, "HEAD_ANGLES", "one angle for each head"),
        ({"zones": [(0, 1, 1, 1, 0, 0)]}, "ZONES", "reserved field"),
        ({"condition_powers": TWICE}, "CONDITION_POWER", "one power"),
    ],
)
def test_parts_that_contradict_each_other(
    changes: dict[str, object], field: str, sentence: str
) -> None:
    drive = Described(**changes)
    assert (drive.err, sentence in drive.text) == (-22, True)
    assert drive.field == getattr(library()[1], f"SPEK_DRIVE_FIELD_{field}")


def test_more_arms_than_there_is_room_for_are_refused_as_arms() -> None:
    with pytest.raises(Refused, match="1 to 8 arms"):
        Drive(library(), load("barracuda-es").with_arms(9))
