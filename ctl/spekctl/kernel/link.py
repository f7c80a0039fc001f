# SPDX-License-Identifier: GPL-2.0-or-later
"""Generic netlink for the clients of a family: requests, dumps, refusals, notifications.

Requests are pyroute2's messages; kernel.netlink carries them, kernel.answers reads the answers.
"""

from __future__ import annotations

import contextlib
import errno as errno_names
import os
import select
import sys
from collections.abc import Callable, Iterator, Sequence
from enum import IntEnum
from pathlib import Path
from typing import Any, Protocol

from spekctl import namespaces
from spekctl.errors import (
    NoKernelSideError,
    NotPermittedError,
    SpekError,
    error_from_errno,
)
from spekctl.kernel.answers import HEADERS_LEN, answer
from spekctl.kernel.netlink import (
    ATTR,
    GENERIC,
    HEADER,
    NLM_F_ACK,
    NLM_F_DUMP,
    NLM_F_REQUEST,
    Frame,
    NetlinkSocket,
    Refusal,
    attributes,
)

DUMP_TRIES = 20


def not_loaded(module: str, root: Path = Path("/")) -> str:
    """What is wrong, and what to do, if there is no family of @module: a module's family is in the
    initial network namespace alone."""
    is_elsewhere = namespaces.around(root).network
    if is_elsewhere and (root / "sys/module" / module).is_dir():
        return (
            f"the kernel module {module} is loaded, but answers in the initial network namespace"
            f" only, and this process is in another; {namespaces.NETWORK_REMEDY}"
        )
    text = (
        f"the kernel module {module} is not loaded; "
        f"as root: modprobe {module} (or insmod {module}.ko)"
    )
    if is_elsewhere:
        text += (
            "; and this process is in another network namespace than the initial one, which alone"
            f" has it: {namespaces.NETWORK_REMEDY}"
        )
    return text


class Socket(Protocol):
    """What carries the messages of a link: a NetlinkSocket, or a helper's that has more rights."""

    def close(self) -> None: ...
    def fileno(self) -> int: ...
    def next_sequence(self) -> int: ...
    def join(self, group: int) -> None: ...
    def exchange(
        self, request: bytes, more: Sequence[memoryview | bytes] = ()
    ) -> tuple[Sequence[Frame], bool]: ...
    def drain(self) -> None: ...


def _own_socket(family: str) -> Socket:
    return NetlinkSocket()


# Opens the socket of a link to this family.
_open_socket: Callable[[str], Socket] = _own_socket


def reach_by(open_socket: Callable[[str], Socket]) -> None:
    """Let all links of this process that are made from now on have sockets that @open_socket opens
    to a family: a process without rights has those of a helper."""
    global _open_socket
    _open_socket = open_socket


