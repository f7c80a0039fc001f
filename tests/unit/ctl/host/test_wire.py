# SPDX-License-Identifier: GPL-2.0
"""Messages to the part with root's rights."""

from __future__ import annotations

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.host import wire

FIELDS: dict[str, dict[str, object]] = {
    "open": {"family": "spek"},
    "ask": {"link": 1, "command": 2},
    "close": {"link": 1},
    "look": {"claim": 1},
    "check": {"run": 1},
    "zones": {"major": 8, "minor": 0},
    "nvme": {
        **{"major": 259, "minor": 0, "controller_major": 240, "controller_minor": 0},
        "what": "health",
    },
    "power-state": {"major": 8, "minor": 0},
    "read-log": {"run": 1, "worker": 0, "size": 5},
    "close-log": {"run": 1, "worker": 0},
}


@pytest.mark.parametrize("verb", wire.VERBS)
def test_a_request_is_known_by_its_verb_and_has_no_field_beyond(verb: str) -> None:
    fields = {"do": verb, "id": 5, **FIELDS.get(verb, {})}
    asked = msgspec.json.decode(msgspec.json.encode(fields), type=wire.AnyRequest)
    assert asked.id == 5
    with pytest.raises(msgspec.ValidationError):
        data = msgspec.json.encode({**fields, "path": "/dev/sda"})
        msgspec.json.decode(data, type=wire.AnyRequest)


@given(st.binary(max_size=100), st.integers(0, 255), st.booleans())
def test_bytes_arrive_as_they_were_sent(data: bytes, command: int, dump: bool) -> None:
    asked = wire.Ask(id=1, link=2, command=command, dump=dump, attributes=data)
    sent = wire.line(asked)
    assert sent.count(b"\n") == 1
    assert msgspec.json.decode(sent, type=wire.AnyRequest) == asked
    reply = wire.Reply([data], dump, wire.Refused(5, "no", 20))
    assert msgspec.json.decode(msgspec.json.encode(reply), type=wire.Reply) == reply


def test_the_number_of_what_is_no_request() -> None:
    assert wire.number_of(b'{"id": 4, "do": 7}') == 4
    assert wire.number_of(b"[") == wire.number_of(b"\xff") == wire.number_of(b"[" * 99999) == 0
