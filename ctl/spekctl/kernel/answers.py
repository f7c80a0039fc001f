# SPDX-License-Identifier: GPL-2.0-or-later
"""Answers of a family as values by name, in one walk over their bytes.

pyroute2 makes an object of each attribute, and rows of a probe are many and are decoded on the
machine that is measured. The walk needs no objects; which attributes there are, and of which kind,
is what the contract's pyroute2 classes say.
"""

from __future__ import annotations

import errno
import functools
import os
import struct
from collections.abc import Callable
from typing import Any

from spekctl.kernel.netlink import ATTR, HEADER, NLA_TYPE_MASK

HEADERS_LEN = HEADER.size + 4  # and struct genlmsghdr
_INTEGERS = {"uint32": "=I", "uint64": "=Q", "int32": "=i", "int64": "=q"}

# Value of the bytes from the second number to the third.
Reader = Callable[[bytes, int, int], Any]


def answer(gen: Any, message: bytes) -> dict[str, Any]:
    """Values of a message of the family that module @gen describes: words for numbers that have
    some, lists under plural names; what it does not carry is not there. Raises OSError(EBADMSG) if
    the message is not of the contract's form."""
    if len(message) < HEADERS_LEN or message[HEADER.size] not in gen.MESSAGES:
        raise _malformed()
    return values(gen.MESSAGES[message[HEADER.size]], message, HEADERS_LEN, len(message))


def values(cls: Any, data: bytes, at: int, end: int) -> dict[str, Any]:
    """As answer(), of the attributes from @at to @end, which @cls describes."""
    readers, unpack, header = _readers(cls), ATTR.unpack_from, ATTR.size
    attributes: dict[str, Any] = {}
    while at + header <= end:
        length, kind = unpack(data, at)
        if length < header or length > end - at:
            raise _malformed()
        known = readers.get(kind & NLA_TYPE_MASK)
        if known is not None:
            key, many, read = known
            value = read(data, at + header, at + length)
            if many:
                attributes.setdefault(key, []).append(value)
            else:
                attributes[key] = value
        at += (length + 3) & ~3
    return attributes


@functools.cache
def _readers(cls: Any) -> dict[int, tuple[str, bool, Reader]]:
    """By number of an attribute: its key, whether there are several, and how it is read."""
    names = {attribute: key for key, attribute in cls.keys.items()}
    return {
        number: (
            cls.multi.get(names[attribute], names[attribute]),
            names[attribute] in cls.multi,
            _reader(cls, kind, cls.enums.get(names[attribute])),
        )
        for number, attribute, kind, *_ in cls.nla_map
        if attribute in names
    }


def _reader(cls: Any, kind: str, words: Any) -> Reader:
    if kind.startswith("nest_"):
        return functools.partial(values, getattr(cls, kind))
    if kind == "asciiz":
        return _text
    if kind == "cdata":
        return _bytes
    layout = struct.Struct(_INTEGERS[kind])

    def number(data: bytes, start: int, end: int) -> int:
        if end - start != layout.size:
            raise _malformed()
        return int(layout.unpack_from(data, start)[0])

    if words is None:
        return number
    return lambda data, start, end: words.of(number(data, start, end))


def _text(data: bytes, start: int, end: int) -> str:
    """A name is any bytes."""
    return data[start:end].split(b"\0", 1)[0].decode(errors="backslashreplace")


def _bytes(data: bytes, start: int, end: int) -> bytes:
    return data[start:end]


def _malformed() -> OSError:
    return OSError(errno.EBADMSG, os.strerror(errno.EBADMSG))
