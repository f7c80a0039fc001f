# SPDX-License-Identifier: GPL-2.0
"""The simulator in C (c/), compiled at its first use together with the cores of the modelled drive
and of spek-augment, and called by ctypes.

    outcome = run(Config(system=OURS), array(), requests)
"""

from __future__ import annotations

import ctypes
import functools
from collections.abc import Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from spekctl.drive.core import HERE as DRIVE
from spekctl.drive.core import sources
from spekctl.drive.model import CONDITIONS, Model
from spekctl.errors import SpekError
from spekctl.vm import compiler
from spekctl.vm.cache import cache_dir, cached, digest_of

BLOCK = 4096
PLAIN, OURS, STOCK = range(3)
READ, WRITE, FLUSH = range(3)
CAUSES = ("read", "write", "flush", "write-back")
PHASES = ("idle", "seek", "rotate", "read", "write", "erase")
MOST_DEVICES = 9
# The core of spek-augment takes so many at a time.
MOST_OUTSTANDING = 64
QUEUE_DEPTH = 32
NS = 10**9
REQUESTS = np.dtype([("arrival_ns", "<u8"), ("block", "<u8"), ("blocks", "<u4"), ("op", "<u4")])
COURSE = np.dtype([("nj", "<u8"), ("asleep_ns", "<u8"), ("starts", "<u8")])
_HERE = Path(__file__).parent
_CODE = _HERE / "c"
_SENTENCE = 256
# Of struct sim_result, in its order.
_COUNTS = (
    "hits", "misses", "copies", "prefetched", "prefetch_hits", "destaged", "waiting", "written",
    "lost",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Config:
    """struct sim_config: what its fields mean is said in c/sim.h. The same order."""

    system: int = PLAIN
    members: int = 4
    chunk_blocks: int = 16
    most_outstanding: int = MOST_OUTSTANDING
    until_ns: int = 0
    look_ns: int = 5 * NS
    rest_ns: int = 0
    bin_ns: int = 0
    seed: int = 1
    ssd_blocks: int = 0
    log_blocks: int = 2 << 18
    copy: int = 0
    prefetch_blocks: int = 0
    sequential_blocks: int = 0
    high_blocks: int = 0
    low_blocks: int = 0
    age_ns: int = 0
    quiet_ns: int = 0
    unit_blocks: int = 1
    allocate: int = 1
    idle_ns: int = 0
    trickle_blocks: int = 0
    delay_ns: int = 0
    pause_ns: int = 0


class _CConfig(ctypes.Structure):
    _fields_ = [(each.name, ctypes.c_uint64) for each in fields(Config)]


class _CDevice(ctypes.Structure):
    _fields_ = (
        ("nj", ctypes.c_uint64 * 2),
        ("condition_ns", ctypes.c_uint64 * len(CONDITIONS)),
        ("phase_ns", ctypes.c_uint64 * len(PHASES)),
        ("starts", ctypes.c_uint64),
        ("served", ctypes.c_uint64),
    )


class _CResult(ctypes.Structure):
    _fields_ = (
        ("devices", _CDevice * MOST_DEVICES),
        ("end_ns", ctypes.c_uint64),
        ("answered", ctypes.c_uint64),
        ("wakes", ctypes.c_uint64 * len(CAUSES)),
        *((name, ctypes.c_uint64) for name in (*_COUNTS, "courses")),
    )


@dataclass(frozen=True, slots=True)
class Device:
    """What a disk or the SSD has done and used."""

    joules: tuple[float, float]  # 5 V, 12 V
    condition_s: dict[str, float]
    phase_s: dict[str, float]
    starts: int
    served: int

    @property
    def energy_j(self) -> float:
        return sum(self.joules)


@dataclass(frozen=True, slots=True)
class Outcome:
    """What a simulation gave."""

    disks: list[Device]
    ssd: Device | None
    seconds: float
    answered: int
    wakes: dict[str, int]
    hits: int
    misses: int
    copies: int
    prefetched: int
    prefetch_hits: int
    destaged: int
    waiting: int
    written: int
    lost: int
    response_ns: Any = field(repr=False)
    wait_ns: Any = field(repr=False)
    course: Any = field(repr=False)

    @property
    def joules(self) -> float:
        return sum(disk.energy_j for disk in self.disks) + (self.ssd.energy_j if self.ssd else 0.0)


@dataclass(frozen=True, slots=True)
class Array:
    """The devices: as many disks of one model, and an SSD."""

    disk: Model
    ssd: Model
    phase_seed: int = 1

    def raid_blocks(self, config: Config) -> int:
        """Blocks of the RAID; what is behind them on each disk is its spare area."""
        return int(
            library().sim_raid_blocks(
                self.disk.capacity, config.members, config.chunk_blocks, config.log_blocks
            )
        )

    def descriptions(self, config: Config) -> list[bytes]:
        """Of the disks, each of which turns on its own, and of the SSD."""
        phases = np.random.default_rng(self.phase_seed).integers(
            0, 2**64, config.members, dtype=np.uint64
        )
        disks = [
            self.disk.description(
                name="", policy="sptf", window=QUEUE_DEPTH, phase=int(phase),
                queue_depth=QUEUE_DEPTH,
            ).packed()
            for phase in phases
        ]  # fmt: skip
        if config.system == PLAIN:
            return disks
        ssd = self.ssd.description(name="", window=QUEUE_DEPTH, queue_depth=QUEUE_DEPTH)
        return [*disks, ssd.packed()]


def code() -> tuple[list[Path], list[Path], tuple[Path, ...]]:
    """Sources, headers and folders of headers."""
    kmod = sources()
    cores = (kmod / "drive" / "core", kmod / "augment" / "core", kmod / "core")
    folders = (*cores, DRIVE)
    return (
        [path for folder in (_CODE, *cores) for path in sorted(folder.glob("*.c"))],
        [path for folder in (_CODE, *folders) for path in sorted(folder.glob("*.h"))],
        folders,
    )


def digest() -> str:
    """A name for the simulator as it is."""
    files, headers, _ = code()
    return digest_of(_HERE, [*files, *headers], *compiler.words(), *compiler.FLAGS)


@functools.cache
def library() -> Any:
    """The simulator; compiled now if it is not in the cache."""
    files, _, folders = code()

    def compile_to(folder: Path) -> None:
        folder.mkdir()
        compiler.compile_library(folder / "sim.so", files, folders, "the simulator")

    lib = ctypes.CDLL(str(cached(cache_dir("paper004") / digest(), compile_to, 4) / "sim.so"))
    pointer, u64 = ctypes.c_void_p, ctypes.c_uint64
    lib.sim_run.argtypes = [*[pointer] * 3, u64, *[pointer] * 5, ctypes.c_char_p]
    lib.sim_raid_blocks.restype = u64
    lib.sim_raid_blocks.argtypes = [u64] * 4
    lib.raid_place.restype = None
    lib.raid_place.argtypes = [ctypes.c_uint32, ctypes.c_uint32, u64, *[pointer] * 3]
    lib.raid_reads.argtypes = [ctypes.c_uint32, ctypes.c_uint32, pointer]
    return lib


def run(config: Config, array: Array, requests: Any) -> Outcome:
    """Simulate @requests, an array of REQUESTS."""
    if not 1 <= config.most_outstanding <= MOST_OUTSTANDING:
        raise SpekError(f"1 to {MOST_OUTSTANDING} requests are outstanding")
    lib = library()
    given = array.descriptions(config)
    buffer = ctypes.create_string_buffer(b"".join(given))
    sizes = (ctypes.c_uint64 * len(given))(*map(len, given))
    count = len(requests)
    response, wait = np.zeros(count, np.uint64), np.zeros(count, np.uint64)
    lines = config.until_ns // config.bin_ns + 2 if config.bin_ns else 0
    course = np.zeros(lines, COURSE)
    packed = _CConfig(*(getattr(config, each.name) for each in fields(Config)))
    result = _CResult()
    sentence = ctypes.create_string_buffer(_SENTENCE)
    requests = np.ascontiguousarray(requests, REQUESTS)
    err = lib.sim_run(
        *(ctypes.byref(packed), buffer, sizes, count),
        *(each.ctypes.data for each in (requests, response, wait, course)),
        *(ctypes.byref(result), sentence),
    )
    if err:
        raise SpekError(f"the simulator refuses: {sentence.value.decode()}")
    devices = [_device(result.devices[number]) for number in range(len(given))]
    return Outcome(
        disks=devices[: config.members],
        ssd=devices[config.members] if config.system != PLAIN else None,
        seconds=result.end_ns / NS,
        answered=result.answered,
        wakes=dict(zip(CAUSES, result.wakes, strict=True)),
        **{name: getattr(result, name) for name in _COUNTS},
        response_ns=response[: result.answered] if count == result.answered else response,
        wait_ns=wait,
        course=course[: result.courses],
    )


def _device(given: _CDevice) -> Device:
    return Device(
        joules=(given.nj[0] / NS, given.nj[1] / NS),
        condition_s=_seconds(CONDITIONS, given.condition_ns),
        phase_s=_seconds(PHASES, given.phase_ns),
        starts=given.starts,
        served=given.served,
    )


def _seconds(names: Sequence[str], values: Sequence[int]) -> dict[str, float]:
    return {name: value / NS for name, value in zip(names, values, strict=True)}
