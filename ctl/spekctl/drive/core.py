# SPDX-License-Identifier: GPL-2.0-or-later
"""The core of the modelled drive in this process: C, compiled at its first use, called by ctypes.

    drive = Simulation(file.load("barracuda-es"), Rule("sptf"))
    for batch in batches:
        results = drive.feed(batch)  # as many of RESULT as have ended
    results = drive.drain()

Requests and results are bytes of C structures, REQUEST and RESULT, so that struct, array and
numpy can make and read them without a copy.
"""

from __future__ import annotations

import ctypes
import functools
import os
import struct
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from spekctl import __version__
from spekctl.contract.drive_requests import Policy
from spekctl.drive.model import CONDITIONS, MOST_ARMS, Model
from spekctl.errors import SpekError, UsageError
from spekctl.vm import compiler
from spekctl.vm.cache import cache_dir, cached, digest_of, unwritable

SCALE = 256
MOST_QUEUE = 256
MOST_SECTORS = 65536
PHASES = ("idle", "seek", "rotate", "read", "write", "erase")
METRICS = ("response", "seek", "rotation", "transfer")
NS_MAX = 2**63

# struct sim_request, struct sim_result of simulate.c
REQUEST = struct.Struct("=QQII")
RESULT = struct.Struct("=9Q4I")
_SENTENCE = 256
HERE = Path(__file__).parent  # also of headers
_SHIM = HERE / "simulate.c"
_KEEP = 4
_ERRORS = {
    22: "has no sectors, or more than 65536",
    34: "is beyond the drive's capacity",
    95: "is a discard, which only flash drives support",
}


class _CAccount(ctypes.Structure):
    _fields_ = (
        ("now_ns", ctypes.c_uint64),
        ("energy_nj", ctypes.c_uint64 * 2),
        ("energy_rest", ctypes.c_uint64 * 2),
        ("condition_ns", ctypes.c_uint64 * len(CONDITIONS)),
        ("phase_ns", ctypes.c_uint64 * len(PHASES)),
        *((name, ctypes.c_uint64) for name in ("starts", "served", "moved")),
        *((name, ctypes.c_uint64) for name in ("pages_programmed", "pages_moved")),
        ("blocks_erased", ctypes.c_uint64),
        ("arm_served", ctypes.c_uint64 * (MOST_ARMS + 1)),
        ("sum_ns", ctypes.c_uint64 * len(METRICS)),
        ("sum_high", ctypes.c_uint64 * len(METRICS)),
        ("max_ns", ctypes.c_uint64 * len(METRICS)),
    )


@dataclass(frozen=True, slots=True)
class Rule:
    """Arrival and scheduling of requests."""

    policy: Policy = "sptf"
    window: int = MOST_QUEUE
    max_wait_ns: int = 0
    closed: int = 0  # requests kept outstanding; 0: they arrive at their times
    seek_scale: int = SCALE
    rotation_scale: int = SCALE
    phase: int = 0


@dataclass(frozen=True, slots=True)
class Account:
    """Activity and energy of a drive so far; energies in nJ."""

    now_ns: int
    energy_nj: tuple[int, int]  # 5 V, 12 V; the remainder below 1 nJ is cut off
    condition_ns: tuple[int, ...]
    phase_ns: tuple[int, ...]  # summed over arms or channels of flash
    starts: int
    served: int
    moved: int
    arm_served: tuple[int, ...]  # requests by arm; then those that the cache or flash served
    sum_ns: tuple[int, ...]  # in the order of METRICS
    max_ns: tuple[int, ...]
    pages_programmed: int = 0  # of flash, for the host
    pages_moved: int = 0  # of flash, by garbage collection
    blocks_erased: int = 0


def sources() -> Path:
    """The folder kmod of the core's C: in a clone, in an installed package, or of DKMS."""
    here = Path(__file__).resolve()
    candidates = (
        here.parents[3] / "kmod",
        here.parents[1] / "csources",
        Path(f"/usr/src/spek-{__version__}/kmod"),
    )
    for path in candidates:
        if (path / "drive" / "core" / "drive.c").exists():
            return path
    places = ", ".join(str(path) for path in candidates)
    raise SpekError(f"cannot find the sources of the modelled drive in {places}")


def library_path() -> Path:
    """The compiled core, from the cache; compiled now if it is not there."""
    kmod = sources()
    parts = (kmod / "drive" / "core", kmod / "core")
    code = [_SHIM, *(path for folder in parts for path in sorted(folder.glob("*.c")))]
    folders = (HERE, *parts)
    headers = [path for folder in folders for path in sorted(folder.glob("*.h"))]
    name = digest_of(kmod, [*code, *headers], *compiler.words(), *compiler.FLAGS)

    def compile_to(folder: Path) -> None:
        folder.mkdir()
        compiler.compile_library(folder / "drive.so", code, folders, "the modelled drive")

    try:
        return cached(cache_dir("drive") / name, compile_to, _KEEP) / "drive.so"
    except OSError as error:
        raise SpekError(unwritable(error)) from error


