# SPDX-License-Identifier: GPL-2.0
"""An iSCSI target of the kernel (LIO), by configfs alone, and open-iscsi, its client.

A client is known by its initiator name, and sees as LUN 0 the disk that is its own. What is made
is taken away in the reverse order, which the kernel insists on.
"""

from __future__ import annotations

import contextlib
import subprocess
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path

from fleet.undo import CONFIG, Undo, mount_configfs
from lib.waiting import eventually

ROOT = CONFIG / "target"
TARGET = "iqn.2026-01.spek.guest:rig"
PORT = 3260
SESSIONS = Path("/sys/class/iscsi_session")
NAME = Path("/etc/iscsi/initiatorname.iscsi")
STATE = Path("/run/lock/iscsi")
LISTENS = "@ISCSIADM_ABSTRACT_NAMESPACE"
# By themselves sessions keep the I/Os of a target that is gone for two minutes, and end if a ping
# is not answered within 5 s, which an emulated CPU that many share may not be able to.
SETTINGS = {
    "node.startup": "manual",
    "node.session.timeo.replacement_timeout": "5",
    "node.session.initial_login_retry_max": "1",
    "node.conn[0].timeo.noop_out_timeout": "60",
}
# iscsiadm's exit status: the target does not take this initiator.
NOT_AUTHORIZED = 24
FAMILY = uuid.UUID("8d5b3f0e-2a0c-4d4e-8a55-0c1b1f0f2b11")


def serial(node: str) -> str:
    """Unit serial number of a disk: LIO makes its WWN of it."""
    return str(uuid.uuid5(FAMILY, Path(node).name))


def wwn(node: str) -> str:
    """As spekctl names it: 6001405, which is LIO's, and the first 25 digits of the serial."""
    return f"naa.6001405{serial(node).replace('-', '')[:25]}"


@contextlib.contextmanager
def exported(address: str, disks: Mapping[str, str]) -> Iterator[dict[str, Path]]:
    """Offer disks at @address. @disks: node by initiator name; the directory of its counters by
    node is given."""
    for module in ("target_core_iblock", "iscsi_target_mod"):
        subprocess.run(["modprobe", module], check=True)
    mount_configfs()
    statistics = {}
    with Undo() as undo:
        adapter = undo.mkdir(ROOT / "core" / "iblock_0")
        (ROOT / "iscsi").mkdir(exist_ok=True)
        group = undo.mkdir(undo.mkdir(ROOT / "iscsi" / TARGET) / "tpgt_1")
        for name, value in (
            ("authentication", "0"),
            ("generate_node_acls", "0"),
            ("demo_mode_write_protect", "1"),
        ):
            (group / "attrib" / name).write_text(value)
        undo.mkdir(group / "np" / f"{address}:{PORT}")
        for number, (initiator, node) in enumerate(disks.items()):
            disk = undo.mkdir(adapter / f"disk{number}")
            (disk / "control").write_text(f"udev_path={node}")
            (disk / "wwn/vpd_unit_serial").write_text(serial(node))
            (disk / "enable").write_text("1")
            lun = undo.mkdir(group / "lun" / f"lun_{number}")
            undo.link(lun / "disk", disk)
            host = undo.mkdir(group / "acls" / initiator)
            undo.link(undo.mkdir(host / "lun_0") / "disk", lun)
            statistics[node] = disk / "statistics/scsi_lu"
        (group / "enable").write_text("1")
        undo.callback((group / "enable").write_text, "0")
        yield statistics


def iscsiadm(*words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
    """PermissionError if the target does not take this initiator."""
    done = subprocess.run(["iscsiadm", *words], capture_output=True, text=True, check=False)
    if check and done.returncode:
        failure = PermissionError if done.returncode == NOT_AUTHORIZED else OSError
        raise failure(f"iscsiadm {' '.join(words)}: {done.stderr.strip()}")
    return done


@contextlib.contextmanager
def named(initiator: str) -> Iterator[None]:
    """Be another client meanwhile."""
    before = NAME.read_text()
    NAME.write_text(f"InitiatorName={initiator}\n")
    try:
        yield
    finally:
        NAME.write_text(before)


@contextlib.contextmanager
def initiating() -> Iterator[None]:
    """The daemon that logs in. It takes this guest's initiator name from its file."""
    STATE.mkdir(parents=True, exist_ok=True)
    subprocess.run(["modprobe", "iscsi_tcp"], check=True)
    # It ends with a signal to its group.
    daemon = subprocess.Popen(["iscsid", "-f"], start_new_session=True)
    try:
        eventually(lambda: LISTENS in Path("/proc/net/unix").read_text(), "iscsid does not start")
        yield
    finally:
        iscsiadm("-k", "0", check=False)
        try:
            daemon.wait(30)
        except subprocess.TimeoutExpired:
            daemon.kill()
            daemon.wait()


@contextlib.contextmanager
def logged_in(address: str) -> Iterator[str]:
    """The node of the disk that the target has for this client."""
    node = ("-m", "node", "-T", TARGET, "-p", f"{address}:{PORT}")
    iscsiadm("-m", "discovery", "-t", "sendtargets", "-p", f"{address}:{PORT}")
    for name, value in SETTINGS.items():
        iscsiadm(*node, "-o", "update", "-n", name, "-v", value)
    iscsiadm(*node, "--login")
    try:
        name = eventually(disk_of_session, "the LUN did not come")
        device = Path("/dev", name)
        eventually(device.exists, f"{device} did not appear")
        subprocess.run(["udevadm", "settle"], check=True)
        yield str(device)
    finally:
        iscsiadm(*node, "--logout")
    eventually(lambda: not list(SESSIONS.glob("session*")), "the session did not go")


def disk_of_session() -> str:
    """Name of the disk of the only session; empty if there is none yet."""
    for path in SESSIONS.glob("session*/device/target*/*/block/*"):
        return path.name
    return ""
