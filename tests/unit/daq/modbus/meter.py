# SPDX-License-Identifier: GPL-2.0
"""A Modbus meter: its registers, behind a serial line (RTU on a pseudo-terminal) or TCP.

It answers as the protocol's specification says (MODBUS Application Protocol V1.1b3, MODBUS over
Serial Line V1.02), apart from the faults that a test plans.
"""

from __future__ import annotations

import os
import select
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

from lib.daq.lines import SerialLine, TcpPort

HOLDING, INPUT = 3, 4
ILLEGAL_FUNCTION, ILLEGAL_ADDRESS, BUSY, NO_TARGET = 1, 2, 6, 11
STEP_S = 0.01


def f32(value: float) -> list[int]:
    """Words of a float, high word first."""
    return list(struct.unpack(">2H", struct.pack(">f", value)))


def s32_low(value: int) -> list[int]:
    """Words of an integer, low word first."""
    return [value & 0xFFFF, value >> 16 & 0xFFFF]


def crc(data: bytes) -> bytes:
    """Of a frame on a serial line."""
    value = 0xFFFF
    for byte in data:
        value ^= byte
        for _ in range(8):
            value = value >> 1 ^ (0xA001 if value & 1 else 0)
    return struct.pack("<H", value)


@dataclass
class Meter:
    """@words by (function, address); faults by the number of the request, from 0."""

    words: dict[tuple[int, int], list[int]]
    unit: int = 1
    # What is done instead of the usual reply to a request: its number and its reply are given.
    fault: Callable[[int, bytes], bytes | None] = field(default=lambda _, reply: reply)
    # An exception instead of each reply for an address.
    exceptions: dict[int, int] = field(default_factory=dict)
    late_s: dict[int, float] = field(default_factory=dict)
    requests: int = 0

    def reply(self, request: bytes) -> bytes | None:
        """To a request without address and checksum."""
        function, address, count = struct.unpack(">BHH", request)
        code = self.exceptions.get(address, 0)
        words = self.words.get((function, address), [])
        if not code and function not in (HOLDING, INPUT):
            code = ILLEGAL_FUNCTION
        if not code and len(words) != count:
            code = ILLEGAL_ADDRESS
        if code:
            return bytes((function | 0x80, code))
        return struct.pack(f">BB{count}H", function, 2 * count, *words)


class Serial(SerialLine):
    """A meter at the end of a serial line, at @path."""

    def __init__(self, meter: Meter, path: Path) -> None:
        super().__init__(path)
        self.meter = meter
        self.thread.start()

    def _serve(self) -> None:
        received = b""
        while not self.ended.is_set():
            if not select.select([self.master], [], [], STEP_S)[0]:
                continue
            received += os.read(self.master, 256)
            while len(received) >= 8:
                self._answer(received[:8])
                received = received[8:]

    def _answer(self, frame: bytes) -> None:
        meter = self.meter
        if frame[0] != meter.unit or crc(frame[:6]) != frame[6:]:
            return
        number, reply = meter.requests, meter.reply(frame[1:6])
        meter.requests += 1
        assert reply is not None
        whole = bytes((meter.unit,)) + reply
        sent = meter.fault(number, whole + crc(whole))
        if number in meter.late_s:
            self.ended.wait(meter.late_s[number])
        if sent:
            os.write(self.master, sent)


class Network(TcpPort):
    """A meter with a TCP port."""

    def __init__(self, meter: Meter, port: int = 0) -> None:
        super().__init__(port)
        self.meter = meter
        self.thread.start()

    def _talk(self, client: socket.socket) -> None:
        while not self.ended.is_set():
            if not select.select([client], [], [], STEP_S)[0]:
                continue
            frame = client.recv(12)
            if len(frame) < 12:
                return
            number, reply = self.meter.requests, self.meter.reply(frame[7:])
            self.meter.requests += 1
            assert reply is not None
            sent = self.meter.fault(
                number, frame[:4] + struct.pack(">HB", len(reply) + 1, frame[6]) + reply
            )
            if sent is None:
                return
            client.sendall(sent)
