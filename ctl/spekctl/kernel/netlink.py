# SPDX-License-Identifier: GPL-2.0-or-later
"""A netlink socket that reports everything that an acknowledgement contains.

pyroute2's own sockets drop the offset of the attribute that the kernel blames, unless private
functions are called, and start an event loop for each request. So only the messages are
pyroute2's; this socket carries them.
"""

from __future__ import annotations

import errno as errno_names
import os
import socket
import struct
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

NETLINK_GENERIC = 16
SOL_NETLINK = 270
NETLINK_ADD_MEMBERSHIP = 1
NETLINK_CAP_ACK = 10
NETLINK_EXT_ACK = 11

NLMSG_ERROR = 2
NLMSG_DONE = 3
NLM_F_REQUEST = 0x1
NLM_F_ACK = 0x4
NLM_F_DUMP_INTR = 0x10
NLM_F_ACK_TLVS = 0x200
NLM_F_DUMP = 0x300
NLA_TYPE_MASK = 0x3FFF
ERR_MSG, ERR_OFFS = 1, 2

HEADER = struct.Struct("=IHHII")
ATTR = struct.Struct("=HH")
GENERIC = struct.Struct("=BBH")
RECV_BYTES = 1 << 16
ROOM_BYTES = 1 << 20


class Refusal(Exception):
    """The kernel refused a request; @offset: of the attribute to blame, from its header on."""

    def __init__(self, code: int, text: str = "", offset: int | None = None) -> None:
        super().__init__(code, text)
        self.code = code
        self.text = text or os.strerror(code)
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Frame:
    """A message as it came, with its header."""

    kind: int
    flags: int
    sequence: int
    data: bytes


def attributes(data: bytes, offset: int = 0) -> Iterator[tuple[int, int, bytes]]:
    """Offset, type and payload of each attribute from @offset on."""
    while offset + ATTR.size <= len(data):
        length, kind = ATTR.unpack_from(data, offset)
        if length < ATTR.size:
            return
        yield offset, kind & NLA_TYPE_MASK, data[offset + ATTR.size : offset + length]
        offset += (length + 3) & ~3


class NetlinkSocket:
    """A generic netlink socket; one request at a time.

    @recv_bytes: room for one read. The kernel cuts a dump by the largest read so far.
    """

    def __init__(self, recv_bytes: int = RECV_BYTES) -> None:
        self._recv_bytes = recv_bytes
        self._socket = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        try:
            self._socket.bind((0, 0))
            self._socket.setsockopt(SOL_NETLINK, NETLINK_EXT_ACK, 1)
            # An error then repeats the header of the request, not all of it.
            self._socket.setsockopt(SOL_NETLINK, NETLINK_CAP_ACK, 1)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, ROOM_BYTES)
        except BaseException:
            self._socket.close()
            raise
        self._sequence = 0

    def close(self) -> None:
        """Close it; a second call does nothing."""
        self._socket.close()

    def fileno(self) -> int:
        """Readable when a message is pending."""
        return self._socket.fileno()

    def next_sequence(self) -> int:
        """A number for a request, which its answers repeat."""
        self._sequence += 1
        return self._sequence

    def join(self, group: int) -> None:
        """Join a multicast group."""
        self._socket.setsockopt(SOL_NETLINK, NETLINK_ADD_MEMBERSHIP, group)

    def exchange(
        self, request: bytes, more: Sequence[memoryview | bytes] = ()
    ) -> tuple[list[Frame], bool]:
        """Send a request that is acknowledged, or a dump.

        @more: the rest of the request, which its length in @request includes
        Return: the answers, and whether the kernel says that they are not of one moment.
        """
        asked = HEADER.unpack_from(request)[3]
        self._socket.sendmsg([request, *more])
        frames: list[Frame] = []
        interrupted = False
        while True:
            for frame in self.frames():
                # Of an earlier request, whose end the kernel had no memory to send.
                if frame.sequence != asked:
                    continue
                interrupted |= bool(frame.flags & NLM_F_DUMP_INTR)
                if frame.kind not in (NLMSG_ERROR, NLMSG_DONE):
                    frames.append(frame)
                    continue
                refusal = refusal_of(frame)
                if refusal is not None:
                    raise refusal
                return frames, interrupted

    def drain(self) -> None:
        """Receive notifications; losing some is not an error."""
        while True:
            try:
                self._socket.recv(RECV_BYTES, socket.MSG_DONTWAIT)
            except (BlockingIOError, InterruptedError):
                return
            except OSError as error:
                if error.errno != errno_names.ENOBUFS:
                    raise

    def _receive(self) -> tuple[bytes, int, int]:
        """One read: data, flags of recvmsg(), port of the sender."""
        data, _, flags, (port, _groups) = self._socket.recvmsg(self._recv_bytes)
        return data, flags, port

    def frames(self) -> Iterator[Frame]:
        """The messages of one read; none if it was not the kernel that sent them."""
        data, flags, port = self._receive()
        if port:
            return  # port 0 is the kernel; other senders are ignored
        if flags & socket.MSG_TRUNC:
            raise OSError(errno_names.EMSGSIZE, os.strerror(errno_names.EMSGSIZE))
        at = 0
        while at + HEADER.size <= len(data):
            length, kind, flags, sequence, _ = HEADER.unpack_from(data, at)
            if not HEADER.size <= length <= len(data) - at:
                raise OSError(errno_names.EBADMSG, os.strerror(errno_names.EBADMSG))
            yield Frame(kind, flags, sequence, data[at : at + length])
            at += (length + 3) & ~3


def refusal_of(frame: Frame) -> Refusal | None:
    """The error in an acknowledgement or at the end of a dump; None: success."""
    (code,) = struct.unpack_from("=i", frame.data, HEADER.size)
    if not code:
        return None
    text, offset = "", None
    if frame.flags & NLM_F_ACK_TLVS:
        # An error has the header of the request before the attributes.
        start = HEADER.size + 4 + (HEADER.size if frame.kind == NLMSG_ERROR else 0)
        for _, kind, payload in attributes(frame.data, start):
            if kind == ERR_MSG:
                text = payload.rstrip(b"\0").decode(errors="replace")
            elif kind == ERR_OFFS:
                (offset,) = struct.unpack("=I", payload)
    return Refusal(-code, text, offset)
