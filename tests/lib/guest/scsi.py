# SPDX-License-Identifier: GPL-2.0
"""What the SCSI layer hands to a host adapter, and the simulated one with its faults."""

from __future__ import annotations

import contextlib
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lib.guest.drive import SECTOR, Sent, sysfs
from lib.guest.trace import trace_instance

from spekctl.kernel.records import Direction

DRIVER = Path("/sys/bus/pseudo/drivers/scsi_debug")
EVENT = "events/scsi/scsi_dispatch_cmd_start"
LINE = re.compile(
    r" scsi_dispatch_cmd_start: host_no=(?P<host>\d+) channel=(?P<channel>\d+) id=(?P<id>\d+)"
    r" lun=(?P<lun>\d+) .* raw=(?P<raw>[0-9a-f ]+)\)"
)
READ_16, WRITE_16 = 0x88, 0x8A

# What scsi_debug can be told to do wrong, to every command or, with every_nth, to each so-many-th
# (its parameter opts).
IGNORE, MEDIUM, RECOVERED, TRANSPORT, SHORT, HOST_BUSY = 4, 2, 8, 16, 0x100, 0x8000


@dataclass(frozen=True)
class Command:
    """A command as it was dispatched."""

    cdb: bytes

    @property
    def direction(self) -> Direction:
        return Direction.of(self.cdb[0] == WRITE_16)

    @property
    def block(self) -> int:
        """First logical block."""
        return int.from_bytes(self.cdb[2:10], "big")

    @property
    def blocks(self) -> int:
        """Number of logical blocks."""
        return int.from_bytes(self.cdb[10:14], "big")


class CommandLog:
    """Every command that is dispatched to a disk, in order."""

    def __init__(self, node: str) -> None:
        address = (sysfs(node).resolve() / "device").resolve().name
        self.address = tuple(address.split(":"))
        self.path = trace_instance("spek-scsi")
        (self.path / "buffer_size_kb").write_text("4096")
        (self.path / EVENT / "enable").write_text("1")

    def close(self) -> None:
        """Stop and forget."""
        (self.path / EVENT / "enable").write_text("0")
        self.path.rmdir()

    def read(self) -> list[Command]:
        """What was dispatched so far, oldest first; nothing may have been overwritten."""
        for stats in self.path.glob("per_cpu/cpu*/stats"):
            text = stats.read_text()
            assert "overrun: 0\n" in text and "dropped events: 0\n" in text, text
        commands = []
        for line in (self.path / "trace").read_text().splitlines():
            match = LINE.search(line)
            if match is None:
                assert line.startswith("#") or not line, f"not understood: {line}"
            elif match.group("host", "channel", "id", "lun") == self.address:
                commands.append(Command(bytes.fromhex(match["raw"])))
        return commands


@contextlib.contextmanager
def command_log(node: str) -> Iterator[CommandLog]:
    """A CommandLog for as long as the block lasts."""
    log = CommandLog(node)
    try:
        yield log
    finally:
        log.close()


def command_for(sent: Sent, block_bytes: int, start_sector: int = 0) -> Command:
    """The command that a request must have become; @start_sector: of its partition."""
    block = (start_sector * SECTOR + sent.start) // block_bytes
    opcode = WRITE_16 if sent.direction is Direction.WRITE else READ_16
    cdb = bytes([opcode, 0]) + block.to_bytes(8, "big")
    return Command(cdb + (sent.bytes // block_bytes).to_bytes(4, "big") + bytes(2))


def set_parameter(name: str, value: int) -> None:
    """One of scsi_debug's parameters, from now on."""
    (DRIVER / name).write_text(str(value))


@contextlib.contextmanager
def faults(opts: int, every_nth: int = 0) -> Iterator[None]:
    """scsi_debug does wrong what @opts says for as long as the block lasts."""
    set_parameter("opts", opts)
    set_parameter("every_nth", every_nth)
    try:
        yield
    finally:
        set_parameter("opts", 0)
        set_parameter("every_nth", 0)


def pool_objects() -> int:
    """Scatter lists that are in use in the whole kernel, and what else shares their caches."""
    caches = {path.resolve() for path in Path("/sys/kernel/slab").glob("sgpool-*")}
    assert caches, "the kernel doesn't tell of its caches"
    for cache in caches:
        (cache / "shrink").write_text("1")
    return sum(int((cache / "objects").read_text().split()[0]) for cache in caches)
