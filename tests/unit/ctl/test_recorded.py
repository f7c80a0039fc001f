# SPDX-License-Identifier: GPL-2.0
"""Command lines and names in a form that JSON can hold."""

from __future__ import annotations

import json
import os

import pytest

from spekctl import recorded


@pytest.mark.parametrize(
    ("typed", "text"),
    [
        (b"plain", "plain"),
        ("Größe".encode(), "Größe"),
        (b"latin-1 \xe9", "latin-1 \ufffd"),
        (b"\xff\xfe", "\ufffd\ufffd"),
    ],
)
def test_bytes_that_are_not_utf_8_are_replaced(typed: bytes, text: str) -> None:
    shown = recorded.text(os.fsdecode(typed))
    assert shown == text
    json.dumps(shown).encode("utf-8")


def test_a_command_line_has_no_program(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.argv", ["/usr/bin/spekctl", "run", os.fsdecode(b"-o=\xe9")])
    assert recorded.command() == ["run", "-o=\ufffd"]
