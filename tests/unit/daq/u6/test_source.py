"""The u6 source against an emulated device, with a USB that is only a socket, under sanitizers."""

from __future__ import annotations

import contextlib
import re
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest
from lib.u6 import build, energy
from lib.u6.device import Device, constant
from lib.u6.scenarios import *  # noqa: F403
from lib.u6.scenarios import Bench, ramp, samples, verified
from lib.u6.usbip import Plug, Server
from lib.u6.wire import stream_packet


class SocketPlug(Plug):
    """A device that is plugged into a directory."""

    def __init__(self, device: Device, bus: Path) -> None:
        super().__init__(device)
        self.path = bus / f"u6-{device.serial}"
        self.lock = threading.Lock()  # protects server

    def plug(self) -> None:
        self.device.stream = None
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(self.path))
        self.listener.listen()
        self.is_plugged = True
        threading.Thread(target=self._accept, daemon=True).start()

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            while True:
                link, _ = self.listener.accept()
                with self.lock:
                    if not self.is_plugged or (self.server and self.server.thread.is_alive()):
                        link.close()  # in use
                        continue
                    if self.server:
                        self.server.close()
                    link.sendall(b"!")
                    self.server = Server(self.device, link)

    def unplug(self) -> None:
        self.path.unlink()
        with self.lock:
            self.is_plugged = False
            self.listener.shutdown(socket.SHUT_RDWR)
            self.listener.close()
            server, self.server = self.server, None
        if server:
            server.close()

    def __exit__(self, *_: object) -> None:
        if self.is_plugged:
            self.unplug()


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bus = tmp_path / "bus"
    bus.mkdir()
    (bus / "hub").touch()  # not all that is on a bus is a U6
    with Bench(
        lambda device: SocketPlug(device, bus),
        build.fake_reader(),
        build.spek_daq(),
        {"U6_BUS": str(bus)},
        {"LD_PRELOAD": str(build.fake_library())},
    ) as started:
        yield started


def failing(packet: bytes) -> bytes:
    """The device reports that it cannot continue instead."""
    return stream_packet([1] * samples(packet), packet[10], 55)


def test_what_came_before_a_failure_in_the_same_transfer_is_kept(bench: Bench) -> None:
    bench.plug.unplug()
    device = Device([ramp(10 + i, 0.5, 4.5) for i in range(14)])
    channels = [f"AIN{i}" for i in range(14)]
    ended: list[tuple[int, int]] = []

    def fail(packet: bytes) -> bytes:
        ended.append((packet[10], samples(packet)))
        return failing(packet)

    with (
        bench.plugged(device) as plug,
        bench.reading(*channels, interval_ns=280_000) as reader,
    ):
        reader.read(1500)
        # A transfer begins with the next packet, mostly.
        plug.now(lambda u6: (u6.change_next(9, lambda packet: packet), u6.change_next(1, fail)))
        reader.until(lambda r: len(r.sessions) == 2, "the new start")
        sessions = verified(reader, device)
    ((counter, per_packet),) = ended
    count = len(sessions[0].scans)
    # Packets' numbers begin at 0, and again after 255.
    full = [n for n in range(counter, 10**6, 256) if n * per_packet // len(channels) == count]
    assert full, f"{count} scans are not all before packet {counter}"


def test_scans_whose_time_is_never_known_are_counted(bench: Bench, tmp_path: Path) -> None:
    """The clock takes half a second to settle; the stream restarts before that."""
    bench.plug.unplug()
    device = energy.loaded_device()
    device.change_next(9, lambda packet: packet)
    device.change_next(1, failing)
    with bench.plugged(device), bench.measuring(bench.rails(tmp_path)) as daq:
        daq.read(200)
        daq.finish()
    assert len(device.streams) == 2
    scans = 9 * device.streams[0].per_packet // 4
    counted = re.search(r" (\d+) lost", daq.said[-1])
    assert counted
    assert int(counted[1]) == scans * len(energy.RAILS)


def test_a_voltage_at_the_end_of_the_converter_is_said(bench: Bench, tmp_path: Path) -> None:
    """The 12 V rail alone has a measured voltage, of which the converter shows its last step."""
    bench.plug.unplug()
    device = energy.loaded_device()
    device.signals = [*device.signals[:3], constant(11.0)]
    with bench.plugged(device), bench.measuring(bench.rails(tmp_path)) as daq:
        daq.until(lambda: any("beyond the range" in line for line in daq.said), "the end")
        (said,) = [line for line in daq.said if "beyond the range" in line]
    assert "rail '12V': its current, voltage or power is beyond the range" in said


def test_at_full_speed_transfers_hold_many_packets(bench: Bench) -> None:
    """50,000 samples a second; packets that are lost or short lie in the midst of a transfer."""
    bench.plug.unplug()
    device = Device([ramp(10 + i, 0.5, 4.5) for i in range(14)])
    channels = [f"AIN{i}" for i in range(14)]
    with (
        bench.plugged(device) as plug,
        bench.reading(*channels, interval_ns=280_000) as reader,
    ):
        reader.read(1500)
        plug.now(lambda u6: u6.change_next(3, lambda packet: None))
        reader.until(lambda r: len(r.session.gaps) == 1, "the loss was said")
        reader.read(1500)
        plug.now(lambda u6: u6.change_next(1, lambda packet: packet[:20]))
        reader.until(lambda r: len(r.session.gaps) == 2, "the short packet was said")
        reader.read(1500)
        (session,) = verified(reader, device)
    assert device.streams[0].interval == 48_000_000 * 280 // 10**6
    assert len(session.gaps) == 2
    assert len(session.arrival_ns) < len(session.scans) / 30, "transfers are small"
