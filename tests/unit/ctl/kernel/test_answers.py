# SPDX-License-Identifier: GPL-2.0
"""Messages to values by name; pyroute2, which encodes what is read here, is the oracle."""

from __future__ import annotations

import errno
import struct
from types import ModuleType
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spekctl.errors import NoKernelSideError
from spekctl.kernel import answers, link
from spekctl.kernel.gen import spek, spek_drive, spek_prober

COMMANDS = [
    pytest.param(gen, command, id=f"{gen.FAMILY}-{command.name}")
    for gen in (spek, spek_drive, spek_prober)
    for command in {cls: command for command, cls in gen.MESSAGES.items()}.values()
]
INTEGERS = {
    "uint32": (0, (1 << 32) - 1),
    "uint64": (0, (1 << 64) - 1),
    "int32": (-1 << 31, (1 << 31) - 1),
    "int64": (-1 << 63, (1 << 63) - 1),
}


def kinds_of(cls: Any) -> dict[str, str]:
    kinds = {attribute: kind for _, attribute, kind, *_ in cls.nla_map}
    return {key: kinds[attribute] for key, attribute in cls.keys.items()}


def of_contract(cls: Any) -> st.SearchStrategy[dict[str, Any]]:
    """Values that a message or nest of @cls can have, none of its keys always there."""

    def of_key(key: str, kind: str) -> st.SearchStrategy[Any]:
        if kind.startswith("nest_"):
            drawn: st.SearchStrategy[Any] = of_contract(getattr(cls, kind))
        elif kind == "asciiz":
            drawn = st.text(
                st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=9
            )
        elif kind == "cdata":
            drawn = st.binary(max_size=33)
        elif key in cls.enums:
            drawn = st.integers(0, len(cls.enums[key]) - 1)
        else:
            drawn = st.integers(*INTEGERS[kind])
        return st.lists(drawn, min_size=1, max_size=3) if key in cls.multi else drawn

    return st.fixed_dictionaries(
        {}, optional={key: of_key(key, kind) for key, kind in kinds_of(cls).items()}
    )


def encoded(gen: ModuleType, command: int, values: dict[str, Any]) -> bytes:
    cls = gen.MESSAGES[command]
    message = cls()
    message["cmd"], message["version"] = int(command), gen.VERSION
    message["attrs"] = link._encode(cls, values)
    message.encode()
    return bytes(message.data)


def in_words(cls: Any, values: dict[str, Any]) -> dict[str, Any]:
    """What values that were sent are called when they are read."""
    kinds = kinds_of(cls)
    named: dict[str, Any] = {}
    for key, value in values.items():
        several = [
            in_words(getattr(cls, kinds[key]), member)
            if isinstance(member, dict)
            else list(cls.enums[key])[member]
            if key in cls.enums
            else member
            for member in (value if key in cls.multi else [value])
        ]
        named[cls.multi.get(key, key)] = several if key in cls.multi else several[0]
    return named


@pytest.mark.parametrize(("gen", "command"), COMMANDS)
@given(data=st.data())
def test_what_pyroute2_encodes_is_read_back(
    gen: ModuleType, command: int, data: st.DataObject
) -> None:
    cls = gen.MESSAGES[command]
    values = data.draw(of_contract(cls))
    assert answers.answer(gen, encoded(gen, command, values)) == in_words(cls, values)


def attribute(key: str, payload: bytes, cls: Any = spek.RunMsg) -> bytes:
    (number,) = (row[0] for row in cls.nla_map if row[1] == cls.keys[key])
    head = struct.pack("=HH", 4 + len(payload), number)
    return head + payload + bytes(-len(payload) % 4)


def message(attributes: bytes, command: int = spek.Cmd.RUN_GET) -> bytes:
    head = struct.pack("=IHHII", 20 + len(attributes), 32, 0, 1, 0)
    return head + struct.pack("=BBH", command, 1, 0) + attributes


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
    assert answers.answer(spek, message(attribute("name", name + b"\0"))) == {"name": shown}


def test_what_the_contract_does_not_name_is_passed_over() -> None:
    """Attributes of a newer module, and the padding before 64-bit ones."""
    newer = struct.pack("=HHI", 8, 0x3FFF, 7)
    padding = struct.pack("=HH", 4, 1)
    said = newer + attribute("id", struct.pack("=I", 3)) + padding
    assert answers.answer(spek, message(said)) == {"id": 3}


@pytest.mark.parametrize(
    "wrong",
    [
        b"",
        message(b"")[:19],
        message(b"", command=255),
        message(struct.pack("=HH", 3, 2)),
        message(struct.pack("=HH", 0, 2)),
        message(struct.pack("=HHI", 9, 2, 1)),
        message(attribute("id", b"\1\0")),
        message(attribute("id", bytes(8))),
        message(attribute("target", struct.pack("=HHI", 12, 1, 1))),
    ],
)
def test_bytes_that_are_no_answer_are_an_error(wrong: bytes) -> None:
    """Never values of other bytes, and no walk that does not end."""
    with pytest.raises(OSError) as error:
        answers.answer(spek, wrong)
    assert error.value.errno == errno.EBADMSG


def test_a_word_that_a_newer_module_knows_is_said() -> None:
    with pytest.raises(NoKernelSideError, match="newer than this spekctl"):
        answers.answer(spek, message(attribute("state", struct.pack("=I", 99))))
