# SPDX-License-Identifier: GPL-2.0
"""spekctl's netlink socket, with access to details that only tests need.

Requests are put together here, by the generated tables (types and ids), since pyroute2 encodes
only what is well-formed; answers are read one buffer at a time; and refusals are taken apart:
errno, sentence, path of the attribute to blame and of the one that is missing.
"""

from __future__ import annotations

import functools
import os
import struct
from dataclasses import dataclass, field
from typing import Any

from lib.waiting import LONG_S

from spekctl.kernel.netlink import (
    ATTR,
    ERR_MSG,
    ERR_OFFS,
    HEADER,
    NLM_F_ACK,
    NLM_F_ACK_TLVS,
    NLM_F_DUMP,
    NLM_F_DUMP_INTR,
    NLM_F_REQUEST,
    NLMSG_DONE,
    NLMSG_ERROR,
    RECV_BYTES,
    Frame,
    NetlinkSocket,
    attributes,
)

NLM_F_CAPPED = 0x100
NLA_F_NESTED = 0x8000

GENL_ID_CTRL = 16
CTRL_CMD_GETFAMILY = 3
CTRL_ATTR_FAMILY_ID = 1
CTRL_ATTR_FAMILY_NAME = 2
CTRL_ATTR_MCAST_GROUPS = 7
CTRL_ATTR_MCAST_GRP_NAME = 1
CTRL_ATTR_MCAST_GRP_ID = 2

ERR_MISS_TYPE, ERR_MISS_NEST = 5, 6

GENL = struct.Struct("=BBH")
INTEGERS = {"uint32": "=I", "uint64": "=Q", "int32": "=i", "int64": "=q"}


@dataclass(eq=False)
class Refusal(Exception):
    """What the kernel says with its no.

    @attr: path of the attribute to blame, "stream[1].size[0]"; "" if none is named
    @missing: path of the attribute that isn't there
    """

    errno: int
    text: str
    attr: str = ""
    missing: str = ""

    def __str__(self) -> str:
        return (
            f"{os.strerror(self.errno)}: {self.text!r} attr={self.attr!r} missing={self.missing!r}"
        )


@dataclass
class Message:
    """A message of the family, as it came and taken apart."""

    cmd: int
    flags: int
    seq: int
    values: dict[str, Any]
    data: bytes


@dataclass
class Answer:
    """Everything that came back."""

    messages: list[Message] = field(default_factory=list)
    end_flags: int = 0

    @property
    def interrupted(self) -> bool:
        """The kernel says that the dump isn't of one moment."""
        flags = [self.end_flags, *(message.flags for message in self.messages)]
        return any(each & NLM_F_DUMP_INTR for each in flags)

    @property
    def values(self) -> list[dict[str, Any]]:
        return [message.values for message in self.messages]


def attribute(kind: int, payload: bytes) -> bytes:
    """One attribute, padded."""
    raw = ATTR.pack(ATTR.size + len(payload), kind) + payload
    return raw + bytes(-len(raw) % 4)


