# SPDX-License-Identifier: GPL-2.0
"""Who may speak with the spek family: root in the initial namespaces, and nobody else."""

from __future__ import annotations

import errno
import os
import subprocess
import sys

import pytest
from lib.guest_netlink import BY_ID, DUMPS, config
from lib.netlink_raw import NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST, Refusal, Socket

from spekctl.gen import spek
from spekctl.gen.spek import Cmd

# Sends requests as they are and prints errno and sentence of each ack, or joins a group. All
# in one process and without imports: a start of Python takes seconds in a guest.
SENDER = r"""
import socket, struct, sys
s = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW, 16)
s.bind((0, 0)); s.settimeout(20); s.setsockopt(270, 11, 1); s.setsockopt(270, 10, 1)
if sys.argv[1] == "join":
    try:
        s.setsockopt(270, 1, int(sys.argv[2])); print(0)
    except OSError as error:
        print(error.errno)
    sys.exit()
for request in sys.argv[1:]:
    s.send(bytes.fromhex(request))
    data = s.recv(65536)
    kind, flags = struct.unpack_from("=HH", data, 4)
    code = struct.unpack_from("=i", data, 16)[0]
    text = data[40 if kind == 2 else 24:].split(b"\0")[0] if flags & 0x200 else b""
    print(-code, text.decode(errors="replace"))
"""

NO_RIGHTS = "This needs CAP_SYS_ADMIN in the initial user namespace: be root."
NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
NET_ADMIN = [*NOBODY, "--inh-caps=+net_admin", "--ambient-caps=+net_admin"]
SYS_ADMIN = [*NOBODY, "--inh-caps=+sys_admin", "--ambient-caps=+sys_admin"]
OTHER_USER_NS = ["unshare", "--user", "--map-root-user"]
OTHER_NET_NS = ["unshare", "--net"]


def run_as(prefix: list[str], *arguments: str) -> list[tuple[int, str]]:
    """Errno and sentence for each argument."""
    done = subprocess.run(
        [*prefix, sys.executable, "-S", "-E", "-c", SENDER, *arguments],
        capture_output=True,
        text=True,
        check=True,
        cwd="/",
    )
    lines = [line.partition(" ") for line in done.stdout.splitlines()]
    return [(int(code), text) for code, _, text in lines]


def send_as(prefix: list[str], request: bytes) -> tuple[int, str]:
    (answer,) = run_as(prefix, request.hex())
    return answer


def join_as(prefix: list[str], group: int) -> int:
    ((code, _text),) = run_as(prefix, "join", str(group))
    return code


def requests(nl: Socket, node: str) -> dict[str, bytes]:
    """One well-formed request of each kind."""
    do, dump = NLM_F_REQUEST | NLM_F_ACK, NLM_F_REQUEST | NLM_F_DUMP
    found = {"run-new": nl.request_bytes(Cmd.RUN_NEW, config(node), do)}
    found |= {cmd.name: nl.request_bytes(cmd, {"id": 1}, do) for cmd in BY_ID}
    found |= {f"{cmd.name} dump": nl.request_bytes(cmd, {"run": 1}, dump) for cmd in DUMPS}
    return {**found, "RUN_GET dump": nl.request_bytes(Cmd.RUN_GET, {}, dump)}


@pytest.mark.parametrize(
    "prefix",
    [NOBODY, NET_ADMIN, OTHER_USER_NS],
    ids=["ordinary user", "only CAP_NET_ADMIN", "root of another user namespace"],
)
def test_nothing_is_allowed_without_the_right(
    nl: Socket, disks: list[str], prefix: list[str]
) -> None:
    wanted = requests(nl, disks[0])

    answers = run_as(prefix, *(request.hex() for request in wanted.values()))

    expected = dict.fromkeys(wanted, (errno.EPERM, NO_RIGHTS))
    assert dict(zip(wanted, answers, strict=True)) == expected


def test_cap_sys_admin_is_enough(nl: Socket) -> None:
    request = nl.request_bytes(Cmd.RUN_GET, {"id": 12345}, NLM_F_REQUEST | NLM_F_ACK)

    assert send_as(SYS_ADMIN, request) == (
        errno.ENOENT,
        "There is no run with this number.",
    )


def test_a_socket_of_root_in_the_hands_of_another_has_no_right(nl: Socket) -> None:
    """The right is the sender's as well as the opener's."""
    reader, writer = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.setresgid(65534, 65534, 65534)
            os.setresuid(65534, 65534, 65534)
            nl.ask(Cmd.RUN_GET, id=1)
        except Refusal as no:
            os.write(writer, str(no.errno).encode())
        finally:
            os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        assert pipe.read() == str(errno.EPERM)
    os.waitpid(child, 0)


def test_the_family_is_not_in_other_network_namespaces(nl: Socket) -> None:
    request = nl.request_bytes(Cmd.RUN_GET, {"id": 1}, NLM_F_REQUEST | NLM_F_ACK)

    assert send_as(OTHER_NET_NS, request)[0] == errno.ENOENT


def test_news_need_the_right_too(nl: Socket) -> None:
    """Both stock kernels can restrict a group; compat has no other way than to ask them."""
    group = nl.groups[spek.GROUP_RUNS]

    assert join_as(NOBODY, group) == errno.EPERM
    assert join_as(NET_ADMIN, group) == errno.EPERM
    assert join_as([], group) == 0
