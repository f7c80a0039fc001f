# SPDX-License-Identifier: GPL-2.0
"""Messages to values by name."""

from __future__ import annotations

import struct

import pytest

from spekctl.kernel.gen import spek
from spekctl.kernel.gen.spek import Cmd
from spekctl.kernel.link import _decode


def _answer(name: bytes) -> bytes:
    (ident,) = (row[0] for row in spek.RunMsg.nla_map if row[1] == spek.RunMsg.keys["name"])
    payload = name + b"\0"
    attr = struct.pack("=HH", 4 + len(payload), ident) + payload
    attr += bytes(-len(attr) % 4)
    head = struct.pack("=IHHII", 20 + len(attr), 32, 0, 1, 0)
    return head + struct.pack("=BBH", Cmd.RUN_GET, 1, 0) + attr


@pytest.mark.parametrize(
    ("name", "shown"),
    [
        (b"mix", "mix"),
        ("größe".encode(), "größe"),
        (b"\xff\xfe", r"\xff\xfe"),
        (b"a\xc3", r"a\xc3"),
    ],
)
def test_text_is_text_whatever_bytes_it_has(name: bytes, shown: str) -> None:
    message = spek.message(_answer(name))
    message.decode()
    assert _decode(message) == {"name": shown}
