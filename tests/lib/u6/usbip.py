# SPDX-License-Identifier: GPL-2.0
"""Plugs an emulated U6 into a real USB stack: USB/IP, spoken to the kernel's vhci_hcd.

The kernel's end of a socket pair is handed to vhci_hcd, which takes it for a remote host with a
device: it enumerates the device and sends it URBs. A thread answers them. What is tested above that
is all real: hub, descriptors, usbfs, libusb.
"""

from __future__ import annotations

import contextlib
import errno
import os
import select
import socket
import struct
import threading
import time
from collections import deque
from dataclasses import dataclass, field
from pathlib import Path

from lib.u6.device import Device
from lib.u6.wire import PRODUCT, REPLY, STREAM, VENDOR
from lib.waiting import LONG_S

VHCI = Path("/sys/devices/platform/vhci_hcd.0")
DEVICES = Path("/sys/bus/usb/devices")
FREE_PORT, USED_PORT = 4, 6  # of vhci's status
FULL_SPEED = 2
DEVICE_ID = 0x10002
PACKET = 64
BASIC, SUBMIT, UNLINK = struct.Struct(">5I"), struct.Struct(">IiiIi8s"), struct.Struct(">I24x")
CMD_SUBMIT, CMD_UNLINK, RET_SUBMIT, RET_UNLINK = 1, 2, 3, 4
HEADER_BYTES = 48
PACKETS_AT_ONCE = 64  # on a slow machine there is always one more
WAIT_S = LONG_S

# ---- descriptors ----

STRINGS = ["LabJack Corporation", "LabJack U6"]
DEVICE_DESCRIPTOR = struct.pack(
    "<BBHBBBBHHHBBBB", 18, 1, 0x0110, 0xFF, 0, 0, PACKET, VENDOR, PRODUCT, 0x0100, 1, 2, 0, 1
)


def config_descriptor() -> bytes:
    """One configuration, one interface, three bulk endpoints."""
    endpoints = b"".join(
        struct.pack("<BBBBHB", 7, 5, address, 2, PACKET, 0) for address in (0x01, REPLY, STREAM)
    )
    interface = struct.pack("<9B", 9, 4, 0, 0, 3, 0xFF, 0, 0, 0)
    total = 9 + len(interface) + len(endpoints)
    return struct.pack("<BBHBBBBB", 9, 2, total, 1, 1, 0, 0x80, 250) + interface + endpoints


def string_descriptor(index: int) -> bytes:
    """The languages (0) or a string."""
    body = struct.pack("<H", 0x0409) if index == 0 else STRINGS[index - 1].encode("utf-16-le")
    return bytes([2 + len(body), 3]) + body


def control(setup: bytes) -> bytes | None:
    """A control request to the device. Return: what it sends back, None if it stalls."""
    request_type, request, value, _, length = struct.unpack("<BBHHH", setup)
    if request_type & 0x80 == 0:
        return b"" if request in (1, 9, 11) else None  # clear feature, configuration, interface
    if request == 0:
        return b"\0\0"[:length]  # status
    if request != 6:
        return None
    kind, index = value >> 8, value & 255
    if kind == 1:
        return DEVICE_DESCRIPTOR[:length]
    if kind == 2 and index == 0:
        return config_descriptor()[:length]
    if kind == 3 and index <= len(STRINGS):
        return string_descriptor(index)[:length]
    return None


# ---- the protocol ----


@dataclass
class Urb:
    """An IN transfer that waits for data."""

    number: int
    length: int
    data: bytearray = field(default_factory=bytearray)

    def is_full(self, last: bytes) -> bool:
        """A short packet ends a transfer, and so does its length."""
        return len(last) < PACKET or len(self.data) >= self.length


