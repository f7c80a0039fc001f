# SPDX-License-Identifier: GPL-2.0-or-later
"""A network of guests, without rights: Unix sockets between their QEMUs.

Guest 1 has a hub, and listens at a socket for each other guest; these connect to it. All sockets,
and a lock for each number that is in use, are in one directory, which is the network's identity.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import uuid
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spekctl.errors import GuestError, UsageError
from spekctl.suggest import did_you_mean

PORTS_MAX = 16
PORTS = 3
PATH_MAX = 107  # bytes of a Unix socket's name
OPTIONS = ("number", "ports", "host")
NET, UPLINK = "10.99.0", "10.99.1"  # the first three bytes of addresses
HOST = f"{UPLINK}.2"
# Identifiers are made of this and the guest's number: equal at each boot.
FAMILY = uuid.UUID("6d0c5a3e-4c0f-4b6e-9b0a-8c1c1f6a7d52")

HELP = f"""Network with the other guests that name the same directory DIR, for its sockets. Options:
number=N, of this guest; guest 1, the default, has the hub: it starts first, and takes up to ports=K
others (2 to K+1; default {PORTS}, at most {PORTS_MAX}). host=on: a second card, by which the guest
reaches what listens on the host's 127.0.0.1, as {HOST}. Guest N is spekN, {NET}.N, and has
its own iSCSI initiator name and NVMe host NQN, in the files of open-iscsi and nvme-cli where these
are installed, and as SPEK_INITIATOR, SPEK_HOSTNQN and SPEK_HOSTID. When guest 1 ends, the network
of the others is gone."""


@dataclass(frozen=True, slots=True)
class Net:
    """A guest's place in a network.

    @ports: other guests that the hub takes; 0 - this guest has no hub
    @host: whether it also reaches the host
    """

    folder: Path
    number: int = 1
    ports: int = 0
    host: bool = False

    @property
    def host_id(self) -> str:
        return str(uuid.uuid5(FAMILY, str(self.number)))

    @property
    def host_nqn(self) -> str:
        return f"nqn.2014-08.org.nvmexpress:uuid:{self.host_id}"

    @property
    def initiator(self) -> str:
        return f"iqn.2026-01.spek.guest:{name(self.number)}"

    def socket(self, number: int) -> Path:
        """Where guest 1 waits for guest @number."""
        return self.folder / f"{number}.sock"

    def cards(self) -> list[dict[str, str]]:
        """MAC and address of each card."""
        cards = [{"mac": mac(0, self.number), "address": f"{address(self.number)}/24"}]
        if self.host:
            cards.append({"mac": mac(1, self.number), "address": f"{UPLINK}.15/24"})
        return cards

    def environment(self) -> dict[str, str]:
        """What the command in the guest is told."""
        return {
            "SPEK_INITIATOR": self.initiator,
            "SPEK_HOSTNQN": self.host_nqn,
            "SPEK_HOSTID": self.host_id,
        }

    def plan(self) -> dict[str, Any]:
        """Data that the guest needs to join."""
        hosts = [f"{address(number)} {name(number)}" for number in range(1, PORTS_MAX + 2)]
        hosts = ["127.0.0.1 localhost", *hosts, *([f"{HOST} spek-host"] if self.host else [])]
        return {
            "name": name(self.number),
            "cards": self.cards(),
            "hosts": "".join(f"{line}\n" for line in hosts),
            "folders": {
                "/etc/iscsi": {"initiatorname.iscsi": f"InitiatorName={self.initiator}"},
                "/etc/nvme": {"hostnqn": self.host_nqn, "hostid": self.host_id},
            },
        }

    def qemu_arguments(self) -> list[str]:
        """QEMU's part."""
        if self.ports:
            arguments = ["-netdev", "hubport,id=speknet,hubid=0"]
            for number in range(2, self.ports + 2):
                peer = f"spekpeer{number}"
                arguments += ["-netdev", self._stream(peer, number, "on")]
                arguments += ["-netdev", f"hubport,id=spekport{number},hubid=0,netdev={peer}"]
        else:
            arguments = ["-netdev", self._stream("speknet", self.number, "off")]
        devices = ["speknet"]
        if self.host:
            arguments += ["-netdev", f"user,id=spekhost,net={UPLINK}.0/24,host={HOST},ipv6=off"]
            devices.append("spekhost")
        for device, card in zip(devices, self.cards(), strict=True):
            # Nobody boots from it.
            option = f"virtio-net-pci,netdev={device},mac={card['mac']},romfile="
            arguments += ["-device", option]
        return arguments

    def _stream(self, identity: str, number: int, server: str) -> str:
        path = self.socket(number)
        return f"stream,id={identity},server={server},addr.type=unix,addr.path={path}"

    @contextlib.contextmanager
    def joined(self) -> Iterator[None]:
        """Hold the number, and have the hub's sockets removed in the end, as QEMU is killed."""
        lock = _lock(self.folder, self.number)
        if lock is None:
            raise GuestError(f"guest {self.number} of the network {self.folder} runs already")
        try:
            if not self.ports:
                self._check_hub()
            yield
        finally:
            for number in range(2, self.ports + 2):
                self.socket(number).unlink(missing_ok=True)
            _lock_file(self.folder, self.number).unlink(missing_ok=True)
            os.close(lock)

    def _check_hub(self) -> None:
        """Refuse a guest that would be alone."""
        hub = _lock(self.folder, 1)
        if hub is not None:
            _lock_file(self.folder, 1).unlink(missing_ok=True)
            os.close(hub)
            raise GuestError(f"guest 1 of the network {self.folder} does not run; it is the hub")
        if not self.socket(self.number).exists():
            raise GuestError(
                f"guest 1 of the network {self.folder} does not wait for guest {self.number}: "
                "it has not started yet, or has too few ports"
            )


