# SPDX-License-Identifier: GPL-2.0-or-later
"""Generic netlink for the clients of a family: requests, dumps, refusals, notifications."""

from __future__ import annotations

import abc
import contextlib
import errno as errno_names
import os
import select
import struct
from collections.abc import Callable, Iterator
from enum import IntEnum
from types import TracebackType
from typing import Any, Self

from spekctl.errors import (
    NoKernelSideError,
    NotPermittedError,
    SpekError,
    error_from_errno,
)

DUMP_TRIES = 20


NLM_F_DUMP_INTR = 0x10


_NLMSG_ERROR = 2


_HEADERS_LEN = 20  # struct nlmsghdr, struct genlmsghdr


_NLA_TYPE_MASK = 0x3FFF


class Link:
    """A generic netlink family: requests, dumps and state notifications, as dicts."""

    def __init__(self, gen: Any, group: str | None, missing: str) -> None:
        # pyroute2 takes a fifth of a second to import, twenty times that in an emulated guest.
        from pyroute2.netlink.exceptions import NetlinkError
        from pyroute2.netlink.generic import GenericNetlinkSocket

        self._gen = gen
        self._netlink_error = NetlinkError
        self._request = self._open(GenericNetlinkSocket, missing)
        self._events = None
        if group is not None:
            self._events = self._open(GenericNetlinkSocket, missing)
            with self._translated("listen"):
                self._events.add_membership(group)

    def _open(self, factory: Any, missing: str) -> Any:
        sock = factory(ext_ack=True)
        sock.asyncore.module_err_level = "debug"  # we say it ourselves
        try:
            sock.bind(self._gen.FAMILY, self._gen.message)
        except self._netlink_error as error:
            sock.close()
            if error.code == errno_names.ENOENT:
                raise NoKernelSideError(missing, errno=error.code, operation="resolve") from error
            raise error_from_errno(error.code, str(error.args[1]), "resolve") from error
        return sock

    def close(self) -> None:
        """Close both sockets; a second call does nothing."""
        for sock in (self._events, self._request):
            if sock is not None:
                with contextlib.suppress(OSError, RuntimeError):
                    sock.close()
        self._events = None

    @contextlib.contextmanager
    def _translated(self, operation: str, message: Any = None) -> Iterator[None]:
        try:
            yield
        except self._netlink_error as error:
            refusal = _refusal(error.code, str(error.args[1]), operation)
            offset = getattr(error, "offset", None)
            if message is not None and offset is not None:
                refusal.blamed = _blamed(type(message), bytes(message.data), offset)
            raise refusal from error
        except OSError as error:
            code = error.errno or errno_names.EIO
            text = str(error.strerror or error.args[-1] or os.strerror(code))
            raise _refusal(code, text, operation) from error

    def _message(self, command: IntEnum, values: dict[str, Any]) -> Any:
        message = self._gen.MESSAGES[command]()
        message["cmd"] = int(command)
        message["version"] = self._gen.VERSION
        message["attrs"] = _encode(type(message), values)
        return message

    def _send(
        self, message: Any, flags: int, callback: Callable[[Any], bool] | None = None
    ) -> list[Any]:
        sock = self._request
        core = sock.asyncore

        def with_offset(error: Any, answer: Any) -> Any:
            error.offset = answer.get_attr("NLMSGERR_ATTR_OFFS")
            return error

        async def exchange() -> list[Any]:
            answer = await core.nlm_request(
                message,
                msg_type=core.prid,
                msg_flags=flags,
                callback=callback,
                exception_factory=with_offset,
            )
            return [reply async for reply in answer]

        answers: list[Any] = sock._run_with_cleanup(exchange)
        return answers

    def ask(self, command: IntEnum, **values: Any) -> dict[str, Any]:
        """A request that is answered with one message."""
        from pyroute2.netlink import NLM_F_REQUEST

        message = self._message(command, values)
        with self._translated(_name(command), message):
            for reply in self._send(message, NLM_F_REQUEST):
                return named(type(reply), _decode(reply))
        raise SpekError("the kernel side gave no answer", operation=_name(command))

    def tell(self, command: IntEnum, **values: Any) -> None:
        """A request that is only acknowledged."""
        from pyroute2.netlink import NLM_F_ACK, NLM_F_REQUEST

        with self._translated(_name(command)):
            self._send(self._message(command, values), NLM_F_REQUEST | NLM_F_ACK)

    def dump(self, command: IntEnum, **values: Any) -> list[dict[str, Any]]:
        """All messages of a dump; asked again when the kernel says that it changed meanwhile."""
        from pyroute2.netlink import NLM_F_DUMP, NLM_F_REQUEST

        for _ in range(DUMP_TRIES):
            interrupted = False

            def watch(message: Any) -> bool:
                nonlocal interrupted
                interrupted |= bool(message["header"]["flags"] & NLM_F_DUMP_INTR)
                return False

            with self._translated(_name(command)):
                replies = self._send(
                    self._message(command, values), NLM_F_REQUEST | NLM_F_DUMP, watch
                )
            if not interrupted:
                return [
                    named(type(reply), _decode(reply))
                    for reply in replies
                    if reply["header"]["type"] != _NLMSG_ERROR
                ]
        raise SpekError(
            f"{_name(command)} changed under way {DUMP_TRIES} times", operation=_name(command)
        )

    def wait(self, timeout_s: float) -> None:
        """Until something was announced, or the time is over.

        Announcements only wake us up, what counts is what a request answers. So a lost one
        (ENOBUFS) costs nothing: it wakes us like any other.
        """
        assert self._events is not None
        ready, _, _ = select.select([self._events.fileno()], [], [], max(0.0, timeout_s))
        while ready:
            try:
                self._events.recv(65536)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno != errno_names.ENOBUFS:
                    raise


