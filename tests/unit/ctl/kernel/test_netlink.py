# SPDX-License-Identifier: GPL-2.0
"""The netlink socket: with the controller of this machine's kernel, and with messages of others."""

from __future__ import annotations

import errno
import socket
from collections.abc import Sequence
from typing import Any

import pytest
from pyroute2.netlink import CTRL_CMD_GETFAMILY, GENL_ID_CTRL, ctrlmsg

from spekctl.kernel.netlink import (
    HEADER,
    NLM_F_ACK,
    NLM_F_REQUEST,
    NLMSG_ERROR,
    NetlinkSocket,
    Refusal,
)


def get_family(sock: NetlinkSocket, name: str) -> bytes:
    """A request for the number of a family."""
    message = ctrlmsg()
    message["cmd"], message["version"] = CTRL_CMD_GETFAMILY, 1
    message["attrs"] = [["CTRL_ATTR_FAMILY_NAME", name]]
    header = message["header"]
    header["type"], header["flags"] = GENL_ID_CTRL, NLM_F_REQUEST | NLM_F_ACK
    header["sequence_number"], header["pid"] = sock.next_sequence(), 0
    message.encode()
    return bytes(message.data)


def test_the_kernel_answers() -> None:
    sock = NetlinkSocket()
    frames, interrupted = sock.exchange(get_family(sock, "nlctrl"))
    sock.close()
    answer = ctrlmsg(frames[0].data)
    answer.decode()
    assert (len(frames), interrupted) == (1, False)
    assert answer.get_attr("CTRL_ATTR_FAMILY_ID") == GENL_ID_CTRL


def test_the_kernel_refuses() -> None:
    sock = NetlinkSocket()
    with pytest.raises(Refusal) as caught:
        sock.exchange(get_family(sock, "no such family"))
    assert caught.value.code == errno.ENOENT
    # The socket is as good as before.
    assert sock.exchange(get_family(sock, "nlctrl"))[0]
    sock.close()


class Received:
    """A socket into which messages have come, each with its sender's port and flags."""

    def __init__(self, *messages: tuple[bytes, int, int]) -> None:
        self._messages = list(messages)

    def sendmsg(self, parts: Sequence[bytes]) -> int:
        return sum(map(len, parts))

    def recvmsg(self, room: int) -> tuple[bytes, list[Any], int, tuple[int, int]]:
        data, port, flags = self._messages.pop(0)
        return data, [], flags, (port, 0)


def with_received(*messages: tuple[bytes, int, int]) -> NetlinkSocket:
    sock = NetlinkSocket()
    sock.close()
    sock._socket = Received(*messages)  # type: ignore[assignment]
    return sock


def acknowledgement(code: int, sequence: int = 1) -> bytes:
    body = code.to_bytes(4, "little", signed=True) + bytes(HEADER.size)
    return HEADER.pack(HEADER.size + len(body), NLMSG_ERROR, 0, sequence, 0) + body


REQUEST = HEADER.pack(HEADER.size, 0x1F, NLM_F_REQUEST | NLM_F_ACK, 1, 0)


def test_other_processes_answer_nothing() -> None:
    sock = with_received((acknowledgement(-errno.EPERM), 4711, 0), (acknowledgement(0), 0, 0))
    assert sock.exchange(REQUEST) == ([], False)


@pytest.mark.parametrize("length", [0, HEADER.size - 1, HEADER.size + 1])
def test_a_message_of_an_impossible_length_is_an_error(length: int) -> None:
    sock = with_received((HEADER.pack(length, 0x1F, 0, 1, 0), 0, 0))
    with pytest.raises(OSError) as caught:
        sock.exchange(REQUEST)
    assert caught.value.errno == errno.EBADMSG


def test_a_message_that_was_cut_is_an_error() -> None:
    sock = with_received((acknowledgement(0), 0, socket.MSG_TRUNC))
    with pytest.raises(OSError) as caught:
        sock.exchange(REQUEST)
    assert caught.value.errno == errno.EMSGSIZE