class Table:
    """The attributes of a generated class, by name and by id."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls
        names = {name: key for key, name in cls.keys.items()}
        self.by_id = {row[0]: (names.get(row[1], "pad"), row[2]) for row in cls.nla_map}
        self.by_key = {key: (ident, kind) for ident, (key, kind) in self.by_id.items()}

    def inner(self, kind: str) -> Table:
        return table_of(getattr(self.cls, kind))


@functools.cache
def table_of(cls: Any) -> Table:
    return Table(cls)


def encode(cls: Any, values: dict[str, Any]) -> bytes:
    """Attributes by name; a value of type bytes where the spec has none is sent as it is."""
    table = table_of(cls)
    out = b""
    for key, value in values.items():
        ident, kind = table.by_key[key]
        for entry in value if key in cls.multi and isinstance(value, list) else [value]:
            if isinstance(entry, bytes):
                out += attribute(ident, entry)
            elif kind.startswith("nest_"):
                out += attribute(ident | NLA_F_NESTED, encode(getattr(cls, kind), entry))
            elif kind == "asciiz":
                out += attribute(ident, entry.encode() + b"\0")
            else:
                out += attribute(ident, struct.pack(INTEGERS[kind], entry))
    return out


def decode(cls: Any, data: bytes) -> dict[str, Any]:
    """The reverse of encode()."""
    table = table_of(cls)
    values: dict[str, Any] = {}
    for _offset, ident, payload in attributes(data):
        key, kind = table.by_id[ident]
        value: Any
        if key == "pad":
            continue
        if kind.startswith("nest_"):
            value = decode(getattr(cls, kind), payload)
        elif kind == "asciiz":
            value = payload.rstrip(b"\0").decode(errors="backslashreplace")
        elif kind == "cdata":
            value = payload
        else:
            (value,) = struct.unpack(INTEGERS[kind], payload)
        if key in cls.multi:
            values.setdefault(key, []).append(value)
        else:
            values[key] = value
    return values


def path_of(cls: Any, data: bytes, wanted: int, base: int = 0) -> str:
    """Path of the attribute at byte @wanted of a message whose attributes @data start at @base."""
    table = table_of(cls)
    seen: dict[str, int] = {}
    for at, ident, payload in attributes(data):
        key, kind = table.by_id.get(ident, (f"#{ident}", ""))
        name = f"{key}[{seen.get(key, 0)}]" if key in cls.multi else key
        seen[key] = seen.get(key, 0) + 1
        if base + at == wanted:
            return name
        if kind.startswith("nest_"):
            inner = path_of(getattr(cls, kind), payload, wanted, base + at + ATTR.size)
            if inner:
                return f"{name}.{inner}"
    return ""


def refusal(cls: Any, request: bytes, frame: Frame) -> Refusal | None:
    """What a message of type error or done says; None: all is well."""
    (code,) = struct.unpack_from("=i", frame.data, HEADER.size)
    if code == 0:
        return None
    start = HEADER.size + 4
    if frame.kind == NLMSG_ERROR:
        # an error repeats the request, or only its header
        start += HEADER.size if frame.flags & NLM_F_CAPPED else (len(request) + 3) & ~3
    rest = frame.data[start:] if frame.flags & NLM_F_ACK_TLVS else b""
    text, blamed, miss_type, miss_nest = "", "", 0, 0
    head = HEADER.size + GENL.size
    for _offset, ident, payload in attributes(rest):
        if ident == ERR_MSG:
            text = payload.rstrip(b"\0").decode()
        elif ident == ERR_OFFS:
            blamed = path_of(cls, request[head:], struct.unpack("=I", payload)[0], head)
        elif ident == ERR_MISS_TYPE:
            (miss_type,) = struct.unpack("=I", payload)
        elif ident == ERR_MISS_NEST:
            (miss_nest,) = struct.unpack("=I", payload)
    missing = ""
    if miss_type:
        nest = path_of(cls, request[head:], miss_nest, head) if miss_nest else ""
        missing = missing_path(cls, nest, miss_type)
    return Refusal(-code, text, blamed, missing)


def missing_path(cls: Any, nest: str, ident: int) -> str:
    for part in nest.split(".") if nest else []:
        table = table_of(cls)
        cls = getattr(cls, table.by_key[part.split("[")[0]][1])
    name = table_of(cls).by_id[ident][0]
    return f"{nest}.{name}" if nest else name


class Socket:
    """One netlink socket, bound to a family. @sock: the socket itself, for a test to spoil."""

    def __init__(self, spec: Any, recv_bytes: int = RECV_BYTES) -> None:
        self.spec = spec
        self.carrier = NetlinkSocket(recv_bytes)
        self.sock = self.carrier._socket
        self.sock.settimeout(LONG_S)
        self.family, self.groups = self.resolve(spec.FAMILY)

    def __enter__(self) -> Socket:
        return self

    def __exit__(self, *exc: object) -> None:
        self.close()

    def close(self) -> None:
        self.carrier.close()

    def resolve(self, name: str) -> tuple[int, dict[str, int]]:
        payload = attribute(CTRL_ATTR_FAMILY_NAME, name.encode() + b"\0")
        self.sock.send(self.frame(GENL_ID_CTRL, CTRL_CMD_GETFAMILY, payload, NLM_F_REQUEST))
        (answer,) = self.carrier.frames()
        if answer.kind == NLMSG_ERROR:
            (code,) = struct.unpack_from("=i", answer.data, HEADER.size)
            raise Refusal(-code, "no such family")
        family, groups = 0, {}
        for _at, ident, value in attributes(answer.data, HEADER.size + GENL.size):
            if ident == CTRL_ATTR_FAMILY_ID:
                (family,) = struct.unpack("=H", value)
            elif ident == CTRL_ATTR_MCAST_GROUPS:
                for _at, _index, group in attributes(value):
                    parts = {i: payload for _at, i, payload in attributes(group)}
                    group_name = parts[CTRL_ATTR_MCAST_GRP_NAME].rstrip(b"\0").decode()
                    (groups[group_name],) = struct.unpack("=I", parts[CTRL_ATTR_MCAST_GRP_ID])
        return family, groups

    def frame(self, kind: int, cmd: int, payload: bytes, flags: int) -> bytes:
        length = HEADER.size + GENL.size + len(payload)
        head = HEADER.pack(length, kind, flags, self.carrier.next_sequence(), 0)
        return head + GENL.pack(cmd, 1, 0) + payload

    def join(self, group: str) -> None:
        self.carrier.join(self.groups[group])

    def class_of(self, cmd: int) -> Any:
        """The class of a command's attributes; of one that there isn't, any will do."""
        return self.spec.MESSAGES.get(cmd) or next(iter(self.spec.MESSAGES.values()))

    def request_bytes(self, cmd: int, values: dict[str, Any], flags: int) -> bytes:
        cls = self.class_of(cmd)
        return self.frame(self.family, int(cmd), encode(cls, values), flags)

    def ask(self, cmd: int, **values: Any) -> Answer:
        """Send a request, take the answer up to the ack. Raises Refusal."""
        return self.exchange(cmd, self.request_bytes(cmd, values, NLM_F_REQUEST | NLM_F_ACK))

    def dump(self, cmd: int, **values: Any) -> Answer:
        """Send a dump request, take all of the answer. Raises Refusal."""
        return self.exchange(cmd, self.request_bytes(cmd, values, NLM_F_REQUEST | NLM_F_DUMP))

    def exchange(self, cmd: int, request: bytes) -> Answer:
        self.sock.send(request)
        answer = Answer()
        while not self.receive(cmd, request, answer):
            pass
        return answer

    def receive(self, cmd: int, request: bytes, answer: Answer) -> bool:
        """Take one buffer of an answer; True when it was the last one."""
        cls = self.class_of(cmd)
        asked: int = HEADER.unpack_from(request)[3]
        for frame in self.carrier.frames():
            if frame.sequence not in (0, asked):
                # Of an earlier request, whose end the kernel had no memory to send.
                continue
            if frame.kind in (NLMSG_ERROR, NLMSG_DONE):
                no = refusal(cls, request, frame)
                if no:
                    raise no
                if frame.kind == NLMSG_DONE:
                    answer.end_flags = frame.flags
                return True
            answer.messages.append(self.message(frame))
        return False

    def message(self, frame: Frame) -> Message:
        payload = frame.data[HEADER.size :]
        cls = self.spec.MESSAGES[payload[0]]
        values = decode(cls, payload[GENL.size :])
        return Message(payload[0], frame.flags, frame.sequence, values, frame.data)

    def notification(self, timeout_s: float = LONG_S) -> Message:
        """The next message of a multicast group."""
        self.sock.settimeout(timeout_s)
        (frame,) = self.carrier.frames()
        return self.message(frame)