@functools.cache
def _library() -> Any:
    lib = ctypes.CDLL(str(library_path()))
    pointer, u64, u32 = ctypes.c_void_p, ctypes.c_uint64, ctypes.c_uint32
    lib.sim_new.restype = pointer
    lib.sim_new.argtypes = [pointer, u64, u32, ctypes.c_char_p]
    lib.sim_free.restype = None
    lib.sim_free.argtypes = [pointer]
    lib.sim_fail_arm.restype = ctypes.c_bool
    lib.sim_fail_arm.argtypes = [pointer, u32, ctypes.c_char_p]
    lib.sim_feed.argtypes = [pointer, u64, pointer, pointer, u64, pointer, pointer]
    lib.sim_drain.restype = u64
    lib.sim_drain.argtypes = [pointer, pointer, u64]
    lib.sim_account.restype = None
    lib.sim_account.argtypes = [pointer, u64, pointer]
    lib.sim_percentile.restype = u64
    lib.sim_percentile.argtypes = [pointer, u32, u32]
    return lib


class RequestRefused(UsageError):
    """The drive refuses a request; @index is its place in the batch."""

    def __init__(self, message: str, index: int) -> None:
        super().__init__(message)
        self.index = index


class Simulation:
    """A simulated drive. A refused request discards the results of its whole batch."""

    def __init__(self, model: Model, rule: Rule) -> None:
        self._lib = _library()
        description = model.description(
            name="",  # may have letters that the kernel's names have not
            policy=rule.policy,
            window=rule.window,
            max_wait_ns=rule.max_wait_ns,
            phase=rule.phase,
            queue_depth=MOST_QUEUE,
            seek_scale=rule.seek_scale,
            rotation_scale=rule.rotation_scale,
        ).packed()
        # In memory of its own: the core fills in what was left out.
        given = ctypes.create_string_buffer(description, len(description))
        sentence = ctypes.create_string_buffer(_SENTENCE)
        self._sim = self._lib.sim_new(given, len(description), rule.closed, sentence)
        if not self._sim:
            raise UsageError(f"{model.name or 'the model'}: {sentence.value.decode()}")
        self.outstanding = 0
        self._name = model.name or "the model"

    def __del__(self) -> None:
        if getattr(self, "_sim", None):
            self._lib.sim_free(self._sim)
            self._sim = None

    def fail_arm(self, number: int) -> None:
        """Take an arm out of service once its access has ended; the remaining arms keep working."""
        sentence = ctypes.create_string_buffer(_SENTENCE)
        if not self._lib.sim_fail_arm(self._sim, number, sentence):
            raise UsageError(f"{self._name}: arm {number}: {sentence.value.decode()}")

    def feed(self, requests: bytes | bytearray | memoryview, keep: bool = True) -> bytearray:
        """Serve requests; return those that ended, or only count them without @keep."""
        count = len(requests) // REQUEST.size
        room = count + self.outstanding if keep else 0
        results = bytearray(room * RESULT.size)
        done, refused = ctypes.c_uint64(), ctypes.c_uint64()
        given = (ctypes.c_char * len(requests)).from_buffer_copy(requests)
        err = self._lib.sim_feed(
            *(self._sim, count, given, _address(results), room),
            *(ctypes.byref(done), ctypes.byref(refused)),
        )
        if err:
            reason = _ERRORS.get(-err, f"is refused: {os.strerror(-err)}")
            raise RequestRefused(f"request {reason}", refused.value)
        if keep:
            self.outstanding = room - done.value
        del results[done.value * RESULT.size :]
        return results

    def drain(self) -> bytearray:
        """Serve all waiting requests; return those that ended."""
        results = bytearray(self.outstanding * RESULT.size)
        done = self._lib.sim_drain(self._sim, _address(results), self.outstanding)
        assert done * RESULT.size == len(results)
        self.outstanding = 0
        return results

    def account(self, until_ns: int = 0) -> Account:
        """Activity and energy of the drive up to now, or up to a later time."""
        account = _CAccount()
        self._lib.sim_account(self._sim, until_ns, ctypes.byref(account))
        return Account(
            now_ns=account.now_ns,
            energy_nj=(account.energy_nj[0], account.energy_nj[1]),
            condition_ns=tuple(account.condition_ns),
            phase_ns=tuple(account.phase_ns),
            starts=account.starts,
            served=account.served,
            moved=account.moved,
            arm_served=tuple(account.arm_served),
            sum_ns=tuple(
                high << 64 | low for high, low in zip(account.sum_high, account.sum_ns, strict=True)
            ),
            max_ns=tuple(account.max_ns),
            pages_programmed=account.pages_programmed,
            pages_moved=account.pages_moved,
            blocks_erased=account.blocks_erased,
        )

    def percentile(self, metric: str, share: float) -> int:
        """A percentile in ns of the requests that ended, off by at most 1/128."""
        ppm = round(share * 10**6)
        return int(self._lib.sim_percentile(self._sim, METRICS.index(metric), ppm))


def _address(buffer: bytearray) -> Any:
    return (ctypes.c_char * len(buffer)).from_buffer(buffer) if buffer else None
