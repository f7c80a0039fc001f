# SPDX-License-Identifier: GPL-2.0
"""Words, limits and the description of a drive: those of the messages that carry them."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import get_args

import pytest

from spekctl.contract import drive_requests as requests
from spekctl.contract.drive_requests import ConditionPowerRequest, DescriptionRequest
from spekctl.kernel.gen import spek_drive as messages


@pytest.mark.parametrize("name", ["Layout", "Policy", "Store", "Condition", "Fault"])
def test_words_have_the_numbers_of_the_messages(name: str) -> None:
    enum: type[IntEnum] = getattr(messages, name)
    words = get_args(getattr(requests, name))
    assert [word.replace("-", "_").upper() for word in words] == [member.name for member in enum]


def test_limits_are_those_of_the_messages() -> None:
    limits = [name for name in dir(requests) if name.startswith("MAX_")]
    assert len(limits) > 5
    for name in limits:
        assert getattr(requests, name) == getattr(messages, name)


def test_defaults_are_not_sent() -> None:
    assert DescriptionRequest("plain").attributes() == {"name": "plain"}
    assert DescriptionRequest("none", store="none").attributes()["store"] == 0
    assert DescriptionRequest("still", seek_scale=0).attributes()["seek_scale"] == 0


def test_arrays_and_nests() -> None:
    attributes = DescriptionRequest(
        "arrays",
        zones=[(0, 5, 100, 0, 2**63, 7)],
        seek_points=[(1, 10), (4, 20)],
        arm_angles=[0, 2**63],
        condition_powers=[ConditionPowerRequest("to-stopped", 5, 12)],
    ).attributes()
    assert attributes == {
        "name": "arrays",
        "zones": struct.pack("=4I2Q", 0, 5, 100, 0, 2**63, 7),
        "seek_points": struct.pack("=4I", 1, 10, 4, 20),
        "arm_angles": struct.pack("=2Q", 0, 2**63),
        "condition_power": [{"condition": 5, "uw_v5": 5, "uw_v12": 12}],
    }


def test_the_structure_has_no_room_for_more() -> None:
    with pytest.raises(ValueError, match="32 bytes do not fit into 31"):
        DescriptionRequest("n" * 32).packed()
    with pytest.raises(ValueError, match="8224 bytes do not fit into 8192"):
        DescriptionRequest("zones", zones=[(0,) * 6] * 257).packed()