def _refusal(code: int, text: str, operation: str) -> SpekError:
    """The kernel's sentence; where it sent none, one of ours."""
    if code == errno_names.EPERM and text == os.strerror(code):
        return NotPermittedError(
            "not permitted: spek needs root (CAP_SYS_ADMIN in the initial user namespace)",
            errno=code,
            operation=operation,
        )
    if text == os.strerror(code):
        name = errno_names.errorcode.get(code, f"errno {code}")
        text = f"the kernel side refused {operation}: {text} ({name})"
    return error_from_errno(code, text, operation)


def _blamed(cls: Any, data: bytes, offset: int) -> tuple[str, int] | None:
    """Which top-level attribute of a request holds the byte at @offset, and which of its kind."""
    keys = {row[0]: key for key, attr in cls.keys.items() for row in cls.nla_map if row[1] == attr}
    counts: dict[int, int] = {}
    position = _HEADERS_LEN
    while position + 4 <= len(data):
        length, kind = struct.unpack_from("=HH", data, position)
        kind &= _NLA_TYPE_MASK
        if length < 4:
            break
        if position <= offset < position + length:
            return (keys[kind], counts.get(kind, 0)) if kind in keys else None
        counts[kind] = counts.get(kind, 0) + 1
        position += (length + 3) & ~3
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
        for one in many:
            if isinstance(one, dict):
                attrs.append([name, {"attrs": _encode(getattr(cls, kind), one)}])
            else:
                attrs.append([name, one])
    return attrs


def _decode(message: Any) -> dict[str, Any]:
    """A message or nest -> values by name; what it does not carry is not there."""
    cls = type(message)
    names = {attr: key for key, attr in cls.keys.items()}
    values: dict[str, Any] = {}
    for attr, value in message["attrs"]:
        key = names.get(attr)
        if key is None:
            continue
        if hasattr(value, "nla_map"):
            value = _decode(value)
        if key in cls.multi:
            values.setdefault(key, []).append(value)
        else:
            values[key] = value
    return values


def named(cls: Any, values: dict[str, Any]) -> dict[str, Any]:
    """An answer as records have it: words for numbers that have some, plural names for lists."""
    kinds = {row[1]: row[2] for row in cls.nla_map}
    found: dict[str, Any] = {}
    for key, value in values.items():
        kind = kinds[cls.keys[key]]
        inner = getattr(cls, kind) if kind.startswith("nest_") else None
        word = cls.enums.get(key)

        def one(value: Any, inner: Any = inner, word: Any = word) -> Any:
            if inner is not None:
                return named(inner, value)
            return word.of(value) if word is not None else value

        if key in cls.multi:
            found[cls.multi[key]] = [one(each) for each in value]
        else:
            found[key] = one(value)
    return found


class Connection(abc.ABC):
    """Closed at the end of its with block."""

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    @abc.abstractmethod
    def close(self) -> None:
        """End it, and what in the kernel belongs to it."""
