# SPDX-License-Identifier: GPL-2.0
"""Access to the families: only root in the initial namespaces.

The commands are those of the specs. Requests are empty: whoever has the right gets another
answer to them than whoever has not, and a new command is under test from its first day.
"""

from __future__ import annotations

import contextlib
import errno
import functools
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import yaml
from lib.guest.netlink import SECOND, new
from lib.guest.netlink_raw import Refusal, Socket

from spekctl.kernel.gen import spek, spek_prober
from spekctl.kernel.gen.spek import Cmd
from spekctl.kernel.netlink import NLM_F_ACK, NLM_F_DUMP, NLM_F_REQUEST

pytestmark = [pytest.mark.any_kernel, pytest.mark.debug_kernel_at_length]

ROOT = Path(__file__).resolve().parents[2]
SPECS: dict[str, tuple[Path, ModuleType]] = {
    "spek": (ROOT / "kmod/load/uapi/spek.yaml", spek),
    "spek_prober": (ROOT / "prober/uapi/spek_prober.yaml", spek_prober),
}
# Commands that need no right, each with the document that says so: there are none.
OPEN_TO_ALL: frozenset[tuple[str, str]] = frozenset()

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
def answers():
    while True:
        data = s.recv(65536)
        while data:
            length, kind, flags = struct.unpack_from("=IHH", data)
            yield kind, flags, data[:length]
            data = data[(length + 3) & ~3:]
for request in sys.argv[1:]:
    s.send(bytes.fromhex(request))
    for kind, flags, message in answers():
        if kind in (2, 3):  # error or done: the end of an answer
            break
    code = struct.unpack_from("=i", message, 16)[0]
    text = message[40 if kind == 2 else 24:].split(b"\0")[0] if flags & 0x200 else b""
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


@functools.cache
def operations(family: str) -> list[dict[str, Any]]:
    """What the spec lists; once, as reading it takes seconds in a guest."""
    text = SPECS[family][0].read_text()
    listed: list[dict[str, Any]] = yaml.safe_load(text[text.index("\noperations:") :])[
        "operations"
    ]["list"]
    return listed


def commands(family: str) -> list[tuple[str, str, int]]:
    """(name, do or dump, number) of everything that can be asked for."""
    _path, generated = SPECS[family]
    rows: list[tuple[str, str, int]] = []
    for operation in operations(family):
        number = int(generated.Cmd[operation["name"].upper().replace("-", "_")])
        rows += [(operation["name"], way, number) for way in ("do", "dump") if way in operation]
    return rows


@contextlib.contextmanager
def family(name: str, prober_module: Path) -> Iterator[tuple[Socket, dict[str, bytes]]]:
    """A socket, and an empty request for each command."""
    flags = {"do": NLM_F_REQUEST | NLM_F_ACK, "dump": NLM_F_REQUEST | NLM_F_DUMP}
    with Socket(SPECS[name][1]) as sock:
        yield (
            sock,
            {
                f"{command} {way}": sock.request_bytes(number, {}, flags[way])
                for command, way, number in commands(name)
                if (name, command) not in OPEN_TO_ALL
            },
        )


def test_specs_and_families_have_the_same_commands() -> None:
    """The tests below cover all operations."""
    for name, (_path, generated) in SPECS.items():
        listed = operations(name)
        names = {operation["name"].upper().replace("-", "_") for operation in listed}
        assert names == {member.name for member in generated.Cmd}
        asked = {number for _name, _way, number in commands(name)}
        news = {generated.Cmd[operation["name"].upper().replace("-", "_")] for operation in listed
                if "notify" in operation}  # fmt: skip
        assert asked | news == set(generated.Cmd)


@pytest.mark.parametrize("name", SPECS)
@pytest.mark.parametrize(
    "prefix",
    [NOBODY, NET_ADMIN, OTHER_USER_NS],
    ids=["ordinary user", "only CAP_NET_ADMIN", "root of another user namespace"],
)
def test_nothing_is_allowed_without_the_right(
    nl: Socket, prober_module: Path, name: str, prefix: list[str]
) -> None:
    with family(name, prober_module) as (_sock, wanted):
        answers = run_as(prefix, *(request.hex() for request in wanted.values()))

    expected = dict.fromkeys(wanted, (errno.EPERM, NO_RIGHTS))
    assert dict(zip(wanted, answers, strict=True)) == expected


@pytest.mark.parametrize("name", SPECS)
def test_with_the_right_the_answer_is_another(nl: Socket, prober_module: Path, name: str) -> None:
    """Or the refusals above would prove nothing."""
    with family(name, prober_module) as (_sock, wanted):
        answers = run_as(SYS_ADMIN, *(request.hex() for request in wanted.values()))

    assert errno.EPERM not in {code for code, _text in answers}, answers


@pytest.mark.parametrize("name", SPECS)
def test_the_families_are_not_in_other_network_namespaces(
    nl: Socket, prober_module: Path, name: str
) -> None:
    with family(name, prober_module) as (_sock, wanted):
        answers = run_as(OTHER_NET_NS, *(request.hex() for request in wanted.values()))

    assert {code for code, _text in answers} == {errno.ENOENT}


@pytest.mark.parametrize(
    "prefix",
    [NOBODY, NET_ADMIN, SYS_ADMIN, OTHER_USER_NS],
    ids=["ordinary user", "only CAP_NET_ADMIN", "only CAP_SYS_ADMIN", "other user namespace"],
)
def test_logs_are_for_root_to_read(nl: Socket, disks: list[str], prefix: list[str]) -> None:
    """Also where everybody may look into debugfs, and not for root's number without its rights: the
    root of a user namespace that root has made is uid 0 for the files."""
    run = new(nl, disks[0], log_records=1024, time_ns=SECOND)
    mount = Path("/sys/kernel/debug")
    usual = mount.stat().st_mode & 0o777
    mount.chmod(0o755)
    try:
        log = mount / nl.ask(Cmd.RUN_GET, id=run).values[0]["log_dir"] / "worker0"
        assert log.stat().st_mode & 0o777 == 0o400
        read = [*prefix, "cat", str(log)]
        done = subprocess.run(read, capture_output=True, text=True, check=False, cwd="/")
    finally:
        mount.chmod(usual)
    assert done.returncode != 0
    assert done.stderr.rstrip().endswith(("Permission denied", "Operation not permitted"))


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


@pytest.mark.parametrize("name", SPECS)
def test_news_need_the_right_too(nl: Socket, prober_module: Path, name: str) -> None:
    """Both stock kernels can restrict a group; compat has no other way than to ask them."""
    with Socket(SPECS[name][1]) as sock:
        for group in sock.groups.values():
            assert join_as(NOBODY, group) == errno.EPERM
            assert join_as(NET_ADMIN, group) == errno.EPERM
            assert join_as([], group) == 0