class Server:
    """Answers the URBs that come over a socket, until that is closed."""

    def __init__(self, device: Device, link: socket.socket) -> None:
        self.device = device
        self.link = link
        self.lock = threading.Lock()  # protects device
        self.replies: deque[bytes] = deque()
        self.waiting: dict[int, deque[Urb]] = {REPLY & 15: deque(), STREAM & 15: deque()}
        self.wake_read, self.wake_write = os.pipe()
        self.failure: BaseException | None = None
        self.thread = threading.Thread(target=self._run, daemon=True)
        self.thread.start()

    def close(self) -> None:
        """Unplug: the kernel sees its link die."""
        with contextlib.suppress(OSError):
            self.link.shutdown(socket.SHUT_RDWR)
        os.write(self.wake_write, b"x")
        self.thread.join(WAIT_S)
        self.link.close()
        os.close(self.wake_read)
        os.close(self.wake_write)
        if self.failure:
            raise self.failure

    def poke(self) -> None:
        """The device was changed: read it again."""
        os.write(self.wake_write, b"p")

    def _run(self) -> None:
        try:
            while self._step():
                pass
        except (ConnectionError, EOFError):
            pass
        except BaseException as failure:  # for close(): a thread's own is lost
            self.failure = failure

    def _step(self) -> bool:
        link = self.link.fileno()
        readable, _, _ = select.select([link, self.wake_read], [], [], self._timeout_s())
        if self.wake_read in readable and os.read(self.wake_read, 1) == b"x":
            return False
        # All that is asked before anything is answered: requests are cheap, packets are not.
        while link in readable:
            self._request()
            readable, _, _ = select.select([link], [], [], 0)
        with self.lock:
            self._answer_replies()
            self._answer_stream()
        return True

    def _timeout_s(self) -> float | None:
        if not self.waiting[STREAM & 15]:
            return None
        with self.lock:
            at = self.device.next_ns()
        return None if at is None else max(at - time.monotonic_ns(), 0) / 1e9

    def _read(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            part = self.link.recv(length - len(data))
            if not part:
                raise EOFError
            data += part
        return bytes(data)

    def _request(self) -> None:
        header = self._read(HEADER_BYTES)
        command, number, _, direction, endpoint = BASIC.unpack_from(header)
        if command == CMD_UNLINK:
            self._unlink(number, UNLINK.unpack_from(header, BASIC.size)[0])
            return
        assert command == CMD_SUBMIT, f"not a request of USB/IP: {header.hex()}"
        _, length, _, _, _, setup = SUBMIT.unpack_from(header, BASIC.size)
        data = self._read(length) if direction == 0 else b""
        if endpoint == 0:
            answer = control(setup)
            if answer is None:
                self._done(number, -errno.EPIPE, 0)
            else:
                self._done(number, 0, length if direction == 0 else len(answer), answer)
        elif direction == 0:
            with self.lock:
                reply = self.device.command(data, time.monotonic_ns())
            if reply:
                self.replies.append(reply)
            self._done(number, 0, length)
        else:
            self.waiting[endpoint].append(Urb(number, length))

    def _done(self, number: int, status: int, length: int, data: bytes = b"") -> None:
        head = BASIC.pack(RET_SUBMIT, number, 0, 0, 0)
        body = SUBMIT.pack(status & 0xFFFFFFFF, length, 0, 0, 0, bytes(8))
        self.link.sendall(head + body + data)

    def _unlink(self, number: int, target: int) -> None:
        status = 0  # it was answered already
        for urbs in self.waiting.values():
            for urb in [urb for urb in urbs if urb.number == target]:
                urbs.remove(urb)
                status = -errno.ECONNRESET
        head = BASIC.pack(RET_UNLINK, number, 0, 0, 0)
        self.link.sendall(head + struct.pack(">i24x", status))

    def _answer_replies(self) -> None:
        urbs = self.waiting[REPLY & 15]
        while urbs and self.replies:
            reply = self.replies.popleft()
            self._done(urbs.popleft().number, 0, len(reply), reply)

    def _answer_stream(self) -> None:
        urbs = self.waiting[STREAM & 15]
        for _ in range(PACKETS_AT_ONCE):
            if not urbs:
                return
            packet = self.device.packet(time.monotonic_ns())
            if packet is None:
                return
            urbs[0].data += packet
            if urbs[0].is_full(packet):
                urb = urbs.popleft()
                self._done(urb.number, 0, len(urb.data), bytes(urb.data))


# ---- plugging ----


def port_states() -> dict[int, int]:
    """State of each of vhci's ports."""
    rows = [line.split() for line in (VHCI / "status").read_text().splitlines()[1:]]
    return {int(row[1]): int(row[2]) for row in rows if row[0] == "hs"}


def until(condition: object, failure: str) -> None:
    """Wait for something; AssertionError after a minute."""
    assert callable(condition)
    end = time.monotonic() + WAIT_S
    while not condition():
        assert time.monotonic() < end, failure
        time.sleep(0.02)


def nodes() -> list[Path]:
    """Device nodes of all U6 that the kernel knows."""
    paths = []
    for device in DEVICES.glob("[0-9]*-*"):
        with contextlib.suppress(OSError):
            ids = [int((device / f"id{what}").read_text(), 16) for what in ("Vendor", "Product")]
            if ids == [VENDOR, PRODUCT]:
                bus, address = ((device / n).read_text().strip() for n in ("busnum", "devnum"))
                paths.append(Path(f"/dev/bus/usb/{int(bus):03}/{int(address):03}"))
    return paths


class Plug:
    """An emulated U6 that can be plugged in and out."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self.server: Server | None = None
        self.port = -1

    def __enter__(self) -> Plug:
        self.plug()
        return self

    def __exit__(self, *_: object) -> None:
        if self.server:
            self.unplug()

    def plug(self) -> None:
        """Plug it in; returns when its device node is there."""
        free = [port for port, state in port_states().items() if state == FREE_PORT]
        assert free, "no port of vhci_hcd is free"
        before = set(nodes())
        ours, kernels = socket.socketpair(socket.AF_UNIX, socket.SOCK_STREAM)
        self.port = free[0]
        with kernels:
            # what was in its memory goes with the power
            self.device.stream = None
            line = f"{self.port} {kernels.fileno()} {DEVICE_ID} {FULL_SPEED}"
            (VHCI / "attach").write_text(line)
        self.server = Server(self.device, ours)
        until(lambda: any(n.exists() for n in set(nodes()) - before), "the U6 is not enumerated")

    def unplug(self) -> None:
        """Pull it out; returns when the kernel knows."""
        assert self.server
        before = len(nodes())
        server, self.server = self.server, None
        server.close()
        until(lambda: port_states()[self.port] == FREE_PORT, "the U6's port stays in use")
        until(lambda: len(nodes()) < before, "the U6 stays known")

    def now(self, action: object) -> None:
        """Do something to the device while it is plugged in."""
        assert self.server and callable(action)
        with self.server.lock:
            action(self.device)
        self.server.poke()
