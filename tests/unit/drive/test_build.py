"""The drive's core is clean under sanitizers, and the same however it is compiled."""

from __future__ import annotations

import subprocess
from pathlib import Path

from lib.core.build import DRIVE, KERNEL_LIKE, SANITIZERS
from lib.core.drivecore import SHIM
from lib.waiting import LONG_S

DRIVER = Path(__file__).with_name("drive_driver.c")


def test_any_description_and_any_call_under_sanitizers() -> None:
    """Clean, and the same times and energies as compiled for the kernel and without 128 bits."""
    printed = set()
    for name, flags in {
        "sanitized": SANITIZERS,
        "kernel-like": KERNEL_LIKE,
        "no-int128": ("-O2", "-U__SIZEOF_INT128__"),
    }.items():
        flags = (*flags, "-I", str(SHIM.parent))
        binary = DRIVE.build(name, flags, [SHIM, SHIM.with_suffix(".h"), DRIVER])
        done = subprocess.run([binary, "1", "2000"], capture_output=True, text=True, timeout=LONG_S)
        assert done.returncode == 0, done.stderr
        printed.add(done.stdout)
    assert len(printed) == 1
    accepted = int(printed.pop().split()[0])
    assert 500 < accepted < 2000
