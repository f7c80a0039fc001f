# SPDX-License-Identifier: GPL-2.0
"""The kernel announces every netlink socket of the machine that is closed. Those that own no run
take no lock of spek."""

from __future__ import annotations

import socket

import pytest
from lib.guest.calls import stacks_of
from lib.guest.netlink import is_gone, new
from lib.guest.netlink_raw import Socket
from lib.waiting import comes_true

from spekctl.kernel.gen import spek

pytestmark = pytest.mark.any_kernel

NETLINK_GENERIC = 16
UNRELATED = 100


def close_sockets() -> int:
    """Open and close sockets of generic netlink. Return: how often runs were gone through."""
    sockets = []
    for _ in range(UNRELATED):
        sock = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, NETLINK_GENERIC)
        sock.bind((0, 0))
        sockets.append(sock)
    with stacks_of("spek_run_owner_gone") as calls:
        for sock in sockets:
            sock.close()
    return len(calls)


def test_sockets_that_own_nothing_are_none_of_our_business(nl: Socket, disks: list[str]) -> None:
    assert close_sockets() == 0
    owner = Socket(spek)
    run = new(owner, disks[0])
    # One of 64 counters is not zero.
    assert close_sockets() < UNRELATED // 4
    with stacks_of("spek_run_owner_gone") as calls:
        owner.close()
    assert len(calls) == 1
    assert comes_true(lambda: is_gone(nl, run))
    assert close_sockets() == 0
