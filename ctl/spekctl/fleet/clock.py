# SPDX-License-Identifier: GPL-2.0-or-later
"""The clock of a host: how far CLOCK_REALTIME may be off, and its distance to CLOCK_MONOTONIC.

The common start of a fleet is a time of CLOCK_REALTIME, and each kernel's timer has one of
CLOCK_MONOTONIC. Both are slewed alike, so their distance changes only when the clock is set.
"""

from __future__ import annotations

import contextlib
import ctypes
import os
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import msgspec

# Of kernel/uapi/linux/timex.h.
_STA_UNSYNC = 0x0040
_TIME_ERROR = 5
# The kernel stops counting here.
_MAXERROR_LIMIT_US = 16_000_000
_READS = 9
# A pair of reads is this exact at best; a change below it is no step.
_STEP_LEAST_NS = 1_000
_CHRONY_PATIENCE_S = 5.0
_CHRONY_FIELDS = 14


class Timex(ctypes.Structure):
    """struct timex of adjtimex(2)."""

    _fields_ = [
        ("modes", ctypes.c_uint),
        ("offset", ctypes.c_long),
        ("freq", ctypes.c_long),
        ("maxerror", ctypes.c_long),
        ("esterror", ctypes.c_long),
        ("status", ctypes.c_int),
        ("constant", ctypes.c_long),
        ("precision", ctypes.c_long),
        ("tolerance", ctypes.c_long),
        ("time", ctypes.c_long * 2),
        ("tick", ctypes.c_long),
        ("others", ctypes.c_long * 32),
    ]


class Bound(msgspec.Struct, frozen=True):
    """How far a clock may be off. @bound_ns: None if nothing promises any; @source: who says it."""

    bound_ns: int | None
    source: str


class Distance(msgspec.Struct, frozen=True):
    """CLOCK_REALTIME minus CLOCK_MONOTONIC, known to half of @width_ns either way."""

    offset_ns: int
    width_ns: int

    def mono_ns(self, real_ns: int) -> int:
        """CLOCK_MONOTONIC at this CLOCK_REALTIME."""
        return real_ns - self.offset_ns

    def step_ns(self, later: Distance) -> int:
        """How far the clock was set between the two; 0: not at all."""
        change_ns = later.offset_ns - self.offset_ns
        unsure_ns = (self.width_ns + later.width_ns) // 2 + _STEP_LEAST_NS
        return change_ns if abs(change_ns) > unsure_ns else 0


def distance(
    mono: Callable[[], int] = time.monotonic_ns, real: Callable[[], int] = time.time_ns
) -> Distance:
    """The best of several reads of one clock between two of the other."""
    best: Distance | None = None
    for _ in range(_READS):
        before_ns = mono()
        real_ns = real()
        after_ns = mono()
        width_ns = after_ns - before_ns
        if best is None or width_ns < best.width_ns:
            best = Distance(real_ns - (before_ns + width_ns // 2), width_ns)
    assert best is not None
    return best


def bound(proc: Path = Path("/proc")) -> Bound:
    """What chrony, PTP or the kernel promises of CLOCK_REALTIME; the first that promises any."""
    return chrony_bound(_tracking()) or kernel_bound(_adjtimex(), _has_phc2sys(proc))


def chrony_bound(line: str) -> Bound | None:
    """Of a line of `chronyc -c tracking`; None: it is not synchronized, or there is none."""
    parts = line.strip().split(",")
    if len(parts) < _CHRONY_FIELDS or parts[-1] == "Not synchronised":
        return None
    try:
        # System time, root delay, root dispersion, s.
        system_s, delay_s, dispersion_s = (float(parts[index]) for index in (4, 10, 11))
        stratum = int(parts[2])
    except ValueError:
        return None
    bound_s = abs(system_s) + delay_s / 2 + dispersion_s
    return Bound(round(bound_s * 1e9), f"chrony, stratum {stratum}, from {parts[1] or parts[0]}")


def kernel_bound(timex: Timex | None, by_ptp: bool = False) -> Bound:
    """What the kernel counts for who disciplines its clock: ntpd, timesyncd, or phc2sys."""
    if timex is None:
        return Bound(None, "adjtimex is not available")
    if timex.status & _STA_UNSYNC or timex.maxerror >= _MAXERROR_LIMIT_US:
        return Bound(None, "the kernel's clock is not synchronized")
    who = "PTP (phc2sys)" if by_ptp else "the kernel"
    return Bound(timex.maxerror * 1000, f"{who}, adjtimex maxerror")


def _adjtimex() -> Timex | None:
    timex = Timex()
    try:
        state = ctypes.CDLL(None, use_errno=True).adjtimex(ctypes.byref(timex))
    except (OSError, AttributeError):
        return None
    return timex if 0 <= state <= _TIME_ERROR else None


def _tracking() -> str:
    """What chrony says of itself; empty if it is not there."""
    program = shutil.which("chronyc", path=os.environ.get("PATH", "") + ":/usr/sbin:/usr/bin")
    if program is None:
        return ""
    try:
        done = subprocess.run(
            [program, "-c", "-n", "tracking"],
            capture_output=True,
            text=True,
            check=False,
            timeout=_CHRONY_PATIENCE_S,
        )
    except (OSError, subprocess.SubprocessError, ValueError):
        return ""
    return done.stdout if done.returncode == 0 else ""


def _has_phc2sys(proc: Path) -> bool:
    for path in proc.glob("[0-9]*/comm"):
        with contextlib.suppress(OSError):
            if path.read_text(errors="replace").strip() == "phc2sys":
                return True
    return False
