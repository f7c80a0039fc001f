# SPDX-License-Identifier: GPL-2.0
"""Words, limits and records of requests: those of the messages that carry them."""

from __future__ import annotations

import struct
from enum import IntEnum
from typing import Any, get_args

import pytest

from spekctl.contract import requests
from spekctl.kernel.gen import spek as messages

ENUMS = {
    "Backend": messages.Backend,
    "Law": messages.Law,
    "Pattern": messages.Pattern,
    "Operation": messages.Operation,
    "Priority": messages.Priority,
    "WriteHint": messages.WriteHint,
    "WalkStyle": messages.WalkStyle,
    "Data": messages.Data,
}
LIMITS = [name for name in dir(requests) if name.startswith("MAX_")]


@pytest.mark.parametrize("name", ENUMS)
def test_words_have_the_numbers_of_the_messages(name: str) -> None:
    enum: type[IntEnum] = ENUMS[name]
    words = get_args(getattr(requests, name))
    assert [word.replace("-", "_").upper() for word in words] == [member.name for member in enum]
    assert [member.value for member in enum] == list(range(len(words)))


def test_limits_are_those_of_the_messages() -> None:
    assert len(LIMITS) > 10
    for name in LIMITS:
        assert getattr(requests, name) == getattr(messages, name)


def test_a_record_names_the_attributes_that_differ_from_their_defaults() -> None:
    target = requests.TargetRequest(8, 16)
    assert target.attributes() == {"major": 8, "minor": 16}
    assert requests.TargetRequest(8, 16, 42).attributes()["diskseq"] == 42


def test_records_within_a_record_and_packed_points() -> None:
    asu = requests.AsuRequest("data", 4096, [requests.ExtentRequest(0, 512)])
    assert asu.attributes() == {
        "name": "data",
        "bytes": 4096,
        "extent": [{"target": 0, "start": 512}],
    }
    arrival = requests.ArrivalRequest("main", "poisson", points=[(0, 1), (2, 3)])
    attributes: dict[str, Any] = arrival.attributes()
    assert attributes["law"] == messages.Law.POISSON
    assert attributes["point"] == struct.pack("=4Q", 0, 1, 2, 3)