def name(number: int) -> str:
    """Host name of a guest."""
    return f"spek{number}"


def address(number: int) -> str:
    """Address of a guest."""
    return f"{NET}.{number}"


def mac(card: int, number: int) -> str:
    """MAC of a guest's card, in QEMU's range."""
    return f"52:54:00:63:{card:02x}:{number:02x}"


def parse_net(text: str) -> Net:
    """`/tmp/rig,number=2,host=on` as a Net."""
    place, *pairs = text.split(",")
    if not place:
        raise UsageError("--net needs a directory first: --net /tmp/rig,number=2")
    folder = Path(place).absolute()
    if not folder.is_dir():
        raise UsageError(f"the directory {place} of the network does not exist")
    if len(os.fsencode(folder / f"{PORTS_MAX + 1}.sock")) > PATH_MAX:
        raise UsageError(f"the name of the network's directory {folder} is too long for sockets")
    if "," in str(folder):
        raise UsageError(f"the name of the network's directory {folder} has a comma")
    values: dict[str, str] = {}
    for pair in pairs:
        option, equals, value = pair.partition("=")
        if option not in OPTIONS:
            raise UsageError(
                f"a network has no option '{option}'{did_you_mean(option, OPTIONS)} "
                f"(options: {', '.join(OPTIONS)})"
            )
        if not equals or not value:
            raise UsageError(f"network option '{pair}' must have the form name=value")
        if option in values:
            raise UsageError(f"the network option {option} is given twice")
        values[option] = value
    number = _number("number", values.get("number", "1"), PORTS_MAX + 1)
    if number > 1 and "ports" in values:
        raise UsageError(f"only guest 1 of a network has ports, not guest {number}")
    ports = _number("ports", values.get("ports", str(PORTS)), PORTS_MAX) if number == 1 else 0
    host = values.get("host", "off")
    if host not in ("on", "off"):
        raise UsageError(f"host={host} is neither on nor off")
    return Net(folder, number, ports, host == "on")


def _number(option: str, value: str, most: int) -> int:
    if not (value.isascii() and value.isdigit() and 1 <= int(value) <= most):
        raise UsageError(f"{option}={value} is not a number from 1 to {most}")
    return int(value)


def _lock_file(folder: Path, number: int) -> Path:
    return folder / f"{number}.lock"


def _lock(folder: Path, number: int) -> int | None:
    """The lock of a number, or None if another process has it."""
    while True:
        try:
            lock = os.open(_lock_file(folder, number), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        except OSError as error:
            raise GuestError(
                f"the directory {folder} of the network cannot be written to: {error.strerror}"
            ) from error
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(lock)
            return None
        # Its last holder may have removed it since.
        if os.fstat(lock).st_nlink:
            return lock
        os.close(lock)
