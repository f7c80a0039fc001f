# SPDX-License-Identifier: GPL-2.0
"""Which namespaces this process is in, and what a container has to be started with."""

from __future__ import annotations

import errno
import subprocess
import sys
from pathlib import Path

import pytest

from spekctl import namespaces
from spekctl.block import device
from spekctl.block.device import Roots
from spekctl.errors import UsageError
from spekctl.kernel import link
from spekctl.namespaces import Namespaces

INITIAL = {
    "pid": namespaces.PID_INIT,
    "user": namespaces.USER_INIT,
    "ipc": namespaces.IPC_INIT,
}
OWN_IPC = {"ipc": 4026532244}
CONTAINERS = {
    "the machine itself": ({}, True, Namespaces(False, False, False, False)),
    "docker": ({"pid": 4026532246, **OWN_IPC}, False, Namespaces(True, True, False, True)),
    "docker --network host --pid host": (
        OWN_IPC, True, Namespaces(False, False, False, True),
    ),
    "rootless podman": (
        {"pid": 4026532246, "user": 4026532178, **OWN_IPC}, False,
        Namespaces(True, True, True, True),
    ),
    "ip netns exec": ({}, False, Namespaces(True, False, False, True)),
}  # fmt: skip


def build(root: Path, links: dict[str, int], *, initial_network: bool) -> None:
    (root / "proc/self/ns").mkdir(parents=True)
    for kind, number in {**INITIAL, **links}.items():
        (root / "proc/self/ns" / kind).symlink_to(f"{kind}:[{number}]")
    (root / namespaces.NET_SETTINGS).mkdir(parents=True)
    (root / namespaces.NET_SETTINGS / "somaxconn").touch()
    if initial_network:
        (root / namespaces.NET_INIT_ONLY).touch()


@pytest.mark.parametrize("name", CONTAINERS)
def test_a_container_is_recognized(name: str, tmp_path: Path) -> None:
    links, initial_network, expected = CONTAINERS[name]
    build(tmp_path, links, initial_network=initial_network)
    assert namespaces.around(tmp_path) == expected


def test_without_proc_nothing_is_claimed(tmp_path: Path) -> None:
    assert namespaces.around(tmp_path) == Namespaces(False, False, False, False)


CODE = "from spekctl import namespaces; print(namespaces.around())"
UNSHARE = ["unshare", "--user", "--map-root-user"]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--net"], "network=True, pid=False, user=True"),
        (["--pid", "--fork", "--mount-proc"], "pid=True, user=True"),
    ],
)
def test_the_kernel_shows_its_namespaces_so(words: list[str], expected: str) -> None:
    if subprocess.run([*UNSHARE, *words, "true"], capture_output=True, check=False).returncode:
        pytest.skip("this machine lets nobody make namespaces")
    command = [*UNSHARE, *words, sys.executable, "-c", CODE]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert expected in done.stdout


def test_a_loaded_module_that_does_not_answer_is_in_another_network(tmp_path: Path) -> None:
    build(tmp_path, {}, initial_network=False)
    assert link.not_loaded("spek", tmp_path) == (
        "the kernel module spek is not loaded; as root: modprobe spek (or insmod spek.ko); and this"
        " process is in another network namespace than the initial one, which alone has it: "
        + namespaces.NETWORK_REMEDY
    )
    (tmp_path / "sys/module/spek").mkdir(parents=True)
    text = link.not_loaded("spek", tmp_path)
    assert text.startswith("the kernel module spek is loaded, but answers in the initial network")
    assert "--network host" in text
    (tmp_path / namespaces.NET_INIT_ONLY).touch()
    assert "is not loaded" in link.not_loaded("spek", tmp_path)


@pytest.mark.parametrize(
    ("links", "option"),
    [(OWN_IPC, "--cap-add SYS_ADMIN"), ({"user": 4026532178}, "start the container as root")],
)
def test_a_refusal_for_want_of_rights_names_the_option(
    links: dict[str, int], option: str, tmp_path: Path
) -> None:
    (tmp_path / "bare").mkdir()
    build(tmp_path, links, initial_network=True)
    # Generic netlink's, and the module's own.
    for text in ("Operation not permitted", "This needs CAP_SYS_ADMIN: be root."):
        alone = link._refusal(errno.EPERM, text, "run-new", tmp_path / "bare").message
        assert "CAP_SYS_ADMIN" in alone and "container" not in alone
        inside = link._refusal(errno.EPERM, text, "run-new", tmp_path).message
        assert inside.startswith(f"{alone}; ") and option in inside


def test_a_disk_without_a_node_is_told_from_one_that_is_not_there(tmp_path: Path) -> None:
    (tmp_path / "sys/class/block/sdb").mkdir(parents=True)
    roots = Roots(tmp_path / "sys", tmp_path / "proc", tmp_path / "dev", tmp_path / "udev")
    node = str(tmp_path / "dev/sdb")
    with pytest.raises(UsageError) as refusal:
        device.find(node, roots, tmp_path)
    text = (
        f"there is no device {node}: the kernel has the disk sdb, but this {roots.dev} has no node"
        " of it"
    )
    assert refusal.value.message == text
    build(tmp_path, {}, initial_network=False)
    with pytest.raises(UsageError) as refusal:
        device.find(node, roots, tmp_path)
    assert refusal.value.message == f"{text}; {namespaces.device_remedy(node)}"
    assert f"--device {node}" in refusal.value.message