class Link:
    """A generic netlink family: requests, dumps and state notifications, as dicts."""

    def __init__(self, gen: Any, group: str | None, missing: str) -> None:
        self._gen = gen
        self._socket: Socket = _open_socket(gen.FAMILY)
        try:
            self._family, groups = self._resolve(missing)
            if group is not None:
                with self._translated("listen"):
                    self._socket.join(groups[group])
        except BaseException:
            self._socket.close()
            raise

    def _resolve(self, missing: str) -> tuple[int, dict[str, int]]:
        """Number of the family, and of its groups by name."""
        # pyroute2 takes a fifth of a second to import, twenty times that in an emulated guest.
        from pyroute2.netlink import CTRL_CMD_GETFAMILY, GENL_ID_CTRL, ctrlmsg

        message = ctrlmsg()
        message["cmd"], message["version"] = CTRL_CMD_GETFAMILY, 1
        message["attrs"] = [["CTRL_ATTR_FAMILY_NAME", self._gen.FAMILY]]
        request = self._encoded(message, GENL_ID_CTRL, NLM_F_REQUEST | NLM_F_ACK)
        try:
            with self._translated("resolve"):
                frames, _ = self._socket.exchange(request)
        except SpekError as error:
            if error.errno == errno_names.ENOENT:
                raise NoKernelSideError(missing, errno=error.errno, operation="resolve") from error
            raise
        answer = ctrlmsg(frames[0].data)
        answer.decode()
        groups = answer.get_attr("CTRL_ATTR_MCAST_GROUPS") or []
        return int(answer.get_attr("CTRL_ATTR_FAMILY_ID")), {
            group.get_attr("CTRL_ATTR_MCAST_GRP_NAME"): group.get_attr("CTRL_ATTR_MCAST_GRP_ID")
            for group in groups
        }

    def close(self) -> None:
        """Close the socket; a second call does nothing."""
        self._socket.close()

    @contextlib.contextmanager
    def _translated(
        self, operation: str, cls: Any = None, request: Sequence[memoryview | bytes] = ()
    ) -> Iterator[None]:
        """Turn a refusal into a SpekError. If @request is one of @cls, in parts, the error names
        the attribute that the kernel blames."""
        try:
            yield
        except Refusal as error:
            refusal = _refusal(error.code, error.text, operation)
            if cls is not None and error.offset is not None:
                refusal.blamed = _blamed(cls, b"".join(request), error.offset)
            raise refusal from error
        except OSError as error:
            code = error.errno or errno_names.EIO
            text = str(error.strerror or error.args[-1] or os.strerror(code))
            raise _refusal(code, text, operation) from error

    def _encoded(self, message: Any, kind: int, flags: int) -> bytes:
        header = message["header"]
        header["type"], header["flags"] = kind, flags
        header["sequence_number"], header["pid"] = self._socket.next_sequence(), 0
        message.encode()
        return bytes(message.data)

    def _exchange(
        self, command: IntEnum, values: dict[str, Any], flags: int
    ) -> tuple[list[dict[str, Any]], bool]:
        """The answers to a request, and whether they are of one moment."""
        cls = self._gen.MESSAGES[command]
        message = cls()
        message["cmd"], message["version"] = int(command), self._gen.VERSION
        bulk = {key: value for key, value in values.items() if isinstance(value, memoryview)}
        small = {key: value for key, value in values.items() if key not in bulk}
        message["attrs"] = _encode(cls, small)
        request = self._encoded(message, self._family, NLM_F_REQUEST | flags)
        more = list(_bulk_attributes(cls, bulk))
        if more:
            length = len(request) + sum(map(len, more))
            request = length.to_bytes(4, sys.byteorder) + request[4:]
        with self._translated(_name(command), cls, [request, *more]):
            frames, interrupted = self._socket.exchange(request, more)
            return [answer(self._gen, frame.data) for frame in frames], interrupted

    def ask(self, command: IntEnum, **values: Any) -> dict[str, Any]:
        """A request that is answered with one message.

        A value that is a memoryview of bytes is sent from where it is, without a copy.
        """
        answers, _ = self._exchange(command, values, NLM_F_ACK)
        if not answers:
            raise SpekError("the kernel module did not answer", operation=_name(command))
        return answers[0]

    def tell(self, command: IntEnum, **values: Any) -> None:
        """A request that is only acknowledged."""
        self._exchange(command, values, NLM_F_ACK)

    def dump(self, command: IntEnum, **values: Any) -> list[dict[str, Any]]:
        """All messages of a dump, repeated if the kernel reports it as interrupted."""
        for _ in range(DUMP_TRIES):
            answers, interrupted = self._exchange(command, values, NLM_F_DUMP)
            if not interrupted:
                return answers
        raise SpekError(
            f"{_name(command)} changed during {DUMP_TRIES} dumps in a row", operation=_name(command)
        )

    def forward(self, command: int, attributes: bytes, dump: bool) -> tuple[list[bytes], bool]:
        """A request whose attributes are encoded already.

        Return: the answers as they came, and whether they are of one moment. Refusal or OSError.
        """
        generic = GENERIC.pack(command, self._gen.VERSION, 0)
        request = HEADER.pack(
            HEADER.size + len(generic) + len(attributes),
            self._family,
            NLM_F_REQUEST | (NLM_F_DUMP if dump else NLM_F_ACK),
            self._socket.next_sequence(),
            0,
        )
        frames, interrupted = self._socket.exchange(request + generic, [attributes])
        return [frame.data for frame in frames], interrupted

    def wait(self, timeout_s: float) -> bool:
        """Wait for a notification, at most @timeout_s; whether there was any.

        Announcements only wake us up, what counts is what a request answers. So a lost one
        (ENOBUFS) costs nothing: it wakes us like any other.
        """
        ready, _, _ = select.select([self._socket.fileno()], [], [], max(0.0, timeout_s))
        if ready:
            self._socket.drain()
        return bool(ready)


def _refusal(code: int, text: str, operation: str, root: Path = Path("/")) -> SpekError:
    """The error for a refusal: the kernel's own sentence, or one for its errno if it sent none."""
    if code == errno_names.EPERM and text == os.strerror(code):
        text = "not permitted: spek needs root (CAP_SYS_ADMIN in the initial user namespace)"
    if code == errno_names.EPERM and "CAP_SYS_ADMIN" in text:
        where = namespaces.around(root)
        if where.container:
            text += f"; {namespaces.USER_REMEDY if where.user else namespaces.RIGHTS_REMEDY}"
        return NotPermittedError(text, errno=code, operation=operation)
    if text == os.strerror(code):
        name = errno_names.errorcode.get(code, f"errno {code}")
        text = f"the kernel module refused {operation}: {text} ({name})"
    return error_from_errno(code, text, operation)


def _blamed(cls: Any, data: bytes, offset: int) -> tuple[str, int] | None:
    """Which top-level attribute of a request holds the byte at @offset, and which of its kind."""
    keys = {row[0]: key for key, attr in cls.keys.items() for row in cls.nla_map if row[1] == attr}
    counts: dict[int, int] = {}
    for position, kind, payload in attributes(data, HEADERS_LEN):
        if position <= offset < position + ATTR.size + len(payload):
            return (keys[kind], counts.get(kind, 0)) if kind in keys else None
        counts[kind] = counts.get(kind, 0) + 1
    return None


def _name(command: IntEnum) -> str:
    return command.name.lower().replace("_", "-")


def _encode(cls: Any, values: dict[str, Any]) -> list[Any]:
    """Values by name -> attribute list; nests are dicts, several nests a list of dicts."""
    nested = {row[1]: row[2] for row in cls.nla_map}
    attrs: list[Any] = []
    for key, value in values.items():
        name = cls.keys[key]
        kind = nested[name]
        many = value if key in cls.multi else [value]
        for entry in many:
            if isinstance(entry, dict):
                attrs.append([name, {"attrs": _encode(getattr(cls, kind), entry)}])
            else:
                attrs.append([name, entry])
    return attrs


def _bulk_attributes(cls: Any, values: dict[str, memoryview]) -> Iterator[memoryview | bytes]:
    """Attributes whose payload is not copied, in parts."""
    numbers = {row[1]: row[0] for row in cls.nla_map}
    for key, value in values.items():
        yield ATTR.pack(ATTR.size + len(value), numbers[cls.keys[key]])
        yield value
        yield bytes(-len(value) % 4)
